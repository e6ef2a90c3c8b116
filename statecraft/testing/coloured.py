"""What was seen of machines, drawn over their diagrams: rows taken and never taken, guards not seen both ways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..diagrams.dot import dot
from ..diagrams.drawn import UNKNOWN, Taken
from ..diagrams.mermaid import mermaid
from ..diagrams.svg import GraphvizError, svg
from ..heard import AnyTable
from .coverage import Coverage, Covered


def draw(coverage: Coverage, folder: Path) -> tuple[str, ...]:
    """Write NAME.dot, NAME.mmd and NAME.svg of each machine, inner ones within it, into the folder.

    The lines say what was written, and why no SVG was, where Graphviz is not there.
    """
    names: list[str] = []
    lacking = ""
    for table, seen in coloured(coverage):
        name = table.name if table.name not in names else f"{table.name}_{len(names)}"
        names.append(name)
        (folder / f"{name}.dot").write_text(dot(table, seen), encoding="utf-8")
        (folder / f"{name}.mmd").write_text(mermaid(table, seen), encoding="utf-8")
        try:
            (folder / f"{name}.svg").write_bytes(svg(table, seen))
        except GraphvizError as error:
            lacking = str(error)
    drawn = f"drawn in {folder}: {', '.join(names) or 'nothing'}"
    return (drawn, lacking) if lacking else (drawn,)


def coloured(coverage: Coverage) -> Iterator[tuple[AnyTable, Taken]]:
    """Each machine that no other holds, with what was seen of it as a diagram shows it."""
    machines = iter(coverage.machines)
    for one in machines:
        yield one.table, _taken(one, machines)


def _taken(one: Covered, rest: Iterator[Covered]) -> Taken:
    """What was seen of a machine; `rest` goes on with the machines that it holds, in their order."""
    inside: dict[str, Taken] = {}
    for table in dict.fromkeys(held.table for held in one.table.inners):
        inside[table.name] = _taken(next(rest), rest)
    remarks: dict[int, list[str]] = {}
    for asked, ways in one.never_seen:
        for row in asked.rows:
            remarks.setdefault(row, []).append(f"{asked.name} never {', never '.join(way.text for way in ways)}")
    told = {row: "; ".join(said) for row, said in remarks.items()}
    return Taken(one.table.name, one.times, UNKNOWN, inside, tested=True, remarks=told)
