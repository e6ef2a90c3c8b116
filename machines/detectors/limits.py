"""How a count becomes a reading: which of a detector's limits are in force, and the most that the count can reach."""

from __future__ import annotations

from statecraft import Reading, Scalar

from ..policy import Limits
from ..state import Run

UNBOUNDED = 2**31 - 1
"""The most that a count can reach in a run that has no limit of turns."""


def most(run: Run) -> int:
    """The most that a count of turns can reach: the run's turns, or those that its tokens allow."""
    budget = run.policy.budget
    return next((n for n in (budget.turns, budget.tokens) if n is not None), UNBOUNDED)


def reading(name: str, now: int, limits: Limits, most: int, *, failing: bool = False, **seen: Scalar) -> Reading:
    """The count against its limits; the wider ones while nothing but failures stands in the streak.

    A reading at rest carries no more than its numbers.
    """
    nudge = limits.failing_nudge if failing else limits.nudge
    stop = limits.failing_stop if failing else limits.stop
    if now < nudge and now < stop:
        return Reading(name, now, nudge, stop, most)
    return Reading(name, now, nudge, stop, most, {**seen, "failing": failing})
