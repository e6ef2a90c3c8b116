"""How the search steps a run: one event of the world, with all that it brings, as the supervisor has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from statecraft import Fault
from statecraft.proofs import Search, Taken

from ..events import Event
from ..run import RUN
from ..state import Run
from ..supervisor import NewLeg, feed
from .key import key_of
from .laws import LAWS
from .moves import moves
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


SEARCH: Final = Search(RUN, STARTS, moves, key_of, LAWS, SHAPE, play)
