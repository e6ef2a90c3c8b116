"""A recorded run, read back: what stands in the first line, and the events in their order, to be stepped again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Generic, TypeVar

import attrs

from ..codec import BadData
from ..journal import Journaled, JournalError, Store, Verified, link, tables_of, verify
from ..step import Answer, Fault

R = TypeVar("R")

# From a line as it was recorded to the line as the table of today would have it; None leaves it out.
Migrate = Callable[[dict[str, Any]], Mapping[str, Any] | None]


class TableChanged(JournalError):
    """The table is not the one that the run was recorded with. `row` says what differs first, empty if not known."""

    def __init__(self, message: str, row: str) -> None:
        self.row = row
        super().__init__(message)


@attrs.frozen
class Recorded(Generic[R]):
    """A run as it was recorded: who it is, whether its journal is whole or open, and the run value it began with."""

    run: str
    machine: str
    version: str
    host: str
    policy: Any
    verified: Verified
    initial: R


@attrs.frozen
class Line:
    """One line after the first: its number, its kind, its fields, and its event where it has one."""

    seq: int
    kind: str
    record: Mapping[str, Any]
    event: Any = None


@attrs.frozen
class Advanced(Generic[R]):
    """What stepping a run again came to: an answer or a fault, and the run afterwards."""

    answer: Answer[R, Any] | None
    fault: Fault | None
    after: R


def recorded(store: Store, of: Journaled[R, Any, Any], migrate: Migrate | None = None) -> Recorded[R]:
    """Check the whole journal, and read its first line.

    Raises `JournalError` if the journal is broken or of another machine, and `TableChanged` if its table differs from
    that of `of`, unless there is a function to migrate the lines.
    """
    verified = verify(store)
    if verified.verdict == "broken":
        raise JournalError(f"{store.name}: broken at seq {verified.seq}, {verified.why}: {verified.detail}")
    head = dict(link(next(iter(store.lines()), b"")).record or {})
    if migrate is None:
        if head.get("machine") != of.table.name:
            raise JournalError(f"{store.name}: a run of machine {head.get('machine')}, expected {of.table.name}")
        if head.get("table") != of.table.digest:
            raise changed(store, of, str(head.get("table")))
    head = dict((migrate(head) if migrate else head) or head)
    try:
        initial = of.codec.from_plain(head.get("initial"), of.run_type)
    except BadData as error:
        raise unreadable(store, 0, "initial", error) from error
    return Recorded(
        run=str(head.get("run")),
        machine=str(head.get("machine")),
        version=str(head.get("version")),
        host=str(head.get("host")),
        policy=head.get("policy"),
        verified=verified,
        initial=initial,
    )


def lines(store: Store, of: Journaled[Any, Any, Any], migrate: Migrate | None = None) -> Iterator[Line]:
    """All lines after the first. Raises `JournalError` where an event cannot be read back."""
    stored = iter(store.lines())
    next(stored, None)
    for number, raw in enumerate(stored, 1):
        record: Mapping[str, Any] = link(raw).record or {}
        if migrate is not None:
            moved = migrate(dict(record))
            if moved is None:
                continue
            record = moved
        event = record.get("event")
        try:
            value = None if event is None else of.events.read(event)
        except BadData as error:
            raise unreadable(store, number, "event", error) from error
        yield Line(number, str(record.get("kind")), record, value)


def advance(of: Journaled[R, Any, Any], run: R, event: Any) -> Advanced[R]:
    """Step the run; a fault of the machine is an answer here."""
    try:
        answer = of.table.step(run, event)
    except Fault as fault:
        return Advanced(None, fault, run)
    return Advanced(answer, None, answer.run)


def next_leg(store: Store, of: Journaled[R, Any, Any], run: R, line: Line) -> R:
    """The run that a `leg` line begins: computed from the one before, or as it stands in the line."""
    if of.hand_on is not None:
        return of.hand_on(run)
    try:
        return of.codec.from_plain(line.record.get("run"), of.run_type)
    except BadData as error:
        raise unreadable(store, line.seq, "run", error) from error


def unreadable(store: Store, seq: int, field: str, error: BadData) -> JournalError:
    """A value of a line that cannot be read back."""
    problem = error.problems[0].under(f".{field}")
    return JournalError(f"{store.name}: seq {seq}, {problem}")


def changed(store: Store, of: Journaled[Any, Any, Any], recorded_digest: str) -> TableChanged:
    """The table is not the one that the run was recorded with: the first row that differs."""
    row = _first_difference(store, of, recorded_digest)
    known = row or f"its digest was {recorded_digest[:12]} and is {of.table.digest[:12]}"
    message = f"{store.name}: the table {of.table.name} has changed since this run was recorded: {known}"
    return TableChanged(message, row)


def _first_difference(store: Store, of: Journaled[Any, Any, Any], digest: str) -> str:
    """The first line of the table's listing that differs, inner machines included; empty where the old one is gone."""
    now = {table.name: table.listing for table in tables_of(of.table)}
    name = of.table.name
    found = ""
    while (content := store.get(digest)) is not None:
        for was, is_now in zip_longest(content.decode().split("\n"), now[name]):
            if was == is_now:
                continue
            found = f"table {name} had [{was or 'nothing'}], and has [{is_now or 'nothing'}]"
            break
        else:
            break
        # A line `inner NAME during ... DIGEST` that differs in its digest alone: the difference is within.
        before, after = (was or "").split(" "), (is_now or "").split(" ")
        if before[0] != "inner" or before[:-1] != after[:-1] or before[1] not in now:
            break
        name, digest = before[1], before[-1]
    return found
