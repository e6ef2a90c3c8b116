"""An empty thought, twice in a row.

Incident: a model with thinking of its own called its thinking tool without a thought in it, as a ritual, before and
after every step.

The tool declares itself `think`. Since no answer could change that, the second is not run.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import Reply, TurnEnded
from ..manifest import Kind
from ..state import Run
from .limits import reading, reply_turn

NAME = "empty_thought"


def empty_thought(run: Run, event: TurnEnded) -> Reading:
    """How many calls in a row were thoughts without anything in them."""
    limits = run.policy.detectors.empty_thought
    count = run.turned.thoughts
    return reading(NAME, count, limits, run.policy.budget.most_calls, of=run.turn)


def before(run: Run, event: Reply) -> Reading:
    """How many it would be with the calls of this reply, where all of them are empty thoughts.

    What the plan or the goal has said since clears it, as it clears the turn that the reply begins.
    """
    limits = run.policy.detectors.empty_thought
    all_empty = not run.turn.strong and all(
        call.empty and run.tool(call.tool).kind is Kind.THINK for call in event.calls
    )
    calls = min(len(event.calls), run.policy.budget.calls_per_turn)
    count = run.streaks.thoughts + calls if calls and all_empty else 0
    return reading(NAME, count, limits, run.policy.budget.most_calls, of=reply_turn(run, event))


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"The last {values.get('now')} thoughts held nothing, and a thought is no step: a call that does something "
        f"would count as progress. Go on with the task, or finish and say what blocks."
    )
