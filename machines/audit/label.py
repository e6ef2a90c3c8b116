"""Whether a harness or a person judged a recorded run well, by how the recording says that it ended."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

REWARDS: Final = ("reward", "max_reward")
RESOLVED: Final = ("is_resolved", "resolved")
WORDS: Final = {"correct": True, "incorrect": False, "halted": False, "is_resolved": True, "resolved": True}
TRUTH: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Label(StrEnum):
    """What is known. What an agent says of itself (`success`, `submitted`) is no judgement."""

    WELL = "well"
    NOT_WELL = "not_well"
    UNKNOWN = "unknown"


def label_of(end: str | None) -> Label:
    """The judgement in an end's status: a reward (1 is well), `is_resolved`, CORRECT, INCORRECT or HALTED."""
    name, *values = (end or "").replace("=", " ").replace(":", " ").casefold().split() or [""]
    if not values:
        return _label(WORDS.get(name))
    value = values[0] if len(values) == 1 else ""
    if name in RESOLVED:
        return _label(TRUTH.get(value))
    if name in REWARDS:
        try:
            return _label(float(value) >= 1)
        except ValueError:
            return Label.UNKNOWN
    return Label.UNKNOWN


def _label(well: bool | None) -> Label:
    return Label.UNKNOWN if well is None else Label.WELL if well else Label.NOT_WELL
