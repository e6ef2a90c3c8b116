"""A journal in PostgreSQL: many runs in one database, written by processes of many machines, each on runs of its own.

Content is held back and committed together with the line or the note that follows it, so that a turn is one statement.
The last statement of a process that was killed may be carried out a moment later, as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import LiteralString

from .beside import checked_holder, checked_note, checked_run, letter_id, letter_key
from .held_back import HeldBack
from .postgres_database import PostgresDatabase
from .sqlite import AT_ONCE
from .store import Durability, checked, is_digest, refuse_seq

# In the order of the digests, so that two who put the same contents do not wait for each other in a ring.
_HELD: LiteralString = (
    "WITH held AS (INSERT INTO content (digest, body)"
    " SELECT * FROM unnest(%(digests)s::text[], %(bodies)s::bytea[]) ON CONFLICT DO NOTHING) "
)
# That the line before is there is asked in the statement itself: what this process remembers may be gone from there.
_LINE: LiteralString = (
    "INSERT INTO lines (run, seq, line) SELECT %(run)s::text, %(seq)s::bigint, %(line)s::bytea WHERE %(seq)s = 0"
    " OR EXISTS (SELECT FROM lines WHERE run = %(run)s AND seq = %(seq)s - 1) ON CONFLICT DO NOTHING"
)
_LINES: LiteralString = (
    "SELECT seq, line FROM lines WHERE run = %(run)s AND seq > %(after)s ORDER BY seq LIMIT %(count)s"
)
_NOTE: LiteralString = (
    "INSERT INTO notes (run, name, body) VALUES (%(run)s, %(name)s, %(body)s)"
    " ON CONFLICT (run, name) DO UPDATE SET body = excluded.body"
)
_NO_NOTE: LiteralString = "DELETE FROM notes WHERE run = %(run)s AND name = %(name)s"
# `got` is false with who had the run before the statement began. That is nobody, or the one who asks, if another took
# it meanwhile: then it is asked again.
_LEASE: LiteralString = (
    "WITH got AS (INSERT INTO leases AS has (run, holder, until) VALUES (%(run)s, %(holder)s, %(until)s)"
    " ON CONFLICT (run) DO UPDATE SET holder = excluded.holder, until = excluded.until"
    " WHERE has.holder = excluded.holder OR has.until <= %(at)s RETURNING holder)"
    " SELECT true, holder FROM got UNION ALL"
    " SELECT false, holder FROM leases WHERE run = %(run)s AND NOT EXISTS (SELECT FROM got)"
)
_RUNS: LiteralString = (
    "WITH RECURSIVE runs AS ((SELECT run FROM lines ORDER BY run LIMIT 1) UNION ALL"
    " SELECT (SELECT run FROM lines WHERE run > runs.run ORDER BY run LIMIT 1) FROM runs WHERE runs.run IS NOT NULL)"
    " SELECT run FROM runs WHERE run IS NOT NULL"
)
_READ = "cannot be read"


class PostgresStore:
    """One run in a PostgreSQL database, which is connected to when it is first needed.

    `place`: the database's address, or the database where several stores share one connection; then closing the store
    leaves that open, and the database says what is durable.
    """

    def __init__(
        self,
        place: PostgresDatabase | str,
        run: str,
        durability: Durability = "process",
        schema: str = "statecraft",
    ) -> None:
        self.run = checked_run(run)
        self.database = place if isinstance(place, PostgresDatabase) else PostgresDatabase(place, durability, schema)
        self.durability: Durability = self.database.durability
        self._shared = isinstance(place, PostgresDatabase)
        self._held = HeldBack()

    @property
    def name(self) -> str:
        """The database and the run."""
        return f"{self.database.name} ({self.run})"

    def claim(self, *, fresh: bool = False) -> bytes:
        """Connect, and make the tables if there are none. A commit is whole or not there, so nothing is ever cut off.

        Two writers of one run are not kept apart here: the second one's line differs from the one that is there, which
        `append` refuses.
        """
        del fresh  # a run that is there is seen by its first line
        with self.database.at_work("cannot be opened for writing"):
            return b""

    def append(self, seq: int, line: bytes) -> None:
        """Commit the line, with the content held back for it. After an error it may be there; again is done once."""
        values = {"run": self.run, "seq": seq, "line": line}
        if not self._commit(f"line {seq} could not be written", _LINE, values):
            query: LiteralString = "SELECT line FROM lines WHERE run = %(run)s AND seq = %(seq)s"
            found = self.database.rows(_READ, query, values)
            refuse_seq(self.name, seq, line, found[0][0] if found else None)

    def _commit(self, what: str, statement: LiteralString, values: Mapping[str, object]) -> int:
        """One statement, with the content held back until now; how many rows it has changed."""
        if not self._held.bodies:
            return self.database.change(what, statement, values)
        digests = sorted(self._held.bodies)
        held = {"digests": digests, "bodies": [self._held.bodies[digest] for digest in digests]}
        changed = self.database.change(what, _HELD + statement, {**values, **held})
        self._held.clear()
        return changed

    def _flush(self) -> None:
        if self._held.bodies:
            self._commit("content could not be written", "SELECT", {})

    def lines(self, after: int = -1) -> Iterator[bytes]:
        """The lines above `after` by number; memory holds a few hundred at a time."""
        at = max(after, -1)
        while True:
            found = self.database.rows(_READ, _LINES, {"run": self.run, "after": at, "count": AT_ONCE})
            for _, line in found:
                yield line
            if len(found) < AT_ONCE:
                return
            at = found[-1][0]

    def last(self) -> bytes | None:
        """The line with the highest number."""
        query: LiteralString = "SELECT line FROM lines WHERE run = %(run)s ORDER BY seq DESC LIMIT 1"
        return self._one(query, {})

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
        if not is_digest(digest):
            return None
        found = self._one("SELECT body FROM content WHERE digest = %(digest)s", {"digest": digest})
        return None if found is None else checked(found, digest, self.name)

    def drop(self, digest: str) -> bool:
        """Delete content, for every run of the database.

        The server's files have it until they are vacuumed, its log and backups until they are gone.
        """
        held = self._held.drop(digest)
        if not is_digest(digest):
            return held
        statement: LiteralString = "DELETE FROM content WHERE digest = %(digest)s"
        return self.database.change("content cannot be deleted", statement, {"digest": digest}) > 0 or held

    def keep(self, name: str, body: bytes | None) -> None:
        """Commit the note, with the content held back until now."""
        what = f"the note {checked_note(name)} could not be kept"
        values = {"run": self.run, "name": name, "body": body}
        self._commit(what, _NO_NOTE if body is None else _NOTE, values)

    def kept(self, name: str) -> bytes | None:
        """A note."""
        values = {"name": checked_note(name)}
        return self._one("SELECT body FROM notes WHERE run = %(run)s AND name = %(name)s", values)

    def post(self, id: str, body: bytes) -> bool:
        """Commit a letter, by itself, whatever is held back."""
        values = {"run": self.run, "id": letter_key(id), "body": body}
        statement: LiteralString = (
            "INSERT INTO mail (run, id, body) VALUES (%(run)s, %(id)s, %(body)s) ON CONFLICT (run, id) DO NOTHING"
        )
        return self.database.change("a letter could not be written", statement, values) > 0

    def mail(self) -> list[tuple[str, bytes]]:
        """The letters by their number."""
        query: LiteralString = "SELECT id, body FROM mail WHERE run = %(run)s ORDER BY came"
        return [(letter_id(key), body) for key, body in self.database.rows(_READ, query, {"run": self.run})]

    def unpost(self, id: str) -> None:
        """Delete a letter."""
        values = {"run": self.run, "id": letter_key(id)}
        statement: LiteralString = "DELETE FROM mail WHERE run = %(run)s AND id = %(id)s"
        self.database.change("a letter could not be taken away", statement, values)

    def lease(self, holder: str, seconds: float, at: float) -> str | None:
        """Write who has the run and until when, or read who has it, in one statement."""
        checked_holder(holder, seconds)
        values = {"run": self.run, "holder": holder, "until": at + seconds, "at": at}
        while True:
            for got, has in self.database.rows("cannot be leased", _LEASE, values):
                if got:
                    return None
                if has != holder:
                    return str(has)

    def release(self, holder: str) -> None:
        """Delete one's own lease."""
        values = {"run": self.run, "holder": checked_holder(holder)}
        statement: LiteralString = "DELETE FROM leases WHERE run = %(run)s AND holder = %(holder)s"
        self.database.change("its lease cannot be given up", statement, values)

    def close(self) -> None:
        """Commit content that no line followed, and disconnect if the connection is this store's alone."""
        try:
            self._flush()
        finally:
            if not self._shared:
                self.database.close()

    def _one(self, query: LiteralString, values: Mapping[str, object]) -> bytes | None:
        found = self.database.rows(_READ, query, {"run": self.run, **values})
        return found[0][0] if found else None


