"""A journal in SQLite: many runs in one file, written by several processes at once, each on runs of its own.

Content is held back and committed together with the line or the note that follows it, so that a turn is one commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from .beside import checked_holder, checked_note, letter_id, letter_key
from .held_back import HeldBack
from .sqlite_file import SqliteFile, as_bytes
from .store import Durability, checked, refuse_seq

AT_ONCE = 256  # lines that are read at once; another thread may use the file before the next ones

_INSERT = "INSERT INTO lines (run, seq, line) VALUES (?, ?, ?)"
_LINES = "SELECT seq, line FROM lines WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?"
_FIRST = -(1 << 63)  # below every number that a line can have
_NOTE = (
    "INSERT INTO notes (run, name, body) VALUES (?, ?, ?) ON CONFLICT (run, name) DO UPDATE SET body = excluded.body"
)
_LETTER = "INSERT INTO mail (run, id, body) VALUES (?, ?, ?) ON CONFLICT (run, id) DO NOTHING"
_LEASE = (
    "INSERT INTO leases (run, holder, until) VALUES (?, ?, ?) ON CONFLICT (run) DO UPDATE"
    " SET holder = excluded.holder, until = excluded.until"
    " WHERE leases.holder = excluded.holder OR leases.until <= ?"
)


class SqliteStore:
    """One run in an SQLite file. The file is opened when it is first needed, and made when it is first written to.

    `place`: the file's path, or the file where several stores share one connection; then closing the store leaves that
    open, and the file says what is durable.
    """

    def __init__(self, place: SqliteFile | Path | str, run: str, durability: Durability = "process") -> None:
        self.file = place if isinstance(place, SqliteFile) else SqliteFile(place, durability)
        self.path = self.file.path
        self.run = run
        self.durability: Durability = self.file.durability
        self._shared = isinstance(place, SqliteFile)
        self._held = HeldBack()
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
        with self.file.at_work("cannot be opened for writing", create=True) as db:
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
            self._commit(f"line {seq} could not be written", _INSERT, (self.run, seq, line))
        except sqlite3.IntegrityError:
            refuse_seq(self.name, seq, line, self._line(seq))
            self._flush()
        self._next = max(self._next, seq + 1)

    def _commit(self, what: str, statement: str, values: tuple[object, ...]) -> None:
        """One statement, with the content held back until now."""
        if not self._held.bodies:
            # A single statement begins as a writer and waits its turn, as BEGIN IMMEDIATE would.
            with self.file.at_work(what, create=True) as db:
                db.execute(statement, values)
            return
        with self.file.commit(what) as db:
            db.executemany("INSERT OR IGNORE INTO content (digest, body) VALUES (?, ?)", self._held.bodies.items())
            if statement:
                db.execute(statement, values)
        self._held.clear()

    def _flush(self) -> None:
        if self._held.bodies:
            self._commit("content could not be written", "", ())

    def _line(self, seq: int) -> bytes | None:
        with self.file.at_work("cannot be read") as db:
            found = db.execute("SELECT line FROM lines WHERE run = ? AND seq = ?", (self.run, seq)).fetchone()
        return None if found is None else as_bytes(found[0])

    def lines(self, after: int = -1) -> Iterator[bytes]:
        """The lines above `after` by number; memory holds a few hundred at a time."""
        at = _FIRST if after < 0 else after
        while True:
            with self.file.at_work("cannot be read") as db:
                found = db.execute(_LINES, (self.run, at, AT_ONCE)).fetchall()
            for _, line in found:
                yield as_bytes(line)
            if len(found) < AT_ONCE:
                return
            at = found[-1][0]

    def last(self) -> bytes | None:
        """The line with the highest number."""
        with self.file.at_work("cannot be read") as db:
            query = "SELECT line FROM lines WHERE run = ? ORDER BY seq DESC LIMIT 1"
            found = db.execute(query, (self.run,)).fetchone()
        return None if found is None else as_bytes(found[0])

    def tail(self) -> bytes:
        """Nothing: a commit is whole or not there."""
        return b""

    def put(self, content: bytes) -> str:
        """Hold the content back for the next line."""
        digest = self._held.add(content)
        if self._held.full:
            self._flush()
        return digest

    def get(self, digest: str) -> bytes | None:
        """Content by its digest, whichever run put it there."""
        if (held := self._held.bodies.get(digest)) is not None:
            return held
        with self.file.at_work("content cannot be read") as db:
            found = db.execute("SELECT body FROM content WHERE digest = ?", (digest,)).fetchone()
        return None if found is None else checked(as_bytes(found[0]), digest, self.name)

    def drop(self, digest: str) -> bool:
        """Delete content, for every run of the file, overwriting it in the file and its log."""
        held = self._held.drop(digest)
        with self.file.at_work("content cannot be deleted") as db:
            db.execute("PRAGMA secure_delete = ON")
            gone = db.execute("DELETE FROM content WHERE digest = ?", (digest,)).rowcount > 0
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return gone or held

    def keep(self, name: str, body: bytes | None) -> None:
        """Commit the note, with the content held back until now."""
        what = f"the note {checked_note(name)} could not be kept"
        if body is not None:
            self._commit(what, _NOTE, (self.run, name, body))
        else:
            self._commit(what, "DELETE FROM notes WHERE run = ? AND name = ?", (self.run, name))

    def kept(self, name: str) -> bytes | None:
        """A note."""
        checked_note(name)
        found = self.file.rows("notes", "SELECT body FROM notes WHERE run = ? AND name = ?", self.run, name)
        return as_bytes(found[0][0]) if found else None

    def post(self, id: str, body: bytes) -> bool:
        """Commit a letter, by itself, whatever is held back."""
        with self.file.at_work("a letter could not be written", create=True) as db:
            return db.execute(_LETTER, (self.run, letter_key(id), body)).rowcount > 0

    def mail(self) -> list[tuple[str, bytes]]:
        """The letters by their number."""
        found = self.file.rows("mail", "SELECT id, body FROM mail WHERE run = ? ORDER BY came", self.run)
        return [(letter_id(as_bytes(key)), as_bytes(body)) for key, body in found]

    def unpost(self, id: str) -> None:
        """Delete a letter."""
        key = letter_key(id)
        with self.file.at_work("a letter could not be taken away", create=True) as db:
            db.execute("DELETE FROM mail WHERE run = ? AND id = ?", (self.run, key))

    def lease(self, holder: str, seconds: float, at: float) -> str | None:
        """Write who has the run and until when, or read who has it, in one commit."""
        checked_holder(holder, seconds)
        with self.file.commit("cannot be leased") as db:
            if db.execute(_LEASE, (self.run, holder, at + seconds, at)).rowcount > 0:
                return None
            has: str = db.execute("SELECT holder FROM leases WHERE run = ?", (self.run,)).fetchone()[0]
        return has

    def release(self, holder: str) -> None:
        """Delete one's own lease."""
        checked_holder(holder)
        with self.file.at_work("its lease cannot be given up", create=True) as db:
            db.execute("DELETE FROM leases WHERE run = ? AND holder = ?", (self.run, holder))

    def close(self) -> None:
        """Commit content that no line followed, and close the file if it is this store's alone."""
        try:
            self._flush()
        finally:
            if not self._shared:
                self.file.close()
            self._claimed = False
