"""A table without its guards: every row of a cell may be taken, and only what it spends is real.

The skeleton of a machine can do whatever the machine can, under any thresholds and whatever its guards say, and more.
It is finite and small, so all of it is looked at: what holds of it is proved for the machine.

What stands for a run is its state, and for each budget whether anything is left of it: spending leaves something or
nothing, so that every size is covered. Inner machines may stand anywhere, whatever came before: however many of them
live at once, wherever they begin, and whether a row that refills one begins it again. A row that spends one needs a
step of it, from whichever of its states, that leaves it open. All this only adds to what the skeleton can do.

Laws are asked of `Crossing`s, as they are of steps: one row in one of its sources, with the commands that it may ask.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import product
from typing import Any

import attrs

from .asking import asked, told_apart
from .edges import AnyTable, may_ask, stays_open
from .graph import reached
from .laws import Law

MOST = 2_000_000
"""Places after which a skeleton is given up: some minutes, and no table that people read comes near it."""

Left = tuple[bool, ...]


@attrs.frozen
class Crossing:
    """One row taken in the skeleton: its number, from where, to where, and the commands that the step may ask for.

    `asks` are those of the row, `may_ask` those of inner machines that may step with it.
    """

    table: AnyTable
    row: int
    source: Enum
    target: Enum
    event: type[Any]
    asks: frozenset[type[Any]]
    may_ask: frozenset[type[Any]]

    def __str__(self) -> str:
        return f"row {self.row}: {self.source.name} {self.event.__name__} -> {self.target.name}"


@attrs.frozen
class Place:
    """What stands for a run: its state, which budgets have something left, and what the laws remember."""

    state: Enum
    left: Left
    memory: tuple[Hashable, ...]


@attrs.frozen
class BrokenShape:
    """A law that some way through the skeleton breaks: what is wrong, and a shortest such way."""

    law: Law[Crossing]
    problem: str
    way: tuple[Crossing, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The way, row by row."""
        return tuple(map(str, self.way))


@attrs.frozen
class Skeleton:
    """All of a skeleton: its `places`, how many rows lead from one to another, and the laws that hold of every one.

    `stuck` are states in some place of which no row leads on, or no way leads to an ending; such places alone as a run
    comes to that begins with its budgets full. Laws hold of one that begins with less, too.
    """

    table: str
    laws: tuple[Law[Crossing], ...]
    places: int
    crossings: int
    seconds: float
    broken: tuple[BrokenShape, ...]
    stuck: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Every law holds, and from every place a way leads to an ending."""
        return not self.broken and not self.stuck


class TooLarge(ValueError):
    """The skeleton has more places than are looked at."""


def skeleton(
    table: AnyTable,
    laws: Iterable[Law[Crossing]] = (),
    *,
    most: int = MOST,
    clock: Callable[[], float] = time.monotonic,
) -> Skeleton:
    """Walk all of the table's skeleton. Raises `TooLarge` beyond `most` places, `CannotAsk` where a law raises."""
    held = tuple(laws)
    where = f"the skeleton of {table.name}"
    told_apart(where, held)
    for law in held:
        asked(f"{where}: the hash of the start of the law {law.name!r}", hash, law.start)
    began = clock()
    walk = _Walk(table, held)
    walk.all(most)
    return Skeleton(
        table.name,
        held,
        len(walk.number),
        walk.crossings,
        clock() - began,
        tuple(BrokenShape(law, problem, walk.way(at, last)) for law, problem, at, last in walk.found.values()),
        walk.stuck(),
    )


