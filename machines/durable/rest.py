"""Whether a run is to be driven now, read off what stands beside its journal. Nothing is stepped for it.

A run that waits is driven when its time has come, or when a letter lies there that answers what it waits for. One that
has ended is never driven again. Any other is: it has not begun, or its process is gone.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from statecraft.journal import Shelf, Store, link

from ..journaled import AGENT_RUN
from ..letters import letters_to
from ..standing import ENDED, STANDING, WAITING, Standing, standing_of, standing_read


@attrs.frozen
class Rest:
    """How a run rests. `due`: it is to be driven now; else at `until` (the wall clock; None = when something comes).

    `lines`: how many its journal has. `ended`: there is nothing more to drive.
    """

    lines: int
    due: bool
    until: float | None = None
    ended: bool = False


def rest_of(store: Store, now: float) -> Rest:
    """How the run rests. `now`: the wall clock."""
    last = store.last()
    lines = 0 if last is None else link(last).seq + 1
    stood = standing_of(store)
    if stood is None or stood.state not in (WAITING, ENDED):
        return Rest(lines, due=True)
    if stood.state == ENDED:
        return Rest(lines, due=False, ended=True)
    over = stood.until is not None and stood.until <= now
    return Rest(lines, over or bool(letters_to(store.mail(), stood.signals)), stood.until)


def answers(store: Store, stood: Standing) -> tuple[str, ...]:
    """The ids of the letters that answer what the run waits for."""
    return tuple(id for id, _ in letters_to(store.mail(), stood.signals))


def unfinished(shelf: Shelf) -> Iterator[tuple[str, Standing]]:
    """The runs of a shelf that have not ended, each with how it last said that it stands."""
    for run, body in shelf.notes(STANDING):
        stood = standing_read(body)
        if stood is not None and stood.state != ENDED:
            yield run, stood


def table_of(store: Store) -> str:
    """The digest of the table that a run was begun with; of today's, where it has not begun."""
    for line in store.lines():
        return str((link(line).record or {}).get("table"))
    return AGENT_RUN.table.digest
