"""The verbs on journals in databases: all runs of one, or one of them by its name; nothing says a password."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from statecraft.journal import FileStore, SqliteStore, shelf_at

Verb = Callable[..., tuple[int, str, str]]


@pytest.fixture
def held(postgres: str, ferry: Any) -> str:
    """A PostgreSQL database with two runs, addressed with a password, which it does not ask for."""
    with closing(shelf_at(postgres)) as shelf:
        for run in ("east", "west"):
            with closing(shelf.store(run)) as store:
                ferry.sail(store, end=run == "east")
    return postgres.replace("postgres:@", "postgres:secret@")


def test_all_runs_of_a_postgresql_database_are_verified(verb: Verb, held: str) -> None:
    code, out, err = verb("verify", held)
    east, west = out.splitlines()
    assert (code, err) == (1, "")
    assert east.startswith("PostgreSQL test")
    assert east.endswith(" (east): whole, 24 lines")
    assert " (west): open, unfinished at seq 23: " in west
    assert "secret" not in out
    code, out, _ = verb("verify", held, "--run", "east", "--json")
    assert (code, json.loads(out)["verdict"], json.loads(out)["lines"]) == (0, "whole", 24)
    assert "secret" not in out


@pytest.mark.parametrize("words", [("explain",), ("replay",), ("diagram", "--journal")])
def test_a_run_in_a_postgresql_database_is_told_as_one_in_a_file_is(
    verb: Verb, held: str, here: Path, ferry: Any, words: Any
) -> None:
    with closing(FileStore("east.jsonl")) as store:
        ferry.sail(store)
    assert verb(*words, held, "--run", "east") == verb(*words, "east.jsonl")
    code, out, err = verb(*words, held)
    assert (code, out) == (2, "")
    assert ": holds 2 runs; expected one of east, west" in err
    assert "secret" not in err


def test_a_server_that_is_not_there_is_bad_input(verb: Verb, here: Path) -> None:
    pytest.importorskip("psycopg")
    code, out, err = verb("verify", f"postgresql://ada:secret@/runs?host={here}")
    assert (code, out) == (2, "")
    assert f"PostgreSQL runs at {here}: cannot be read: cannot be connected to: " in err
    assert "secret" not in err


def test_a_database_without_a_run_is_no_journal(verb: Verb, here: Path, postgres: str) -> None:
    with closing(SqliteStore("mail.db", "r")) as store:
        store.post("one", b"x")
    assert verb("verify", "mail.db") == (2, "", "statecraft: mail.db: holds no run\n")
    code, out, err = verb("verify", postgres)
    assert (code, out) == (2, "")
    assert err.endswith(": holds no run\n")
