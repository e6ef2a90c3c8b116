"""Why a run did what it did: the pure table is stepped once more, and each row of the cell shown with its answers."""

from __future__ import annotations

from typing import Any, TypeVar

import attrs

from ..diagrams.labels import ranges
from ..journal import Journaled, JournalError, Store
from ..step import Answer, Fault, Ignored, Refused, Step, Unhandled
from ..table import Table
from .heard import RowHeard, rows_heard
from .recorded import Advanced, Line, Migrate, advance, lines, next_leg, recorded

R = TypeVar("R")


@attrs.frozen
class Explanation:
    """One line explained. `kind` is the line's; `row` and `target` are None where no row was taken.

    `why` holds the words of the table or of the fault, where there are any. `seq` is None where there is no journal.
    """

    seq: int | None
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
    """Explain line `seq`; or the last step that took row `row`; or else the last step of the run.

    Raises `JournalError` where there is no such line, or none of the run can be read. `standing` says why a run ended.
    """
    head = recorded(store, of, migrate)
    run = head.initial
    found: tuple[int, R, Line, Advanced[R] | None] | None = None
    last = 0
    rows: set[int] = set()
    for line in lines(store, of, migrate):
        before, stepped = run, None
        last = line.seq
        if line.kind == "leg":
            run = next_leg(store, of, run, line)
        elif line.event is not None:
            stepped = advance(of, run, line.event)
            run = stepped.after
            if stepped.answer is not None and stepped.answer.row is not None:
                rows.add(stepped.answer.row)
        if seq is None and _answers(of, line, stepped, row, found is not None):
            found = (line.seq, before, line, stepped)
        if line.seq == seq:
            found = (line.seq, before, line, stepped)
            break
    if found is None:
        raise JournalError(f"{store.name}: {_missed(seq, row, last, rows)}")
    return of_line(of, *found)


def of_line(of: Journaled[R, Any, Any], seq: int, before: R, line: Line, stepped: Advanced[R] | None) -> Explanation:
    """Explain a line that was read back: `before` is the run before it, `stepped` what its event came to now."""
    if stepped is None:
        return _unstepped(of, seq, before, line)
    answer = stepped.answer or stepped.fault
    assert answer is not None  # a step has one or the other
    return explained(of.table, before, line.event, answer, seq)


def _missed(seq: int | None, row: int | None, last: int, rows: set[int]) -> str:
    """What was asked for and is not there, and what is."""
    if seq is None and row is not None:
        return f"has no step that took row {row}; the rows that were taken are {ranges(sorted(rows)) or 'none'}"
    there = f"from seq 1 to seq {last}" if last else "no line after the first"
    return f"has no {'step' if seq is None else f'seq {seq}'}; it has {there}"


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
    table: Table[Any, Any, Any, Any],
    before: Any,
    event: Any,
    answer: Answer[Any, Any] | Fault,
    seq: int | None = None,
) -> Explanation:
    """Explain what stepping `before` with `event` came to; without `seq`, for a step with no journal around it."""
    kind: type[Any] = event.__class__
    if not isinstance(answer, Fault):
        return of_answer(table, kind, answer, seq)
    source, ours = table.at(before), answer.machine == table.name
    rows = rows_heard(table, source, kind, answer.asked, answer.row, fault=True) if ours else ()
    why = f"{answer.part} {answer.problem}" + ("" if ours else f" (in {answer.machine})")
    return Explanation(seq, "fault", table.name, source.name, kind.__name__, None, None, why, rows, (), ())


def of_answer(
    table: Table[Any, Any, Any, Any], event: type[Any], answer: Answer[Any, Any], seq: int | None = None
) -> Explanation:
    """Explain what the table answered to an event of this kind, and its inner machines before it."""
    kind, target, why = "step", None, ""
    rows: tuple[RowHeard, ...] = ()
    inside: tuple[Explanation, ...] = ()
    match answer:
        case Step() | Refused():
            rows = rows_heard(table, answer.source, event, answer.seen, answer.row)
            tables = {held.table.name: held.table for held in table.inners}
            inside = tuple(of_answer(tables[one.machine], event, one, seq) for one in answer.inside)
            if isinstance(answer, Step):
                target = answer.target.name
            else:
                kind, why = "refused", answer.why
        case Ignored():
            kind, why = "ignored", answer.why
        case Unhandled():
            known = ", ".join(one.__name__ for one in table.events)
            kind, why = "fault", f"{answer.event} is not in the machine's alphabet, which is {known}"
    commands = tuple(type(command).__name__ for command in answer.commands)
    name, source = event.__name__, answer.source.name
    return Explanation(seq, kind, table.name, source, name, target, answer.row, why, rows, inside, commands)


def _unstepped(of: Journaled[R, Any, Any], seq: int, before: R, line: Line) -> Explanation:
    """A line without an event: the next leg, the terminal record, or an event from outside the alphabet."""
    state = of.table.at(before).name
    said = line.record.get
    why = {
        "leg": f"the run was handed on from {said('source')}, and begins again in {said('target')}",
        "resume": f"the run was taken up in {said('source')} by another process",
        "end": f"the journal was closed after {said('lines')} lines",
        "fault": f"{said('part')} {said('problem')}",
    }.get(line.kind, "")
    return Explanation(seq, line.kind, of.table.name, state, "", None, None, why, (), (), ())
