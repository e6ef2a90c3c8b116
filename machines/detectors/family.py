"""Related tools that circle one topic without a new source.

Incident: an encyclopedia, a news index and a blog search were asked about one person in turn, by other names for the
same thing; no tool alone was asked often enough to be seen, and each answered in its own words that it had nothing.

Families and the arguments that say what a call is about are declared by the tools. Two topics are one where they share
at least half of their words; other numbers, dates and years make another topic where the answer is another one too.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading, worst

NAME = "family"


def family(run: Run, event: TurnEnded) -> Reading:
    """How many calls of one family went about one topic without a new source, of the family that has come furthest."""
    limits, families = run.policy.detectors.family, run.turned.families
    if not len(families):  # a map of this kind is never false by itself
        return reading(NAME, 0, limits, run.policy.budget.most_answers, of=run.turn)
    found = [
        reading(NAME, circle.count, limits, run.policy.budget.most_answers, family=name, of=run.turn)
        for name, circle in (sorted(families.items()) if limits.enabled else ())
    ]
    return worst(NAME, found, limits, run.policy.budget.most_answers)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"The last {values.get('now')} calls of the tools for {values.get('family')} were about one topic and brought "
        f"no new source. A new source would count as progress. Work with what you have, ask about something else, or "
        f"finish and say what could not be found."
    )
