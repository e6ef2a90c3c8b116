"""Which two rows of one cell were seen to hold at once: there only their order decides which is taken.

A test that never stands at such a place would not notice if the two changed places. Pairs are those of a cell marked
`ordered`, and a row with the plain rest of it below (see `at_once`). A row without guards holds always, so it is in no
pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from ..diagrams.labels import ranges
from ..heard import AnyTable
from ..step import Answer
from .at_once import AtOnce, Both, Pair
from .coverage import Path, paths, roots
from .marks import Mark, mark_of
from .reporting import shown


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
    """Collects the pairs while tables are stepped. A cell whose pairs were all seen is asked no more.

    With `apart` it asks also for the rows that are apart by the word of `value_is` alone; no coverage counts them.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self._apart = apart
        self._machines: dict[Path, AtOnce] = {}

    def hear(
        self, table: AnyTable, run: Any, event: object, answer: Answer[Any, Any] | None = None, mark: Mark | None = None
    ) -> None:
        """Ask the cell for the pairs that hold, and so the cells of the inner machines that the event goes to.

        `answer` is what the table answered to the event in the run (None: it is asked here), `mark` its mark, where it
        is known.
        """
        answer = table.step(run, event) if answer is None else answer
        self._machine((table,)).hear(run, event, answer, mark_of(answer) if mark is None else mark)

    def coverage(self, tables: Iterable[AnyTable]) -> PairCoverage:
        """What was seen of the tables. One that another of them holds is shown within that one alone."""
        return PairCoverage(
            tuple(
                Pairs(one.name, state.name, event.__name__, there, there - one.left[state, event])
                for one in self._all(tables)
                for (state, event), there in one.pairs.items()
            )
        )

    def both(self, tables: Iterable[AnyTable]) -> tuple[Both, ...]:
        """The pairs that were seen, cell by cell, of the same tables."""
        return tuple(one.both[cell][pair] for one in self._all(tables) for cell in one.left for pair in one.seen(cell))

    def _all(self, tables: Iterable[AnyTable]) -> Iterator[AtOnce]:
        return (self._machine(path) for table in roots(tables) for path in paths((table,)))

    def _machine(self, path: Path) -> AtOnce:
        if path not in self._machines:
            inside = {held.name: self._machine((*path, held.table)) for held in path[-1].inners}
            self._machines[path] = AtOnce(path, inside, apart=self._apart)
        return self._machines[path]


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
