"""How a count becomes a reading: which of a detector's limits are in force, and the most that the count can reach."""

from __future__ import annotations

from functools import lru_cache

from statecraft import Reading, Scalar

from ..policy import UNBOUNDED, Limits, Plain


def reading(name: str, now: int, limits: Plain, most: int, *, failing: bool = False, **seen: Scalar) -> Reading:
    """The count against its limits; the wider ones while nothing but failures stands in the streak.

    A reading at rest carries no more than its numbers.
    """
    nudge, stop = limits.nudge, limits.stop
    if failing and isinstance(limits, Limits):
        nudge, stop = limits.failing_nudge, limits.failing_stop
    low, high = UNBOUNDED if nudge is None else nudge, UNBOUNDED if stop is None else stop
    if now < low and now < high:
        return _at_rest(name, now, low, high, most)
    shown = {**seen, "failing": failing} if isinstance(limits, Limits) else seen
    return Reading(name, now, low, high, most, shown)


@lru_cache(maxsize=4096)
def _at_rest(name: str, now: int, nudge: int, stop: int, most: int) -> Reading:
    """One value for the same numbers: thirty-two readings a turn are at rest."""
    return Reading(name, now, nudge, stop, most)


def worst(name: str, readings: list[Reading], limits: Plain, most: int) -> Reading:
    """The one of several that has come furthest; at rest where there is none."""
    return max(readings, key=lambda r: (r.level, r.now), default=None) or reading(name, 0, limits, most)
