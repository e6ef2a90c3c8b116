"""`verify`: of each journal whether it is whole, and whether the content beside it is what its lines name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ..codec import codec, dump
from ..journal import Contents, JournalError, Verified, contents, opened, verify
from ..journal.opened import called, is_sqlite, runs_at
from .journals import Place, journals_in
from .running import BadInput, complain

NAMED = 3  # altered contents that are named one by one


def verified(journals: Sequence[Place], run: str | None, *, json: bool) -> int:
    """Check them all, say what was found, and answer the exit code: 2 if any is no journal, 1 if any is not whole."""
    if not journals:
        raise BadInput("verify: no journal given; expected one path or more")
    worst = 0
    for place in journals_in(journals):
        try:
            for name in _runs(place, run):
                worst = max(worst, _one(place, name, json=json))
        except JournalError as error:
            complain(str(error))
            worst = 2
    return worst


def _one(place: Place, run: str | None, *, json: bool) -> int:
    with closing(opened(place, run)) as store:
        found = verify(store)
        emptied = isinstance(place, Path) and not place.stat().st_size  # which an empty file may be
        if found.why == "not a journal" and not emptied:
            raise JournalError(f"{called(place)}: is no journal: {found.detail}")
        beside = Contents(0, 0, ()) if found.verdict == "broken" else contents(store)
    if json:
        plain = {"journal": called(place), **codec().to_plain(found), "contents": codec().to_plain(beside)}
        sys.stdout.buffer.write(dump(plain) + b"\n")
    else:
        sys.stdout.write(f"{called(place)}{f' ({run})' if run else ''}: {_said(found, beside, place)}\n")
    return int(found.verdict != "whole" or bool(beside.altered))


def _said(found: Verified, beside: Contents, place: Place) -> str:
    if found.verdict == "whole":
        return f"whole, {found.lines} lines{_beside(beside)}"
    in_file = found.verdict == "broken" and found.line is not None and isinstance(place, Path) and not is_sqlite(place)
    where = f"seq {found.seq}" + (f" (line {found.line} of the file)" if in_file else "")
    return f"{found.verdict}, {found.why} at {where}: {found.detail}{_beside(beside)}"


def _beside(beside: Contents) -> str:
    """What is not as it was beside the chain; nothing where all is."""
    said = [f"{beside.missing} of {beside.named} contents missing"] if beside.missing else []
    if beside.altered:
        more = len(beside.altered) - NAMED
        names = ", ".join(digest[:12] for digest in beside.altered[:NAMED]) + (f" and {more} more" if more > 0 else "")
        what = "" if said else " content" if len(beside.altered) == 1 else " contents"
        said.append(f"{len(beside.altered)}{what} altered ({names})")
    return f"; {', '.join(said)}" if said else ""


def _runs(place: Place, run: str | None) -> tuple[str | None, ...]:
    """The runs that are meant: the one named, or all that a database holds. Raises `JournalError` if those are none."""
    held = None if run is not None else runs_at(place)
    if held == ():
        raise JournalError(f"{called(place)}: holds no run")
    return (run,) if held is None else held