class PostgresShelf:
    """The runs of one PostgreSQL database, over one connection in this process, however many they are."""

    def __init__(self, address: str, durability: Durability = "process", schema: str = "statecraft") -> None:
        self.database = PostgresDatabase(address, durability, schema)

    @property
    def name(self) -> str:
        """The database and its host."""
        return self.database.name

    def store(self, run: str) -> PostgresStore:
        """A run of the database, on the shelf's connection."""
        return PostgresStore(self.database, run)

    def alone(self, run: str) -> PostgresStore:
        """A run of the database, on a connection of its own."""
        return PostgresStore(self.database.address, run, self.database.durability, self.database.schema)

    def runs(self) -> tuple[str, ...]:
        """Each by one look into the index of lines."""
        return tuple(run for (run,) in self.database.rows(_READ, _RUNS))

    def notes(self, name: str) -> Iterator[tuple[str, bytes]]:
        """By the index of names, one body at a time."""
        query: LiteralString = "SELECT run FROM notes WHERE name = %(name)s ORDER BY run"
        for (run,) in self.database.rows(_READ, query, {"name": checked_note(name)}):
            body = self.store(run).kept(name)
            if body is not None:
                yield run, body

    def mailed(self) -> tuple[str, ...]:
        """From the letters' index; letters are few."""
        return tuple(run for (run,) in self.database.rows(_READ, "SELECT DISTINCT run FROM mail ORDER BY run"))

    def close(self) -> None:
        """Disconnect. Stores give up what they hold back by their own `close`, before this."""
        self.database.close()
