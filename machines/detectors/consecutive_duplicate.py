"""The same call with the same outcome, back to back.

Incident: a research agent asked a search index the same question and read the same answer until its budget was gone.
Counting calls alone would also stop an agent that polls a build whose status moves; the outcome is what tells them
apart.

A turn counts where all its calls are one call with one outcome, as often as it made that call. What is judged is the
answer: a changed result is another outcome. While none of them succeeded (an error, or a result that was not seen) the
limits are wider, since trying again after a failure is work. Plan, goal and a new external state clear it.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import most, reading


def consecutive_duplicate(run: Run, event: TurnEnded) -> Reading:
    """How often the turn's only kind of call had this outcome in a row, in calls."""
    limits = run.policy.detectors.consecutive_duplicate
    turn, before = run.turn, run.streaks
    calls = most(run) * run.policy.budget.calls_per_turn
    outcomes = turn.judged
    tool = turn.tool or (turn.open[0].tool if turn.open else "")
    kinds = set(outcomes)
    if not limits.enabled or turn.strong or len(kinds) != 1:
        return reading("consecutive_duplicate", 0, limits, calls)
    again = outcomes[0] == before.same
    count = len(outcomes) + (before.same_count if again else 0)
    ok = turn.ok + (before.same_ok if again else 0)
    if run.tool(tool).repeats:
        count = min(count, (limits.stop if ok else limits.failing_stop) - 1)  # a tool that may repeat is only told
    return reading("consecutive_duplicate", count, limits, calls, failing=ok == 0, tool=tool, turn=turn.number)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"The same call of {values.get('tool')} has now had the same outcome {values.get('now')} times in a row. Only "
        f"another outcome, a change in the world, or an item of the plan closed would count as progress. Try another "
        f"way, or finish and say what blocks."
    )
