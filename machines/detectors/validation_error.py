"""The same call, refused for its arguments, again and again; or a tool that is not there.

Incident: a write without its content was answered with the same validation error every time; the answer depends on
nothing but the call, so the wider room for failures, which waits for the world to change, only costs money.

Three in a row are a stop. Since no answer could change that, the third is not run: the reply's whole batch is held. A
tool that is not there counts whatever its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import Reply, TurnEnded
from ..state import Run
from ..streaks import unknown_key
from .limits import NO_TURN, reading, reply_turn

NAME = "validation_error"


def validation_error(run: Run, event: TurnEnded) -> Reading:
    """How many calls in a row were refused in the same way."""
    limits, streaks = run.policy.detectors.validation_error, run.turned
    count = streaks.invalid_count if limits.enabled else 0
    return reading(NAME, count, limits, run.policy.budget.most_calls, of=run.turn)


def before(run: Run, event: Reply) -> Reading:
    """How many it would be with the calls of this reply, where all of them are what was refused before.

    What the plan or the goal has said since clears it, as it clears the turn that the reply begins.
    """
    limits, streaks = run.policy.detectors.validation_error, run.streaks
    known = b"" if run.turn.strong else streaks.invalid
    doomed = known != b"" and all(known in (call.signature, unknown_key(call.tool)) for call in event.calls)
    count = streaks.invalid_count + len(event.calls) if doomed and limits.enabled else 0
    tool = event.calls[0].tool if event.calls else None
    return reading(
        NAME, count, limits, run.policy.budget.most_calls, tool=tool, of=reply_turn(run, event) if count else NO_TURN
    )


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"The same call of {values.get('tools')} has now been refused {values.get('now')} times for what it is, not "
        f"for what came of it, and will be refused again. Other arguments, or a tool that is there, would count as "
        f"progress. Read the error and try so, or finish and say what blocks."
    )
