"""The roster: the detectors in the order in which they are asked, and how they stand in the run's table.

A detector is one entry here and one file. It stays only while it can name its incident: the shape that none of the
others catches, or catches as early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeVar

import attrs

from statecraft import Evidence, Guard, Reading, Scalar, guard, seen

from ..events import Chunk, Condensed, Event, Reply, TurnEnded
from ..state import Run
from . import (
    chanting,
    consecutive_duplicate,
    cycle,
    empty_thought,
    family,
    fruitless_tool,
    monologue,
    no_progress,
    redundant_check,
    same_error,
    same_tool,
    search_escalation,
    spread_duplicate,
    stalled_work,
    vain_condensing,
    validation_error,
)

E = TypeVar("E", bound=Event)


@attrs.frozen
class Detector(Generic[E]):
    """One shape of being stuck: its name, its reading, the shape in a few words, and what the model is told of it.

    `before`: what it reads in a reply whose calls no answer could make good, so that they need not be run. `rescued`:
    while something that the run has to write is not written, it says so instead of stopping.
    """

    name: str
    read: Callable[[Run, E], Reading]
    shape: str
    nudge: Callable[[Mapping[str, Scalar]], str]
    before: Callable[[Run, Reply], Reading] | None = None
    rescued: bool = False


ROSTER: Final[tuple[Detector[TurnEnded], ...]] = (
    Detector(
        validation_error.NAME,
        validation_error.validation_error,
        "the same call refused for its arguments, or a tool that is not there, over and over",
        validation_error.nudge,
        before=validation_error.before,
    ),
    Detector(
        empty_thought.NAME,
        empty_thought.empty_thought,
        "thoughts without a thought in them",
        empty_thought.nudge,
        before=empty_thought.before,
    ),
    Detector(
        consecutive_duplicate.NAME,
        consecutive_duplicate.consecutive_duplicate,
        "the same call with the same outcome, back to back",
        consecutive_duplicate.nudge,
    ),
    Detector(
        cycle.NAME,
        cycle.cycle,
        "a lap of several turns, walked again and again",
        cycle.nudge,
    ),
    Detector(
        spread_duplicate.NAME,
        spread_duplicate.spread_duplicate,
        "the same call with the same outcome, with others between",
        spread_duplicate.nudge,
    ),
    Detector(
        same_error.NAME,
        same_error.same_error,
        "one tool failing with one outcome, whatever it is asked",
        same_error.nudge,
    ),
    Detector(
        search_escalation.NAME,
        search_escalation.search_escalation,
        "searches in a row that find nothing",
        search_escalation.nudge,
    ),
    Detector(
        family.NAME,
        family.family,
        "related tools circling one topic without a new source",
        family.nudge,
    ),
    Detector(
        monologue.NAME,
        monologue.monologue,
        "words without a call and without a change",
        monologue.nudge,
        rescued=True,
    ),
    Detector(
        no_progress.NAME,
        no_progress.no_progress,
        "turns in a row in which nothing new came in",
        no_progress.nudge,
        rescued=True,
    ),
    Detector(
        stalled_work.NAME,
        stalled_work.stalled_work,
        "turns in a row that added nothing to the distinct work of the run",
        stalled_work.nudge,
        rescued=True,
    ),
    Detector(
        fruitless_tool.NAME,
        fruitless_tool.fruitless_tool,
        "one tool whose answers bring nothing new, whatever others do in between",
        fruitless_tool.nudge,
    ),
    Detector(
        same_tool.NAME,
        same_tool.same_tool,
        "one tool too often with neither new arguments nor new results",
        same_tool.nudge,
    ),
    Detector(
        redundant_check.NAME,
        redundant_check.redundant_check,
        "a look at what a success had already told",
        redundant_check.nudge,
    ),
)
"""What judges a turn, at its end; first what no answer could change, then what is the narrowest."""

CHANTING: Final[Detector[Chunk]] = Detector(
    chanting.NAME, chanting.chanting, "a reply that says the same again and again while it streams", chanting.nudge
)
CONDENSING: Final[Detector[Condensed]] = Detector(
    vain_condensing.NAME, vain_condensing.vain_condensing, "condensings of the history in vain", vain_condensing.nudge
)

NUDGES: Final[Mapping[str, Callable[[Mapping[str, Scalar]], str]]] = {
    **{detector.name: detector.nudge for detector in ROSTER},
    CONDENSING.name: CONDENSING.nudge,
    CHANTING.name: CHANTING.nudge,
}
"""What the model is told, by detector."""

SHAPES: Final[Mapping[str, str]] = {
    **{detector.name: detector.shape for detector in ROSTER},
    CHANTING.name: CHANTING.shape,
    CONDENSING.name: CONDENSING.shape,
}
"""The shape of each, in a few words."""


def unsaid(detector: Detector[E]) -> Guard[Run, E]:
    """Nudges are on, and this detector has not spoken yet in the streak that it sees: it nudges once a streak."""
    name = f"{detector.name}_unsaid"

    def ask(run: Run, event: E) -> Evidence:
        said = detector.name in run.streaks.nudged
        return seen(name, run.policy.escalation.nudges and not said, said=said, nudges=run.policy.escalation.nudges)

    ask.__name__ = name
    return guard(ask)
