"""Is a journal whole? If not, where it was touched and how.

The chain says that something is wrong; what it was is told from the lines around the place. What no chain can see is a
journal that was written anew from some line to its end: whoever must rule that out keeps `Verified.head`, the last
hash, somewhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import attrs

from .chain import START, Link, link
from .opened import opened
from .records import FORMAT, looks_like_one
from .store import Store
from .tampering import Tampering, Why, tampering

Verdict = Literal["whole", "open", "broken"]


@attrs.frozen
class Verified:
    """What was found. `seq` and `line` (counted from 1) say where, for everything that is not whole.

    `lines` is how many lines are in order, from the first; `head` the hash of the last of them.
    """

    verdict: Verdict
    why: Why
    detail: str
    lines: int
    seq: int | None
    line: int | None
    run: str
    machine: str
    head: str


def verify(journal: Store | Path | str, run: str | None = None) -> Verified:
    """Check every line. `run` names the run where a file holds several. Raises `JournalError` if it cannot be read."""
    if isinstance(journal, Path | str):
        with closing(opened(journal, run)) as store:
            return verify(store)
    before: Link | None = None
    before_line: bytes | None = None
    head: Link | None = None
    number = 0
    for line, after in _with_next(journal.lines()):
        here = link(line)
        if _is_next(number, here, before):
            wrong = _misplaced(number, here)
        else:
            wrong = tampering(
                number, here, link(after) if after is not None else None, before, line == before_line, journal
            )
        if wrong is not None:
            why, seq, detail = wrong
            return _verified("broken", why, detail, number, seq, number + 1, head, before)
        if number == 0:
            head = here
        before, before_line = here, line
        number += 1
    tail = journal.tail()
    if before is None and not looks_like_one(tail):
        return _verified("broken", "not a journal", "there is no line in it", 0, 0, 1, None, None)
    if before is not None and before.kind == "end":
        if not tail:
            return _verified("whole", "", "", number, None, None, head, before)
        detail = f"{len(tail)} bytes follow the terminal record"
        return _verified("broken", "inserted", detail, number, number, number + 1, head, before)
    if tail:
        detail = f"the last line was cut short after {len(tail)} bytes; everything before it is kept"
        return _verified("open", "torn", detail, number, number, number + 1, head, before)
    detail = "there is no terminal record, so the run goes on, or its process died, or the end was cut off"
    return _verified("open", "unfinished", detail, number, number, number + 1, head, before)


def _verified(
    verdict: Verdict,
    why: Why,
    detail: str,
    lines: int,
    seq: int | None,
    line: int | None,
    head: Link | None,
    last: Link | None,
) -> Verified:
    record = (head.record if head else None) or {}
    hashed = last.hash if last else START
    return Verified(
        verdict, why, detail, lines, seq, line, str(record.get("run", "")), str(record.get("machine", "")), hashed
    )


def _is_next(number: int, here: Link, before: Link | None) -> bool:
    """Whether the line stands where its number and the hash that it names want it."""
    if not here.sealed or here.seq != number:
        return False
    return here.prev == START if before is None else before.kind != "end" and here.prev == before.hash


def _misplaced(number: int, here: Link) -> Tampering | None:
    """The line is where the chain wants it; whether its kind may stand there."""
    record = here.record or {}
    if number == 0 and (here.kind != "open" or record.get("format") != FORMAT):
        said = str(record.get("format", "none"))[:40]
        return "not a journal", 0, f"the first line is of format {said}, expected {FORMAT}"
    if number > 0 and here.kind == "open":
        return "inserted", number, "a first line stands inside the journal"
    if here.kind == "end" and record.get("lines") != number:
        counted = str(record.get("lines"))[:40]
        return "wrong count", number, f"the terminal record counts {counted} lines before it, there are {number}"
    return None


def _with_next(lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
    here: bytes | None = None
    for line in lines:
        if here is not None:
            yield here, line
        here = line
    if here is not None:
        yield here, None
