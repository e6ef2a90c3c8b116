"""Diagrams kept in a folder, and how far they have drifted from the tables.

Only files that end in `.mmd` or `.dot`, right in the folder, count as kept diagrams; line ends do not count.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .dot import dot
from .edges import AnyTable
from .mermaid import mermaid

WRITERS = {".mmd": mermaid, ".dot": dot}


def diagrams_of(tables: Iterable[AnyTable]) -> dict[str, str]:
    """Both diagrams of each table, by file name (`NAME.mmd`, `NAME.dot`). Every table's name can be a file's.

    Raises ValueError where two tables would write the same file.
    """
    made: dict[str, str] = {}
    taken: set[str] = set()
    for table in tables:
        if table.name.lower() in taken:  # some file systems do not tell case apart
            raise ValueError(f"two tables are called {table.name!r}: each diagram needs a file of its own")
        taken.add(table.name.lower())
        made.update((f"{table.name}{ending}", write(table)) for ending, write in WRITERS.items())
    return made


def drift(generated: Mapping[str, str], folder: Path) -> str:
    """A unified diff from what the folder keeps to what is generated; empty where both are the same.

    A missing file is all additions, a surplus one all removals. A folder that does not exist keeps nothing.
    """
    there = sorted(path for path in folder.iterdir() if path.suffix in WRITERS) if folder.is_dir() else []
    kept = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in there}
    return "".join(
        line
        for name in sorted({*kept, *generated})
        for line in _diff(f"{folder.name}/{name}", kept.get(name), generated.get(name))
    )


def _diff(name: str, old: str | None, new: str | None) -> Iterator[str]:
    if old == new:
        return
    before, after = ("/dev/null" if old is None else name), ("/dev/null" if new is None else name)
    if not old and not new:  # an empty file that should not be there, or the other way round: no line differs
        yield f"--- {before}\n+++ {after}\n"
    for line in difflib.unified_diff(_lines(old), _lines(new), before, after):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str | None) -> list[str]:
    """Lines that end where a file's do: str.splitlines would also end them inside a name."""
    return [] if not text else re.findall(r"[^\n]*\n|[^\n]+", text)
