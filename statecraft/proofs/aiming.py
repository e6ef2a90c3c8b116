"""A search that aims at rows: from every start, until each row of a table, and of the machines inside it, was taken.

The rules:

* Runs near to a step with something new are looked at first: a question of a row that is still missing was answered as
  it never was from this start, or a count stood where it never stood. So a way to a limit is walked to its end before
  others are begun.
* All starts are gone on with in turn, a share of runs each, until nothing is missing or so many runs were found. A
  start that has no runs left is passed over.
* No law is looked at: that is `explore`'s.

What is not reached so may be reached by more runs. A row that no run takes has its reason in the search's `never`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import partial
from typing import Any

import attrs

from ..guards import Finding, Reading
from ..heard import AnyTable, heard
from ..step import Refused, Step
from .laws import Taken
from .search import Explored, RowPath, Search, Walk

AIMED = 40_000
"""Runs that all starts may find together where nobody says how many."""

SHARE = 400
"""Runs that one start may find before the next one has its turn; twice as many in each round."""


@attrs.frozen
class Aimed:
    """What a search for all rows found: from each start that was walked, the ways, and the rows that none takes.

    `missing` are rows that no way takes and of which nobody says why; `never` those of which somebody does.
    """

    search: Search[Any, Any]
    found: tuple[Explored, ...]
    missing: tuple[RowPath, ...]
    never: tuple[RowPath, ...]
    seconds: float

    @property
    def states(self) -> int:
        """Runs that were found, from all starts."""
        return sum(one.states for one in self.found)


@attrs.frozen
class Aiming:
    """How far it has come: the start at hand, states found from all of them, rows still missing, and seconds."""

    start: str
    states: int
    missing: int
    seconds: float


def aim(
    search: Search[Any, Any],
    *,
    states: int = AIMED,
    tell: Callable[[Aiming], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Aimed:
    """Search for a way to every row until `states` different runs are found, or nothing is missing any more."""
    began, found = clock(), 0
    missing = dict.fromkeys(row for row in row_paths(search.table) if row not in search.never)
    bare = attrs.evolve(search, laws=())
    around = [*((bare.nearby(start), start) for start in bare.near), *((bare, start) for start in bare.starts)]
    walks = [Walk(one, start, clock, None, news=_News(one.table, missing)) for one, start in around]
    share = SHARE
    while missing and found < states and any(walk.waiting for walk in walks):
        for walk in walks:
            if not walk.waiting or not missing or found >= states:
                continue
            before = len(walk.came) if walk.taken else 0
            walk.go(before + min(share, states - found), done=partial(_strike, missing, walk))
            _strike(missing, walk)
            found += len(walk.came) - before
            if tell is not None:
                tell(Aiming(walk.start, found, len(missing), clock() - began))
        share *= 2
    walked = [walk for walk in walks if walk.taken]
    taken = {row for walk in walked for row in walk.first}
    never = tuple(row for row in search.never if row not in taken)
    return Aimed(search, tuple(walk.explored() for walk in walked), tuple(missing), never, clock() - began)


def _strike(missing: dict[RowPath, None], walk: Walk) -> bool:
    """Take what the walk has reached off the list; says whether nothing is left of it."""
    for row in [row for row in missing if row in walk.first]:
        del missing[row]
    return not missing


def row_paths(table: AnyTable) -> Iterator[RowPath]:
    """Every row of a table in its order, and then those of the machines inside it."""
    return ((path, number) for path, one in tables_in(table) for number in range(len(one.rows)))


class _News:
    """Asks of each step whether it showed something new that has to do with a row that is missing.

    That is, from one start: a row that was never taken; in the cell of a missing row, an answer that one of its
    questions never had, a count beyond its limit being as good as one at it; or a budget that such a cell spends, with
    so much left as there never was.
    """

    def __init__(self, table: AnyTable, missing: Mapping[RowPath, None]) -> None:
        self.table, self.missing = table, missing
        self.tables = dict(tables_in(table))
        self.known: set[object] = set()
        self.size = -1
        self.cells: dict[tuple[tuple[str, ...], str], set[int]] = {}
        self.budgets: tuple[Any, ...] = ()

    def __call__(self, step: Taken[Any, Any]) -> bool:
        if len(self.missing) != self.size:
            self._look_again()
        event: type[Any] = step.event.__class__
        shown = (*self._answers(step.answer, event), *self._left(step.after))
        fresh = {one for one in shown if one not in self.known}
        self.known |= fresh
        return bool(fresh)

    def _look_again(self) -> None:
        self.size = len(self.missing)
        self.cells.clear()
        for path, number in self.missing:
            row = self.tables[path].rows[number]
            self.cells.setdefault((path, row.event.__name__), set()).add(number)
        spent = (
            row.spends
            for row in self.table.rows
            if ((self.table.name,), row.event.__name__) in self.cells and isinstance(row.spends, Enum)
        )
        self.budgets = tuple(dict.fromkeys(spent))

    def _answers(self, answer: Any, event: type[Any], outside: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
        if answer.__class__ not in (Step, Refused):
            return
        told: Step[Any, Any] | Refused[Any] = answer
        path = (*outside, told.machine)
        if told.row is not None:
            yield path, told.row
        rows = self.cells.get((path, event.__name__), ())
        for asked in heard(self.tables[path], told.source, event, told.seen, told.row) if rows else ():
            if asked.row in rows and asked.found is not None:
                yield path, told.source, asked.name, _how(asked.found)
        for held in told.inside:
            yield from self._answers(held, event, path)

    def _left(self, run: Any) -> Iterator[tuple[Any, ...]]:
        if self.budgets:
            left = self.table.left(run)
            yield from ((budget, left[budget]) for budget in self.budgets)


def _how(found: Finding) -> int:
    return min(found.now, found.stop) if isinstance(found, Reading) else int(found.holds)


def tables_in(table: AnyTable, outside: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], AnyTable]]:
    """A table and those inside it, each with the names on the way to it."""
    path = (*outside, table.name)
    yield path, table
    for held in table.inners:
        yield from tables_in(held.table, path)
