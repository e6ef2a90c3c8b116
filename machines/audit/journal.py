"""Where the journals of an audit lie: a folder of JSON Lines files, or one SQLite file."""

from __future__ import annotations

import re
from pathlib import Path

from statecraft.journal import DATABASES, FileStore, SqliteStore, Store

from ..traces.recorded import Recorded


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
