"""Where many runs lie: a folder of files, or a database. Each gives the store of a run, and says what is there.

A shelf may be used by several threads, each with stores of its own. A run's name is 1 to 200 printable characters
without `/` that do not begin with a dot, so that every shelf can take it; `ValueError` for another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from .beside import checked_note, checked_run, is_run
from .disk import failed
from .file import FileStore
from .filed import MAIL, NOTES, Beside, letters_in
from .opened import in_postgres, is_sqlite, postgres_shelf
from .sqlite import SqliteStore
from .sqlite_file import DATABASES, RUNS, SqliteFile, as_bytes
from .store import Durability, JournalError, Store


class Shelf(Protocol):
    """Many runs in one place. Raises `JournalError` where that cannot be read."""

    @property
    def name(self) -> str:
        """How messages call it."""
        ...

    def store(self, run: str) -> Store:
        """The store of a run, which need not be there yet."""
        ...

    def runs(self) -> tuple[str, ...]:
        """The runs that have a journal, sorted."""
        ...

    def notes(self, name: str) -> Iterator[tuple[str, bytes]]:
        """The note of that name of every run that has it, by run."""
        ...

    def mailed(self) -> tuple[str, ...]:
        """The runs that have mail, sorted. Cheap enough to be asked again and again."""
        ...

    def close(self) -> None:
        """Close what is open, for all its stores."""
        ...


class FolderShelf:
    """Journals named NAME.jsonl in a folder, which is made with the first store."""

    def __init__(self, path: Path | str, durability: Durability = "process") -> None:
        self.path = Path(path)
        self.durability: Durability = durability

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def store(self, run: str) -> FileStore:
        """A file of the folder."""
        place = self.path / f"{checked_run(run)}.jsonl"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise failed(self.path, "cannot be made", error) from error
        return FileStore(place, self.durability)

    def runs(self) -> tuple[str, ...]:
        """The files that are not empty: an empty one is claimed, and holds no line yet."""
        named = self._named(".jsonl")
        return tuple(run for run in named if _size(self.path / f"{run}.jsonl"))

    def notes(self, name: str) -> Iterator[tuple[str, bytes]]:
        """Each from its file; one that cannot be read is said after all others."""
        checked_note(name)
        problems: list[JournalError] = []
        for run in self._named(NOTES):
            try:
                body = Beside(self.path / f"{run}.jsonl", power=False).kept(name)
            except JournalError as error:
                problems.append(error)  # one run's note keeps no other's from being read
                continue
            if body is not None:
                yield run, body
        if problems:
            raise problems[0]

    def mailed(self) -> tuple[str, ...]:
        """By a look into each folder of mail, which is there only while there is mail. What is none has no mail."""
        return tuple(run for run in self._named(MAIL) if (self.path / f"{run}{MAIL}").is_dir() and self._letters(run))

    def _letters(self, run: str) -> bool:
        return bool(letters_in(self.path / f"{run}{MAIL}"))

    def close(self) -> None:
        """Nothing is open."""

    def _named(self, ending: str) -> list[str]:
        try:
            names = [entry.name for entry in self.path.iterdir() if entry.name.endswith(ending)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise failed(self.path, "cannot be read", error) from error
        return sorted(run for name in names if is_run(run := name.removesuffix(ending)))


class SqliteShelf:
    """The runs of one SQLite file, over one connection in this process, however many they are."""

    def __init__(self, path: Path | str, durability: Durability = "process") -> None:
        self.file = SqliteFile(path, durability)

    @property
    def name(self) -> str:
        """The path."""
        return str(self.file.path)

    def store(self, run: str) -> SqliteStore:
        """A run of the file, on the shelf's connection."""
        return SqliteStore(self.file, checked_run(run))

    def runs(self) -> tuple[str, ...]:
        """Each by one look into the index of lines."""
        return tuple(str(run) for (run,) in self.file.rows("lines", RUNS))

    def notes(self, name: str) -> Iterator[tuple[str, bytes]]:
        """By the index of names, one body at a time."""
        checked_note(name)
        for (run,) in self.file.rows("notes", "SELECT run FROM notes WHERE name = ? ORDER BY run", name):
            for (body,) in self.file.rows("notes", "SELECT body FROM notes WHERE run = ? AND name = ?", run, name):
                yield str(run), as_bytes(body)

    def mailed(self) -> tuple[str, ...]:
        """From the letters' index; letters are few."""
        return tuple(str(run) for (run,) in self.file.rows("mail", "SELECT DISTINCT run FROM mail ORDER BY run"))

    def close(self) -> None:
        """Close the connection. Stores give up what they hold back by their own `close`, before this."""
        self.file.close()


def shelf_at(place: str | Path, durability: Durability = "process") -> Shelf:
    """The shelf at a place: `postgresql://...`, an SQLite file (*.db, *.sqlite, *.sqlite3), or else a folder.

    What is not there yet is made when it is written to. Raises `JournalError` where runs cannot lie.
    """
    if in_postgres(place):
        return postgres_shelf(str(place), durability)
    path = Path(place)
    if path.is_dir() or not (path.exists() or path.suffix in DATABASES):
        return FolderShelf(path, durability)
    if path.exists() and path.stat().st_size and not is_sqlite(path):
        raise JournalError(f"{path}: is a file; expected a folder, or an SQLite file named *{', *'.join(DATABASES)}")
    return SqliteShelf(path, durability)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
