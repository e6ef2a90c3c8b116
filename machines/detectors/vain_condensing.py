"""Condensings of the history that bring nothing.

Incident: a summary as long as what it replaced was made again at every request, until the money was gone; and a run
that read the same files anew after each condensing, and got no further before the next.

One is in vain if it freed less than its share of the window, or if no distinct work was done since the last one. One
that frees, with work done since, clears the count; so do a few turns with work in them.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import Condensed
from ..policy import UNBOUNDED
from ..state import Run
from .limits import reading

NAME = "vain_condensing"

APART = 3
"""Turns: what is condensed again after more of them, with work done since, is another incident."""


def vain_condensing(run: Run, event: Condensed) -> Reading:
    """How many condensings in a row were in vain, with this one."""
    limits = run.policy.detectors.vain_condensing
    count = vain(run, event)
    return reading(NAME, count, limits, UNBOUNDED, freed=event.freed, work=run.ledger.work.size, of=run.turn)


def vain(run: Run, event: Condensed) -> int:
    """The count with this condensing in it."""
    if not event.counted or event.nothing_left:
        return run.streaks.vain  # nothing was done that could have helped
    limits, streaks = run.policy.detectors.vain_condensing, run.streaks
    # Nothing could ever free a share of a window that is larger than the model's.
    window = limits.window_tokens if event.window is None else min(event.window, limits.window_tokens)
    little = event.freed < limits.share * window
    again = run.ledger.work.size == streaks.work
    if not again and run.turn.number - streaks.condensed > APART:
        return int(little)
    return streaks.vain + 1 if little or again else 0


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"The history was condensed {values.get('now')} times in a row without effect: it did not get shorter, or the "
        f"same was read anew after it. New work between two condensings would count as progress. Work with what you "
        f"know, or finish and say what blocks."
    )
