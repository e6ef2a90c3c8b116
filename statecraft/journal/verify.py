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
from .records import FORMAT
from .store import Store

Verdict = Literal["whole", "open", "broken"]
Why = Literal[
    "",
    "unfinished",
    "torn",
    "changed",
    "dropped",
    "doubled",
    "swapped",
    "inserted",
    "wrong count",
    "bad JSON",
    "not a journal",
]


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
        wrong = _wrong(number, here, link(after) if after is not None else None, before, line == before_line, journal)
        if wrong is not None:
            why, seq, detail = wrong
            return _verified("broken", why, detail, number, seq, number + 1, head, before)
        if number == 0:
            head = here
        before, before_line = here, line
        number += 1
    tail = journal.tail()
    if before is None and not _looks_like_one(tail):
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


Wrong = tuple[Why, int, str]


def _wrong(
    number: int, here: Link, after: Link | None, before: Link | None, same: bool, journal: Store
) -> Wrong | None:
    """What is wrong at the line with this number, counted from 0: the word, the sequence number, and the detail."""
    prev = before.hash if before else START
    if same:
        return "doubled", number - 1, f"line {number - 1} stands here again"
    if not here.sealed:
        return _unsealed(number, here, after, prev, journal)
    if before is not None and before.kind == "end":
        return "inserted", number, "a line follows the terminal record"
    if here.seq == number and here.prev == prev:
        return _misplaced(number, here)
    if number == 0 and not _is_line(here):
        return "not a journal", 0, f"the first line is not of format {FORMAT}"
    if here.seq == number:
        return _unchained(number, here, after, prev)
    if before is not None and here.seq == number - 1 and here.prev == before.prev:
        return "inserted", number - 1, f"there are two different lines with the number {number - 1}"
    if 0 <= here.seq < number:
        copied = any(one.hash == here.hash for one in _links(journal, number))
        return (
            ("doubled" if copied else "inserted"),
            here.seq,
            f"line {here.seq} stands here again" + ("" if copied else ", with other content"),
        )
    if here.seq < 0:
        return "inserted", number, "the line has no number"
    return _ahead(number, here, journal)


def _unsealed(number: int, here: Link, after: Link | None, prev: str, journal: Store) -> Wrong:
    """The line's own hash is wrong or missing."""
    if after is not None and after.sealed and after.seq == number and after.prev == prev:
        return "inserted", number, f"something that is no line of this journal stands before line {number}"
    if number == 0 and not _looks_like_one(next(iter(journal.lines()), b"")):
        return "not a journal", 0, f"the first line is not of format {FORMAT}"
    if here.record is None:
        return "bad JSON", number, "the line is not a JSON object"
    return "changed", number, "the line's bytes do not give the hash that it ends with"


def _misplaced(number: int, here: Link) -> Wrong | None:
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


def _unchained(number: int, here: Link, after: Link | None, prev: str) -> Wrong:
    """The number is right and the hash of the line before is not: one of the two was made anew."""
    if after is not None and after.seq == number and after.prev == prev:
        return "inserted", number, f"there are two different lines with the number {number}"
    if number > 0 and (after is None or after.prev == here.hash or here.kind == "end"):
        return "changed", number - 1, f"line {number - 1} is not the one whose hash line {number} names"
    return "changed", number, f"line {number} does not name the hash of the line before it"


def _ahead(number: int, here: Link, journal: Store) -> Wrong:
    """The number is too high: lines are missing here, or stand further on."""
    later = False
    for one in _links(journal, None, skip=number + 1):
        later = later or one.seq == number
        if one.seq == here.seq:
            if one.hash == here.hash:
                return "doubled", here.seq, f"line {here.seq} stands here and again where it belongs"
            return "inserted", number, f"a line that says it is {here.seq} stands where {number} is expected"
    if later:
        return "swapped", number, f"line {here.seq} stands where {number} is expected, which stands further on"
    missing = f"line {number} is" if here.seq == number + 1 else f"lines {number} to {here.seq - 1} are"
    return "dropped", number, f"{missing} missing"


def _links(journal: Store, count: int | None, skip: int = 0) -> Iterator[Link]:
    """The lines once more, the first `count` of them without the first `skip`."""
    for number, line in enumerate(journal.lines()):
        if count is not None and number >= count:
            return
        if number >= skip:
            yield link(line)


def _is_line(here: Link) -> bool:
    """Whether it is a line of some journal, wherever it belongs."""
    return here.sealed and here.seq >= 0 and bool(here.kind) and bool(here.prev)


def _looks_like_one(line: bytes) -> bool:
    """Whether a damaged first line was one. The beginning of one, cut short, is enough."""
    return FORMAT.encode() in line or line.startswith(b'{"durability":') or b'{"durability":'.startswith(line or b"-")


def _with_next(lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
    here: bytes | None = None
    for line in lines:
        if here is not None:
            yield here, line
        here = line
    if here is not None:
        yield here, None
