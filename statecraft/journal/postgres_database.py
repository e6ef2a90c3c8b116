"""One PostgreSQL database as one process has it open: its tables, and a connection that threads take in turns.

The tables lie in a schema of their own, made at the first use. Every change is one statement, and so one commit.

Durability "power" is `synchronous_commit=on`. "process" is off: a commit is then in the server's memory when it is
answered, so `kill -9` of whoever wrote it takes nothing back. A crash of the server itself, or of its machine, may take
back what came in the last moment before (some 0.6 seconds as servers are set up), in order and never a part of a
commit. A writer that lives through that has its next line refused, since the line before it is not there.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Mapping
from typing import Any, LiteralString

from .store import Durability, JournalError

try:
    import psycopg
    from psycopg import conninfo, sql
except ImportError as error:
    raise ImportError(
        "a journal in PostgreSQL needs the package psycopg: pip install 'statecraft-machines[postgres]'"
    ) from error

Connection = psycopg.Connection[tuple[Any, ...]]

CONNECT_SECONDS = 10  # how long a server may take to answer, unless the address says otherwise
_SETTING_UP = 0x57A7EC4AF7  # the lock that whoever makes the tables has; any number that nobody else takes

# Text is compared by its code points, as Python does, whatever the database's language is.
_TABLES: dict[LiteralString, LiteralString] = {
    "lines": 'run text COLLATE "C", seq bigint, line bytea NOT NULL, PRIMARY KEY (run, seq)',
    "content": 'digest text COLLATE "C" PRIMARY KEY, body bytea NOT NULL',
    "notes": 'run text COLLATE "C", name text COLLATE "C", body bytea NOT NULL, PRIMARY KEY (run, name)',
    "mail": 'came bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run text COLLATE "C" NOT NULL, id bytea NOT NULL,'
    " body bytea NOT NULL, UNIQUE (run, id)",
    "leases": 'run text COLLATE "C" PRIMARY KEY, holder text NOT NULL, until double precision NOT NULL',
}
_BY_NAME: LiteralString = "CREATE INDEX IF NOT EXISTS notes_by_name ON notes (name, run)"


class PostgresDatabase:
    """A database of journals. It is connected to when first needed, and again after the connection was dropped."""

    def __init__(self, address: str, durability: Durability = "process", schema: str = "statecraft") -> None:
        self.address = address
        self.durability: Durability = durability
        self.schema = schema
        self.connection: Connection | None = None
        self._lock = threading.RLock()
        try:
            self._parts = conninfo.conninfo_to_dict(address)
        except psycopg.Error:  # which may repeat the password
            raise JournalError(
                "the address of a PostgreSQL database cannot be read; expected postgresql://USER@HOST/DATABASE"
            ) from None

    @property
    def name(self) -> str:
        """The database and its host; no user, no password."""
        return f"PostgreSQL {self._parts.get('dbname') or ''} at {self._parts.get('host') or 'localhost'}"

    @contextlib.contextmanager
    def at_work(self, what: str) -> Generator[Connection]:
        """The connection, for one thread until it is done. What goes wrong is `JournalError`."""
        with self._lock:
            try:
                yield self.connection or self._connected()
            except psycopg.Error as error:
                raise self._failed(what, error) from error

    def rows(
        self, what: str, query: LiteralString, values: Mapping[str, object] | None = None
    ) -> list[tuple[Any, ...]]:
        """What a query finds."""
        with self.at_work(what) as db:
            return db.execute(query, values, binary=True).fetchall()

    def change(self, what: str, statement: LiteralString, values: Mapping[str, object]) -> int:
        """Carry out a statement, and say how many rows it has changed."""
        with self.at_work(what) as db:
            return db.execute(statement, values).rowcount

    def close(self) -> None:
        """Close the connection; it opens again when it is needed."""
        with self._lock:
            if self.connection is not None:
                self.connection.close()
            self.connection = None

    def _connected(self) -> Connection:
        seconds = self._parts.get("connect_timeout") or CONNECT_SECONDS
        db = psycopg.connect(self.address, autocommit=True, connect_timeout=int(seconds))
        try:
            self._set_up(db)
        except BaseException:
            db.close()
            raise
        self.connection = db
        return db

    def _set_up(self, db: Connection) -> None:
        """The session, and the tables where they are not there: then one at a time, as IF NOT EXISTS does not wait."""
        schema = sql.Identifier(self.schema)
        db.execute(sql.SQL("SET search_path TO {}").format(schema))
        db.execute(f"SET synchronous_commit TO {'on' if self.durability == 'power' else 'off'}")
        found = db.execute("SELECT to_regclass(quote_ident(%s) || '.leases')", [self.schema]).fetchone()
        if found and found[0] is not None:
            return
        with db.transaction():
            db.execute("SET LOCAL client_min_messages TO warning")  # that a table is there is nothing to notice
            db.execute("SELECT pg_advisory_xact_lock(%s)", [_SETTING_UP])
            db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
            for table, columns in _TABLES.items():
                db.execute("CREATE TABLE IF NOT EXISTS " + table + " (" + columns + ")")
            db.execute(_BY_NAME)

    def _failed(self, what: str, error: psycopg.Error) -> JournalError:
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if self.connection is None:
            return JournalError(f"{self.name}: {what}: cannot be connected to: {said}")
        if self.connection.closed:
            self.close()
            return JournalError(f"{self.name}: {what}: the connection was dropped: {said}; the next use connects again")
        full = isinstance(error, psycopg.errors.DiskFull)
        return JournalError(f"{self.name}: {what}: {'the disk is full' if full else said}")
