"""A reply, still streaming, that says the same again and again.

Incident: a model fell into one sentence and wrote it until its reply budget was gone; nobody saw it before the reply
had ended.

Counted outside of code, tables, quotes and dividers, and within one item of a list or one heading (`ledger/chant.py`).
The stream is cut and the run is stopped.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import Chunk
from ..policy import UNBOUNDED
from ..state import Run
from ..turn import Turn
from .limits import reading

NAME = "chanting"


def chanting(run: Run, event: Chunk) -> Reading:
    """How often the end of the stream says the same, back to back."""
    limits = run.policy.detectors.chanting
    return reading(
        NAME, event.laps, limits, UNBOUNDED, period=event.period, channel=event.channel, of=Turn(run.turn.number + 1)
    )


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"Your reply said the same {values.get('now')} times over and was cut. Something not said before would count "
        f"as progress. Go on with the task, or finish and say what blocks."
    )
