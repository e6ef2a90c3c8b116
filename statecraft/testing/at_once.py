"""The rows of one table that may hold at once, and those that did: asked beside each step, through inner machines too.

A step asks no more once a row holds, so what stands below that row is asked here (see `asked`), and only in a cell of
which some pair was not seen.

Pairs are rows that may hold at once by the guards that they list: those of a cell marked `ordered`, and a row with the
plain rest of it below. Where `value_is` says that two rows are apart, nothing but that word stands for it: such pairs
may be asked too, and one that holds at once is a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import combinations
from typing import Any, Literal

import attrs

from .._checks import apart_by_value, at_once, is_rest
from ..guards import Evidence, Finding
from ..heard import AnyTable
from ..step import Answer, Refused, Step
from .asked import Asked, Numbered
from .coverage import Path, path_name
from .marks import Mark, places

Cell = tuple[Enum, type[Any]]
Pair = tuple[int, int]
Why = Literal["ordered", "rest", "overlap"]


@attrs.frozen
class Both:
    """Two rows of a cell that held at once, with the first run and event at which they were seen to.

    The run is as the guards see it, its inner machines stepped. `why` says what allows it: the cell is marked
    `ordered`, the second row is the plain `rest` of the first; `overlap`: nothing does, the table takes them to be
    apart. `evidence` has what each of the two asks.
    """

    name: str
    state: str
    event: str
    rows: Pair
    why: Why
    run: Any
    at: Any
    evidence: tuple[tuple[Evidence, ...], tuple[Evidence, ...]]


class AtOnce:
    """The pairs of one table, alone or inside another, with the machines inside it by their names."""

    def __init__(self, path: Path, inside: Mapping[str, AtOnce], *, apart: bool) -> None:
        self.table, self.name, self.inside = path[-1], path_name(path), inside
        self.pairs = pairs_of(self.table)
        asked = _joined(self.pairs, _by_cell(apart_by_value(self.table))) if apart else self.pairs
        self.left = {cell: set(pairs) for cell, pairs in asked.items()}
        self.both: dict[Cell, dict[Pair, Both]] = {}
        self._rows: dict[tuple[Enum, type[Any], int], Numbered] = {}
        self._places: dict[tuple[type[Any], Mark], tuple[tuple[Any, int], ...]] = {}
        self._dull: set[tuple[Enum, type[Any], tuple[int, ...]]] = set()

    def seen(self, cell: Cell) -> list[Pair]:
        """The pairs of a cell that held at once."""
        return sorted(self.both.get(cell, ()))

    def hear(self, run: Any, event: Any, answer: Answer[Any, Any], mark: Mark) -> None:
        """Ask for the pairs that hold in the run, which is the one before the step."""
        if not isinstance(answer, Step | Refused) or not self._open(event.__class__, answer):
            return
        rows = self._to_ask(answer.source, event.__class__, answer.row)
        if answer.inside:
            stepped, opened = self._stepped(run, event, answer, mark, put=bool(rows))
        else:
            stepped, opened = run, frozenset[int]()
        if rows:
            purse: Mapping[Any, int | None] = self.table.left(run) if self.table.budgets else {}
            run = stepped
            self._ask(rows, Asked(run, event, purse, opened, self._known(event.__class__, answer, mark)), answer)

    def _ask(self, rows: Numbered, asked: Asked, answer: Step[Any, Any] | Refused[Any]) -> None:
        state, event = answer.source, asked.event.__class__
        holds = asked.holding(rows, answer.row)
        if (state, event, holds) in self._dull:
            return
        self._dull.add((state, event, holds))  # they are seen now, and so they stay
        for pair in sorted(self.left[state, event].intersection(combinations(holds, 2))):
            self._see((state, event), pair, asked)

    def _known(self, event: type[Any], answer: Step[Any, Any] | Refused[Any], mark: Mark) -> dict[Any, Finding]:
        """What the step heard, by what was asked."""
        found = self._places.get((event, mark))
        if found is None:
            found = self._places[event, mark] = places(self.table, event, answer)
        seen = answer.seen
        return {key: seen[place] for key, place in found}

    def _see(self, cell: Cell, pair: Pair, asked: Asked) -> None:
        one, other = (self.table.rows[number] for number in pair)
        why: Why = "rest" if is_rest(one, other) else "ordered"
        if pair not in self.pairs.get(cell, ()):
            why = "overlap"
        evidence = asked.evidence(one), asked.evidence(other)
        self.both.setdefault(cell, {})[pair] = Both(
            self.name, cell[0].name, cell[1].__name__, pair, why, asked.run, asked.event, evidence
        )
        self.left[cell].remove(pair)
        self._rows.clear()  # what is kept there follows from `left`

    def _open(self, event: type[Any], answer: Any) -> bool:
        """Whether there is something to ask of the cell, or of one inside it."""
        if answer.__class__ is not Step and answer.__class__ is not Refused:
            return False
        if self._to_ask(answer.source, event, answer.row):
            return True
        for one in answer.inside:  # noqa: SIM110  # a generator costs twice as much
            if self.inside[one.machine]._open(event, one):
                return True
        return False

    def _to_ask(self, state: Enum, event: type[Any], row: int | None) -> Numbered:
        """The rows of the pairs that were not seen and may hold now, where `row` is the first that does."""
        if row is None:
            return ()
        found = self._rows.get((state, event, row))
        if found is None:
            pairs = [pair for pair in self.left.get((state, event), ()) if pair[0] >= row]
            numbers = sorted({number for pair in pairs for number in pair})
            firsts = {one for one, _ in pairs}
            found = self._rows[state, event, row] = tuple(
                (
                    number,
                    self.table.rows[number],
                    None if number in firsts else frozenset(one for one, other in pairs if other == number),
                )
                for number in numbers
            )
        return found

    def _stepped(
        self, run: Any, event: Any, answer: Step[Any, Any] | Refused[Any], mark: Mark, *, put: bool
    ) -> tuple[Any, frozenset[int]]:
        """The run with its inner machines stepped, as `Table.step` does it, and those that may go on.

        Without `put` they are heard alone, and the run is as it was.
        """
        opened: frozenset[int] = frozenset()
        answers = list(zip(answer.inside, mark[-1], strict=True))
        for held in self.table.inners:
            # Most of those that are there are not for this event: the names say so before anything is looked up.
            if not answers or held.name != answers[0][0].machine or answer.source not in held.during:
                continue
            kid = held.get(run, event)
            if kid is None or held.table.cell_of(held.table.at(kid), event.__class__) is None:
                continue
            inside, marked = answers.pop(0)
            self.inside[held.name].hear(kid, event, inside, marked)
            if put and isinstance(inside, Step):
                run = held.put(run, event, inside.run)
                opened |= {id(held)} if inside.target not in held.table.final else frozenset()
        return run, opened


def pairs_of(table: AnyTable) -> Mapping[Cell, frozenset[Pair]]:
    """The pairs of the table alone, by cell."""
    return _by_cell(at_once(table))


def _by_cell(found: Iterable[tuple[Any, Any, int, int]]) -> dict[Cell, frozenset[Pair]]:
    cells: dict[Cell, set[Pair]] = {}
    for state, event, one, other in found:
        cells.setdefault((state, event), set()).add((one, other))
    return {cell: frozenset(pairs) for cell, pairs in cells.items()}


def _joined(one: Mapping[Cell, frozenset[Pair]], other: Mapping[Cell, frozenset[Pair]]) -> dict[Cell, frozenset[Pair]]:
    none: frozenset[Pair] = frozenset()
    return {cell: one.get(cell, none) | other.get(cell, none) for cell in (*one, *other)}
