"""What a step decided about a run: nudge or stop, by which rule, on what evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from statecraft import Fault, Scalar, Step

from .commands import Tell
from .state import Phase
from .supervisor import Moved

ASKED_ANEW: Final = frozenset({"continued", "cut_call", "cut_thought", "malformed", "bad_call"})
"""By these the model is told why it is asked again; that is no nudge, since nothing that it did is held against it."""


@attrs.frozen
class Decided:
    """A nudge or a stop."""

    verdict: str
    by: str
    evidence: Mapping[str, Scalar]


def decided(move: Moved) -> Iterator[Decided]:
    """What one step decided; mostly nothing.

    A budget, spent recoveries and a final refusal are stops too, each under its own name.
    """
    answer = move.answer
    if isinstance(answer, Fault):
        yield Decided("stop", "fault", {"part": answer.part, "problem": answer.problem})
        return
    if not isinstance(answer, Step):
        return
    run = answer.run
    if answer.target is Phase.CONCLUDING and answer.source is not Phase.CONCLUDING and run.stop is not None:
        yield Decided("stop", run.stop.by, dict(run.stop.values))
    elif answer.target is Phase.FAILED and run.outcome is not None:
        yield Decided("stop", run.outcome.reason.by, dict(run.outcome.reason.values))
    for command in answer.commands:
        if isinstance(command, Tell) and command.by not in ASKED_ANEW:
            yield Decided("nudge", command.by, dict(command.values))
