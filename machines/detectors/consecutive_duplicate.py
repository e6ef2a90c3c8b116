"""The same call with the same outcome, back to back.

Incident: a research agent asked a search index the same question and read the same answer until its budget was gone.
Counting calls alone would also stop an agent that polls a build whose status moves; the outcome is what tells them
apart.

A turn counts where all its calls, thoughts left out, are one call with one outcome, as often as it made that call; a
turn of words or thoughts alone leaves the row as it is. A changed result is another outcome. While none of them
succeeded (an error, or a result that was not seen) the limits are wider, since trying again after a failure is work. A
turn that succeeded right after one that failed is not counted against: the run has just recovered.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading

NAME = "consecutive_duplicate"


def consecutive_duplicate(run: Run, event: TurnEnded) -> Reading:
    """How often the turn's only kind of call had this outcome in a row, in calls."""
    limits, streaks = run.policy.detectors.consecutive_duplicate, run.turned
    count = streaks.same_count if not streaks.recovered else 0
    tool, failing = streaks.same_tool, streaks.same_ok == 0
    if run.tool(tool).repeats and (stop := limits.failing_stop if failing else limits.stop):
        count = min(count, stop - 1)  # a tool that may repeat is only told
    return reading(NAME, count, limits, run.policy.budget.most_calls, failing=failing, tool=tool, of=run.turn)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"The same call of {values.get('tool')} has now had the same outcome {values.get('now')} times in a row. Only "
        f"another outcome, a change in the world, or an item of the plan closed would count as progress. Try another "
        f"way, or finish and say what blocks."
    )
