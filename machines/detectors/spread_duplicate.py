"""The same call with the same outcome again and again, with other calls between.

Incident: an agent wrote itself one and the same note between all pieces of its work: a count of neighbours never got
beyond one. Other tools found something new each time, so the run did not stand still either; and what a note or a
thought brings is counted by no other detector.

Counted among the last answers of the run. While the call fails, the limits and the window are wider. A tool that says
something new is counted afresh. A turn that succeeded right after one that failed is not counted against.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from .. import window
from ..events import TurnEnded
from ..state import Run
from .limits import reading

NAME = "spread_duplicate"


def spread_duplicate(run: Run, event: TurnEnded) -> Reading:
    """How often the most frequent call with one outcome stands in the window, in calls."""
    limits, streaks = run.policy.detectors.spread_duplicate, run.turned
    said = NAME in run.streaks.nudged  # a turn that is not counted against does not end the streak that was spoken of
    if not limits.enabled or (streaks.recovered and not said) or window.quiet(streaks.window):
        return reading(NAME, 0, limits, min(limits.window, run.policy.budget.most_calls), of=run.turn)
    found: list[Reading] = []
    for failing, last in ((False, limits.window), (True, limits.failing_window)):
        stop = limits.failing_stop if failing else limits.stop
        count = window.most_repeated(streaks.window, last, failing=failing, most=_told_at_most(run, stop))
        count = min(count, stop - 1) if streaks.recovered and stop is not None else count
        most = min(last, run.policy.budget.most_calls)
        found.append(reading(NAME, count, limits, most, failing=failing, window=last, of=run.turn))
    return max(found, key=lambda one: (one.level, one.now))


def _told_at_most(run: Run, stop: int | None) -> Mapping[bytes, int]:
    """Tools that may repeat: they are told, and never stopped for it."""
    if stop is None:
        return {}
    return {window.tool_key(name): stop - 1 for name, tool in run.tools.items() if tool.repeats}


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    called = f"; this turn called {values['tools']}" if values.get("tools") else ""
    return (
        f"Among the last {values.get('window')} calls one and the same has had the same outcome {values.get('now')} "
        f"times, with others between{called}. It will say the same again. Only another "
        f"outcome, a change in the world, or an item of the plan closed would count as progress. Try another way, or "
        f"finish and say what blocks."
    )
