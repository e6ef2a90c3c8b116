"""A journal by its path: the run that is meant, and one that is deleted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from statecraft.journal import FileStore, JournalError, SqliteStore, contents, opened, remove, runs_of, verify


def test_the_run_of_a_file_may_be_named(ferry: Any, tmp_path: Path) -> None:
    with closing(FileStore(tmp_path / "v.jsonl")) as store:
        ferry.sail(store)
    with closing(opened(tmp_path / "v.jsonl", "voyage")) as store:
        assert verify(store).verdict == "whole"


def test_a_file_that_holds_another_run_is_refused(ferry: Any, tmp_path: Path) -> None:
    with closing(FileStore(tmp_path / "v.jsonl")) as store:
        ferry.sail(store)
    with pytest.raises(JournalError, match=r"v\.jsonl: holds the run voyage, expected journey$"):
        opened(tmp_path / "v.jsonl", "journey")


@pytest.mark.parametrize("first", [b"", b"no JSON\n", b'{"run":7}\n', b"{}\n"])
def test_a_first_line_that_names_no_run_is_left_to_verify(tmp_path: Path, first: bytes) -> None:
    (tmp_path / "v.jsonl").write_bytes(first)
    assert verify(tmp_path / "v.jsonl", "journey").verdict == "broken"


def test_a_file_is_deleted_with_what_lies_beside_it(ferry: Any, tmp_path: Path) -> None:
    with closing(FileStore(tmp_path / "v.jsonl")) as store:
        ferry.sail(store)
    remove(tmp_path / "v.jsonl", "voyage")
    assert list(tmp_path.iterdir()) == []


def test_of_an_sqlite_file_only_the_run_is_deleted(ferry: Any, tmp_path: Path) -> None:
    place = tmp_path / "v.db"
    for run in ("one", "two"):
        with closing(SqliteStore(place, run)) as store:
            ferry.sail(store)
    remove(place, "one")
    assert runs_of(place) == ("two",)
    with closing(opened(place)) as store:
        assert verify(store).verdict == "whole"
        assert contents(store).missing == 0


def test_a_journal_that_somebody_writes_is_not_deleted(ferry: Any, tmp_path: Path) -> None:
    with closing(FileStore(tmp_path / "v.jsonl")) as store:
        ferry.sail(store, end=False)
        with pytest.raises(JournalError, match="another writer is at work"):
            remove(tmp_path / "v.jsonl", "voyage")
    assert verify(tmp_path / "v.jsonl").verdict == "open"


def test_what_is_no_journal_is_not_deleted(tmp_path: Path) -> None:
    for text in ("dear diary", "dear\ndiary\n"):
        (tmp_path / "v.jsonl").write_text(text)
        with pytest.raises(JournalError, match=r"is no journal|is none of a journal"):
            remove(tmp_path / "v.jsonl", "voyage")
        assert (tmp_path / "v.jsonl").read_text() == text
