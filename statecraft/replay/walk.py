"""A recorded run stepped on from a place in it, line by line, each checked against the chain and against the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import attrs

from ..codec import BadData
from ..journal import Journaled, JournalError, Store, link
from .compare import compared
from .recorded import Advanced, Line, advance, next_leg, unreadable

R = TypeVar("R")


@attrs.frozen
class Walked(Generic[R]):
    """One line: the run before it and after it, and what its event came to, where it has one. `hash` is the line's."""

    line: Line
    before: R
    after: R
    stepped: Advanced[R] | None
    hash: str


def walk(store: Store, of: Journaled[R, Any, Any], run: R, after: int, hash: str) -> Iterator[Walked[R]]:
    """All lines numbered above `after`, whose run is `run` and whose hash is `hash`.

    Raises `JournalError` at a line that is not the next of the chain, or that the table would not answer as recorded.
    """
    for number, raw in enumerate(store.lines(after), after + 1):
        found = link(raw)
        if not found.sealed or found.seq != number or found.prev != hash:
            raise JournalError(f"{store.name}: line {number} does not follow the one before it; see verify")
        record = found.record or {}
        given = record.get("event")
        try:
            event = None if given is None else of.events.read(given)
        except BadData as error:
            raise unreadable(store, number, "event", error) from error
        line, before, stepped = Line(number, found.kind, record, event), run, None
        if found.kind == "leg":
            run = next_leg(store, of, run, line)
        elif event is not None:
            stepped = advance(of, run, event)
            run = stepped.after
        difference = compared(of, line, before, run, stepped)
        if difference is not None:
            was = f"{difference.what} was {difference.recorded}, and is {difference.replayed} now"
            raise JournalError(f"{store.name}: seq {number}: {was}: the rules have changed since it was recorded")
        hash = found.hash
        yield Walked(line, before, run, stepped, hash)
