"""The journals that an audit writes: none is written over unless that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import attrs

from statecraft.cli import BadInput
from statecraft.journal import DATABASES, FileStore, SqliteStore, Store, remove, runs_of

from ..audit.journal import store_for
from ..traces.bad_trace import BadTrace
from ..traces.formats import open_trace
from ..traces.recorded import Recorded
from .inputs import Input


@attrs.define
class Journals:
    """Where journals go: the names that lie there from before, and those that were used so far.

    `store` deletes what lies under a name from before; `check_free` says beforehand whether there is any.
    """

    where: Path
    before: frozenset[str]
    taken: set[str] = attrs.field(init=False, factory=set[str])

    def store(self, recorded: Recorded) -> Store:
        """The store for the next run."""
        store = store_for(self.where, recorded, self.taken)
        name, path = _place(store)
        if name in self.before:
            remove(path, name)
        return store


def journals_at(where: Path) -> Journals:
    """The place that was given. Raises `BadInput` where it can be none."""
    if where.suffix == ".jsonl" or (where.exists() and where.suffix not in DATABASES and not where.is_dir()):
        raise BadInput(f"--journal {where}: expected a folder, or a file named *{', *'.join(DATABASES)}")
    if not where.exists():
        return Journals(where, frozenset())
    names = runs_of(where) if where.suffix in DATABASES else (path.stem for path in where.glob("*.jsonl"))
    return Journals(where, frozenset(names))


def check_free(journals: Journals, given: Iterable[Input], format: str | None) -> None:
    """Raise `BadInput` before anything is judged where a journal would have to be written over."""
    taken: set[str] = set()
    for one in given if journals.before else ():
        try:
            for recorded in open_trace(one.path, format):
                store = store_for(journals.where, recorded, taken)
                if _place(store)[0] in journals.before:
                    raise BadInput(
                        f"--journal {journals.where}: {store.name} is already there; "
                        f"give another place, or --replace to write it anew"
                    )
        except (BadTrace, OSError):
            continue  # said when it is judged


def _place(store: Store) -> tuple[str, Path]:
    """The name under which a journal lies there, and its file."""
    if isinstance(store, SqliteStore):
        return store.run, store.path
    assert isinstance(store, FileStore)  # an audit writes no others
    return store.path.stem, store.path
