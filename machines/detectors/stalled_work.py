"""Checks in a row, one a turn, at which the set of distinct work had not grown.

Incident: an agent read a dozen pages, and then the same dozen again. Each page had left the tool's last few results by
the time it was read again, so each was news; the set of distinct work stood still from the second lap on. Failures
count once for each outcome, whatever command or tool brought it about: siblings that all meet one dead end stand still.

It stops without a nudge of its own: what it sees has been so for several turns, and `no_progress` speaks earlier where
it can. While every call of the streak failed, the limit is twice as wide. A new state, an item closed, or a better
count of the goal clears it.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading

NAME = "stalled_work"


def stalled_work(run: Run, event: TurnEnded) -> Reading:
    """How many turns in a row added nothing to the distinct work, with this one."""
    limits, streaks = run.policy.detectors.stalled_work, run.turned
    return reading(
        NAME,
        streaks.stalled,
        limits,
        run.policy.budget.most_turns,
        failing=streaks.stalled_failed > 0 and streaks.stalled_ok == 0,
        of=run.turn,
    )


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"For {values.get('now')} turns nothing was done that had not been done before in this run: no new source, no "
        f"new result, no new outcome of a command, no file changed. Any of these would count as progress. Try another "
        f"way, or finish and say what blocks."
    )
