"""How the search steps a run: one event of the world, with all that it brings, as the supervisor has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from statecraft import Fault
from statecraft.proofs import RowPath, Search, Taken

from .._run_effects import stop_at_limit_in_reply
from ..events import Event, Reply
from ..run import RUN
from ..state import Run
from ..supervisor import NewLeg, feed
from .key import key_of
from .laws import LAWS
from .moves import moves
from .near import NEAR
from .shape import SHAPE
from .starts import STARTS


def play(run: Run, event: Event) -> Sequence[Taken[Run, Event]]:
    """Every step that the event leads to; a new leg is none, but the step after it begins with its run."""
    taken: list[Taken[Run, Event]] = []
    for move in feed(run, event).moves:
        if isinstance(move, NewLeg):
            run = move.run
            continue
        after = run if isinstance(move.answer, Fault) else move.answer.run
        taken.append(Taken(run, move.event, move.answer, after))
        run = after
    return taken


NEVER: Final[Mapping[RowPath, str]] = {
    ((RUN.name,), number): (
        "a run without a turn left asks for nothing but its last reply, so no other reply finds it so; the row stands "
        "below the one that pays the turn, lest a reply be refused should some row ever ask all the same"
    )
    for number, row in enumerate(RUN.rows)
    if row.event is Reply and row.effect is stop_at_limit_in_reply and not row.guards
}
"""Rows that no run takes, and why."""

SEARCH: Final = Search(RUN, STARTS, moves, key_of, LAWS, SHAPE, play, NEAR, NEVER)
