"""What is PostgreSQL's alone: connections that are dropped, commits that a server loses, tables that many make."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from statecraft.journal import JournalError, opened, shelf_at, verify

Shelf = Any  # the package may not be installed, so nothing is imported from what needs it


@pytest.fixture
def shelf(postgres: str) -> Iterator[Shelf]:
    shelf = shelf_at(postgres)
    yield shelf
    shelf.close()


def run_as_another(address: str, statement: str, *values: object) -> list[Any]:
    connect: Any = importlib.import_module("psycopg").connect
    with connect(address, autocommit=True) as db:
        cursor = db.execute(statement, values)
        found: list[Any] = cursor.fetchall() if cursor.description else []
    return found


def drop_the_connection(shelf: Shelf, address: str) -> None:
    pid = shelf.database.connection.info.backend_pid
    assert run_as_another(address, "SELECT pg_terminate_backend(%s, 5000)", pid) == [(True,)]


def test_a_dropped_connection_is_said_and_the_next_use_connects_again(shelf: Shelf, postgres: str) -> None:
    store = shelf.store("r")
    acts: list[tuple[str, Callable[[], object]]] = [
        ("line 0 could not be written", lambda: store.append(0, b"0")),
        ("line 1 could not be written", lambda: store.append(1, b"1")),
        ("cannot be read", lambda: list(store.lines())),
        ("a letter could not be written", lambda: store.post("one", b"x")),
        ("the note snapshot could not be kept", lambda: store.keep("snapshot", b"x")),
        ("cannot be leased", lambda: store.lease("ada", 10, 0)),
    ]
    store.claim()
    for what, act in acts:
        digest = store.put(what.encode())
        drop_the_connection(shelf, postgres)
        with pytest.raises(
            JournalError, match=rf"PostgreSQL test\d+ at /.*: {what}: the connection was dropped: "
        ) as error:
            act()
        assert str(error.value).endswith("the next use connects again")
        act()
        store.keep("done", what.encode())
        assert shelf.store("other").get(digest) == what.encode()
    assert list(store.lines()) == [b"0", b"1"]
    assert store.mail() == [("one", b"x")]
    assert store.kept("snapshot") == b"x"


def test_a_line_after_lines_that_the_server_has_lost_is_refused(shelf: Shelf, postgres: str) -> None:
    store = shelf.store("r")
    for number in range(3):
        store.append(number, b"%d" % number)
    run_as_another(postgres, "DELETE FROM statecraft.lines WHERE seq > 0")
    with pytest.raises(JournalError, match="line 3 would leave a gap"):
        store.append(3, b"3")
    assert list(store.lines()) == [b"0"]
    store.append(1, b"1")


def test_a_line_and_the_content_before_it_are_one_commit(shelf: Shelf, postgres: str) -> None:
    store = shelf.store("r")
    store.append(0, b"0")
    digests = [store.put(b"%d" % number) for number in range(50)]
    assert run_as_another(postgres, "SELECT count(*) FROM statecraft.content") == [(0,)]
    store.append(1, b"1")
    stamps = (
        "SELECT DISTINCT xmin::text FROM statecraft.content UNION SELECT xmin::text FROM statecraft.lines WHERE seq = 1"
    )
    assert len(run_as_another(postgres, stamps)) == 1
    assert all(shelf.store("other").get(digest) == b"%d" % number for number, digest in enumerate(digests))


@pytest.mark.parametrize(("durability", "setting"), [("process", "off"), ("power", "on")])
def test_a_commit_is_synchronous_as_the_durability_says(postgres: str, durability: Any, setting: str) -> None:
    shelf: Shelf = shelf_at(postgres, durability)
    shelf.runs()
    assert shelf.store("r").durability == durability
    assert shelf.database.connection.execute("SHOW synchronous_commit").fetchone() == (setting,)
    shelf.close()


def test_many_that_come_first_at_once_make_one_set_of_tables(postgres: str) -> None:
    failures: list[BaseException] = []
    ready = threading.Barrier(8)

    def work(number: int) -> None:
        shelf = shelf_at(postgres)
        ready.wait()
        try:
            shelf.store(f"{number}").append(0, b"0")
        except BaseException as error:  # noqa: BLE001  # a thread's error is raised by the test
            failures.append(error)
        shelf.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with closing(shelf_at(postgres)) as shelf:
        assert shelf.runs() == tuple(map(str, range(8)))


def test_all_lies_in_a_schema_of_its_own(postgres: str) -> None:
    module = importlib.import_module("statecraft.journal.postgres")
    for schema in ("statecraft", 'a "quoted" one'):
        shelf = module.PostgresShelf(postgres, schema=schema)
        assert shelf.runs() == ()
        shelf.store("r").append(0, schema.encode())
        shelf.close()
    found = run_as_another(postgres, "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'lines' ORDER BY 1")
    assert found == [('a "quoted" one',), ("statecraft",)]
    assert run_as_another(postgres, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


def test_a_store_has_a_connection_of_its_own_or_the_shelfs(shelf: Shelf, postgres: str) -> None:
    stores = [shelf.store(f"{number}") for number in range(20)]
    for store in stores:
        store.append(0, b"0")
        store.close()
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    assert run_as_another(postgres, count) == [(1,)]
    alone = opened(postgres, "7")
    assert list(alone.lines()) == [b"0"]
    assert run_as_another(postgres, count) == [(2,)]
    alone.close()
    assert run_as_another(postgres, count) == [(1,)]


def test_a_journal_is_opened_by_the_databases_address(postgres: str, ferry: Any) -> None:
    shelf = shelf_at(postgres)
    with pytest.raises(JournalError, match=r"PostgreSQL test\d+ at .*: holds 0 runs; expected one of none"):
        opened(postgres)
    ferry.sail(shelf.store("one"))
    assert verify(postgres).verdict == "whole"
    ferry.sail(shelf.store("two"), end=False)
    assert (verify(postgres, "one").verdict, verify(postgres, "two").verdict) == ("whole", "open")
    with pytest.raises(JournalError, match="holds 2 runs; expected one of one, two"):
        verify(postgres)
    with pytest.raises(JournalError, match="has no run three; expected one of one, two"):
        verify(postgres, "three")
    shelf.close()


def test_a_server_that_is_not_there_is_an_error_without_the_password(tmp_path: Any) -> None:
    pytest.importorskip("psycopg")
    shelf = shelf_at(f"postgresql://ada:secret@/runs?host={tmp_path}")
    with pytest.raises(
        JournalError, match=r"PostgreSQL runs at /.*: cannot be read: cannot be connected to: "
    ) as error:
        shelf.runs()
    assert "secret" not in str(error.value)
    with pytest.raises(JournalError, match=r"cannot be read; expected postgresql://USER@HOST/DATABASE") as error:
        shelf_at("postgresql://ada:secret@host:port/runs?what=this")
    assert "secret" not in str(error.value)


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("psycopg", "statecraft.journal.postgres", "statecraft.journal.postgres_database"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for get in (shelf_at, opened):
        with pytest.raises(JournalError, match=r"psycopg: pip install 'statecraft-machines\[postgres\]'$"):
            get("postgresql://localhost/runs")


def test_a_full_disk_of_the_server_is_said_so(shelf: Shelf) -> None:
    raised = "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
    with pytest.raises(
        JournalError, match=r"^PostgreSQL test\d+ at /\S+: line 0 could not be written: the disk is full$"
    ):
        shelf.database.change("line 0 could not be written", raised, {})
    shelf.store("r").append(0, b"0")


def test_a_lease_that_another_took_meanwhile_is_asked_for_again(shelf: Shelf) -> None:
    said = iter([[], [(False, "ada")], [(False, "bob")]])  # nobody yet, then oneself, as the statement began; then bob
    store = shelf.store("r")

    def rows(*_: object) -> list[tuple[bool, str]]:
        return next(said)

    store.database.rows = rows
    assert store.lease("ada", 10, 0) == "bob"
