"""Turns of words or thoughts alone, without any change in the ledger, whatever they say.

Incident: a run failed twice and then only announced its next steps, in other words each time; the wider room for
failures let it talk on, and no two texts were the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading

NAME = "monologue"


def monologue(run: Run, event: TurnEnded) -> Reading:
    """How many turns in a row were words or thoughts alone."""
    limits = run.policy.detectors.monologue
    count = run.turned.silent
    return reading(NAME, count, limits, run.policy.budget.most_turns, of=run.turn)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"The last {values.get('now')} replies were words or thoughts alone: nothing was done, and nothing changed. A "
        f"call, or an item of the plan closed, would count as progress. Call the tool that the next step needs, or "
        f"finish and say what blocks."
    )
