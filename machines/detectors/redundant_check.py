"""A look right after another tool's success that had already told, or right after a recovery.

Incident: a desktop agent took a screenshot after every command of the shell, whose answer had said it all, and each
picture showed what the last one had shown.

Only tools that declare that they only look are judged, and only a look that itself brings nothing new. It is said once
until the next such success, and never stops a run.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading

NAME = "redundant_check"


def redundant_check(run: Run, event: TurnEnded) -> Reading:
    """1 where the turn only looked, saw nothing new, and what it could have seen had been told; else 0."""
    limits, streaks = run.policy.detectors.redundant_check, run.turned
    count = int(streaks.looked)
    told = run.streaks.told or None
    # The look has to have been seen once, and the success before it: in one turn before, or in two.
    budget = run.policy.budget
    most = int(budget.most_turns >= (2 if budget.calls_per_turn > 1 else 3))
    return reading(NAME, count, limits, most, told_by=told, recovered=run.streaks.recovered, of=run.turn)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    told = f"the success of {values.get('told_by')}" if values.get("told_by") else "the success before it"
    return (
        f"That look ({values.get('tools')}) showed nothing new: {told} had told it already, and needs no look to "
        f"confirm it. A next step would count as progress. Go on with the task, or finish and say what blocks."
    )
