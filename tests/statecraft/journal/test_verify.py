"""`verify` finds every change, and says what it was and where."""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft.codec import dump, load
from statecraft.journal import FileStore, JournalError, MemoryStore, SqliteStore, Verified, seal, verify

Lines = list[bytes]


@pytest.fixture(scope="session")
def lines(ferry: Any) -> Lines:
    """A whole journal of 24 lines."""
    store = MemoryStore()
    ferry.sail(store)
    return list(store.lines())


class Bytes:
    """As much of a store as `verify` reads, over the bytes of a file."""

    name = "bytes"

    def __init__(self, data: bytes) -> None:
        *self._lines, self._tail = data.split(b"\n")

    def lines(self) -> Iterator[bytes]:
        return iter(self._lines)

    def tail(self) -> bytes:
        return self._tail


def verified_bytes(data: bytes) -> Verified:
    store: Any = Bytes(data)
    return verify(store)


def verified(lines: Lines) -> Verified:
    return verified_bytes(b"".join(line + b"\n" for line in lines))


def resealed(line: bytes, **changes: Any) -> bytes:
    """The line with other fields and a hash made anew, as somebody would who knows the format."""
    record = load(line)
    del record["hash"]
    return seal(dump({**record, **changes}))[0]


def hash_of(line: bytes) -> str:
    return str(load(line)["hash"])


def test_an_untouched_journal_is_whole(lines: Lines) -> None:
    found = verified(lines)
    assert (found.verdict, found.why, found.lines, found.seq, found.line) == ("whole", "", 24, None, None)
    assert (found.run, found.machine) == ("voyage", "ferry")
    assert found.head == hash_of(lines[-1])


