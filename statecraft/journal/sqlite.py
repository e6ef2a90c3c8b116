"""A journal in SQLite: many runs in one file, written by several processes at once, each on runs of its own.

The file is in WAL mode. Durability "process" is `synchronous=NORMAL`: a commit survives `kill -9`, and a loss of power
may take back the last of them but never a part of one. "power" is `synchronous=FULL`.

Content is held back and committed together with the line that follows it, so that a turn is one commit.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Generator, Iterator
from pathlib import Path

from ..codec import digest_of
from .store import Durability, JournalError, checked, refuse_seq

BUSY_SECONDS = 20.0  # how long one process waits for another's commit
HELD_BACK = 1 << 23  # bytes of content that are held back at most; beyond, they are committed by themselves
MAGIC = b"SQLite format 3\0"

# Without a rowid a line stands in the index of its key, so that an append dirties one page and not two.
_KEYED = "run TEXT, seq INTEGER, line BLOB NOT NULL, PRIMARY KEY (run, seq)"
_LINES = f"CREATE TABLE IF NOT EXISTS lines ({_KEYED}) WITHOUT ROWID"
_CONTENT = "CREATE TABLE IF NOT EXISTS content (digest TEXT PRIMARY KEY, body BLOB NOT NULL)"
_INSERT = "INSERT INTO lines (run, seq, line) VALUES (?, ?, ?)"


class SqliteStore:
    """One run in an SQLite file. The file is opened when it is first needed, and made by `claim`."""

    def __init__(self, path: Path | str, run: str, durability: Durability = "process") -> None:
        self.path = Path(path)
        self.run = run
        self.durability: Durability = durability
        self._open: sqlite3.Connection | None = None
        self._held: dict[str, bytes] = {}
        self._held_size = 0
        self._next = 0
        self._claimed = False

    @property
    def name(self) -> str:
        """The path and the run."""
        return f"{self.path} ({self.run})"

    def claim(self, *, fresh: bool = False) -> bytes:
        """Make the tables if there are none. A commit is whole or not there, so nothing is ever cut off.

        Two writers of one run are not kept apart here: the second one's line differs from the one that is there, which
        `append` refuses.
        """
        del fresh  # a run that is there is seen by its first line
        if self._claimed:
            return b""
        with self._at_work("cannot be opened for writing", create=True) as db:
            _set_up(db)
            last = db.execute("SELECT max(seq) FROM lines WHERE run = ?", (self.run,)).fetchone()[0]
        self._next = 0 if last is None else last + 1
        self._claimed = True
        return b""

    def append(self, seq: int, line: bytes) -> None:
        """Commit the line, with the content held back for it."""
        self.claim()
        if seq > self._next:
            refuse_seq(self.name, seq, line, None)
        try:
            with self._at_work(f"line {seq} could not be written") as db:
                if self._held:
                    self._commit_held(db, seq, line)
                else:
                    # A single statement begins as a writer and waits its turn, as BEGIN IMMEDIATE would.
                    db.execute(_INSERT, (self.run, seq, line))
        except sqlite3.IntegrityError:
            refuse_seq(self.name, seq, line, self._line(seq))
            self._flush()
        self._next = max(self._next, seq + 1)

    def _commit_held(self, db: sqlite3.Connection, seq: int | None, line: bytes) -> None:
        db.execute("BEGIN IMMEDIATE")
        try:
            db.executemany("INSERT OR IGNORE INTO content (digest, body) VALUES (?, ?)", self._held.items())
            if seq is not None:
                db.execute(_INSERT, (self.run, seq, line))
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # a full disk has rolled back already
                db.execute("ROLLBACK")
            raise
        self._held.clear()
        self._held_size = 0

    def _flush(self) -> None:
        if self._held:
            self.claim()
            with self._at_work("content could not be written") as db:
                self._commit_held(db, None, b"")

    def _line(self, seq: int) -> bytes | None:
        with self._at_work("cannot be read") as db:
            found = db.execute("SELECT line FROM lines WHERE run = ? AND seq = ?", (self.run, seq)).fetchone()
        return None if found is None else _bytes(found[0])

    def lines(self) -> Iterator[bytes]:
        """All lines of the run by number; memory holds one at a time."""
        query = "SELECT line FROM lines WHERE run = ? ORDER BY seq"
        with self._at_work("cannot be read") as db, contextlib.closing(db.cursor()) as cursor:
            for (line,) in cursor.execute(query, (self.run,)):
                yield _bytes(line)

    def last(self) -> bytes | None:
        """The line with the highest number."""
        with self._at_work("cannot be read") as db:
            query = "SELECT line FROM lines WHERE run = ? ORDER BY seq DESC LIMIT 1"
            found = db.execute(query, (self.run,)).fetchone()
        return None if found is None else _bytes(found[0])

    def tail(self) -> bytes:
        """Nothing: a commit is whole or not there."""
        return b""

    def put(self, content: bytes) -> str:
        """Hold the content back for the next line."""
        digest = digest_of(content)
        if digest not in self._held:
            self._held[digest] = content
            self._held_size += len(content)
            if self._held_size > HELD_BACK:
                self._flush()
        return digest

    def get(self, digest: str) -> bytes | None:
        """Content by its digest, whichever run put it there."""
        if digest in self._held:
            return self._held[digest]
        with self._at_work("content cannot be read") as db:
            found = db.execute("SELECT body FROM content WHERE digest = ?", (digest,)).fetchone()
        return None if found is None else checked(_bytes(found[0]), digest, self.name)

    def drop(self, digest: str) -> bool:
        """Delete content, for every run of the file, overwriting it in the file and its log."""
        held = self._held.pop(digest, None) is not None
        with self._at_work("content cannot be deleted") as db:
            db.execute("PRAGMA secure_delete = ON")
            gone = db.execute("DELETE FROM content WHERE digest = ?", (digest,)).rowcount > 0
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return gone or held

    def close(self) -> None:
        """Commit content that no line followed, and close the file."""
        try:
            self._flush()
        finally:
            if self._open is not None:
                self._open.close()
            self._open = None
            self._claimed = False

    @contextlib.contextmanager
    def _at_work(self, what: str, *, create: bool = False) -> Generator[sqlite3.Connection]:
        try:
            yield self._open or self._connection(create=create)
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise _failed(self.path, what, error) from error

    def _connection(self, *, create: bool) -> sqlite3.Connection:
        if not create and not self.path.exists():
            raise JournalError(f"{self.path}: there is no such file")
        self._open = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._open.execute(f"PRAGMA synchronous = {'FULL' if self.durability == 'power' else 'NORMAL'}")
        return self._open


def runs_of(path: Path | str) -> tuple[str, ...]:
    """The runs that an SQLite file holds, sorted."""
    with contextlib.closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as db:
        try:
            return tuple(run for (run,) in db.execute("SELECT DISTINCT run FROM lines ORDER BY run"))
        except sqlite3.Error as error:
            raise _failed(Path(path), "cannot be read", error) from error


def _set_up(db: sqlite3.Connection) -> None:
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
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"lines", "content"} <= tables:
        db.execute(_LINES)
        db.execute(_CONTENT)


def _bytes(found: bytes | str) -> bytes:
    """A line that somebody has edited by hand may have become text."""
    return found if isinstance(found, bytes) else found.encode("utf-8", "surrogatepass")


def _failed(path: Path, what: str, error: sqlite3.Error) -> JournalError:
    full = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
    return JournalError(f"{path}: {what}: {'the disk is full' if full else error}")
