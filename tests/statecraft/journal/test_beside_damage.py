"""What lies beside a journal where the disk is full, or somebody has changed it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from statecraft.journal import (
    FileStore,
    JournalError,
    SqliteStore,
    Store,
    disk,
    remove,
)


def line(number: int) -> bytes:
    return b'{"seq":%d,"x":"%s"}' % (number, b"y" * (number * 37 % 90))


def fill(store: Store, count: int) -> list[bytes]:
    lines = [line(number) for number in range(count)]
    for number, each in enumerate(lines):
        store.append(number, each)
    return lines


@pytest.mark.parametrize("kind", ["file", "sqlite"])
def test_a_deleted_run_leaves_nothing_beside_it(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("r.jsonl" if kind == "file" else "r.db")
    store: Store = FileStore(path) if kind == "file" else SqliteStore(path, "r")
    fill(store, 3)
    store.put(b"content")
    store.keep("snapshot", b"x")
    store.post("letter", b"x")
    store.lease("ada", 10, 0)
    store.close()
    remove(path, "r")
    if kind == "file":
        assert list(tmp_path.iterdir()) == []
    again: Store = FileStore(path) if kind == "file" else SqliteStore(path, "r")
    assert (again.kept("snapshot"), again.mail(), again.lease("bob", 1, 0)) == (None, [], None)
    again.close()


def test_a_lease_whose_file_was_damaged_is_nobodys(tmp_path: Path) -> None:
    for text in (b"", b"\0" * 50, b"12 ada", b"soon ada\n", b"\xff\n"):
        (tmp_path / "r.lease").write_bytes(text)
        assert FileStore(tmp_path / "r.jsonl").lease("bob", 10, 0) is None
        assert FileStore(tmp_path / "r.jsonl").lease("eve", 10, 9) == "bob"


def test_a_letter_that_was_changed_is_an_error(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "r.jsonl")
    store.post("one", b"text")
    (letter,) = (tmp_path / "r.mail").iterdir()
    for text in (b"", b"1 3\ntwotext", b"1 9000\nonetext", b"what"):
        letter.write_bytes(text)
        with pytest.raises(JournalError, match="is not the letter that was written there"):
            store.mail()


def test_a_damaged_line_hides_no_line_after_a_number(tmp_path: Path) -> None:
    lines = [line(number) for number in range(200)]
    path = tmp_path / "r.jsonl"

    def after(number: int, changed: list[bytes]) -> list[bytes]:
        path.write_bytes(b"".join(each + b"\n" for each in changed))
        return list(FileStore(path).lines(number))

    for at, number in itertools.product((0, 99, 100, 101, 150, 199), (99, 100, 198)):
        gone = lines[:at] + lines[at + 1 :]
        assert after(number, gone) == [each for each in lines[number + 1 :] if each != lines[at]]
        spoilt = [*lines[:at], b"spoilt", *lines[at + 1 :]]
        found = after(number, spoilt)
        assert [each for each in found if each != b"spoilt"] == [e for e in lines[number + 1 :] if e != lines[at]]
        assert b"spoilt" in found or at < number
        doubled = [*lines[: at + 1], *lines[at:]]
        assert set(after(number, doubled)) == set(lines[number + 1 :])
    swapped = [*lines[:100], lines[150], *lines[101:150], lines[100], *lines[151:]]
    assert set(after(99, swapped)) == set(lines[100:])
    assert set(after(120, swapped)) >= set(lines[121:150])


@pytest.mark.parametrize("length", [10, (1 << 16) - 20, 1 << 16, 200_000])
def test_the_last_lines_are_found_however_long_they_are(tmp_path: Path, length: int) -> None:
    store = FileStore(tmp_path / "r.jsonl")
    lines = [b'{"seq":%d,"x":"%s"}' % (number, b"x" * length) for number in range(7)]
    for number, each in enumerate(lines):
        store.append(number, each)
    store.close()
    with (tmp_path / "r.jsonl").open("ab") as file:
        file.write(b'{"seq":7,')
    for after in range(-1, 9):
        assert list(store.lines(after)) == lines[after + 1 :]


@pytest.mark.parametrize("count", [1, 3])
def test_the_last_of_many_lines_cost_no_reading_of_the_others(tmp_path: Path, count: int) -> None:
    store = FileStore(tmp_path / "r.jsonl")
    fill(store, 5000)
    store.close()
    body = (tmp_path / "r.jsonl").read_bytes()
    spoilt = b"\xff" * 100_000 + body[100_000:]  # no newlines, no numbers: whoever reads it finds other lines
    (tmp_path / "r.jsonl").write_bytes(spoilt)
    assert list(store.lines(4999 - count)) == [line(number) for number in range(5000 - count, 5000)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said_in_one_line_by_a_note_and_a_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStore(tmp_path / "r.jsonl")
    store.keep("snapshot", b"old")
    store.post("old", b"old")
    part = tmp_path / "part"

    def full(place: Path) -> Path:
        part.symlink_to("/dev/full")  # what fails is deleted, which then is the link
        return part

    with monkeypatch.context() as patch:
        patch.setattr(disk, "part_of", full)
        with pytest.raises(JournalError, match=r"the note snapshot could not be kept: .*\(the disk is full"):
            store.keep("snapshot", b"new")
        with pytest.raises(JournalError, match=r"a letter could not be written: .*\(the disk is full"):
            store.post("new", b"new")
    assert not part.is_symlink()
    assert (store.kept("snapshot"), store.mail()) == (b"old", [("old", b"old")])
    assert store.post("new", b"new") is True


def test_a_full_database_is_said_in_one_line_and_leaves_what_was_there(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", "r")
    store.keep("snapshot", b"old")
    connection = store.file.connection
    assert connection is not None
    connection.execute("PRAGMA max_page_count = 14")
    with pytest.raises(JournalError, match="the note snapshot could not be kept: the disk is full"):
        store.keep("snapshot", b"x" * 100_000)
    with pytest.raises(JournalError, match="a letter could not be written: the disk is full"):
        store.post("one", b"x" * 100_000)
    digest = store.put(b"y" * 100_000)
    with pytest.raises(JournalError, match="the note snapshot could not be kept: the disk is full"):
        store.keep("snapshot", b"new")
    assert (store.kept("snapshot"), store.mail()) == (b"old", [])
    connection.execute("PRAGMA max_page_count = 1000000")
    store.keep("snapshot", b"new")
    with closing(SqliteStore(store.path, "r")) as other:
        assert (other.kept("snapshot"), other.get(digest)) == (b"new", b"y" * 100_000)
    store.close()


def test_a_place_that_cannot_be_written_is_an_error_for_what_lies_beside(tmp_path: Path) -> None:
    for store in (FileStore(tmp_path / "none" / "r.jsonl"), SqliteStore(tmp_path / "none" / "runs.db", "r")):
        acts: list[Callable[[], object]] = [
            partial(store.keep, "snapshot", b""),
            partial(store.post, "one", b""),
            partial(store.lease, "a", 1, 0),
        ]
        for act in acts:
            with pytest.raises(JournalError, match=r"none.*: (No such file|unable to open)"):
                act()
        assert (store.kept("snapshot"), store.mail()) == (None, [])
