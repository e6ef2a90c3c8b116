"""The content beside a chain: what is missing is counted, and what was altered is named."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft.codec import digest_of, dump
from statecraft.journal import Contents, FileStore, MemoryStore, SqliteStore, Store, contents, link, seal
from statecraft.journal.contents import digests

Make = Callable[[], Store]


@pytest.fixture(params=["file", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Opens the store of one run, each time anew."""
    if request.param == "file":
        return lambda: FileStore(tmp_path / "run.jsonl")
    return lambda: SqliteStore(tmp_path / "runs.db", "one")


def written(store: Store, *records: dict[str, Any]) -> None:
    for number, record in enumerate(records):
        store.append(number, seal(dump({**record, "seq": number}))[0])


def alter(store: Store, digest: str) -> None:
    """Put other bytes under a digest, behind the store's back."""
    if isinstance(store, FileStore):
        (store.folder / digest).write_bytes(b"something else")
    else:
        assert isinstance(store, SqliteStore)
        with closing(sqlite3.connect(store.path)) as db, db:
            db.execute("UPDATE content SET body = ? WHERE digest = ?", (b"something else", digest))


def test_all_content_is_found_where_nothing_was_touched(make: Make) -> None:
    with closing(make()) as store:
        one, two = store.put(b"one"), store.put(b"two")
        written(store, {"event": {"text": {"digest": one}}}, {"commands": [{"calls": [{"args": {"digest": two}}]}]})
        assert contents(store) == Contents(2, 0, ())


def test_content_that_is_named_twice_counts_once(make: Make) -> None:
    with closing(make()) as store:
        one = store.put(b"one")
        written(store, {"event": {"digest": one}}, {"event": {"digest": one}})
        assert contents(store).named == 1


def test_what_is_missing_is_counted_and_what_is_altered_is_named(make: Make) -> None:
    with closing(make()) as store:
        put = [store.put(text.encode()) for text in ("one", "two", "three")]
        written(store, *({"event": {"text": {"digest": digest}}} for digest in put))
    with closing(make()) as store:
        assert store.drop(put[0])
        alter(store, put[1])
        assert contents(store) == Contents(3, 1, (put[1],))


def test_content_that_no_line_names_is_looked_at_where_it_is_this_journals(make: Make) -> None:
    with closing(make()) as store:
        written(store, {"event": {"digest": store.put(b"one")}})
        spare = store.put(b"spare")
    with closing(make()) as store:
        assert contents(store) == Contents(1, 0, ())
        alter(store, spare)
        assert contents(store) == Contents(1, 0, (spare,) if isinstance(store, FileStore) else ())


def test_content_that_cannot_be_read_is_no_content_that_is_missing(tmp_path: Path) -> None:
    with closing(FileStore(tmp_path / "run.jsonl")) as store:
        one = store.put(b"one")
        written(store, {"event": {"digest": one}})
        (store.folder / one).unlink()
        (store.folder / one).mkdir()
        assert contents(store) == Contents(1, 0, (one,))


def test_a_short_digest_and_one_that_is_no_field_name_no_content() -> None:
    store = MemoryStore()
    digest = digest_of(b"gone")
    written(store, {"readings": {"digest": "643d5437104296e2"}, "prev": digest, "hash": digest, "text": digest})
    assert contents(store) == Contents(0, 0, ())


def test_the_listings_of_the_table_and_of_its_inner_machines_are_content(ferry: Any) -> None:
    store = MemoryStore()
    ferry.sail(store)
    assert contents(store) == Contents(2, 0, ())
    engine = ferry.FERRY.inners[0].table
    assert store.drop(engine.digest)
    assert contents(store) == Contents(2, 1, ())
    assert store.drop(ferry.FERRY.digest)
    assert contents(store) == Contents(1, 1, ())  # without the outer listing nobody knows of the inner one


def test_a_line_that_is_no_json_names_nothing() -> None:
    store = MemoryStore()
    store.append(0, b"no JSON")
    assert contents(store) == Contents(0, 0, ())


plain = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("adgiest", max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.binary(max_size=3), max_size=4), plain)
def test_digests_are_found_wherever_they_stand(contained: list[bytes], around: Any) -> None:
    named = [digest_of(content) for content in contained]
    record = {"a": around, "b": [{"c": [{"digest": digest, "more": around}]} for digest in named]}
    line = seal(dump(record))[0]
    assert sorted(digests(link(line).record or {})) == sorted(named)
