"""`verify`: of each journal whether it is whole, and whether the content beside it is what its lines name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ..codec import codec, dump
from ..journal import Contents, JournalError, Verified, contents, opened, runs_of, verify
from ..journal.opened import is_sqlite
from .journals import journals_in
from .running import BadInput, complain

NAMED = 3  # altered contents that are named one by one


def verified(journals: Sequence[Path], run: str | None, *, json: bool) -> int:
    """Check them all, say what was found, and answer the exit code: 2 if any is no journal, 1 if any is not whole."""
    if not journals:
        raise BadInput("verify: no journal given; expected one path or more")
    worst = 0
    for path in journals_in(journals):
        try:
            for name in _runs(path, run):
                worst = max(worst, _one(path, name, json=json))
        except JournalError as error:
            complain(str(error))
            worst = 2
    return worst


def _one(path: Path, run: str | None, *, json: bool) -> int:
    with closing(opened(path, run)) as store:
        found = verify(store)
        if found.why == "not a journal" and path.stat().st_size:  # an empty file may be one that was emptied
            raise JournalError(f"{path}: is no journal: {found.detail}")
        beside = Contents(0, 0, ()) if found.verdict == "broken" else contents(store)
    if json:
        plain = {"journal": str(path), **codec().to_plain(found), "contents": codec().to_plain(beside)}
        sys.stdout.buffer.write(dump(plain) + b"\n")
    else:
        sys.stdout.write(f"{path}{f' ({run})' if run else ''}: {_said(found, beside, path)}\n")
    return int(found.verdict != "whole" or bool(beside.altered))


def _said(found: Verified, beside: Contents, path: Path) -> str:
    if found.verdict == "whole":
        return f"whole, {found.lines} lines{_beside(beside)}"
    in_file = found.verdict == "broken" and found.line is not None and not is_sqlite(path)
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


def _runs(path: Path, run: str | None) -> tuple[str | None, ...]:
    """The runs that are meant: the one named, or all that an SQLite file holds."""
    if run is not None or not is_sqlite(path):
        return (run,)
    return runs_of(path)
