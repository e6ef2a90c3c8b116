"""The journals that an audit writes: none is written over unless that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import attrs

from statecraft.cli import BadInput
from statecraft.journal import FileStore, SqliteStore, Store, remove, runs_of

from ..audit.journal import DATABASES, store_for
from ..traces.bad_trace import BadTrace
from ..traces.formats import open_trace
from ..traces.recorded import Recorded
from .inputs import Input


@attrs.define
class Journals:
    """Where journals go, and the names that were used so far. `replace`: what lies there under a name is deleted."""

    where: Path
    replace: bool
    taken: set[str] = attrs.field(init=False, factory=set[str])

    def store(self, recorded: Recorded) -> Store:
        """The store for the next run."""
        store = store_for(self.where, recorded, self.taken)
        if self.replace and _is_there(store):
            remove(*_place(store))
        return store


def check_free(where: Path, given: Iterable[Input], format: str | None) -> None:
    """Raise `BadInput` before anything is judged where a journal would have to be written over."""
    if where.suffix == ".jsonl" or (where.exists() and where.suffix not in DATABASES and not where.is_dir()):
        raise BadInput(f"--journal {where}: expected a folder, or a file named *{', *'.join(DATABASES)}")
    if not where.exists():
        return
    taken: set[str] = set()
    for one in given:
        try:
            for recorded in open_trace(one.path, format):
                store = store_for(where, recorded, taken)
                if _is_there(store):
                    raise BadInput(
                        f"--journal {where}: {store.name} is already there; "
                        f"give another place, or --replace to write it anew"
                    )
        except (BadTrace, OSError):
            continue  # said when it is judged


def _is_there(store: Store) -> bool:
    path, run = _place(store)
    return path.exists() and (isinstance(store, FileStore) or run in runs_of(path))


def _place(store: Store) -> tuple[Path, str]:
    if isinstance(store, SqliteStore):
        return store.path, store.run
    assert isinstance(store, FileStore)  # an audit writes no others
    return store.path, ""
