"""Turns in a row in which nothing new came in: no new result, no new state, no item closed, no better count.

Incident: an agent that searched documents reworded one failing question again and again. Every call was new and every
answer the same nothing, so a count of equal calls saw a healthy run.

While every call of the streak failed, or its result was not seen, the limits are wider. A turn without a call counts as
well: nothing came in. A turn that only looked at a declared wait counts for nothing either way.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading

NAME = "no_progress"


def no_progress(run: Run, event: TurnEnded) -> Reading:
    """How many turns in a row brought nothing new, with this one."""
    limits, streaks = run.policy.detectors.no_progress, run.turned
    return reading(
        NAME,
        streaks.barren,
        limits,
        run.policy.budget.most_turns,
        failing=streaks.barren_failed > 0 and streaks.barren_ok == 0,
        last_signal=streaks.last_signal or None,
        last_signal_turn=streaks.last_signal_turn,
        of=run.turn,
    )


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"For {values.get('now')} turns nothing new has come in: every result was one seen before, nothing was changed "
        f"to a state not seen before, and no item of the plan was closed. Any of these would count as progress. Try "
        f"another way, or finish and say what blocks."
    )
