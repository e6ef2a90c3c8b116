"""What a diagram shows, as one value: both languages are written from it, so they cannot disagree.

A `Picture` is a table read once, in the table's own order: states as the Enum lists them, rows as they are tried. An
`Edge` gathers the rows with the same source, target and event; a `Line` is one row in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

import attrs

from ..guards import name_of
from ..table import Inner, Row, Table
from .names import Identifiers


@attrs.frozen
class Line:
    """One row in words; `paid` holds what it spends and refills, as `-turn` and `+recovery`."""

    row: int
    sources: tuple[str, ...]
    event: str
    target: str
    guards: tuple[str, ...]
    effect: str
    commands: tuple[str, ...]
    paid: tuple[str, ...]


@attrs.frozen
class Edge:
    """The rows from one state to another on one event, in the order in which they are tried."""

    source: str
    target: str
    event: str
    lines: tuple[Line, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """The numbers of the rows."""
        return tuple(line.row for line in self.lines)


@attrs.frozen
class Quiet:
    """Cells of which the table says something on purpose: `ignore`, `refuse` or `ordered`, and why."""

    how: str
    states: tuple[str, ...]
    events: tuple[str, ...]
    why: str


@attrs.frozen
class Inside:
    """The picture of an inner machine, and the states of the outer one in which it runs."""

    during: tuple[str, ...]
    picture: Picture


@attrs.frozen
class Picture:
    """All that a diagram of one table shows. `ids` and `box` are the identifiers of its states and of itself."""

    name: str
    box: str
    states: tuple[str, ...]
    ids: Mapping[str, str]
    initial: str
    final: tuple[str, ...]
    budgets: tuple[str, ...]
    lines: tuple[Line, ...]
    edges: tuple[Edge, ...]
    quiet: tuple[Quiet, ...]
    inside: tuple[Inside, ...]


AnyTable = Table[Any, Any, Any, Any]


def edges(table: AnyTable) -> tuple[Edge, ...]:
    """The edges of the table alone, without its inner machines: by source, then by the first row of each."""
    return picture(table).edges


def picture(table: AnyTable) -> Picture:
    """The table as a diagram shows it."""
    return _picture(table, Identifiers())


def _picture(table: AnyTable, free: Identifiers) -> Picture:
    lines = tuple(_line(number, row) for number, row in enumerate(table.rows))
    states = _names(table.states)
    return Picture(
        table.name,
        # States first, so that what a reader looks for keeps its own name.
        ids={state: free.take(state) for state in states},
        box=free.take(table.name),
        states=states,
        initial=table.initial.name,
        final=_names(s for s in table.states if s in table.final),
        budgets=tuple(_budget(budget, size) for budget, size in table.budgets.items()),
        lines=lines,
        edges=tuple(_edges(states, lines)),
        quiet=tuple(Quiet(m.how, _names(m.states), tuple(e.__name__ for e in m.events), m.why) for m in table.marks),
        inside=tuple(
            Inside(_names(s for s in table.states if s in held.during), _picture(held.table, free))
            for held in table.inners
        ),
    )


def _edges(states: tuple[str, ...], lines: tuple[Line, ...]) -> Iterator[Edge]:
    for state in states:
        found: dict[tuple[str, str], list[Line]] = {}
        for line in lines:
            if state in line.sources:
                found.setdefault((line.target, line.event), []).append(line)
        yield from (Edge(state, target, event, tuple(gathered)) for (target, event), gathered in found.items())


def _line(number: int, row: Row[Any, Any, Any]) -> Line:
    spends = () if row.spends is None else (f"-{_payable(row.spends)}",)
    return Line(
        row=number,
        sources=_names(row.sources),
        event=row.event.__name__,
        target=row.target.name,
        guards=tuple(name_of(guard) for guard in row.guards),
        effect=name_of(row.effect),
        # Sets, so sorted: the text must not depend on the order in which a set is walked.
        commands=tuple(sorted(command.__name__ for command in row.asks)),
        paid=(*spends, *sorted(f"+{_payable(refilled)}" for refilled in row.refills)),
    )


def _names(states: Iterable[Enum]) -> tuple[str, ...]:
    return tuple(state.name for state in states)


def _payable(what: Enum | Inner[Any, Any, Any]) -> str:
    return str(what.value) if isinstance(what, Enum) else what.name


def _budget(budget: Enum, size: object) -> str:
    return f"{budget.value} {name_of(size) if callable(size) else size}"
