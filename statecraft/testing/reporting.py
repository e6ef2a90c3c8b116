"""Coverage as text: for each machine how much was seen, then each row never taken and each guard not seen every way."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagrams.edges import picture
from ..diagrams.listing import row as row_text
from .coverage import Coverage, Covered


def report(coverage: Coverage) -> tuple[str, ...]:
    """The lines of the report, without a title."""
    if not coverage.machines:
        return ("no table was stepped",)
    lines = [line for one in coverage.machines for line in _machine(one)]
    total = f"all: {_counts(coverage.rows, coverage.guards)}"
    return (*lines, total) if len(coverage.machines) > 1 else tuple(lines)


def percent(count: tuple[int, int]) -> float:
    """Some of all in percent. Nothing of nothing is 100: a table without guards lacks none."""
    some, there = count
    return 100.0 * some / there if there else 100.0


def shown(count: tuple[int, int]) -> str:
    """The percentage with one decimal, cut rather than rounded: 100 % is all, and nothing less."""
    return f"{int(percent(count) * 10) / 10:.1f} %"


def _machine(one: Covered) -> Iterator[str]:
    yield f"{one.name}: {_counts(one.rows, one.guards)}"
    rows = [row_text(line) for line in picture(one.table).lines]
    for number in one.never_taken:
        yield f"  never taken: row {rows[number]}"
    for asked, ways in one.never_seen:
        missing = "never asked" if ways == asked.ways else f"never {', never '.join(way.text for way in ways)}"
        yield f"  {asked.name}: {missing}, in row {rows[asked.rows[0]]}{_more(asked.rows)}"


def _more(rows: tuple[int, ...]) -> str:
    others = ", ".join(map(str, rows[1:]))
    return f" (and row{'s' if len(rows) > 2 else ''} {others})" if others else ""


def _counts(rows: tuple[int, int], guards: tuple[int, int]) -> str:
    taken = f"{rows[0]} of {rows[1]} rows taken ({shown(rows)})"
    return f"{taken}, {guards[0]} of {guards[1]} guards seen every way ({shown(guards)})"