@given(st.data())
def test_any_changed_byte_is_found_with_its_line(lines: Lines, data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    found = verified_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
    number = whole[:at].count(b"\n")
    assert found.verdict == ("open" if at == len(whole) - 1 else "broken")
    assert found.seq == number
    assert found.line == number + 1
    assert found.why in ("changed", "bad JSON", "torn", "not a journal")


def test_every_byte_of_a_short_journal_counts(ferry: Any) -> None:
    store = MemoryStore()
    ferry.sail(store, happenings=[ferry.Depart(1)])
    whole = b"".join(line + b"\n" for line in store.lines())
    for at, byte in enumerate(whole):
        for other in {byte ^ 1, 0x0A, 0x20, 0x22} - {byte}:
            found = verified_bytes(whole[:at] + bytes([other]) + whole[at + 1 :])
            assert found.verdict != "whole"
            assert found.seq == whole[:at].count(b"\n")


@given(st.data())
def test_a_journal_cut_off_anywhere_is_open_and_keeps_what_is_before(lines: Lines, data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    at = data.draw(st.integers(1, len(whole) - 1))
    found = verified_bytes(whole[:at])
    kept = whole[:at].count(b"\n")
    assert found.verdict == "open"
    assert found.why == ("unfinished" if whole[at - 1 : at] == b"\n" else "torn")
    assert (found.lines, found.seq, found.line) == (kept, kept, kept + 1)


Tamper = Callable[[Lines], Lines]


def moved(lines: Lines, source: int, target: int) -> Lines:
    rest = [*lines[:source], *lines[source + 1 :]]
    return [*rest[:target], lines[source], *rest[target:]]


def swapped(lines: Lines, one: int, other: int) -> Lines:
    found = list(lines)
    found[one], found[other] = lines[other], lines[one]
    return found


KINDS: list[tuple[str, Tamper, str, int]] = [
    ("a changed value", lambda x: [*x[:7], x[7].replace(b"7.5", b"8.5"), *x[8:]], "changed", 7),
    ("a changed first line", lambda x: [x[0].replace(b'"room":20', b'"room":30'), *x[1:]], "changed", 0),
    ("a changed last line", lambda x: [*x[:-1], x[-1].replace(b"RETIRED", b"SUNK")], "changed", 23),
    ("a changed line, hashed anew", lambda x: [*x[:7], resealed(x[7], row=5), *x[8:]], "changed", 7),
    ("a changed first line, hashed anew", lambda x: [resealed(x[0], run="x"), *x[1:]], "changed", 0),
    ("the last line but one, hashed anew", lambda x: [*x[:22], resealed(x[22], row=5), x[23]], "changed", 22),
    ("another prev, hashed anew", lambda x: [*x[:7], resealed(x[7], prev="f" * 64), *x[8:]], "changed", 7),
    ("the first line dropped", lambda x: x[1:], "dropped", 0),
    ("a line dropped", lambda x: [*x[:7], *x[8:]], "dropped", 7),
    ("three lines dropped", lambda x: [*x[:7], *x[10:]], "dropped", 7),
    ("the last line but one dropped", lambda x: [*x[:22], x[23]], "dropped", 22),
    ("all but the ends dropped", lambda x: [x[0], x[23]], "dropped", 1),
    ("two neighbours swapped", lambda x: swapped(x, 7, 8), "swapped", 7),
    ("the first two swapped", lambda x: swapped(x, 0, 1), "swapped", 0),
    ("the last two swapped", lambda x: swapped(x, 22, 23), "swapped", 22),
    ("two distant lines swapped", lambda x: swapped(x, 4, 17), "swapped", 4),
    ("a line moved forwards", lambda x: moved(x, 17, 4), "swapped", 4),
    ("a line doubled", lambda x: [*x[:8], *x[7:]], "doubled", 7),
    ("the first line doubled", lambda x: [x[0], *x], "doubled", 0),
    ("the last line doubled", lambda x: [*x, x[-1]], "doubled", 23),
    ("a line doubled further on", lambda x: [*x[:15], x[7], *x[15:]], "doubled", 7),
    ("a line doubled further up", lambda x: [*x[:5], x[17], *x[5:]], "doubled", 17),
    ("a line doubled after the end", lambda x: [*x, x[7]], "inserted", 24),
    ("a line put in before its like", lambda x: [*x[:7], resealed(x[7], row=5), *x[7:]], "inserted", 7),
    ("a line put in after its like", lambda x: [*x[:8], resealed(x[7], row=5), *x[8:]], "inserted", 7),
    ("a line put in at its place", lambda x: [*x[:9], resealed(x[7], seq=9, prev="e" * 64), *x[9:]], "inserted", 9),
    (
        "a line put in and chained",
        lambda x: [*x[:9], resealed(x[7], seq=9, prev=hash_of(x[8])), *x[9:]],
        "inserted",
        9,
    ),
    ("an old line put in with a new number", lambda x: [*x[:9], resealed(x[3], seq=12), *x[9:]], "inserted", 9),
    ("an altered old line put in", lambda x: [*x[:12], resealed(x[3], row=9), *x[12:]], "inserted", 3),
    ("a line without a number put in", lambda x: [*x[:9], resealed(x[3], seq=None), *x[9:]], "inserted", 9),
    ("words put in", lambda x: [*x[:9], b"hello", *x[9:]], "inserted", 9),
    ("an empty line put in", lambda x: [*x[:9], b"", *x[9:]], "inserted", 9),
    (
        "a line put in after the end",
        lambda x: [*x, resealed(x[7], seq=24, prev=hash_of(x[23]))],
        "inserted",
        24,
    ),
    ("a first line inside", lambda x: [*x[:3], resealed(x[0], seq=3, prev=hash_of(x[2]))], "inserted", 3),
    ("another count", lambda x: [*x[:23], resealed(x[23], lines=22)], "wrong count", 23),
    ("words in place of a line", lambda x: [*x[:9], b"hello", *x[10:]], "bad JSON", 9),
    ("half a line", lambda x: [*x[:9], x[9][:40], *x[10:]], "bad JSON", 9),
    ("the text of something else", lambda _: [b"Dear diary,", b"today"], "not a journal", 0),
    ("JSON of something else", lambda _: [b'{"a":1}', b'{"a":2}'], "not a journal", 0),
    ("a later format", lambda x: [resealed(x[0], format="statecraft.journal/2"), *x[1:]], "not a journal", 0),
    ("nothing", lambda _: [], "not a journal", 0),
]


@pytest.mark.parametrize(("tamper", "why", "seq"), [kind[1:] for kind in KINDS], ids=[kind[0] for kind in KINDS])
def test_tampering_has_its_name_and_its_place(lines: Lines, tamper: Tamper, why: str, seq: int) -> None:
    found = verified(tamper(lines))
    assert (found.verdict, found.why, found.seq) == ("broken", why, seq), found.detail
    assert found.detail


@pytest.mark.parametrize("number", range(24))
def test_a_change_that_was_hashed_anew_is_found_in_every_line_but_the_last(lines: Lines, number: int) -> None:
    touched = [*lines[:number], resealed(lines[number], more=1), *lines[number + 1 :]]
    found = verified(touched)
    # Whoever makes the last line anew has written the journal to its end: only its hash kept elsewhere shows that.
    assert found.verdict == ("whole" if number == 23 else "broken")
    assert found.head != hash_of(lines[-1])


def test_the_end_cut_off_at_a_line_is_an_unfinished_run(lines: Lines) -> None:
    found = verified(lines[:-1])
    assert (found.verdict, found.why, found.lines, found.seq) == ("open", "unfinished", 23, 23)


def test_a_file_is_read_as_its_bytes(lines: Lines, tmp_path: Path) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    for data in (whole, whole[:-1], whole[:-100], whole + b"more", whole.replace(b"7.5", b"8.5"), b"Dear diary"):
        (tmp_path / "run.jsonl").write_bytes(data)
        assert verify(tmp_path / "run.jsonl") == verified_bytes(data)


def test_bytes_after_the_terminal_record_were_put_there(lines: Lines) -> None:
    found = verified_bytes(b"".join(line + b"\n" for line in lines) + b"more")
    assert (found.verdict, found.why, found.seq) == ("broken", "inserted", 24)


@pytest.mark.parametrize(
    ("statement", "why", "seq"),
    [
        ("UPDATE lines SET line = replace(CAST(line AS TEXT), '7.5', '8.5') WHERE seq = 7", "changed", 7),
        ("DELETE FROM lines WHERE seq = 7", "dropped", 7),
        (
            """
            UPDATE lines SET seq = -1 WHERE seq = 7;
            UPDATE lines SET seq = 7 WHERE seq = 8;
            UPDATE lines SET seq = 8 WHERE seq = -1;
            """,
            "swapped",
            7,
        ),
        ("INSERT INTO lines SELECT run, 24, line FROM lines WHERE seq = 23", "doubled", 23),
        ("UPDATE lines SET line = 'hello' WHERE seq = 7", "bad JSON", 7),
    ],
)
def test_tampering_in_sqlite_has_its_name_too(ferry: Any, tmp_path: Path, statement: str, why: str, seq: int) -> None:
    store = SqliteStore(tmp_path / "runs.db", "voyage")
    ferry.sail(store)
    store.close()
    db = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    db.executescript(statement)
    db.close()
    found = verify(tmp_path / "runs.db")
    assert (found.verdict, found.why, found.seq) == ("broken", why, seq), found.detail


def test_one_run_of_many_is_named(ferry: Any, tmp_path: Path) -> None:
    for run in ("a", "b"):
        store = SqliteStore(tmp_path / "runs.db", run)
        ferry.sail(store)
        store.close()
    assert verify(tmp_path / "runs.db", "b").verdict == "whole"
    with pytest.raises(JournalError, match="holds 2 runs; expected one of a, b"):
        verify(tmp_path / "runs.db")
    with pytest.raises(JournalError, match="has no run c; expected one of a, b"):
        verify(tmp_path / "runs.db", "c")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be read"):
        verify(tmp_path / "none.jsonl")
    with pytest.raises(JournalError, match="cannot be read"):
        verify(tmp_path)


def test_a_damaged_sqlite_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(JournalError, match="cannot be read"):
        verify(tmp_path / "runs.db")


def test_memory_does_not_grow_with_the_journal(ferry: Any, tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        events = ferry.there_and_back()
        ferry.sail(
            FileStore(path), happenings=[next(events) for _ in range(count)], run=ferry.fresh(trips=None, stop_at=10**9)
        )
        tracemalloc.start()
        try:
            assert verify(path).verdict == "whole"
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(30)  # what is made once
    assert peak(3000) < peak(300) * 1.3 + 10_000
