"""The stores: lines by number, content by digest, one writer, and what a dead writer or a full disk leaves."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from statecraft.codec import digest_of
from statecraft.journal import FileStore, JournalError, MemoryStore, SqliteStore, Store, Writer, opened, runs_of, verify
from statecraft.replay import replay

Make = Callable[[], Store]


def kept(store: Store) -> list[bytes]:
    return list(store.lines())


def test_lines_are_kept_in_order_and_found_by_another(make: Make) -> None:
    store = make()
    store.claim()
    assert kept(store) == []
    assert store.last() is None
    store.append(0, b'{"seq":0}')
    store.append(1, b'{"seq":1}')
    assert kept(store) == [b'{"seq":0}', b'{"seq":1}']
    store.close()
    other = make()
    assert kept(other) == [b'{"seq":0}', b'{"seq":1}']
    assert other.last() == b'{"seq":1}'
    assert other.tail() == b""
    assert other.claim() == b""
    other.append(2, b'{"seq":2}')
    assert len(kept(other)) == 3
    other.close()


def test_the_same_line_again_is_taken_as_done_and_another_is_refused(make: Make) -> None:
    store = make()
    for number in (0, 1, 1, 0):
        store.append(number, b'{"seq":%d}' % number)
    assert len(kept(store)) == 2
    with pytest.raises(JournalError, match="line 1 is already there and differs"):
        store.append(1, b'{"seq":1,"x":0}')
    with pytest.raises(JournalError, match="line 3 would leave a gap"):
        store.append(3, b'{"seq":3}')
    store.append(2, b'{"seq":2}')
    assert len(kept(store)) == 3
    store.close()


def test_content_is_found_by_its_digest_until_it_is_dropped(make: Make) -> None:
    store = make()
    store.append(0, b'{"seq":0}')
    one, other = store.put(b"one"), store.put(b"")
    assert store.put(b"one") == one == digest_of(b"one")
    assert store.get(one) == b"one"
    store.append(1, b'{"seq":1}')
    store.close()
    store = make()
    assert store.get(one) == b"one"
    assert store.get(other) == b""
    assert store.get("0" * 64) is None
    assert store.get("../a") is None
    assert store.drop(one) is True
    assert store.drop(one) is False
    assert store.drop("../a") is False
    assert store.get(one) is None
    assert store.get(other) == b""
    store.close()


def test_content_that_no_line_followed_is_kept_when_the_store_is_closed(make: Make) -> None:
    store = make()
    store.append(0, b'{"seq":0}')
    digest = store.put(b"late")
    store.close()
    assert make().get(digest) == b"late"


def test_redaction_leaves_the_chain_whole_and_the_run_replayed(make: Make, ferry: Any) -> None:
    store = make()
    digest = store.put(b"what a person said")
    ferry.sail(store)
    assert store.drop(digest)
    assert verify(store).verdict == "whole"
    assert replay(store, ferry.JOURNALED).difference is None
    store.close()


def test_a_voyage_is_the_same_bytes_in_every_store(make: Make, ferry: Any) -> None:
    store, plain = make(), MemoryStore(durability=make().durability)
    ferry.sail(store)
    ferry.sail(plain)
    assert kept(store) == kept(plain)
    store.close()


def test_a_file_and_a_database_are_told_apart_by_their_content(ferry: Any, tmp_path: Path) -> None:
    for store in (FileStore(tmp_path / "one"), SqliteStore(tmp_path / "other", "r")):
        ferry.sail(store)
        store.close()
    assert isinstance(opened(tmp_path / "one"), FileStore)
    assert isinstance(opened(tmp_path / "other"), SqliteStore)
    assert runs_of(tmp_path / "other") == ("r",)


def test_content_lies_beside_the_file(ferry: Any, tmp_path: Path) -> None:
    store = FileStore(tmp_path / "run.jsonl")
    digest = store.put(b"text")
    assert (tmp_path / "run.content" / digest).read_bytes() == b"text"


def test_content_that_was_changed_is_not_given(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "run.jsonl")
    digest = store.put(b"text")
    (tmp_path / "run.content" / digest).write_bytes(b"test")
    with pytest.raises(JournalError, match="is not what was put there"):
        store.get(digest)


def test_redacted_content_is_gone_from_the_bytes_of_the_database(ferry: Any, tmp_path: Path) -> None:
    secret = b"a secret that nobody else says" * 300
    store = SqliteStore(tmp_path / "runs.db", "r")
    digest = store.put(secret)
    ferry.sail(store)
    store.drop(digest)
    for path in tmp_path.iterdir():
        assert b"nobody else" not in path.read_bytes()
    store.close()


def test_a_second_writer_of_a_file_is_refused_until_the_first_is_done(ferry: Any, tmp_path: Path) -> None:
    first, second = FileStore(tmp_path / "run.jsonl"), FileStore(tmp_path / "run.jsonl")
    writer = Writer.begin(first, ferry.JOURNALED, "r", ferry.fresh())
    with pytest.raises(JournalError, match="another writer is at work"):
        Writer.resume(second, ferry.JOURNALED)
    assert verify(second).verdict == "open"
    writer.leg(ferry.fresh())
    first.close()
    assert Writer.resume(second, ferry.JOURNALED).next == 2
    second.close()


def test_a_writer_in_another_process_is_refused_too(ferry: Any, tmp_path: Path, launch: Any) -> None:
    process = launch("write", "file", str(tmp_path / "run.jsonl"), "r")
    assert process.stdout.readline() == "1\n"
    with pytest.raises(JournalError, match="another writer is at work"):
        FileStore(tmp_path / "run.jsonl").claim()
    process.kill()
    process.wait()
    store = FileStore(tmp_path / "run.jsonl")
    store.claim()
    store.close()


def test_a_second_writer_of_a_run_in_a_database_is_refused_at_its_first_line(ferry: Any, tmp_path: Path) -> None:
    first, second = (SqliteStore(tmp_path / "runs.db", "r") for _ in range(2))
    writer = Writer.begin(first, ferry.JOURNALED, "r", ferry.fresh())
    other = Writer.resume(second, ferry.JOURNALED)
    writer.leg(ferry.fresh())
    assert other.leg(ferry.fresh()) == 1  # the same line: done twice is done once
    writer.leg(ferry.fresh())
    with pytest.raises(JournalError, match="already there and differs"):
        other.end(ferry.Place.DOCKED)
    assert verify(first).lines == 3
    first.close()
    second.close()


@pytest.mark.parametrize("cut", [1, 20, 74, 75, 76, 200])
def test_a_torn_last_line_is_reported_and_cut_and_what_is_before_it_kept(ferry: Any, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "run.jsonl"
    store = FileStore(path)
    ferry.sail(store, end=False)
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    torn = whole.splitlines()[-1][: 1 - cut or None]
    found = verify(path)
    assert (found.verdict, found.why, found.lines, found.seq) == ("open", "torn", 22, 22)
    store = FileStore(path)
    assert store.tail() == torn
    writer = Writer.resume(store, ferry.JOURNALED)
    assert writer.cut == torn
    assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:-1])
    writer.end(ferry.Place.DOCKED)
    store.close()
    assert verify(path).verdict == "whole"


def test_a_first_line_that_was_torn_is_written_again(ferry: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"durability":"pro')
    assert verify(path).verdict == "open"
    store = FileStore(path)
    writer = Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())
    assert writer.cut == b'{"durability":"pro'
    assert verify(path).lines == 1
    store.close()


def test_a_file_that_is_no_journal_is_not_written_to(ferry: Any, tmp_path: Path) -> None:
    path = tmp_path / "diary.txt"
    for text, said in ((b"Dear diary,\ntoday", "is no journal"), (b"Dear diary", "is no journal")):
        path.write_bytes(text)
        with pytest.raises(JournalError, match=said):
            Writer.begin(FileStore(path), ferry.JOURNALED, "r", ferry.fresh())
        assert path.read_bytes() == text


@pytest.mark.parametrize("length", [1, 1 << 16, (1 << 16) + 1, 300_000])
def test_the_last_line_is_found_however_long_it_is(tmp_path: Path, length: int) -> None:
    path = tmp_path / "run.jsonl"
    store = FileStore(path)
    last = b'{"seq":1,"x":"%s"}' % (b"x" * length)
    store.append(0, b'{"seq":0}')
    store.append(1, last)
    store.close()
    path.write_bytes(path.read_bytes() + b"y" * length)
    again = FileStore(path)
    assert again.last() == last
    assert again.tail() == b"y" * length
    assert again.claim() == b"y" * length
    again.append(2, b'{"seq":2}')
    again.close()
    assert again.last() == b'{"seq":2}'


@pytest.mark.parametrize("kind", ["file", "sqlite", "file+power", "sqlite+power", "postgres", "postgres+power"])
def test_a_killed_writer_leaves_every_line_that_it_has_answered_for(
    ferry: Any, tmp_path: Path, launch: Any, kill: Any, request: pytest.FixtureRequest, kind: str
) -> None:
    path = str(request.getfixturevalue("postgres") if "postgres" in kind else tmp_path / "run")
    process = launch("write", kind, path, "r")
    said = [process.stdout.readline() for _ in range(40)]
    last = [*said, *kill(process, path)][-1].strip()
    found = verify(path)
    assert found.verdict == "open"
    assert found.why in ("unfinished", "torn")
    assert found.lines > int(last)
    store = opened(path)
    replayed = replay(store, ferry.JOURNALED)
    assert replayed.difference is None
    assert store.get(digest_of(f"content of line {last}".encode())) is not None
    writer = Writer.resume(store, ferry.JOURNALED)
    event = ferry.Storm(0, 1) if replayed.run.at is ferry.Place.SAILING else ferry.Depart(0)
    answer = ferry.FERRY.step(replayed.run, event)
    assert writer.answer(event, answer) == found.lines
    writer.end(answer.run.at)
    store.close()
    assert verify(path).verdict == "whole"
    with closing(opened(path)) as store:
        assert replay(store, ferry.JOURNALED).difference is None


def test_two_processes_append_to_one_database(ferry: Any, tmp_path: Path, launch: Any) -> None:
    path = tmp_path / "runs.db"
    both = [launch("append", "sqlite", str(path), run, "400") for run in ("a", "b")]
    for process in both:
        error = process.communicate(timeout=120)[1]
        assert process.returncode == 0, error
    assert runs_of(path) == ("a", "b")
    for run in ("a", "b"):
        found = verify(path, run)
        assert (found.verdict, found.lines) == ("whole", 402)
        assert replay(opened(path, run), ferry.JOURNALED).difference is None


@pytest.mark.parametrize(("kind", "blocks"), [("file", 100), ("sqlite", 1000), ("file+power", 100)])
def test_a_limit_on_file_size_is_an_error_and_leaves_whole_lines(
    ferry: Any, tmp_path: Path, launch: Any, kind: str, blocks: int
) -> None:
    path = tmp_path / "run"
    process = launch("append", kind, str(path), "r", "5000", before=f"ulimit -f {blocks}")
    error = process.communicate(timeout=120)[1]
    assert process.returncode == 3, error
    assert error.startswith(f"{path}: ")
    assert "Traceback" not in error
    found = verify(path)
    assert (found.verdict, found.why) == ("open", "unfinished")
    assert found.lines > 10
    assert replay(opened(path), ferry.JOURNALED).difference is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said_in_one_line(ferry: Any) -> None:
    store = FileStore("/dev/full")
    with pytest.raises(JournalError, match=r"line 0 could not be written: No space left on device \(the disk is full"):
        store.append(0, b'{"seq":0}')


def test_a_line_that_was_written_in_part_is_taken_back(
    ferry: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    store = FileStore(path)
    store.append(0, b'{"seq":0}')
    write = os.write

    def half(fd: int, data: bytes) -> int:
        if len(data) > 5:
            return write(fd, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(JournalError, match="the disk is full"):
            store.append(1, b'{"seq":1}')
    assert path.read_bytes() == b'{"seq":0}\n'
    store.append(1, b'{"seq":1}')  # there is room again
    assert path.read_bytes() == b'{"seq":0}\n{"seq":1}\n'
    store.close()


def test_a_database_that_is_full_is_an_error_and_stays_in_order(ferry: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path, "r")
    store.append(0, b'{"seq":0}')
    connection = store.file.connection
    assert connection is not None
    connection.execute("PRAGMA max_page_count = 8")
    store.put(b"x" * 100_000)
    with pytest.raises(JournalError, match="line 1 could not be written: the disk is full"):
        store.append(1, b'{"seq":1}')
    connection.execute("PRAGMA max_page_count = 1000000")
    store.append(1, b'{"seq":1}')
    assert len(list(store.lines())) == 2
    assert store.get(digest_of(b"x" * 100_000)) is not None
    store.close()


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS is synchronised in another way")
@pytest.mark.parametrize(("durability", "expected"), [("process", 0), ("power", 5)])
def test_a_file_is_forced_to_the_disk_for_power_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: Any, expected: int
) -> None:
    forced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", forced.append)
    store = FileStore(tmp_path / "run.jsonl", durability)
    for number in range(5):
        store.append(number, b'{"seq":%d}' % number)
    store.close()
    assert len(forced) == expected


@pytest.mark.parametrize(("durability", "level"), [("process", 1), ("power", 2)])
def test_a_database_is_synchronous_as_its_durability_says(tmp_path: Path, durability: Any, level: int) -> None:
    store = SqliteStore(tmp_path / "runs.db", "r", durability)
    store.append(0, b'{"seq":0}')
    connection = store.file.connection
    assert connection is not None
    assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()


def test_a_place_that_cannot_be_written_is_an_error(ferry: Any, tmp_path: Path) -> None:
    for store in (FileStore(tmp_path / "none" / "run.jsonl"), SqliteStore(tmp_path / "none" / "runs.db", "r")):
        with pytest.raises(JournalError, match="cannot be opened for writing"):
            Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())
    with pytest.raises(JournalError, match="there is no such file"):
        SqliteStore(tmp_path / "runs.db", "r").last()
    assert not (tmp_path / "runs.db").exists()


def test_a_database_of_something_else_is_an_error(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE birds (name TEXT)")
    other.commit()
    other.close()
    with pytest.raises(JournalError, match="cannot be read: no such table"):
        opened(tmp_path / "other.db")


def test_the_bytes_of_a_journal_do_not_depend_on_the_hash_seed(tmp_path: Path, launch: Any) -> None:
    def run(verb: str, *places: tuple[str, str]) -> list[str]:
        begun = [launch(verb, "file", str(tmp_path / place), seed=seed) for place, seed in places]
        said = [process.communicate(timeout=120) for process in begun]
        assert [process.returncode for process in begun] == [0, 0], said
        return [out for out, _ in said]

    run("voyage", ("one.jsonl", "1"), ("other.jsonl", "2"))
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()
    told = run("tell", ("one.jsonl", "3"), ("one.jsonl", "4"))
    assert told[0] == told[1]
    assert "no difference" in told[0]
