"""A journal by its path: which kind of store it is, by its content. One in PostgreSQL has the database's address."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from .chain import link
from .file import FileStore
from .sqlite import SqliteStore
from .sqlite_file import BUSY_SECONDS, MAGIC, TABLES, runs_of, tables_in
from .store import Durability, JournalError, Store

if TYPE_CHECKING:
    from .postgres import PostgresShelf


def opened(path: Path | str, run: str | None = None, durability: Durability = "process") -> Store:
    """The store of a journal that is there. `run` names the run that is meant, where a database holds several.

    `path` is a file's, or `postgresql://...`. Raises `JournalError` where there is no journal, or not of that run.
    """
    if in_postgres(path):
        with closing(postgres_shelf(str(path), durability)) as shelf:
            return shelf.alone(_chosen(shelf.name, shelf.runs(), run))
    place = Path(path)
    if is_sqlite(place):
        return SqliteStore(place, _chosen(str(place), runs_of(place), run), durability)
    store = FileStore(place, durability)
    if run is not None and (held := _run_of(store)) not in (run, None):
        raise JournalError(f"{place}: holds the run {held}, expected {run}")
    return store


def _chosen(name: str, runs: tuple[str, ...], run: str | None) -> str:
    if run is None and len(runs) == 1:
        return runs[0]
    if run is not None and run in runs:
        return run
    found = f"has no run {run}" if run is not None else f"holds {len(runs)} runs"
    listed = ", ".join(runs[:10]) + (", ..." if len(runs) > 10 else "")
    raise JournalError(f"{name}: {found}; expected one of {listed or 'none'}")


def in_postgres(place: Path | str) -> bool:
    """Whether the place is a database of a PostgreSQL server. Raises `JournalError` for one that was made a path."""
    if isinstance(place, Path) and place.parts[:1] in (("postgresql:",), ("postgres:",)):
        raise JournalError(f"{place}: found a path, expected the address of a PostgreSQL database as text")
    return isinstance(place, str) and place.startswith(("postgresql://", "postgres://"))


def postgres_shelf(address: str, durability: Durability = "process") -> PostgresShelf:
    """The shelf in a PostgreSQL database. Raises `JournalError` where the package for it is not installed."""
    try:
        from .postgres import PostgresShelf  # an extra: asked for only by those who name a database of it
    except ImportError as error:
        raise JournalError(str(error)) from error
    return PostgresShelf(address, durability)


def called(place: Path | str) -> str:
    """How messages call a place: a path as it is, a database without its user and password."""
    return postgres_shelf(str(place)).name if in_postgres(place) else str(place)


def runs_at(place: Path | str) -> tuple[str, ...] | None:
    """The runs that a database holds; None for a file of one run. Raises `JournalError` if it cannot be read."""
    if in_postgres(place):
        with closing(postgres_shelf(str(place))) as shelf:
            return shelf.runs()
    return runs_of(place) if is_sqlite(Path(place)) else None


def is_sqlite(path: Path) -> bool:
    """Whether the file begins as an SQLite file does. Raises `JournalError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror}") from error


def remove(path: Path, run: str) -> None:
    """Delete a run's journal with what lies beside it; in an SQLite file all but its content.

    There content belongs to all runs. Raises `JournalError` where it is none, or a writer is at work on it.
    """
    if is_sqlite(path):
        try:
            with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as db, db:
                for table in sorted((TABLES.keys() - {"content"}) & tables_in(db)):
                    db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
        except sqlite3.Error as error:
            raise JournalError(f"{path}: the run {run} cannot be deleted: {error}") from error
        return
    with closing(FileStore(path)) as store:
        store.claim()
        try:
            path.unlink()
            store.beside.remove()
        except OSError as error:
            raise JournalError(f"{path}: cannot be deleted: {error.strerror}") from error


def _run_of(store: Store) -> str | None:
    """The run that the first line names; None where it cannot be read, which is for `verify` to say."""
    first = next(iter(store.lines()), None)
    run = None if first is None else (link(first).record or {}).get("run")
    return run if isinstance(run, str) else None
