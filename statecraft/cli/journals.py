"""Journals that are given on a command line: which there are, whose runs they hold, and the rows that a run took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, TypeGuard

from ..diagrams import Taken, taken
from ..journal import DATABASES, Journaled, JournalError, link, opened, verify
from ..journal.opened import called, in_postgres
from .loading import AnyTable, load_value
from .running import BadInput

AnyJournaled = Journaled[Any, Any, Any]
Place = Path | str

ENDINGS = (".jsonl", *DATABASES)
"""How the names of journals end; in a folder nothing else is taken for one."""


def place_of(text: str) -> Place:
    """What is given as a journal: a path, or the address of a PostgreSQL database as it is."""
    return text if in_postgres(text) else Path(text)


def journals_in(places: Iterable[Place]) -> Iterator[Place]:
    """The places; of a folder, all journals in it and below. Raises `BadInput` where a folder holds none."""
    for path in places:
        if isinstance(path, str) or not path.is_dir():
            yield path
            continue
        inside = sorted(p for p in path.rglob("*") if p.suffix in ENDINGS and p.is_file() and not _hidden(p, path))
        if not inside:
            raise BadInput(f"{path}: the folder holds no journal; expected files named *{', *'.join(ENDINGS)}")
        yield from inside


def _hidden(path: Path, top: Path) -> bool:
    return any(
        part.startswith(".") or part.endswith((".content", ".notes", ".mail")) for part in path.relative_to(top).parts
    )


def journaled_of(place: Place, run: str | None, of: str | None, known: Mapping[str, str]) -> AnyJournaled:
    """The machine whose run a journal is. Raises `BadInput`."""
    with closing(opened(place, run)) as store:
        first = next(store.lines(), None)
    record = (link(first).record if first is not None else None) or {}
    machine = record.get("machine")
    if not isinstance(machine, str):
        raise BadInput(f"{called(place)}: is no journal: its first line names no machine; see statecraft verify")
    target = of or known.get(machine)
    if target is None:
        raise BadInput(
            f"{called(place)}: is a run of the machine {machine!r}, which this command does not know; "
            "give --of MODULE:NAME"
        )
    found: AnyJournaled = load_value(target, _is_journaled, "a Journaled machine")
    if found.table.name != machine:
        raise BadInput(f"{called(place)}: is a run of the machine {machine!r}, and {target} is {found.table.name!r}")
    return found


def _is_journaled(value: object) -> TypeGuard[AnyJournaled]:
    return isinstance(value, Journaled)


def walked(place: Place, run: str | None, table: AnyTable) -> Taken:
    """The rows that a journal's run took, as its lines say. Raises `JournalError` where it is broken."""
    with closing(opened(place, run)) as store:
        found = verify(store)
        if found.verdict == "broken":
            raise JournalError(f"{called(place)}: broken at seq {found.seq}, {found.why}: {found.detail}")
        return taken(_pairs(record for line in store.lines() if (record := link(line).record)), table)


def _pairs(records: Iterator[Mapping[str, Any]]) -> Iterator[Any]:
    for record in records:
        if record.get("kind") == "step":
            yield _pair(record)


def _pair(record: Mapping[str, Any]) -> Any:
    return record.get("row"), {one["machine"]: _pair(one) for one in record.get("inside", ())}
