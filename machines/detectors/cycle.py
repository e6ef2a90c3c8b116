"""A lap of several turns, walked again and again.

Incident: a dozen pages were read in batches, and a report written from them that nobody digests, over and over. Each
page had left the tool's last few results by the time it was read again, and the write may have changed something, so
that the run never stood still; a few pages in turn, without a write, are `no_progress`'s before a lap is a cycle.

A turn is its calls as a multiset, results included: their order inside the turn does not matter, and a turn that holds
the same calls several times over is as many laps. A turn of words alone ends no lap. A lap of one turn with one kind of
call is `consecutive_duplicate`'s, and is left to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from ..streaks import LAP
from .limits import reading, worst

NAME = "cycle"


def cycle(run: Run, event: TurnEnded) -> Reading:
    """How many whole laps end with this turn, of the period that has come furthest."""
    limits, streaks = run.policy.detectors.cycle, run.turned
    laps, most = streaks.laps, run.policy.budget.most_calls
    most = most if most > 1 else 0  # one lap is none
    found: list[Reading] = []
    if limits.enabled and laps.find(laps[-LAP:]) < len(laps) - LAP:  # what this turn did was done before
        for period in range(1, limits.max_period + 1):
            count = _laps(laps, period * LAP)
            if count > 1 and not _left_to_others(laps[-period * LAP :], alone=streaks.same_count > 0):
                failing = all(laps[LAP - 1 :: LAP][-period:])
                found.append(reading(NAME, count, limits, most, of=run.turn, failing=failing, period=period))
    return worst(NAME, found, limits, most)


def _left_to_others(lap: bytes, *, alone: bool) -> bool:
    """Whether a lap is one turn again and again: a shorter period sees that, and of one kind of call the duplicates."""
    turns = {lap[at : at + LAP] for at in range(0, len(lap), LAP)}
    return len(turns) == 1 and (len(lap) > LAP or alone)


def _laps(laps: bytes, size: int) -> int:
    """How often the last `size` bytes stand at the end, back to back."""
    lap, count, end = laps[-size:], 1, len(laps) - size
    while end >= size and laps[end - size : end] == lap:
        count, end = count + 1, end - size
    return count if len(lap) == size else 0


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    turns = "turn" if values.get("period") == 1 else f"{values.get('period')} turns"
    return (
        f"The last {turns} were walked {values.get('now')} times over, with the same calls and the same results. Only "
        f"a result not seen before, a change in the world, or an item of the plan closed would count as progress. Try "
        f"another way, or finish and say what blocks."
    )
