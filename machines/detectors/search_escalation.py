"""A trailing run of searches that find nothing.

Incident: ten searches without a hit, each in other words, with notes and plans written between them that were news.

Fruitless is declared (`fruitless`) or measured: an error, an empty collection, a zero count; never guessed from words.
A search that finds something clears it; other tools leave it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading

NAME = "search_escalation"


def search_escalation(run: Run, event: TurnEnded) -> Reading:
    """How many searches in a row found nothing."""
    limits = run.policy.detectors.search_escalation
    count = run.turned.searches
    return reading(NAME, count, limits, run.policy.budget.most_calls, of=run.turn)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"The last {values.get('now')} searches found nothing. A search that finds something would count as progress. "
        f"Look somewhere else, work with what you have, or finish and say what could not be found."
    )
