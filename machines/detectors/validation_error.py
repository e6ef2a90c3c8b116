"""The same call, refused for its arguments, again and again; or a tool that is not there.

Incident: a write without its content was answered with the same validation error every time; the answer depends on
nothing but the call, so the wider room for failures, which waits for the world to change, only costs money.

Three in a row are a stop. Since no answer could change that, the third is not run: the reply's whole batch is held. A
tool that is not there counts whatever its arguments; arguments that are no JSON object count too.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import Reply, TurnEnded
from ..manifest import Kind
from ..state import Run
from ..streaks import invalid_key, unknown_key
from .limits import reading, reply_turn

NAME = "validation_error"


def validation_error(run: Run, event: TurnEnded) -> Reading:
    """How many calls in a row were refused in the same way."""
    limits, streaks = run.policy.detectors.validation_error, run.turned
    count = streaks.invalid_count
    refused = {answer.tool for answer in run.turn.judged if invalid_key(answer)} if count else set[str]()
    tool = min(refused, default=None)
    return reading(NAME, count, limits, run.policy.budget.most_answers, tool=tool, of=run.turn)


def before(run: Run, event: Reply) -> Reading:
    """How many it would be with the calls of this reply, where all of them are what was refused before.

    What the plan or the goal has said since clears it, as it clears the turn that the reply begins.
    """
    limits, streaks, budget = run.policy.detectors.validation_error, run.streaks, run.policy.budget
    known = b"" if run.turn.strong else streaks.invalid
    calls = [call for call in event.calls if run.tool(call.tool).kind is not Kind.THINK]
    doomed = known != b"" and all(known in (call.signature, unknown_key(call.tool)) for call in calls)
    count = streaks.invalid_count + min(len(calls), budget.calls_per_turn) if calls and doomed else 0
    tool = calls[0].tool if calls else None
    most = budget.most_answers - budget.calls_per_turn if budget.most_turns > 1 else 0
    return reading(NAME, count, limits, most, tool=tool, of=reply_turn(run, event))


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    of_what = f" of {values['tool']}" if values.get("tool") else ""
    return (
        f"The same call{of_what} has now been refused {values.get('now')} times for what it is, not "
        f"for what came of it, and will be refused again. Other arguments, or a tool that is there, would count as "
        f"progress. Read the error and try so, or finish and say what blocks."
    )
