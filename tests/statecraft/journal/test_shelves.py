"""The shelves: which runs there are, which have mail, and many threads at once."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from statecraft.journal import (
    FolderShelf,
    JournalError,
    Shelf,
    SqliteShelf,
    SqliteStore,
    opened,
    shelf_at,
)


def line(number: int) -> bytes:
    return b'{"seq":%d,"x":"%s"}' % (number, b"y" * (number * 37 % 90))


def test_a_shelf_that_is_not_there_yet_is_empty(shelf: Shelf) -> None:
    assert (shelf.runs(), shelf.mailed(), list(shelf.notes("snapshot"))) == ((), (), [])


def test_a_shelf_tells_its_runs_notes_and_mail(shelf: Shelf, place: str) -> None:
    names = ["b", "a", "Ä", "a b", "a-1", "é.x", "x" * 200, "％"]
    for name in names:
        store = shelf.store(name)
        store.append(0, line(0))
        store.close()
    shelf.store("only mail").post("x", b"")
    shelf.store("a").post("x", b"")
    shelf.store("a").post("y", b"")
    shelf.store("b").post("x", b"")
    shelf.store("b").unpost("x")
    shelf.store("noted").keep("snapshot", b"1")
    shelf.store("a").keep("snapshot", b"2")
    shelf.store("a").keep("other", b"3")
    shelf.store("b").keep("snapshot", b"")
    shelf.store("Ä").keep("snapshot", None)
    again = shelf_at(place)
    for each in (shelf, again):
        assert each.runs() == tuple(sorted(names))
        assert each.mailed() == ("a", "only mail")
        assert list(each.notes("snapshot")) == [("a", b"2"), ("b", b""), ("noted", b"1")]
        assert list(each.notes("nothing")) == []
    again.close()


@pytest.mark.parametrize("run", ["", ".", "..", ".x", "a/b", "a\nb", "a\0b", "\ud800", "x" * 201])
def test_a_run_on_a_shelf_has_a_name_that_every_shelf_can_take(shelf: Shelf, run: str) -> None:
    with pytest.raises(ValueError, match="a run's name: found"):
        shelf.store(run)


def test_runs_of_a_shelf_are_written_by_several_threads_at_once(shelf: Shelf) -> None:
    failures: list[BaseException] = []

    def work(run: str) -> None:
        try:
            store = shelf.store(run)
            for number in range(60):
                store.put(b"%d of all" % number)
                store.append(number, line(number))
                store.keep("snapshot", b"%d" % number)
                shelf.store("all").post(f"{run} {number}", b"")
                assert shelf.store("lease").lease("us", 10, number) is None
                assert len(list(store.lines(number - 5))) == min(number + 1, 5)
            store.close()
        except BaseException as error:  # noqa: BLE001  # a thread's error is raised by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"run {number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(shelf.store("all").mail()) == 360
    for run in shelf.runs():
        assert list(shelf.store(run).lines()) == [line(number) for number in range(60)]


def test_ten_thousand_runs_of_a_shelf_are_not_ten_thousand_connections(tmp_path: Path) -> None:
    shelf = SqliteShelf(tmp_path / "runs.db")
    stores = [shelf.store(f"{number}") for number in range(10_000)]
    for store in stores[::100]:
        store.append(0, line(0))
    assert len(shelf.runs()) == 100
    assert {id(store.file) for store in stores} == {id(shelf.file)}
    shelf.close()


def test_a_database_of_an_earlier_version_is_read_and_then_written_to(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "old.db") as db:
        db.execute("CREATE TABLE lines (run TEXT, seq INTEGER, line BLOB, PRIMARY KEY (run, seq)) WITHOUT ROWID")
        db.execute("CREATE TABLE content (digest TEXT PRIMARY KEY, body BLOB NOT NULL)")
        db.execute("INSERT INTO lines VALUES ('r', 0, ?)", (line(0),))
    db.close()
    shelf = SqliteShelf(tmp_path / "old.db")
    assert (shelf.runs(), shelf.mailed(), list(shelf.notes("snapshot"))) == (("r",), (), [])
    store = opened(tmp_path / "old.db")
    assert (store.kept("snapshot"), store.mail(), list(store.lines())) == (None, [], [line(0)])
    store.keep("snapshot", b"x")
    store.append(1, line(1))
    assert (store.kept("snapshot"), list(store.lines(0))) == (b"x", [line(1)])
    store.close()
    shelf.close()


def test_a_place_is_the_shelf_that_it_looks_like(tmp_path: Path) -> None:
    for name in ("a.db", "a.sqlite", "a.sqlite3"):
        assert isinstance(shelf_at(tmp_path / name), SqliteShelf)
    (tmp_path / "folder.db").mkdir()
    with closing(SqliteStore(tmp_path / "unnamed", "r")) as store:
        store.claim()
    (tmp_path / "empty.db").touch()
    assert isinstance(shelf_at(tmp_path / "empty.db"), SqliteShelf)
    assert isinstance(shelf_at(str(tmp_path / "unnamed")), SqliteShelf)
    assert isinstance(shelf_at(tmp_path / "folder.db"), FolderShelf)
    assert isinstance(shelf_at(tmp_path / "new"), FolderShelf)
    for name in ("diary.txt", "diary.db"):
        (tmp_path / name).write_text("Dear diary")
        with pytest.raises(JournalError, match=r"is a file; expected a folder, or an SQLite file named \*\.db, \*"):
            shelf_at(tmp_path / name)


def test_a_folder_holds_journals_and_what_lies_beside_them(tmp_path: Path) -> None:
    shelf = shelf_at(tmp_path / "deep" / "runs")
    store = shelf.store("r")
    store.claim()
    assert shelf.runs() == ()  # it holds no line yet
    store.append(0, line(0))
    store.keep("snapshot", b"x")
    store.post("one", b"x")
    store.lease("ada", 10, 0)
    (tmp_path / "deep" / "runs" / ".hidden.jsonl").write_text("{}\n")
    found = sorted(path.name for path in (tmp_path / "deep" / "runs").iterdir())
    assert found == [".hidden.jsonl", "r.jsonl", "r.lease", "r.mail", "r.notes"]
    assert shelf.runs() == ("r",)
    store.unpost("one")
    assert not (tmp_path / "deep" / "runs" / "r.mail").exists()
    store.close()
