"""The journal of an audit: every step of a judged run, as a live run would have written it."""

from __future__ import annotations

import re
from pathlib import Path

from statecraft import Fault
from statecraft.journal import FileStore, SqliteStore, Store, Writer

from ..commands import Command
from ..events import Event, Text
from ..journaled import AGENT_RUN
from ..policy import Policy
from ..state import ENDINGS, Run
from ..supervisor import Moved, NewLeg
from ..traces.recorded import Recorded
from .judge import first

DATABASES = (".db", ".sqlite", ".sqlite3")
"""Endings of a journal that is kept as SQLite; anything else is a folder of JSON Lines files."""


class AuditJournal:
    """One run's journal, written while the run is judged. A run that breaks off leaves it open, and so it is shown."""

    def __init__(self, store: Store, recorded: Recorded, policy: Policy) -> None:
        run = first(recorded, policy)
        self._store = store
        self._writer = Writer[Run, Event, Command].begin(
            store, AGENT_RUN, recorded.run.id, run, host="audit", policy=run.policy
        )
        self.name = store.name

    def keep(self, text: Text, content: str) -> None:
        """Keep a text beside the chain, under the digest that `text` has too."""
        del text
        self._store.put(content.encode("utf-8", "surrogatepass"))

    def watch(self, move: Moved | NewLeg) -> None:
        """Write one step."""
        if isinstance(move, NewLeg):
            self._writer.leg(move.run)
        elif isinstance(move.answer, Fault):
            self._writer.fault(move.event, move.answer)
        else:
            self._writer.answer(move.event, move.answer)

    def close(self, run: Run | None) -> None:
        """Close the journal; with a terminal record, if the run has ended."""
        if run is not None and run.at in ENDINGS:
            self._writer.end(run.at)
        self._store.close()


def store_for(where: Path, recorded: Recorded, taken: set[str]) -> Store:
    """A store for the run at `where`: a row set of a SQLite file, or a file of a folder. `taken`: names used so far."""
    name = re.sub(r"[^\w.-]+", "_", recorded.run.id).strip("._") or "run"
    number, unique = 1, name
    while unique in taken:
        number, unique = number + 1, f"{name}-{number + 1}"
    taken.add(unique)
    if where.suffix in DATABASES:
        return SqliteStore(where, unique)
    where.mkdir(parents=True, exist_ok=True)
    return FileStore(where / f"{unique}.jsonl")
