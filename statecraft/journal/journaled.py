"""What a journal has to know of a machine, to write its runs and to step them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import attrs

from ..codec import Codec, Tagged
from ..guards import Evidence, Reading
from ..table import Table

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")


def tables_of(table: Table[Any, Any, Any, Any]) -> Iterator[Table[Any, Any, Any, Any]]:
    """The table, and the tables of its inner machines, theirs too."""
    yield table
    for held in table.inners:
        yield from tables_of(held.table)


def listing(table: Table[Any, Any, Any, Any]) -> bytes:
    """All names of the table, a line each. The SHA-256 of it is the table's digest."""
    return "\n".join(table.listing).encode()


def _events(of: Journaled[Any, Any, Any]) -> Tagged:
    return of.codec.tagged(*of.table.events)


def _commands(of: Journaled[Any, Any, Any]) -> Tagged:
    asked = {command for table in tables_of(of.table) for row in table.rows for command in row.asks}
    return of.codec.tagged(*sorted(asked, key=lambda command: (command.__name__, command.__module__)))


def _findings(of: Journaled[Any, Any, Any]) -> Tagged:
    return of.codec.tagged(Evidence, Reading)


def _run_writer(of: Journaled[Any, Any, Any]) -> Callable[[Any], Any]:
    return of.codec.writer(of.run_type)


@attrs.frozen(eq=False)
class Journaled(Generic[R, E, C]):
    """A machine whose runs are kept: its table, the type of its run, and the codec for its values.

    `hand_on` is the pure function that begins the next leg from a run that has ended or was given up. With it a leg's
    first run is computed when it is replayed; without it, it stands in the line. Raises `TypeError` where an event or a
    command of the table cannot be kept.
    """

    table: Table[R, Any, E, C]
    run_type: type[R]
    codec: Codec
    hand_on: Callable[[R], R] | None = None
    events: Tagged = attrs.field(init=False, repr=False, default=attrs.Factory(_events, takes_self=True))
    commands: Tagged = attrs.field(init=False, repr=False, default=attrs.Factory(_commands, takes_self=True))
    findings: Tagged = attrs.field(init=False, repr=False, default=attrs.Factory(_findings, takes_self=True))
    write_run: Callable[[R], Any] = attrs.field(
        init=False, repr=False, default=attrs.Factory(_run_writer, takes_self=True)
    )
