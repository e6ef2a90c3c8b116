"""Which question each answer of a step belongs to.

A step carries its answers in the order of asking, without what was asked: the table says that, since a cell asks in one
order only. This is that order once more, so it follows the engine word for word: rows as they are tried, in each row
what it spends and then its guards up to the first no, each question once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

import attrs

from ..guards import Evidence, Finding, Level, Reading, as_guard, name_of
from ..table import Table

AnyTable = Table[Any, Any, Any, Any]


@attrs.frozen
class Heard:
    """One question of one row and what was answered; the same answer comes back for each row that asks it.

    `key` is what was asked: a function, a combination of guards, a budget or an inner machine. `level` is the level
    that a reading has to reach.
    """

    row: int
    key: Any
    name: str
    holds: bool
    found: Finding
    level: Level | None = None


def heard(table: AnyTable, source: Enum, event: type[Any], seen: Iterable[Finding]) -> tuple[Heard, ...]:
    """The answers `seen` with their questions, row by row. ValueError where they do not fit the table's cell."""
    answers = _Answers(table.name, seen)
    found: list[Heard] = []
    for number in table.cell(source, event):
        row = table.rows[number]
        spends = row.spends
        if spends is not None and not _holds(answers, number, spends, spending_name(spends), None, found):
            continue
        if all(_asking(answers, number, question, found) for question in row.guards):
            break
    answers.end()
    return tuple(found)


def spending_name(spends: Any) -> str:
    """What the engine calls the question that spending a budget or an inner machine brings with it."""
    return f"{spends.value}_left" if isinstance(spends, Enum) else f"{spends.name}_goes_on"


class _Answers:
    """The answers not yet given out, and those that were, by question."""

    def __init__(self, machine: str, seen: Iterable[Finding]) -> None:
        self.machine = machine
        self._rest: Iterator[Finding] = iter(seen)
        self._known: dict[Any, Finding] = {}

    def to(self, key: Any, name: str, row: int) -> Finding:
        if key not in self._known:
            answer = next(self._rest, None)
            if answer is None:
                raise ValueError(f"{self.machine} row {row}: asks {name}, but the step has no answer to it")
            self._known[key] = answer
        return self._known[key]

    def end(self) -> None:
        extra = next(self._rest, None)
        if extra is not None:
            raise ValueError(f"{self.machine}: the step has the answer {extra.name}, which no row of the cell asks")


def _asking(answers: _Answers, row: int, question: Any, found: list[Heard]) -> bool:
    guard = as_guard(question)
    if guard is None:
        return _holds(answers, row, question, name_of(question), None, found)
    if guard.function is not None:
        level = guard.level if guard.how == "reaches" else None
        return _holds(answers, row, guard.function, guard.name, level, found)
    for part in guard.parts:
        _asking(answers, row, part, found)
    return _holds(answers, row, guard, guard.name, None, found)


def _holds(answers: _Answers, row: int, key: Any, name: str, level: Level | None, found: list[Heard]) -> bool:
    answer = answers.to(key, name, row)
    match answer:
        case Evidence(holds=holds) if level is None:
            pass
        case Reading(level=now) if level is not None:
            holds = now >= level
        case _:
            kind = type(answer).__name__
            raise ValueError(f"{answers.machine} row {row}: {name} is answered with the {kind} {answer.name}")
    found.append(Heard(row, key, name, holds, answer, level))
    return holds
