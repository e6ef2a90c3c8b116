"""How a count becomes a reading: which of a detector's limits are in force, and the most that the count can reach."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from statecraft import Reading, Scalar

from ..events import Reply
from ..policy import UNBOUNDED, Limits, Plain
from ..state import Run
from ..turn import Turn

SHOWN: Final = 8
"""Tools and calls that evidence names; the others are counted."""

NO_TURN: Final = Turn()
"""Of a reading at rest, which shows no turn."""


def reading(
    name: str, now: int, limits: Plain, most: int, *, of: Turn, failing: bool = False, **seen: Scalar
) -> Reading:
    """The count against its limits; the wider ones while nothing but failures stands in the streak.

    Whoever counts need not ask whether the detector is on: one that is off has counted nothing.
    A reading at rest carries no more than its numbers; any other also the turn that it is `of`, and that turn's calls.
    """
    if not limits.enabled:
        return _at_rest(name, 0, UNBOUNDED, UNBOUNDED, 0)
    nudge, stop = limits.nudge, limits.stop
    if failing and isinstance(limits, Limits):
        nudge, stop = limits.failing_nudge, limits.failing_stop
    low, high = UNBOUNDED if nudge is None else nudge, UNBOUNDED if stop is None else stop
    if now < low and now < high:
        return _at_rest(name, now, low, high, most)
    shown: dict[str, Scalar] = {**seen, "turn": of.number, **_calls(of)}
    if shown.get("tools") == shown.get("tool"):
        shown.pop("tools", None)  # said already
    if isinstance(limits, Limits):
        shown["failing"] = failing
    return Reading(name, now, low, high, most, shown)


def reply_turn(run: Run, event: Reply) -> Turn:
    """The turn that a reply begins, with its calls still open."""
    return Turn(run.turn.number + 1, open=event.calls)


def _calls(turn: Turn) -> dict[str, Scalar]:
    """The calls of a turn, as evidence names them: their tools, and their signatures in hex."""
    judged = turn.judged
    if not judged:
        return {}
    tools, calls = sorted({a.tool for a in judged}), sorted({a.call.hex() for a in judged})
    return {"tools": _some(tools), "signatures": _some(calls)}


def _some(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


@lru_cache(maxsize=4096)
def _at_rest(name: str, now: int, nudge: int, stop: int, most: int) -> Reading:
    """One value for the same numbers: most readings of a turn are at rest."""
    return Reading(name, now, nudge, stop, most)


def worst(name: str, readings: list[Reading], limits: Plain, most: int) -> Reading:
    """The one of several that has come furthest; at rest where there is none."""
    return max(readings, key=lambda r: (r.level, r.now), default=None) or reading(name, 0, limits, most, of=NO_TURN)
