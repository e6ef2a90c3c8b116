"""The small mistakes that could stand in a table, each as a value: what the tests of a table have to notice.

* removed: a row is not there
* swapped: two neighbours of a cell are tried in the other order, in every cell in which they are neighbours
* negated, dropped: a guard of a row asks the contrary, or is not asked; of `&`, `|` and `~` each part too
* limit: the nudge or stop limit of a reading lies one higher or lower, in all rows that ask the reading
* size: a budget is one unit larger or smaller when a row makes it full

Rows keep their numbers, so that no test notices a mutant by the number of another row. What spending asks is the
table's own and is not changed. Targets, effects, payment and what an effect asks of a reading by itself are no guards.

Left out is what cannot differ, by the rules that a table is checked by:

* a swap of rows that never both hold: one asks the contrary of the other, both ask one value for different things
  (`value_is`), or an earlier row takes whatever both take;
* a guard dropped that the rest of its row implies: it is asked twice, or the stop limit stands beside the nudge limit;
* a guard dropped that must hold where its row is reached: in each of its cells an earlier row asks its contrary, and
  nothing else that this row does not ask too;
* a limit that no row asks for; where a reading has no limit (`UNLIMITED`), or a budget no size, nothing is moved;
* the size of a budget that no row refills: it is full where runs are made, and the table has no part in that;
* a size below zero.

What is the same only because of what the functions answer (two guards that happen to exclude each other) stays in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import attrs

from .._checks import Questions, apart, questions
from ..guards import UNLIMITED, Guard, Level, Reading, as_guard, name_of
from ..heard import AnyTable
from ..table import Row

Kind = Literal["removed", "swapped", "negated", "dropped", "limit", "size"]
KINDS: tuple[Kind, ...] = get_args(Kind)
AnyRow = Row[Any, Any, Any]
AnyGuard = Any
Cell = tuple[Any, type[Any]]

Taken: TypeAlias = tuple[Literal["taken"], AnyTable, int]
Denied: TypeAlias = tuple[Literal["denied"], AnyTable, int, int]
Edge: TypeAlias = tuple[Literal["edge"], AnyTable, Any, Level, int]
Touch: TypeAlias = Taken | Denied | Edge
"""What a step has to do for a mutant to show in it: take the row; end in it at the guard of that place (-1: what it
spends); ask the reading, by its function, while that stands so far (0 or -1) from the limit of the level."""


@attrs.frozen(eq=False)
class Shape:
    """The parts of a table in which a mutant of it differs."""

    rows: tuple[AnyRow, ...]
    cells: Mapping[Cell, tuple[int, ...]]
    budgets: Mapping[Enum, Any]


@attrs.frozen(eq=False)
class Mutant:
    """A table with one mistake: which kind, what was changed in words, the numbers of the rows, how it looks then.

    `shows`: only a step that does one of these can come out differently.
    """

    table: AnyTable
    kind: Kind
    what: str
    rows: tuple[int, ...]
    shape: Shape
    shows: tuple[Touch, ...]

    def __str__(self) -> str:
        return f"{self.table.name}: {self.what}"


def mutants(table: AnyTable) -> tuple[Mutant, ...]:
    """Every mutant of the table alone, without those of its inner machines."""
    asked = [questions(row) for row in table.rows]
    return (
        *_removed(table),
        *_swapped(table, asked),
        *_guards(table, asked),
        *_limits(table),
        *_sizes(table),
    )


def _shape(table: AnyTable, **changed: Any) -> Shape:
    return attrs.evolve(Shape(table.rows, table.cells, table.budgets), **changed)


def _row(table: AnyTable, number: int, guards: tuple[AnyGuard, ...]) -> tuple[AnyRow, ...]:
    rows = list(table.rows)
    rows[number] = attrs.evolve(rows[number], guards=guards)
    return tuple(rows)


def _removed(table: AnyTable) -> Iterator[Mutant]:
    for number in range(len(table.rows)):
        cells = {cell: tuple(n for n in numbers if n != number) for cell, numbers in table.cells.items()}
        yield Mutant(
            table, "removed", "the row removed", (number,), _shape(table, cells=cells), (("taken", table, number),)
        )


def _swapped(table: AnyTable, asked: list[Questions]) -> Iterator[Mutant]:
    pairs: dict[tuple[int, int], list[Cell]] = {}
    for cell, numbers in table.cells.items():
        for place, (one, other) in enumerate(pairwise(numbers)):
            if not _never_both(asked, numbers[:place], one, other):
                pairs.setdefault((one, other), []).append(cell)
    for (one, other), cells in sorted(pairs.items(), key=lambda item: item[0]):
        other_way = {one: other, other: one}
        changed = {cell: tuple(other_way.get(n, n) for n in table.cells[cell]) for cell in cells}
        shape = _shape(table, cells={**table.cells, **changed})
        yield Mutant(table, "swapped", f"tried after row {other}", (one, other), shape, (("taken", table, one),))


def _never_both(asked: list[Questions], before: tuple[int, ...], one: int, other: int) -> bool:
    both = asked[one].implied | asked[other].implied
    return apart(both, both) or any(asked[earlier].asked <= both for earlier in before)


def _guards(table: AnyTable, asked: list[Questions]) -> Iterator[Mutant]:
    for number, row in enumerate(table.rows):
        for place, guard in enumerate(row.guards):
            for kind, what, changed in _variants(guard):
                new = () if changed is None else (changed,)
                guards = (*row.guards[:place], *new, *row.guards[place + 1 :])
                rest = questions(attrs.evolve(row, guards=guards))
                if kind == "dropped" and _same(table, asked, number, rest):
                    continue
                taken: Taken = ("taken", table, number)
                denied: Denied = ("denied", table, number, place)
                shows = (denied,) if kind == "dropped" and changed is None else (taken, denied)
                yield Mutant(table, kind, what, (number,), _shape(table, rows=_row(table, number, guards)), shows)


def _same(table: AnyTable, asked: list[Questions], number: int, rest: Questions) -> bool:
    """Whether a row that asks only the rest holds where it held before, in all its cells."""
    lost = asked[number].asked - rest.implied

    def must_hold(polarity: bool, what: Any, before: tuple[int, ...]) -> bool:
        known = rest.implied | {(not polarity, what)}
        return any(asked[earlier].asked <= known for earlier in before)

    return all(
        must_hold(polarity, what, numbers[: numbers.index(number)])
        for numbers in table.cells.values()
        if number in numbers
        for polarity, what in lost
    )


def _variants(guard: AnyGuard, path: str = "") -> Iterator[tuple[Literal["negated", "dropped"], str, AnyGuard | None]]:
    """The guard in each of its mutants (None: it is not there), with the words for it."""
    name = f"{path}{name_of(guard)}"
    yield "negated", f"{name} negated", _contrary(guard)
    yield "dropped", f"{name} dropped", None
    yield from _deeper(guard, name)


def _deeper(guard: AnyGuard, name: str) -> Iterator[tuple[Literal["negated", "dropped"], str, AnyGuard]]:
    """The mutants of its parts. The part of a `~` is negated and dropped with the whole."""
    held = as_guard(guard)
    if held is None:
        return
    for place, part in enumerate(held.parts):
        inside = _deeper(part, name) if held.how == "not" else _variants(part, f"{name}: ")
        for kind, what, changed in inside:
            new = () if changed is None else (changed,)
            yield kind, what, attrs.evolve(held, parts=(*held.parts[:place], *new, *held.parts[place + 1 :]))


def _contrary(guard: AnyGuard) -> AnyGuard:
    held = as_guard(guard)
    if held is not None and held.how == "not":
        return held.parts[0]
    return Guard(f"~{name_of(guard)}", "not", None, (guard,))


def _limits(table: AnyTable) -> Iterator[Mutant]:
    asking: dict[tuple[Any, Level], list[int]] = {}
    for number, row in enumerate(table.rows):
        for read, level in {one for guard in row.guards for one in _readings(guard)}:
            asking.setdefault((read, level), []).append(number)
    for (read, level), numbers in asking.items():
        for by, where in ((1, "higher"), (-1, "lower")):
            other = _moved(read, level, by)
            rows = tuple(
                attrs.evolve(row, guards=tuple(_reading(guard, read, other) for guard in row.guards))
                for row in table.rows
            )
            what = f"{name_of(read)}: its {level.name.lower()} limit one {where}"
            edge: Edge = ("edge", table, read, level, 0 if by > 0 else -1)
            yield Mutant(table, "limit", what, tuple(numbers), _shape(table, rows=rows), (edge,))


def _readings(guard: AnyGuard) -> Iterator[tuple[Any, Level]]:
    held = as_guard(guard)
    if held is None:
        return
    if held.how == "reaches":
        yield held.function, held.level
    for part in held.parts:
        yield from _readings(part)


def _reading(guard: AnyGuard, read: Any, other: Any) -> AnyGuard:
    """The guard with one reading put in the place of another."""
    held = as_guard(guard)
    if held is None or not any(one is read for one, _ in _readings(held)):
        return guard
    if held.how == "reaches":
        return attrs.evolve(held, function=other)
    return attrs.evolve(held, parts=tuple(_reading(part, read, other) for part in held.parts))


def _moved(read: Callable[[Any, Any], Reading], level: Level, by: int) -> Callable[[Any, Any], Reading]:
    def ask(run: Any, event: Any) -> Reading:
        found = read(run, event)
        if level is Level.STOP:
            return found if found.stop >= UNLIMITED else attrs.evolve(found, stop=found.stop + by)
        return found if found.nudge >= UNLIMITED else attrs.evolve(found, nudge=found.nudge + by)

    ask.__name__ = name_of(read)
    return ask


def _sizes(table: AnyTable) -> Iterator[Mutant]:
    for budget, size in table.budgets.items():
        refilling = tuple(number for number, row in enumerate(table.rows) if budget in row.refills)
        for by, how in ((1, "larger"), (-1, "smaller")):
            if not refilling or size is None or (size == 0 and by < 0):
                continue
            shape = _shape(table, budgets={**table.budgets, budget: _sized(size, by)})
            shows: tuple[Taken, ...] = tuple(("taken", table, number) for number in refilling)
            what = f"budget {budget.value}: one unit {how} when it is full"
            yield Mutant(table, "size", what, refilling, shape, shows)


def _sized(size: Any, by: int) -> Any:
    if not callable(size):
        return size + by

    def full(run: Any) -> int | None:
        found: Any = size(run)
        return None if found is None else max(0, found + by)

    return full
