"""A small set of ways that together take every row that a search reached, and the rows that none reached.

The set is chosen greedily, and the same each time: first the way that takes the most rows that no chosen one takes; of
two that take as many the shorter, of two as long the one that was found first. Then ways are taken out again whose rows
the others take too, the last chosen first. So a long way stands for its beginnings, and none that stays is superfluous;
that no smaller set exists is not said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import attrs

from ..heard import AnyTable
from .aiming import Aimed, row_paths
from .laws import Taken
from .search import Explored, RowPath, Way, rows_of

AnyWay = Way[Any, Any]


@attrs.frozen
class Paths:
    """Ways that take every row that was reached. `missing` are rows that none does, `never` those that no run takes."""

    table: AnyTable
    ways: tuple[AnyWay, ...]
    missing: tuple[RowPath, ...] = ()
    never: tuple[RowPath, ...] = ()

    @property
    def rows(self) -> frozenset[RowPath]:
        """All rows that the ways take."""
        return frozenset(row for way in self.ways for row in rows_on(way))


def paths(table: AnyTable, found: Iterable[Explored]) -> Paths:
    """The ways from what searches of the table found, from one start or several."""
    ways = cover(way for one in found for way in one.rows.values())
    taken = {row for way in ways for row in rows_on(way)}
    return Paths(table, ways, tuple(row for row in row_paths(table) if row not in taken))


def aimed_paths(aimed: Aimed) -> Paths:
    """The same from a search that aimed at rows, which knows some that no run takes."""
    found = paths(aimed.search.table, aimed.found)
    return attrs.evolve(found, missing=tuple(row for row in found.missing if row not in aimed.never), never=aimed.never)


def cover(ways: Iterable[AnyWay]) -> tuple[AnyWay, ...]:
    """Of these ways so many that every row is still taken, and that none is superfluous; in the order of choosing."""
    rows = {id(way): (way, rows_on(way)) for way in ways}
    left = set[RowPath]().union(*(taken for _, taken in rows.values()))
    ranked = sorted(rows.values(), key=lambda one: (-len(one[1]), len(one[0].events)))
    chosen: list[tuple[AnyWay, frozenset[RowPath]]] = []
    while left:
        best = min(ranked, key=lambda one: (-len(one[1] & left), len(one[0].events)))
        left -= best[1]
        chosen.append(best)
    times = Counter(row for _, taken in chosen for row in taken)
    for one in reversed(chosen[:]):
        if all(times[row] > 1 for row in one[1]):
            times -= Counter(one[1])
            chosen = [other for other in chosen if other is not one]
    return tuple(way for way, _ in chosen)


def rows_on(way: AnyWay) -> frozenset[RowPath]:
    """The rows that a way takes, those of inner machines included."""
    return frozenset(row for step in way.steps for row in rows_of(step.answer))


@attrs.frozen
class Stretch:
    """A part of a way in which each step goes on from the run that the one before it led to."""

    start: str
    run: Any
    steps: tuple[Taken[Any, Any], ...]


def stretches(way: AnyWay) -> tuple[Stretch, ...]:
    """The way as stretches that the table alone can step; whatever plays the world may change a run between two.

    A fault is in none of them, and ends the one before it.
    """
    found: list[list[Taken[Any, Any]]] = []
    last: Taken[Any, Any] | None = None
    for step in way.steps:
        if isinstance(step.answer, Exception):
            last = None
            continue
        if last is None or step.before is not last.after:
            found.append([])
        found[-1].append(step)
        last = step
    return tuple(Stretch(way.start, steps[0].before, tuple(steps)) for steps in found)
