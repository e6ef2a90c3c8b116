"""A table as the proofs walk it: one edge for each row in each of its sources, with what it spends, refills and counts.

Guards are taken to hold whenever that is worse, so every step that a table can take is one of its edges; but where a
row is never taken once a budget is used up, the edge says so (needed.py). Left out are

* edges that can never be taken: they spend a budget of size 0, or an inner machine that no step leaves open there;
* quiet edges: they stay, spend, refill and ask nothing, so they only answer an event that nobody asked for. Not so
  inside a machine that spends the table as an inner one: there a quiet step keeps the outer row going.

An inner machine may ask for commands in a step of the outer, on any row. Where some row of the table spends it, the
table begins it again only in a row that refills it, so its steps are a budget whichever outer row they come with: the
edge names it in `rides`, and a quiet row stands in the graph once for each inner machine that may ask on it, as an
edge that spends that inner machine. An inner machine that no row spends may begin again at any time, so what it asks
is added to the cost of the edge outright, and the row is not quiet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import attrs

from ..table import Inner, Row, Table
from .needed import needs_of

AnyTable = Table[Any, Any, Any, Any]
AnyInner = Inner[Any, Any, Any]
Payable = Enum | AnyInner

_NOTHING: frozenset[Enum] = frozenset()


class NeedsRun(ValueError):
    """A size depends on the run, and no run was given (or no `fresh` for an inner machine)."""


@attrs.frozen(eq=False)
class Case:
    """A table under one run: where it starts, and what its rows spend, with sizes (None: without limit).

    `kids` holds the inner machines that rows spend, `most` how many of each live at once, `needs` what rows need and do
    not spend.
    """

    table: AnyTable
    within: bool
    starts: tuple[Enum, ...]
    sizes: Mapping[Enum, int | None]
    most: Mapping[AnyInner, int]
    kids: Mapping[AnyInner, Case]
    needs: Mapping[tuple[int, Enum], frozenset[Enum]]


@attrs.frozen(eq=False)
class Edge:
    """One row in one of its sources. `cost` is what the row itself counts.

    `rides` gives, for inner machines that rows spend, the rows of their tables that may ask or be paid with on this
    edge; `added` what each may add to the cost. `needs`: budgets that it does not spend, and without which it is never
    taken.
    """

    source: Enum
    target: Enum
    row: int
    spends: tuple[Payable, ...]
    refills: frozenset[Payable]
    rides: Mapping[AnyInner, frozenset[int]]
    cost: int
    added: Mapping[AnyInner, int]
    needs: frozenset[Enum]


def called(what: Payable) -> str:
    """The name of a budget or an inner machine."""
    return str(what.value) if isinstance(what, Enum) else what.name


def case_of(table: AnyTable, run: Any = None, *, within: bool = False) -> Case:
    """The table under `run`. Raises `NeedsRun` where a size depends on a run that was not given."""
    spent = [row.spends for row in table.rows if row.spends is not None]
    sizes: dict[Enum, int | None] = {}
    for budget, size in table.budgets.items():
        if budget in spent:
            if callable(size) and run is None:
                raise NeedsRun(
                    f"table {table.name}: the size of {budget.value} depends on the run, and there is none: "
                    f"give the proof a run (in its module: SAMPLES, by the table's name), an inner machine its `fresh`"
                )
            full = size(run) if callable(size) else size
            sizes[budget] = None if full is None else max(full, 0)
    most: dict[AnyInner, int] = {}
    kids: dict[AnyInner, Case] = {}
    for one in spent_inners(table):
        if callable(one.most) and run is None:
            raise NeedsRun(
                f"table {table.name}: how many {one.name} live at once depends on the run, and there is none"
            )
        most[one] = one.most(run) if callable(one.most) else one.most
        kids[one] = case_of(one.table, _begun(one, run), within=True)
    starts = dict.fromkeys([table.initial, *([] if run is None else [table.at(run)])] if within else [table.initial])
    return Case(table, within, tuple(starts), sizes, most, kids, needs_of(table))


def edges_of(case: Case, asking: type[Any] | None = None, counted: frozenset[int] | None = None) -> list[Edge]:
    """The edges of the table, in the order of its rows. What they count: steps, or rows that ask `asking`.

    Rows that are not in `counted` (None: all are) count nothing.
    """
    return [
        edge
        for number, row in enumerate(case.table.rows)
        for source in row.sources
        for edge in _of_row(case, asking, counted is None or number in counted, number, row, source)
    ]


def stays_open(held: AnyInner, source: Enum, event: type[Any]) -> frozenset[int]:
    """The rows by which the inner machine can step on `event` while the outer is in `source`, and still be open."""
    return frozenset(n for n in _steps(held, source, event) if held.table.rows[n].target not in held.table.final)


def asked(table: AnyTable, number: int, asking: type[Any] | None) -> int:
    """How many rows can ask `asking` (None: anything) in one step: this one, and those of inner machines with it."""
    row = table.rows[number]
    own = int(bool(row.asks) if asking is None else asking in row.asks)
    inside = [(held, {n for source in row.sources for n in _steps(held, source, row.event)}) for held in table.inners]
    return own + sum(_most_asked(held, frozenset(rows), asking) for held, rows in inside)


def may_ask(table: AnyTable, source: Enum, event: type[Any]) -> frozenset[type[Any]]:
    """The commands that inner machines, however deep, may ask for in a step of the table on `event` in `source`."""
    return frozenset(kind for held in table.inners if source in held.during for kind in _any_asked(held.table, event))


def _any_asked(table: AnyTable, event: type[Any]) -> set[type[Any]]:
    own = {kind for row in table.rows if row.event is event for kind in row.asks}
    return own | {kind for held in table.inners for kind in _any_asked(held.table, event)}


def is_quiet(table: AnyTable, number: int, source: Enum) -> bool:
    """Whether the row, in this source, stays, spends, refills and asks nothing, and no inner machine asks in its step.

    What an inner machine that rows spend asks has edges of its own, and is not looked at here.
    """
    row = table.rows[number]
    if source is not row.target or row.spends is not None or row.refills or row.asks:
        return False
    return all(held in spent_inners(table) for held, _ in _loud(table, number, source))


def spent_inners(table: AnyTable) -> list[AnyInner]:
    """The inner machines that some row spends, in the order of the table."""
    return [held for held in table.inners if any(row.spends is held for row in table.rows)]


def _begun(held: AnyInner, run: Any) -> Any:
    return None if run is None or held.fresh is None else held.fresh(run)


def _steps(held: AnyInner, source: Enum, event: type[Any]) -> tuple[int, ...]:
    if source not in held.during:
        return ()
    return tuple(n for n, row in enumerate(held.table.rows) if row.event is event)


def _of_row(
    case: Case, asking: type[Any] | None, counts: bool, number: int, row: Row[Any, Any, Any], source: Enum
) -> Iterator[Edge]:
    spent = row.spends
    rides: dict[AnyInner, frozenset[int]] = {}
    if isinstance(spent, Enum):
        if case.sizes[spent] == 0:
            return
    elif spent is not None:
        rides[spent] = stays_open(spent, source, row.event)
        if not rides[spent]:
            return
    cost = 0
    if counts:
        cost = 1 if asking is None else int(asking in row.asks)
    adds = counts and asking is not None
    loud = dict(_loud(case.table, number, source))
    cost += sum(_most_asked(held, rows, asking) for held, rows in loud.items() if adds and held not in case.kids)
    riders = [held for held in loud if held in case.kids]
    rides.update((held, loud[held]) for held in riders)
    added = {held: _most_asked(held, rows, asking) if adds else 0 for held, rows in rides.items()}
    paid: list[tuple[Payable, ...]] = [() if spent is None else (spent,)]
    if not case.within and is_quiet(case.table, number, source):
        paid = [(held,) for held in riders]
    needs = case.needs.get((number, source), _NOTHING)
    for spends in paid:
        yield Edge(source, row.target, number, spends, row.refills, rides, cost, added, needs)


def _loud(table: AnyTable, number: int, source: Enum) -> Iterator[tuple[AnyInner, frozenset[int]]]:
    """Inner machines that can ask for something on an edge that does not spend them, and by which rows.

    Below a row of the same cell that spends it and has no guard that this row lacks, an inner machine has just ended.
    """
    row = table.rows[number]
    cell = [one for one in table.rows[:number] if one.event is row.event and source in one.sources]
    for held in table.inners:
        if held is row.spends:
            continue
        ended = any(above.spends is held and set(above.guards) <= set(row.guards) for above in cell)
        rows = frozenset(
            n
            for n in _steps(held, source, row.event)
            if asked(held.table, n, None) and not (ended and held.table.rows[n].target not in held.table.final)
        )
        if rows:
            yield held, rows


def _most_asked(held: AnyInner, rows: frozenset[int], asking: type[Any] | None) -> int:
    return max((asked(held.table, n, asking) for n in rows), default=0)
