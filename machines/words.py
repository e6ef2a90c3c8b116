"""What the model is told: the words of each `Tell`. Facts and the way out, never that it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from statecraft import Scalar

from .commands import Tell
from .detectors.roster import ROSTER


def words_of(tell: Tell) -> str:
    """The words of a `Tell`, made from the values that the rule saw."""
    return WORDS[tell.by](dict(tell.values))


def _empty(values: Mapping[str, Scalar]) -> str:
    return "Your last reply held neither text nor a call. Go on with the task, or finish and say what blocks."


def _wait_over(values: Mapping[str, Scalar]) -> str:
    last = "no value at all" if values.get("value") is None else f"the value {values.get('value')}"
    if values.get("how") == "expired":
        return (
            f"The time of this wait is used up; the last look gave {last}. Asking again will not be counted as waiting."
        )
    return f"The last look at this wait gave {last}, which it does not declare. A person has been told."


WORDS: Final[Mapping[str, Callable[[Mapping[str, Scalar]], str]]] = {
    **{detector.name: detector.nudge for detector in ROSTER},
    "empty": _empty,
    "wait_over": _wait_over,
}
"""By the rule that speaks."""
