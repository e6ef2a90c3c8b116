"""How a run stands: whether it has ended, where, and the two steps that brought it there."""

from __future__ import annotations

from typing import Any, TypeVar

import attrs

from ..journal import Journaled, Store, Verdict
from ..step import Refused
from .explain import Explanation, of_line
from .recorded import Advanced, Line, Migrate, advance, lines, next_leg, recorded

R = TypeVar("R")


@attrs.frozen
class Standing:
    """Where a run came to, and why. `journal` says whether its record is whole.

    `last` is its last step (none where it has not begun; a fault counts, a refusal after the end does not). `came` is
    the step that brought it into the state which `last` began in: mostly the decision behind an end. It is None where
    the leg began in that state.
    """

    run: str
    machine: str
    state: str
    ended: bool
    journal: Verdict
    came: Explanation | None
    last: Explanation | None


Candidate = tuple[int, R, Line, Advanced[R] | None]


def standing(store: Store, of: Journaled[R, Any, Any], migrate: Migrate | None = None) -> Standing:
    """Step a recorded run to where it stands. Raises `JournalError` where it cannot be read."""
    head = recorded(store, of, migrate)
    table, run = of.table, head.initial
    last: Candidate[R] | None = None
    came: Candidate[R] | None = None
    moved: Candidate[R] | None = None  # the last step so far that changed the state
    for line in lines(store, of, migrate):
        if line.kind == "leg":
            run = next_leg(store, of, run, line)
            last = came = moved = None
            continue
        if line.event is None and line.kind != "fault":
            continue
        stepped = None if line.event is None else advance(of, run, line.event)
        here = (line.seq, run, line, stepped)
        before, run = table.at(run), run if stepped is None else stepped.after
        answer = None if stepped is None else stepped.answer
        if not (isinstance(answer, Refused) and before in table.final):
            last, came = here, moved
        if table.at(run) is not before:
            moved = here
    state = table.at(run)
    return Standing(
        run=head.run,
        machine=head.machine,
        state=state.name,
        ended=state in table.final,
        journal=head.verified.verdict,
        came=None if came is None else of_line(of, *came),
        last=None if last is None else of_line(of, *last),
    )
