"""Fixtures for the tests of the framework's verbs: a command line over the tests' machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from cyclopts import App

from statecraft.cli import add_verbs, run
from statecraft.journal import FileStore, JournalError, SqliteStore, Store

from .gates import GATES

Ran = tuple[int, str, str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command is given."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def verb(ferry: Any, here: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command line; gives the exit code, standard output and standard error."""

    def stop_at(file: Path, first: Any) -> Any:
        return attrs.evolve(first, stop_at=int(file.read_text()))

    def give(*words: object) -> Ran:
        app = App(name="statecraft", help_format="plaintext")
        add_verbs(
            app, journaled={"ferry": "ferry:JOURNALED"}, tables="ferry", folder="drawn", policies={"ferry": stop_at}
        )
        code = run(app, [str(word) for word in words], bad=(JournalError,))
        said = capsys.readouterr()
        return code, said.out, said.err

    return give


@pytest.fixture
def sailed(ferry: Any, here: Path) -> Callable[..., Path]:
    """Journals a voyage in a file, or in an SQLite file under the names of its runs."""

    def sail(name: str, *runs: str, **more: Any) -> Path:
        stores: list[Store] = [SqliteStore(name, one) for one in runs]
        for store in stores or [FileStore(name)]:
            with closing(store):
                ferry.sail(store, **more)
        return Path(name)

    return sail


@pytest.fixture
def gates(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Writes the module `gates_of_tests`, with more at its end."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])

    def write(more: str = "") -> None:
        sys.modules.pop("gates_of_tests", None)
        (here / "gates_of_tests.py").write_text(GATES + more)

    yield write
    sys.modules.pop("gates_of_tests", None)
