"""What an audit shows: JSON lines for programs, a strip of verdicts for people."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from statecraft.codec import codec, dump
from statecraft.evolve import evolve
from statecraft.spelled import spelled

from ..outcome import message_of
from ..recent import Recent
from ..state import Run
from .judge import Judged, Verdict

_CODEC: Final = codec(Judged)
_LEFT_OUT: Final = ("strip", "run_now")
_NO_RUN: Final = Run("")

LEGEND: Final = ". went on   n nudged   S stopped   - saved by the stop   + after its own end"
"""The marks of a strip; of a long run each stands for several turns."""

OPEN: Final = "open: the recording breaks off before the run has ended"
"""What the word means that stands where an ending would."""

SQUEEZED: Final = "A strip that is shorter than its run is squeezed: a mark is the gravest of several turns."
"""Said beneath strips that are."""

ORDER: Final = "+-.nS"
"""The marks of a strip from the mildest to the gravest: a mark that stands for several turns shows the gravest."""


def as_json(judged: Judged, recent: Recent) -> bytes:
    """One run as one JSON object, without a newline."""
    return dump(as_plain(judged, recent))


def as_plain(judged: Judged, recent: Recent) -> dict[str, Any]:
    """One run as JSON data. `message` is what a person would have been shown."""
    plain: dict[str, Any] = _CODEC.to_plain(evolve(judged, strip="", run_now=_NO_RUN))
    for name in _LEFT_OUT:
        del plain[name]
    plain["message"] = None if judged.outcome is None else message_of(judged.outcome, recent.text_of)
    return plain


def strip_of(strip: str, width: int = 40) -> str:
    """The verdicts of a run in at most `width` marks; each of a longer run stands for several turns."""
    if len(strip) <= width:
        return strip
    edges = [round(i * len(strip) / width) for i in range(width + 1)]
    return "".join(max(strip[a:b], key=ORDER.index) for a, b in pairwise(edges) if b > a)


def decided(judged: Judged) -> str:
    """What was decided, in a few words."""
    if judged.first_stop is not None:
        by = next(v.by for v in judged.verdicts if v.verdict == "stop")
        return f"stop at {judged.first_stop} by {by}"
    if judged.first_nudge is not None:
        by = next(v.by for v in judged.verdicts if v.verdict == "nudge")
        return f"nudge at {judged.first_nudge} by {by}"
    return "continue" if judged.turns else "continue (no replies)"


def told(verdict: Verdict) -> str:
    """One verdict with its evidence, in one line."""
    seen = f": {spelled(verdict.evidence)}" if verdict.evidence else ""
    return f"turn {verdict.turn:<4} {verdict.verdict} by {verdict.by}{seen}"


def ending(judged: Judged) -> str:
    """How the run would have ended, in a word."""
    return "open" if judged.outcome is None else judged.outcome.status.value
