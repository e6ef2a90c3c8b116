"""What was done to a journal, told from the lines around the place where its chain breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from .chain import START, Link, link
from .records import FORMAT, looks_like_one
from .store import Store

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

# The word, the sequence number that it is about, and the detail.
Tampering = tuple[Why, int, str]


def tampering(
    number: int, here: Link, after: Link | None, before: Link | None, same: bool, journal: Store
) -> Tampering:
    """What is wrong at line `number`, which is not the next of the chain; `same` where it repeats the line before."""
    prev = before.hash if before else START
    if same:
        return "doubled", number - 1, f"seq {number - 1} stands here again"
    if not here.sealed:
        return _unsealed(number, here, after, prev, journal)
    if before is not None and before.kind == "end":
        return "inserted", number, "a line follows the terminal record"
    if number == 0 and not _is_line(here):
        return "not a journal", 0, f"the first line is not of format {FORMAT}"
    if here.seq == number:
        return _unchained(number, here, after, prev)
    if before is not None and here.seq == number - 1 and here.prev == before.prev:
        return "inserted", number - 1, f"there are two different lines with seq {number - 1}"
    if 0 <= here.seq < number:
        copied = any(one.hash == here.hash for one in _links(journal, number))
        return (
            ("doubled" if copied else "inserted"),
            here.seq,
            f"seq {here.seq} stands here again" + ("" if copied else ", with other content"),
        )
    if here.seq < 0:
        return "inserted", number, "the line has no seq"
    return _ahead(number, here, journal)


def _unsealed(number: int, here: Link, after: Link | None, prev: str, journal: Store) -> Tampering:
    """The line's own hash is wrong or missing."""
    if after is not None and after.sealed and after.seq == number and after.prev == prev:
        return "inserted", number, f"something that is no line of this journal stands before seq {number}"
    if number == 0 and not looks_like_one(next(iter(journal.lines()), b"")):
        return "not a journal", 0, f"the first line is not of format {FORMAT}"
    if here.record is None:
        return "bad JSON", number, "the line is not a JSON object"
    return "changed", number, "the line's bytes do not give the hash that it ends with"


def _unchained(number: int, here: Link, after: Link | None, prev: str) -> Tampering:
    """The number is right and the hash of the line before is not: one of the two was made anew."""
    if after is not None and after.seq == number and after.prev == prev:
        return "inserted", number, f"there are two different lines with seq {number}"
    if number > 0 and (after is None or after.prev == here.hash or here.kind == "end"):
        return "changed", number - 1, f"seq {number - 1} is not the line whose hash seq {number} names"
    return "changed", number, f"seq {number} does not name the hash of the line before it"


def _ahead(number: int, here: Link, journal: Store) -> Tampering:
    """The number is too high: lines are missing here, or stand further on."""
    later = False
    for one in _links(journal, None, skip=number + 1):
        later = later or one.seq == number
        if one.seq == here.seq:
            if one.hash == here.hash:
                return "doubled", here.seq, f"seq {here.seq} stands here and again where it belongs"
            return "inserted", number, f"a line that says it is seq {here.seq} stands where seq {number} is expected"
    if later:
        return "swapped", number, f"seq {here.seq} stands where seq {number} is expected, which stands further on"
    missing = f"seq {number} is" if here.seq == number + 1 else f"seq {number} to {here.seq - 1} are"
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
