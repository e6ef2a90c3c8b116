"""Why a run did what it did: every row of the cell in order, and what each of its guards answered.

Nothing is asked again by itself: the pure table is stepped once more, and its answers are laid over the rows in the
order in which a table asks. A question is asked once an event, a row ends at its first no, and what a row spends is asked
before its guards; `&`, `|` and `~` ask all their parts, and stand after them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal, TypeVar

import attrs

from ..guards import Evidence, Finding, Guard, Reading, Scalar, limits, name_of
from ..journal import Journaled, JournalError, Store
from ..step import Answer, Fault, Ignored, Refused, Step
from ..table import Table
from .recorded import Advanced, Line, Migrate, advance, lines, next_leg, recorded

R = TypeVar("R")

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


@attrs.frozen
class Explanation:
    """One line explained. `kind` is the line's; `row` and `target` are None where no row was taken.

    `why` holds the words of the table or of the fault, where there are any.
    """

    seq: int
    kind: str
    machine: str
    source: str
    event: str
    target: str | None
    row: int | None
    why: str
    rows: tuple[RowHeard, ...]
    inside: tuple[Explanation, ...]
    commands: tuple[str, ...]


def explain(
    store: Store,
    of: Journaled[R, Any, Any],
    seq: int | None = None,
    *,
    row: int | None = None,
    migrate: Migrate | None = None,
) -> Explanation:
    """Explain line `seq`; or the last step that took row `row`; or else why the run ended, or stands where it does.

    Raises `JournalError` where there is no such line, or none of the run can be read.
    """
    head = recorded(store, of, migrate)
    run = head.initial
    found: tuple[int, R, Line, Advanced[R] | None] | None = None
    last = 0
    for line in lines(store, of, migrate):
        before, stepped = run, None
        last = line.seq
        if line.kind == "leg":
            run = next_leg(store, of, run, line)
        elif line.event is not None:
            stepped = advance(of, run, line.event)
            run = stepped.after
        if seq is None and _answers(of, line, stepped, row, found is not None):
            found = (line.seq, before, line, stepped)
        if line.seq == seq:
            found = (line.seq, before, line, stepped)
            break
    if found is None:
        asked = (
            f"no line {seq}" if seq is not None else f"no step that took row {row}" if row is not None else "no step"
        )
        raise JournalError(f"{store.name}: has {asked}; its lines after the first are 1 to {last}")
    number, before, line, stepped = found
    if stepped is None:
        return _unstepped(of, number, before, line)
    return explained(of.table, before, line.event, stepped.answer or stepped.fault, number)


def _answers(
    of: Journaled[Any, Any, Any], line: Line, stepped: Advanced[Any] | None, row: int | None, had: bool
) -> bool:
    """Whether the line is a better answer than the one found before: the last step, but no refusal after the end."""
    answer = stepped.answer if stepped else None
    if row is not None:
        return answer is not None and answer.row == row
    if isinstance(answer, Refused):
        return not had or answer.source not in of.table.final
    return line.kind in ("step", "fault")


def explained(
    table: Table[Any, Any, Any, Any], before: Any, event: Any, answer: Answer[Any, Any] | Fault | None, seq: int = 0
) -> Explanation:
    """Explain what stepping `before` with `event` came to; for a step that was just made, with no journal around it."""
    source = table.at(before)
    name = type(event).__name__
    if isinstance(answer, Fault):
        rows = (
            _rows(table, source, type(event), answer.asked, answer.row, faulted=True)
            if answer.machine == table.name
            else ()
        )
        why = f"{answer.part} {answer.problem}" + ("" if answer.machine == table.name else f" (in {answer.machine})")
        return Explanation(seq, "fault", table.name, source.name, name, None, None, why, rows, (), ())
    if isinstance(answer, Step):
        rows = _rows(table, source, type(event), answer.seen, answer.row)
        inside = _inside(table, answer.inside, name, type(event), seq)
        commands = tuple(type(command).__name__ for command in answer.commands)
        target = answer.target.name
        return Explanation(seq, "step", table.name, source.name, name, target, answer.row, "", rows, inside, commands)
    if isinstance(answer, Refused):
        rows = _rows(table, source, type(event), answer.seen, None)
        inside = _inside(table, answer.inside, name, type(event), seq)
        return Explanation(seq, "refused", table.name, source.name, name, None, None, answer.why, rows, inside, ())
    why = answer.why if isinstance(answer, Ignored) else f"{name} is not in the machine's alphabet"
    return Explanation(seq, "ignored", table.name, source.name, name, None, None, why, (), (), ())


def _inside(
    table: Table[Any, Any, Any, Any], answers: Sequence[Answer[Any, Any]], name: str, event: type[Any], seq: int
) -> tuple[Explanation, ...]:
    tables = {held.table.name: held.table for held in table.inners}
    found: list[Explanation] = []
    for answer in answers:
        inner = tables[answer.machine]
        if not isinstance(answer, Step | Refused):
            continue  # an inner machine is only asked what it has rows for
        rows = _rows(inner, answer.source, event, answer.seen, answer.row)
        found.append(
            Explanation(
                seq,
                "step" if isinstance(answer, Step) else "refused",
                inner.name,
                answer.source.name,
                name,
                answer.target.name if isinstance(answer, Step) else None,
                answer.row,
                "" if isinstance(answer, Step) else answer.why,
                rows,
                _inside(inner, answer.inside, name, event, seq),
                tuple(type(command).__name__ for command in answer.commands),
            )
        )
    return tuple(found)


def _unstepped(of: Journaled[R, Any, Any], seq: int, before: R, line: Line) -> Explanation:
    """A line without an event: the next leg, the terminal record, or an event from outside the alphabet."""
    state = of.table.at(before).name
    why = {
        "leg": f"the run was handed on from {line.record.get('source')}, and begins again in {line.record.get('target')}",
        "end": f"the journal was closed after {line.record.get('lines')} lines",
        "fault": f"{line.record.get('part')} {line.record.get('problem')}",
    }.get(line.kind, "")
    return Explanation(seq, line.kind, of.table.name, state, "", None, None, why, (), (), ())


def _rows(
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
        name, key, parts = _name(question), question, ()
        level = None
        if isinstance(question, Guard):
            guard: Guard[Any, Any] = question
            parts = guard.parts
            if guard.function is not None:
                key = guard.function
            if guard.how == "reaches":
                level = guard.level
        place = len(heard)
        for part in parts:
            self.hear(part, depth + 1, heard, asked=asked)
        found = self._answer(key) if asked else None
        holds: bool | None = None
        values: Mapping[str, Scalar] = {}
        if isinstance(found, Evidence):
            holds, values = found.holds, found.seen
        elif isinstance(found, Reading):
            holds, values = level is None or found.level >= level, {**found.seen, **limits(found)}
        reached = found.level.name.lower() if isinstance(found, Reading) else ""
        heard.insert(place, Heard(name, holds, values, reached, depth))
        return holds is True

    def _answer(self, key: Any) -> Finding | None:
        if key not in self._known and self._left:
            self._known[key] = self._left.popleft()
        return self._known.get(key)


def _name(question: Any) -> str:
    if isinstance(question, Enum):
        return f"{question.value}_left"
    return name_of(question) if not hasattr(question, "table") else f"{question.name}_open"
