"""Which rows of a table were taken, and which ways each of its guards was seen to answer.

A row of an inner machine counts only in a step that came through the machine that holds it: that is where it has to
work. A guard's answer counts wherever it was given, in a refusal too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from ..heard import AnyTable, heard
from ..step import Answer, Refused, Step
from .questions import Wanted, Way, answered, wanted

Path = tuple[AnyTable, ...]  # a table, or an outer one and the inner machines on the way to the one that is meant


@attrs.frozen
class Covered:
    """What was seen of one table: the rows taken, and of each question, by its key, the answers (see `Way`).

    `times` says how often each row was taken, by its source state and its number.
    """

    name: str
    table: AnyTable
    times: Mapping[tuple[str, int], int]
    answers: Mapping[Any, frozenset[int]]

    @property
    def taken(self) -> frozenset[int]:
        """The rows that some step took."""
        return frozenset(row for _, row in self.times)

    @property
    def never_taken(self) -> tuple[int, ...]:
        """The rows that no step took."""
        return tuple(number for number in range(len(self.table.rows)) if number not in self.taken)

    @property
    def never_seen(self) -> tuple[tuple[Wanted, tuple[Way, ...]], ...]:
        """The questions that were not seen to answer every way, each with the ways that are missing."""
        missing = (
            (one, tuple(way for way in one.ways if not way.answers & self.answers.get(one.key, frozenset())))
            for one in wanted(self.table)
        )
        return tuple((one, ways) for one, ways in missing if ways)

    @property
    def rows(self) -> tuple[int, int]:
        """How many rows were taken, and how many there are."""
        there = len(self.table.rows)
        return there - len(self.never_taken), there

    @property
    def guards(self) -> tuple[int, int]:
        """How many questions were seen every way, and how many there are."""
        there = len(wanted(self.table))
        return there - len(self.never_seen), there


@attrs.frozen
class Coverage:
    """What was seen of machines, each followed by the inner machines that it holds."""

    machines: tuple[Covered, ...]

    @property
    def rows(self) -> tuple[int, int]:
        """How many rows were taken, and how many there are."""
        return _sum(one.rows for one in self.machines)

    @property
    def guards(self) -> tuple[int, int]:
        """How many questions were seen every way, and how many there are."""
        return _sum(one.guards for one in self.machines)

    @property
    def whole(self) -> bool:
        """Every row was taken and every guard was seen every way."""
        return not any(one.never_taken or one.never_seen for one in self.machines)


class Tally:
    """Collects what is seen while tables are stepped. It keeps numbers, not steps."""

    def __init__(self) -> None:
        self._taken: dict[Path, Counter[tuple[str, int]]] = {}
        self._answers: dict[Path, dict[Any, set[int]]] = {}

    @property
    def stepped(self) -> tuple[AnyTable, ...]:
        """The tables that were stepped themselves, in the order of their first step."""
        return tuple(path[0] for path in self._taken if len(path) == 1)

    def hear(self, table: AnyTable, event: object, answer: Answer[Any, Any]) -> None:
        """Count what the table answered to the event."""
        self._hear((table,), type(event), answer, happened=True)

    def coverage(self, tables: Iterable[AnyTable]) -> Coverage:
        """What was seen of the tables. One that another of them holds is shown within that one alone."""
        return Coverage(tuple(self._covered(path) for table in roots(tables) for path in paths((table,))))

    def _covered(self, path: Path) -> Covered:
        answers = {key: frozenset(found) for key, found in self._answers.get(path, {}).items()}
        return Covered(path_name(path), path[-1], dict(self._taken.get(path, Counter())), answers)

    def _hear(self, path: Path, event: type[Any], answer: Answer[Any, Any], *, happened: bool) -> None:
        table = path[-1]
        taken = self._taken.setdefault(path, Counter())
        answers = self._answers.setdefault(path, {})
        if not isinstance(answer, Step | Refused):
            return
        for one in heard(table, answer.source, event, answer.seen, answer.row):
            if one.found is not None:
                answers.setdefault(one.key, set()).add(answered(one.found))
        if isinstance(answer, Step) and happened:
            taken[answer.source.name, answer.row] += 1
        inner = {held.name: held.table for held in table.inners}
        for inside in answer.inside:
            self._hear((*path, inner[inside.machine]), event, inside, happened=happened and isinstance(answer, Step))


def covered(table: AnyTable, steps: Iterable[tuple[object, Answer[Any, Any]]]) -> Coverage:
    """What the steps, each given as (event, answer), covered of the table and of its inner machines."""
    tally = Tally()
    for event, answer in steps:
        tally.hear(table, event, answer)
    return tally.coverage([table])


def roots(tables: Iterable[AnyTable]) -> tuple[AnyTable, ...]:
    """Those of the tables that none of the others holds."""
    chosen = tuple(dict.fromkeys(tables))
    held = {path[-1] for table in chosen for path in paths((table,)) if len(path) > 1}
    return tuple(table for table in chosen if table not in held)


def path_name(path: Path) -> str:
    """`outer > inner`."""
    return " > ".join(table.name for table in path)


def paths(path: Path) -> Iterator[Path]:
    """The way to the table at the end of `path`, and to each machine that it holds, however deep, each once."""
    yield path
    for table in dict.fromkeys(held.table for held in path[-1].inners):
        yield from paths((*path, table))


def _sum(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    listed = list(counts)
    return sum(some for some, _ in listed), sum(there for _, there in listed)
