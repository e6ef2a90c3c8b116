"""One recorded run under several policies, side by side: what each would have done, and where they part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from statecraft.codec import dump

from ..policy import Policy
from ..recent import Recent
from ..traces.recorded import Recorded
from .again import kept
from .judge import RANK, Judged, judge
from .lines import Line, line_of
from .report import as_plain


@attrs.frozen
class Side:
    """What one policy would have done with the run: its verdicts, and the run as JSON data."""

    policy: str
    judged: Judged
    plain: Mapping[str, Any]


@attrs.frozen
class Compared:
    """A run's line in a comparison: what each policy decided, and the first turn at which they part."""

    decided: tuple[str, ...]
    lines: tuple[Line, ...]
    parts: int | None


def sides(recorded: Recorded, policies: Sequence[tuple[str, Policy]]) -> tuple[Side, ...]:
    """Judge the run by each of the policies, which are given by name. Raises what reading the run raises."""
    again = kept(recorded)
    found: list[Side] = []
    for name, policy in policies:
        recent = Recent()
        judged = judge(again(), policy, keep=recent.keep)
        found.append(Side(name, judged, as_plain(judged, recent)))
    return tuple(found)


def parts(found: Sequence[Side]) -> int | None:
    """The first turn at which one of them nudged or stopped and another did not; None: they never part.

    By which rule is not compared: to the run it is the same.
    """
    did = [{(v.turn, v.verdict) for v in side.judged.verdicts} for side in found]
    apart = [turn for one in did for other in did for turn, _ in one - other]
    return min(apart, default=None)


def worst(found: Sequence[Side]) -> int:
    """The rank of the gravest verdict of all."""
    return max(RANK[side.judged.worst] for side in found)


def compared(found: Sequence[Side], *, why: bool = False) -> Compared:
    """The run's line; `why` keeps each verdict with its evidence."""
    judged = [side.judged for side in found]
    return Compared(tuple(map(in_short, judged)), tuple(line_of(j, why=why) for j in judged), parts(found))


def in_short(judged: Judged) -> str:
    """The first nudge and the first stop, and the rule of the graver one."""
    first = {v.verdict: v for v in reversed(judged.verdicts)}
    if not first:
        return "continue" if judged.turns else "continue (no replies)"
    nudge, stop = first.get("nudge"), first.get("stop")
    told = [f"{v.verdict} at {v.turn}" for v in (nudge, stop) if v is not None]
    if nudge is not None and stop is not None and nudge.turn >= stop.turn:
        told = told[1:]  # of a later leg
    by = stop or nudge
    assert by is not None
    return f"{', '.join(told)} by {by.by}"


def as_json(found: Sequence[Side]) -> bytes:
    """The run as one JSON object, without a newline: what it is, where they part, and what each policy answers."""
    first = found[0].judged
    return dump(
        {
            "run": first.run,
            "file": first.file,
            "format": first.format,
            "turns": first.turns,
            "parts": parts(found),
            "policies": [{"policy": side.policy, **side.plain} for side in found],
        }
    )
