"""The dearest walk of a table by plain search, as a check on the proof that does not share a line with it.

A place is a state, a purse, and for each inner machine that rows spend its state and purse. From a place every row of
a cell may be taken that its budget, its inner machine and its guards allow, and a guard allows both answers, but for
one that asks whether a budget is used up: the purse in the place answers that. Cells are tried in order, so a row is
not taken below one that is sure to be. Places are finite, so the longest way from each is found by going through all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

import attrs

from statecraft import Inner, Row, Table
from statecraft.guards import as_guard

AnyTable = Table[Any, Any, Any, Any]
AnyInner = Inner[Any, Any, Any]


@attrs.frozen
class Place:
    """Where a walk is: the state, what is left of each budget, and the same of each inner machine that rows spend."""

    at: Enum
    left: tuple[int, ...]
    inside: tuple[Place, ...] = ()


class GoesRound(AssertionError):
    """A walk that counts and comes back to where it was: it could go on for ever."""


class Walks:
    """All walks of one table from full budgets; `sizes` and `fresh` give those of the table and its inner machines."""

    def __init__(
        self, table: AnyTable, sizes: Mapping[Enum, int], inside: Mapping[AnyInner, Mapping[Enum, int]]
    ) -> None:
        self.table, self.sizes = table, sizes
        self.kids = tuple(inside)
        self.full = {
            held: Place(held.table.initial, tuple(inside[held][b] for b in held.table.budgets)) for held in inside
        }
        self.start = Place(table.initial, self._full(), tuple(self.full.values()))

    def dearest(self, asking: type[Any]) -> tuple[int, int]:
        """The most steps of any walk, and the most rows that ask `asking`. `GoesRound` where a walk never ends."""
        best: dict[Place, tuple[int, int]] = {}
        under_way: dict[Place, dict[Place, tuple[int, int]]] = {}
        todo = [self.start]
        while todo:
            place = todo[-1]
            if place not in under_way:
                out = under_way[place] = self._out(place, asking)
                for other in out:
                    if other in under_way and other not in best:
                        raise GoesRound(f"{place} to {other}")
                todo += [other for other in out if other not in best]
                continue
            todo.pop()
            if place not in best:
                ways = [_both(cost, best[other]) for other, cost in under_way[place].items()]
                best[place] = (max((s for s, _ in ways), default=0), max((a for _, a in ways), default=0))
        return best[self.start]

    def _full(self) -> tuple[int, ...]:
        return tuple(self.sizes[budget] for budget in self.table.budgets)

    def _out(self, place: Place, asking: type[Any]) -> dict[Place, tuple[int, int]]:
        """The places one step away, with the steps and the requests on the way: 1 or 0. Quiet rows are no steps."""
        found: dict[Place, tuple[int, int]] = {}
        for event in self.table.events:
            for inside, opened in self._inner_steps(place, event):
                for number in self._taken(place, event, opened):
                    row = self.table.rows[number]
                    other = self._after(place, inside, row)
                    quiet = row.target is place.at and row.spends is None and not row.refills and not row.asks
                    if other != place or not quiet:
                        steps, asked = found.get(other, (0, 0))
                        found[other] = (max(steps, not quiet), max(asked, asking in row.asks))
        return found

    def _inner_steps(self, place: Place, event: type[Any]) -> list[tuple[tuple[Place, ...], frozenset[AnyInner]]]:
        """How the inner machines may stand after their step on the event, and which of them took a row and go on."""
        ways: list[tuple[tuple[Place, ...], frozenset[AnyInner]]] = [((), frozenset())]
        for held, kid in zip(self.kids, place.inside, strict=True):
            mine = [(kid, False)]  # it may have no run that the event is for
            if place.at in held.during:
                for number in held.table.cell(kid.at, event):
                    row = held.table.rows[number]
                    left = _paid(held.table, kid.left, row, kid.left)
                    if left is not None:
                        mine.append((Place(row.target, left), row.target not in held.table.final))
            ways = [
                ((*kids, one), opened | {held} if goes_on else opened)
                for kids, opened in ways
                for one, goes_on in dict.fromkeys(mine)
            ]
        return ways

    def _taken(self, place: Place, event: type[Any], opened: frozenset[AnyInner]) -> Iterator[int]:
        """The rows that may be the first of their cell whose guards hold."""
        left = dict(zip(self.table.budgets, place.left, strict=True))
        for number in self.table.cell(place.at, event):
            row = self.table.rows[number]
            pays = row.spends is None or (
                left[row.spends] > 0 if isinstance(row.spends, Enum) else row.spends in opened
            )
            answers = [_answer(self.table, asked, left) for asked in row.guards]
            if pays and False not in answers:
                yield number
                if all(answers):
                    return

    def _after(self, place: Place, inside: Sequence[Place], row: Row[Any, Any, Any]) -> Place:
        left = _paid(self.table, place.left, row, self._full())
        assert left is not None
        kids = [self.full[held] if held in row.refills else kid for held, kid in zip(self.kids, inside, strict=True)]
        return Place(row.target, left, tuple(kids))


def _both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _paid(
    table: AnyTable, left: tuple[int, ...], row: Row[Any, Any, Any], full: tuple[int, ...]
) -> tuple[int, ...] | None:
    """What is left after the row; None where it cannot be paid."""
    after = tuple(have - (budget is row.spends) for budget, have in zip(table.budgets, left, strict=True))
    if min(after, default=0) < 0:
        return None
    return tuple(
        most if budget in row.refills else have for budget, have, most in zip(table.budgets, after, full, strict=True)
    )


def _answer(table: AnyTable, question: Any, left: Mapping[Enum, int]) -> bool | None:
    """What the guard answers; None where both may be."""
    asked = as_guard(question)
    if asked is None:
        return None
    parts = [_answer(table, part, left) for part in asked.parts]
    match asked.how:
        case "not":
            return None if parts[0] is None else not parts[0]
        case "all":
            return False if False in parts else None if None in parts else True
        case "any":
            return True if True in parts else None if None in parts else False
        case _:
            return None if asked.budget is None else left[asked.budget] <= 0