class _Walk:
    """One skeleton under way: its places by number, and how each was come to."""

    def __init__(self, table: AnyTable, laws: tuple[Law[Crossing], ...]) -> None:
        self.table, self.laws = table, laws
        self.budgets = tuple(b for b in table.budgets if any(row.spends is b for row in table.rows))
        self.number: dict[Place, int] = {}
        self.came: list[tuple[int, Crossing] | None] = []
        self.after: dict[int, list[int]] = {}
        self.ends: list[int] = []
        self.full: list[int] = []
        self.todo: deque[Place] = deque()
        self.crossings = self.most = 0
        self.found: dict[str, tuple[Law[Crossing], str, int, Crossing]] = {}
        self._cells = {state: list(self._crossings(state)) for state in table.states if state not in table.final}

    def all(self, most: int) -> None:
        self.most = most
        memory = tuple(law.start for law in self.laws)
        for left in product((True, False), repeat=len(self.budgets)):
            at = self._enter(Place(self.table.initial, left, memory), None)
            if all(some or self._may_be_empty(budget) for budget, some in zip(self.budgets, left, strict=True)):
                self.full.append(at)
        while self.todo:
            place = self.todo.popleft()
            at = self.number[place]
            for crossing in self._cells[place.state]:
                outcomes = list(self._outcomes(crossing, place))
                if not outcomes:
                    continue
                memory = self._held(crossing, place.memory, at)
                for left in outcomes:
                    self.crossings += 1
                    there = self._enter(Place(crossing.target, left, memory), (at, crossing))
                    self.after.setdefault(at, []).append(there)

    def way(self, at: int, last: Crossing) -> tuple[Crossing, ...]:
        """The rows that lead to a place, and one more."""
        rows = [last]
        while (step := self.came[at]) is not None:
            at, crossing = step
            rows.append(crossing)
        return tuple(reversed(rows))

    def stuck(self) -> tuple[str, ...]:
        """The states in which some place has no way to an ending; none where the machine has no ending at all."""
        if not self.table.final:
            return ()
        before: dict[int, list[int]] = {}
        for at, others in self.after.items():
            for other in others:
                before.setdefault(other, []).append(at)
        good, met = reached(self.ends, before), reached(self.full, self.after)
        lost = {place.state for place, at in self.number.items() if at in met and at not in good}
        return tuple(state.name for state in self.table.states if state in lost)

    def _may_be_empty(self, budget: Enum) -> bool:
        """Whether nothing may be in a full one: its size is 0, or depends on the run."""
        size = self.table.budgets[budget]
        return size is not None and (callable(size) or size < 1)

    def _enter(self, place: Place, step: tuple[int, Crossing] | None) -> int:
        known = self.number.get(place)
        if known is not None:
            return known
        if len(self.number) >= self.most:
            raise TooLarge(f"{self.table.name}: its skeleton has more than {self.most} places")
        number = self.number[place] = len(self.number)
        self.came.append(step)
        if place.state in self.table.final:
            self.ends.append(number)
        else:
            self.todo.append(place)
        return number

    def _held(self, crossing: Crossing, memory: tuple[Hashable, ...], at: int) -> tuple[Hashable, ...]:
        kept = list(memory)
        for n, law in enumerate(self.laws):
            try:
                if law.name not in self.found and (problem := law.broken(crossing, memory[n])):
                    self.found[law.name] = law, str(problem), at, crossing
                if law.remember is not None:
                    kept[n] = law.remember(memory[n], crossing)
                    hash(kept[n])
            except Exception:  # whatever a user's functions do
                where = f"the skeleton of {self.table.name}"
                asked(f"{where}: broken of the law {law.name!r}", law.broken, crossing, memory[n])
                if law.remember is not None:
                    after = asked(f"{where}: remember of the law {law.name!r}", law.remember, memory[n], crossing)
                    asked(f"{where}: the hash of what the law {law.name!r} remembers", hash, after)
                raise
        return tuple(kept)

    def _crossings(self, state: Enum) -> Iterator[Crossing]:
        for number, row in enumerate(self.table.rows):
            if state in row.sources:
                inside = may_ask(self.table, state, row.event)
                yield Crossing(self.table, number, state, row.target, row.event, row.asks, inside)

    def _outcomes(self, crossing: Crossing, place: Place) -> Iterator[Left]:
        """What may be left of the budgets after the row; nothing where it cannot be taken."""
        row = self.table.rows[crossing.row]
        spends = row.spends
        if spends is None or isinstance(spends, Enum) or stays_open(spends, crossing.source, crossing.event):
            yield from _purses(self.budgets, row.spends, row.refills, place.left)


def _purses(budgets: Sequence[Enum], spends: Any, refills: Iterable[Any], left: Left) -> Iterator[Left]:
    """What the row may leave of the budgets; nothing where it spends what is not there.

    A budget of size 0 is never filled, so what refills an empty one may leave it empty.
    """
    each: list[tuple[bool, ...]] = []
    for budget, some in zip(budgets, left, strict=True):
        if budget is spends and not some:
            return
        if budget in refills:
            each.append((True,) if some else (True, False))
        else:
            each.append((True, False) if budget is spends else (some,))
    yield from product(*each)
