"""A journal by its path: which kind of store it is, by its content."""

from __future__ import annotations

from pathlib import Path

from .file import FileStore
from .sqlite import MAGIC, SqliteStore, runs_of
from .store import Durability, JournalError, Store


def opened(path: Path | str, run: str | None = None, durability: Durability = "process") -> Store:
    """The store of a journal that is there. `run` names the run where an SQLite file holds several."""
    place = Path(path)
    if not is_sqlite(place):
        return FileStore(place, durability)
    runs = runs_of(place)
    if run is None and len(runs) == 1:
        run = runs[0]
    if run is None or run not in runs:
        found = f"has no run {run}" if run is not None else f"holds {len(runs)} runs"
        listed = ", ".join(runs[:10]) + (", ..." if len(runs) > 10 else "")
        raise JournalError(f"{place}: {found}; expected one of {listed or 'none'}")
    return SqliteStore(place, run, durability)


def is_sqlite(path: Path) -> bool:
    """Whether the file begins as an SQLite file does. Raises `JournalError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror}") from error
