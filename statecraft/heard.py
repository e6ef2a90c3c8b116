"""Which question of which row each answer belongs to.

A step carries its answers in the order of asking, without what was asked: the table says that, since a cell asks in one
order only. This is that order once more, so it follows the engine word for word: rows as they are tried, down to the
first that holds; in each row what it spends and then its guards, up to the first no; of `&`, `|` and `~` all parts
before the answer of the whole; each question once.

A fault ends the asking where it stands: the answers heard before it find their questions, the rest was not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

import attrs

from .guards import Finding, Level, Reading, as_guard, name_of
from .table import Inner, Table

AnyTable = Table[Any, Any, Any, Any]


@attrs.frozen
class Asking:
    """One question of one row and what was answered; the same answer comes back for each row that asks it.

    `key` is what is asked: a function, a combination of guards, a budget or an inner machine. The parts of a
    combination follow it, one `depth` deeper. `level` is the level that a reading has to reach. `found` is None where
    the question was not asked.
    """

    row: int
    key: Any
    name: str
    depth: int
    level: Level | None
    found: Finding | None

    @property
    def holds(self) -> bool | None:
        """Whether the answer is a yes; None where the question was not asked."""
        if isinstance(self.found, Reading):
            return self.level is not None and self.found.level >= self.level
        return None if self.found is None else self.found.holds


def heard(
    table: AnyTable,
    source: Enum,
    event: type[Any],
    seen: Iterable[Finding],
    row: int | None,
    *,
    fault: bool = False,
) -> tuple[Asking, ...]:
    """Every question of the cell, row by row, with the answers `seen` laid over them.

    `row` is the row that was taken, or in which the `fault` happened. ValueError where answers and row do not fit the
    cell.
    """
    answers = _Answers(table.name, seen, fault)
    found: list[Asking] = []
    held: int | None = None
    for number in table.cell(source, event):
        asking = table.rows[number]
        asked = held is None and not answers.broken
        for question in (*(() if asking.spends is None else (asking.spends,)), *asking.guards):
            asked = _lay(answers, number, question, 0, found, asked=asked)
        if asked:
            held = number
    answers.end()
    if held != row and not fault:
        raise ValueError(f"{table.name}: by its answers the step takes {_called(held)}, but it took {_called(row)}")
    return tuple(found)


def question_name(question: Any) -> str:
    """What the engine calls a question; also the one that spending a budget or an inner machine brings with it."""
    if isinstance(question, Enum):
        return f"{question.value}_left"
    return f"{question.name}_goes_on" if isinstance(question, Inner) else name_of(question)


class _Answers:
    """The answers not yet given out, and those that were, by question."""

    def __init__(self, machine: str, seen: Iterable[Finding], fault: bool) -> None:
        self.machine = machine
        self.broken = False
        self._fault = fault
        self._rest: Iterator[Finding] = iter(seen)
        self._known: dict[Any, Finding] = {}

    def to(self, key: Any, name: str, level: Level | None, row: int) -> Finding | None:
        """The answer to a question; None from the place on where a fault ended the asking."""
        if self.broken:
            return None
        known = self._known.get(key)
        answer = known or next(self._rest, None)
        fits = isinstance(answer, Reading) is (level is not None)
        if self._fault and (answer is None or (known and not fits)):
            self.broken = True
            return None
        if answer is None:
            raise ValueError(f"{self.machine} row {row}: asks {name}, but the step has no answer to it")
        if not fits:
            kind = type(answer).__name__
            raise ValueError(f"{self.machine} row {row}: {name} is answered with the {kind} {answer.name}")
        self._known[key] = answer
        return answer

    def end(self) -> None:
        extra = next(self._rest, None)
        if extra is not None:
            raise ValueError(f"{self.machine}: the step has the answer {extra.name}, which no row of the cell asks")


def _lay(answers: _Answers, row: int, question: Any, depth: int, found: list[Asking], *, asked: bool) -> bool:
    """Add the question and then its parts to `found`, answered if they were asked; says whether it holds."""
    guard = as_guard(question)
    key = question if guard is None or guard.function is None else guard.function
    level = guard.level if guard is not None and guard.how == "reaches" else None
    name, place = question_name(question), len(found)
    for part in () if guard is None else guard.parts:
        _lay(answers, row, part, depth + 1, found, asked=asked)
    one = Asking(row, key, name, depth, level, answers.to(key, name, level, row) if asked else None)
    found.insert(place, one)
    return one.holds is True


def _called(row: int | None) -> str:
    return "no row" if row is None else f"row {row}"
