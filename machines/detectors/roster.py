"""The roster: the detectors in the order in which they are asked, and how they stand in the run's table.

A detector is one line here and one file. It stays only while it can name its incident: the shape that none of the
others catches, or catches as early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from statecraft import Evidence, Guard, Reading, Scalar, guard, seen

from ..events import TurnEnded
from ..state import Run
from . import consecutive_duplicate, no_progress


@attrs.frozen
class Detector:
    """One shape of being stuck: its name, its reading, the shape in a few words, and what the model is told of it."""

    name: str
    read: Callable[[Run, TurnEnded], Reading]
    shape: str
    nudge: Callable[[Mapping[str, Scalar]], str]


ROSTER: tuple[Detector, ...] = (
    Detector(
        "consecutive_duplicate",
        consecutive_duplicate.consecutive_duplicate,
        "the same call with the same outcome, back to back",
        consecutive_duplicate.nudge,
    ),
    Detector("no_progress", no_progress.no_progress, "turns in a row in which nothing new came in", no_progress.nudge),
)


def unsaid(detector: Detector) -> Guard[Run, TurnEnded]:
    """Nudges are on, and this detector has not spoken yet in the streak that it sees: it nudges once a streak."""
    name = f"{detector.name}_unsaid"

    def ask(run: Run, event: TurnEnded) -> Evidence:
        said = detector.name in run.streaks.nudged
        return seen(name, run.policy.escalation.nudges and not said, said=said, nudges=run.policy.escalation.nudges)

    ask.__name__ = name
    return guard(ask)
