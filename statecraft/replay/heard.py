"""The answers of one event, laid over the rows of its cell.

A step knows what was answered, in the order of asking. Which row and which guard each answer belongs to follows from
how a table asks: row after row to the first that holds; what a row spends before its guards; a row ends at its first
no; `&`, `|` and `~` ask all their parts, and their own answer stands after those; no question is asked twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal

import attrs

from ..guards import Evidence, Finding, Guard, Level, Reading, Scalar, limits, name_of
from ..table import Inner, Table

Outcome = Literal["taken", "refused", "not asked", "fault"]


@attrs.frozen
class Heard:
    """What one guard answered, with the values that it looked at; `holds` is None where it was not asked.

    `level` is how far a reading has come, empty for evidence. The parts of a combination follow it, one deeper.
    """

    guard: str
    holds: bool | None
    values: Mapping[str, Scalar]
    level: str
    depth: int


@attrs.frozen
class RowHeard:
    """What became of one row of the cell, and its guards."""

    row: int
    text: str
    outcome: Outcome
    guards: tuple[Heard, ...]

    @property
    def said_no(self) -> str:
        """The guard that refused the row; empty if none did."""
        if self.outcome != "refused":
            return ""
        return next((heard.guard for heard in self.guards if heard.depth == 0 and heard.holds is False), "")


def rows_heard(
    table: Table[Any, Any, Any, Any],
    state: Enum,
    event: type[Any],
    seen: Sequence[Finding],
    row: int | None,
    *,
    faulted: bool = False,
) -> tuple[RowHeard, ...]:
    """Every row of the cell, with the answers laid over them in the order of asking."""
    hearing = _Hearing(seen)
    found: list[RowHeard] = []
    for number in table.cell(state, event):
        asking = table.rows[number]
        over = any(one.row == row for one in found) if row is not None else False
        questions: list[Any] = [*([] if asking.spends is None else [asking.spends]), *asking.guards]
        heard: list[Heard] = []
        no = over
        for question in questions:
            no = not hearing.hear(question, 0, heard, asked=not no) or no
        outcome: Outcome = "not asked" if over else "taken" if number == row else "refused"
        if faulted and number == row:
            outcome = "fault"
        found.append(RowHeard(number, str(asking), outcome, tuple(heard)))
    return tuple(found)


class _Hearing:
    """The answers of one event, handed out in the order in which the questions come."""

    def __init__(self, seen: Sequence[Finding]) -> None:
        self._left = deque(seen)
        self._known: dict[Any, Finding] = {}

    def hear(self, question: Any, depth: int, heard: list[Heard], *, asked: bool) -> bool:
        """Add the question's answer, and those of its parts, to `heard`; says whether it holds."""
        key: Any = question
        level: Level | None = None
        place = len(heard)
        if isinstance(question, Guard):
            guard: Guard[Any, Any] = question  # pyright: ignore[reportUnknownVariableType]  # rows hold any guard
            key = guard.function or guard
            level = guard.level if guard.how == "reaches" else None
            for part in guard.parts:
                self.hear(part, depth + 1, heard, asked=asked)
        found = self._answer(key) if asked else None
        holds: bool | None = None
        values: Mapping[str, Scalar] = {}
        if isinstance(found, Evidence):
            holds, values = found.holds, found.seen
        elif isinstance(found, Reading):
            holds, values = level is None or found.level >= level, {**found.seen, **limits(found)}
        reached = found.level.name.lower() if isinstance(found, Reading) else ""
        heard.insert(place, Heard(_name(question), holds, values, reached, depth))
        return holds is True

    def _answer(self, key: Any) -> Finding | None:
        if key not in self._known and self._left:
            self._known[key] = self._left.popleft()
        return self._known.get(key)


def _name(question: Any) -> str:
    """The name under which a table shows the answer."""
    if isinstance(question, Enum):
        return f"{question.value}_left"
    return name_of(question) + ("_goes_on" if isinstance(question, Inner) else "")
