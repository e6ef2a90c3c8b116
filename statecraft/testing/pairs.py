"""Which two rows of one cell were seen to hold at once: there only their order decides which is taken.

A test that never stands at such a place would not notice if the two changed places. A step asks no more once a row
holds, so what stands below that row is asked here, of the table's own functions, with the run as the guards see it (its
inner machines stepped). A guard that raises where the table would not have asked it says nothing.

Pairs are rows that may hold at once by the guards that they list: those of a cell marked `ordered`, and a row with the
plain rest of it below. A row without guards holds always, so it is in no pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any

import attrs

from .._checks import at_once
from ..diagrams.labels import ranges
from ..guards import Level, as_guard
from ..heard import AnyTable
from .coverage import Path, path_name, paths, roots
from .reporting import shown

Cell = tuple[Enum, type[Any]]
Pair = tuple[int, int]


@attrs.frozen
class Pairs:
    """The pairs of one cell of a machine, and those of them that were seen to hold at once."""

    name: str
    state: str
    event: str
    there: frozenset[Pair]
    seen: frozenset[Pair]

    @property
    def never(self) -> tuple[Pair, ...]:
        """The pairs that were not seen."""
        return tuple(sorted(self.there - self.seen))


@attrs.frozen
class PairCoverage:
    """The pairs of machines, cell by cell, each machine followed by the inner machines that it holds."""

    cells: tuple[Pairs, ...]

    @property
    def count(self) -> tuple[int, int]:
        """How many pairs were seen, and how many there are."""
        return sum(len(cell.seen) for cell in self.cells), sum(len(cell.there) for cell in self.cells)


class PairTally:
    """Collects the pairs while tables are stepped. A cell whose pairs were all seen is asked no more."""

    def __init__(self) -> None:
        self._there: dict[AnyTable, Mapping[Cell, frozenset[Pair]]] = {}
        self._left: dict[tuple[Path, Cell], set[Pair]] = {}

    def hear(self, table: AnyTable, run: Any, event: object) -> None:
        """Ask the cell for the pairs that hold, and so the cells of the inner machines that the event goes to."""
        self._hear((table,), run, event)

    def coverage(self, tables: Iterable[AnyTable]) -> PairCoverage:
        """What was seen of the tables. One that another of them holds is shown within that one alone."""
        return PairCoverage(
            tuple(
                Pairs(path_name(path), cell[0].name, cell[1].__name__, there, there - left)
                for table in roots(tables)
                for path in paths((table,))
                for cell, there in self._pairs(path[-1]).items()
                for left in (self._left.get((path, cell), there),)
            )
        )

    def _pairs(self, table: AnyTable) -> Mapping[Cell, frozenset[Pair]]:
        if table not in self._there:
            self._there[table] = pairs_of(table)
        return self._there[table]

    def _hear(self, path: Path, run: Any, event: Any) -> None:
        table, kind = path[-1], event.__class__
        state = table.at(run)
        if table.cell_of(state, kind) is None:
            return
        purse: Mapping[Any, int | None] = table.left(run) if table.budgets else {}
        run, opened = self._inside(path, run, event, state)
        there = self._pairs(table).get((state, kind))
        if there is None:
            return
        left = self._left.setdefault((path, (state, kind)), set(there))
        if left:
            asked = _Asked(run, event, purse, opened)
            holds = {number for number in {one for pair in left for one in pair} if asked.row(table.rows[number])}
            left -= {pair for pair in left if holds.issuperset(pair)}

    def _inside(self, path: Path, run: Any, event: Any, state: Enum) -> tuple[Any, frozenset[int]]:
        """The run with its inner machines stepped, as `Table.step` does it, and those that may go on."""
        opened: frozenset[int] = frozenset()
        for held in path[-1].inners:
            if state not in held.during or event.__class__ not in held.table.events:
                continue
            kid = held.get(run, event)
            if kid is None or held.table.cell_of(held.table.at(kid), event.__class__) is None:
                continue
            self._hear((*path, held.table), kid, event)
            answer = held.table.step(kid, event)
            if answer.row is not None:
                run = held.put(run, event, answer.run)
                opened |= {id(held)} if answer.target not in held.table.final else frozenset()
        return run, opened


def pairs_of(table: AnyTable) -> Mapping[Cell, frozenset[Pair]]:
    """The pairs of the table alone, by cell."""
    found: dict[Cell, set[Pair]] = {}
    for state, event, one, other in at_once(table):
        found.setdefault((state, event), set()).add((one, other))
    return {cell: frozenset(pairs) for cell, pairs in found.items()}


def pair_report(coverage: PairCoverage) -> tuple[str, ...]:
    """The lines of the report: for each machine how many pairs were seen, then cell by cell those never seen."""
    if not coverage.cells:
        return ("no two rows with guards can hold at once",)
    names = dict.fromkeys(cell.name for cell in coverage.cells)
    machines = [PairCoverage(tuple(cell for cell in coverage.cells if cell.name == name)) for name in names]
    lines = [line for machine in machines for line in _machine(machine)]
    total = f"all: {_counts(coverage.count)}"
    return (*lines, *([total] if len(machines) > 1 else []), "a row without guards holds always, and is in no pair")


def _machine(machine: PairCoverage) -> Iterator[str]:
    yield f"{machine.cells[0].name}: {_counts(machine.count)}"
    for cell in machine.cells:
        if cell.never:
            yield f"  {cell.state} on {cell.event}: {len(cell.seen)} of {len(cell.there)}"
        for first in dict.fromkeys(one for one, _ in cell.never):
            others = ranges([other for one, other in cell.never if one == first])
            yield f"    rows {first} and {others} hold at once: never seen"


def _counts(count: tuple[int, int]) -> str:
    return f"{count[0]} of {count[1]} pairs of rows seen to hold at once ({shown(count)})"


class _Asked:
    """The answers of one event, each question asked once."""

    def __init__(self, run: Any, event: Any, purse: Mapping[Any, Any], opened: frozenset[int]) -> None:
        self._run, self._event, self._purse, self._opened = run, event, purse, opened
        self._found: dict[Any, Any] = {}

    def row(self, row: Any) -> bool:
        """Whether all that the row asks holds; False where something raises."""
        with suppress(Exception):  # the table itself might never have asked it here
            return self._paid(row.spends) and all(self._holds(guard) for guard in row.guards)
        return False

    def _paid(self, spends: Any) -> bool:
        if spends is None:
            return True
        if isinstance(spends, Enum):
            return self._purse[spends] is None or self._purse[spends] > 0
        return id(spends) in self._opened

    def _holds(self, question: Any) -> bool:
        guard = as_guard(question)
        if guard is not None and guard.parts:
            heard = [self._holds(part) for part in guard.parts]
            return not heard[0] if guard.how == "not" else all(heard) if guard.how == "all" else any(heard)
        function: Any = question if guard is None else guard.function
        if function not in self._found:
            self._found[function] = function(self._run, self._event)
        found = self._found[function]
        if guard is not None and guard.how == "reaches":
            level: Level = found.level
            return level >= guard.level
        return bool(found.holds)
