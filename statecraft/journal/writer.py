"""The writer: one run's answers, a line each, in the order in which they were given.

A line is kept before this returns, and so before anybody carries out the commands that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from importlib import metadata
from typing import Any, Generic, TypeVar

import attrs

from ..codec import dump
from ..step import Answer, Fault
from .chain import START, link, seal
from .journaled import Journaled, listing, tables_of
from .records import FORMAT, answered, ended, faulted, handed_on, opening, taken_up
from .store import JournalError, Store

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")
# For `begin` and `resume`: a class's own type variables are not inferred where it is called by its bare name.
RB = TypeVar("RB")
EB = TypeVar("EB")
CB = TypeVar("CB")

DISTRIBUTION = "statecraft-machines"


@attrs.define(eq=False)
class Writer(Generic[R, E, C]):
    """Writes one run. Made by `begin`, or by `resume` for a run that another process left open.

    `cut` is what was cut off when the journal was taken up: the part of a line that was being written when its writer
    died. Whoever resumes should say so. `next` is the number that the next line will have.

    Raises `JournalError` where a line cannot be kept, and `BadData` where a value cannot be written as JSON.
    """

    store: Store
    journaled: Journaled[R, E, C]
    next: int = 0
    cut: bytes = b""
    prev: str = START
    state: str = ""
    closed: bool = False

    @staticmethod
    def begin(
        store: Store,
        journaled: Journaled[RB, EB, CB],
        run_id: str,
        initial_run: RB,
        *,
        host: str = "",
        policy: object = None,
        started: float | None = None,
    ) -> Writer[RB, EB, CB]:
        """Claim the store and write the first line.

        `host`: the host's kind; `policy`: an attrs value or plain JSON; `started`: the wall clock at the events' time
        0.
        """
        cut = store.claim(fresh=True)
        if store.last() is not None:
            raise JournalError(f"{store.name}: already holds a run; resume it, or choose another place")
        for table in tables_of(journaled.table):
            store.put(listing(table))  # under the table's digest: so a changed row can be named later
        writer = Writer(store, journaled, cut=cut, state=journaled.table.at(initial_run).name)
        durability = store.durability
        writer._write(
            opening(
                journaled,
                run_id,
                initial_run,
                policy=policy,
                version=_version(),
                host=host,
                durability=durability,
                started=started,
            )
        )
        return writer

    @staticmethod
    def resume(store: Store, journaled: Journaled[RB, EB, CB]) -> Writer[RB, EB, CB]:
        """Claim the store of a run that was left open, and write on after its last whole line.

        Looks at the first line and the last; whether the lines between are whole is for `verify` to say.
        """
        cut = store.claim()
        last = store.last()
        first = next(iter(store.lines()), None)
        if last is None or first is None:
            raise JournalError(f"{store.name}: holds no run to resume")
        head, found = link(first).record or {}, link(last)
        if head.get("format") != FORMAT:
            raise JournalError(f"{store.name}: is no journal; expected a first line of format {FORMAT}")
        if not found.sealed:
            raise JournalError(f"{store.name}: the last line was changed, so nothing can be added; see verify")
        if found.kind == "end":
            raise JournalError(f"{store.name}: the run has ended, and its journal is closed")
        if head.get("table") != journaled.table.digest:
            raise JournalError(f"{store.name}: the table {journaled.table.name} has changed since the run began")
        if found.kind == "open":
            state = journaled.table.at(journaled.codec.from_plain(head.get("initial"), journaled.run_type)).name
        else:
            record = found.record or {}
            state = str(record.get("target") or record.get("source"))
        return Writer(store, journaled, found.seq + 1, cut, found.hash, state)

    def answer(self, event: E, answer: Answer[R, C]) -> int | None:
        """Write what stepping answered. Gives the line's number; None for an ignored event, which is not written."""
        record = answered(self.journaled, event, answer)
        if record is None:
            return None
        number = self._write(record)
        self.state = record.get("target", record["source"])
        return number

    def fault(self, event: E, fault: Fault) -> int:
        """Write a fault that stepping raised."""
        return self._write(faulted(self.journaled, event, fault, self.state))

    def leg(self, run: R) -> int:
        """Write that the run was handed on, and is now `run`."""
        record = handed_on(self.journaled, self.state, run)
        number = self._write(record)
        self.state = record["target"]
        return number

    def take_up(self, by: str, at: float, in_flight: Sequence[dict[str, Any]] = ()) -> int:
        """Write that the run was taken up by the process `by`, and what was in flight then."""
        return self._write(taken_up(self.state, by, at, in_flight))

    def end(self, state: Enum) -> int:
        """Write the terminal record. Nothing can follow it."""
        number = self._write(ended(self.next, state))
        self.closed = True
        return number

    def _write(self, record: dict[str, Any]) -> int:
        if self.closed:
            raise JournalError(f"{self.store.name}: the run has ended, and its journal is closed")
        record["seq"] = number = self.next
        record["prev"] = self.prev
        line, digest = seal(dump(record))
        self.store.append(number, line)
        self.prev = digest
        self.next = number + 1
        return number


@cache
def _version() -> str:
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "unknown"
