"""One SQLite file as one process has it open: its tables, and a connection that threads take in turns.

The file is in WAL mode. Durability "process" is `synchronous=NORMAL`: a commit survives `kill -9`, and a loss of power
may take back the last of them but never a part of one. "power" is `synchronous=FULL`.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Generator
from pathlib import Path

from .store import Durability, JournalError

BUSY_SECONDS = 20.0  # how long one process waits for another's commit
MAGIC = b"SQLite format 3\0"
DATABASES = (".db", ".sqlite", ".sqlite3")
"""Endings of a place where journals are kept as SQLite; anything else is a folder of JSON Lines files."""

# Without a rowid a line stands in the index of its key, so that an append dirties one page and not two. A letter has
# one, which numbers the letters as they come, and AUTOINCREMENT gives no number twice.
TABLES = {
    "lines": "run TEXT, seq INTEGER, line BLOB NOT NULL, PRIMARY KEY (run, seq)) WITHOUT ROWID",
    "content": "digest TEXT PRIMARY KEY, body BLOB NOT NULL)",
    "notes": "run TEXT, name TEXT, body BLOB NOT NULL, PRIMARY KEY (run, name)) WITHOUT ROWID",
    "mail": "came INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL,"
    " UNIQUE (run, id))",
    "leases": "run TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID",
}
_BY_NAME = "CREATE INDEX IF NOT EXISTS notes_by_name ON notes (name, run)"

# Each run by one look into the index, where DISTINCT would go through all lines.
RUNS = (
    "WITH RECURSIVE runs (run) AS (SELECT min(run) FROM lines UNION ALL"
    " SELECT (SELECT min(run) FROM lines WHERE run > runs.run) FROM runs WHERE runs.run IS NOT NULL)"
    " SELECT run FROM runs WHERE run IS NOT NULL"
)


class SqliteFile:
    """An SQLite file of journals. It is opened when first needed, made when first written to, and may be shared."""

    def __init__(self, path: Path | str, durability: Durability = "process") -> None:
        self.path = Path(path)
        self.durability: Durability = durability
        self.connection: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._ready = False

    @contextlib.contextmanager
    def at_work(self, what: str, *, create: bool = False) -> Generator[sqlite3.Connection]:
        """The connection, for one thread until it is done. `create`: make the file and its tables if there are none.

        What goes wrong is `JournalError`, other than that a key is already there.
        """
        with self._lock:
            try:
                db = self.connection or self._opened(create=create)
                if create and not self._ready:
                    set_up(db)
                    self._ready = True
                yield db
            except sqlite3.IntegrityError:
                raise
            except sqlite3.Error as error:
                raise failed(self.path, what, error) from error

    @contextlib.contextmanager
    def commit(self, what: str) -> Generator[sqlite3.Connection]:
        """The same for several statements that are one commit, or are not done."""
        with self.at_work(what, create=True) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # a full disk has rolled back already
                    db.execute("ROLLBACK")
                raise

    def rows(self, table: str, query: str, *values: object) -> list[tuple[bytes | str, ...]]:
        """What is found in a table that may not be there yet, in a file that may not."""
        if self.connection is None and not self.path.exists():
            return []
        with self.at_work("cannot be read") as db:
            return db.execute(query, values).fetchall() if table in tables_in(db) else []

    def close(self) -> None:
        """Close the file; it opens again when it is needed."""
        with self._lock:
            if self.connection is not None:
                self.connection.close()
            self.connection, self._ready = None, False

    def _opened(self, *, create: bool) -> sqlite3.Connection:
        if not create and not self.path.exists():
            raise JournalError(f"{self.path}: there is no such file")
        self.connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self.connection.execute(f"PRAGMA synchronous = {'FULL' if self.durability == 'power' else 'NORMAL'}")
        return self.connection


def set_up(db: sqlite3.Connection) -> None:
    """WAL mode and the tables. Two processes may be at it at once, and the change to WAL does not wait by itself."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
    if not TABLES.keys() <= tables_in(db):
        for name, columns in TABLES.items():
            db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}")
        db.execute(_BY_NAME)


def tables_in(db: sqlite3.Connection) -> set[str]:
    """The tables that there are. A file of an earlier version has lines and content alone until it is written to."""
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def runs_of(path: Path | str) -> tuple[str, ...]:
    """The runs that an SQLite file holds, sorted."""
    with contextlib.closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as db:
        try:
            return tuple(run for (run,) in db.execute(RUNS))
        except sqlite3.Error as error:
            raise failed(Path(path), "cannot be read", error) from error


def as_bytes(found: bytes | str) -> bytes:
    """A line that somebody has edited by hand may have become text."""
    return found if isinstance(found, bytes) else found.encode("utf-8", "surrogatepass")


def failed(path: Path, what: str, error: sqlite3.Error) -> JournalError:
    """What is raised for an error of the database."""
    full = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
    return JournalError(f"{path}: {what}: {'the disk is full' if full else error}")
