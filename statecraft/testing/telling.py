"""An answer of a table as lines for people: what happened, and each row that was tried with what its guards saw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..diagrams.edges import picture
from ..diagrams.listing import row as row_text
from ..guards import Finding, Reading, limits
from ..step import Answer, Ignored, Refused, Step, Unhandled
from .heard import AnyTable, heard

LONGEST = 300  # letters of an event that are shown


def told(table: AnyTable, event: object, answer: Answer[Any, Any]) -> tuple[str, ...]:
    """What the table answered to the event: a headline, the rows that were tried, one line a guard with its values."""
    return tuple(_told(table, event, answer))


def texts(table: AnyTable) -> tuple[str, ...]:
    """Each row of the table as one line, its number first."""
    return tuple(row_text(line) for line in picture(table).lines)


def _told(table: AnyTable, event: object, answer: Answer[Any, Any]) -> Iterator[str]:
    yield _headline(table, event, answer)
    if isinstance(answer, Step | Refused):
        yield from _rows(table, event, answer)
        tables = {held.name: held.table for held in table.inners}
        for inside in answer.inside:
            yield from (f"  inside: {line}" for line in _told(tables[inside.machine], event, inside))
        if isinstance(answer, Refused) and answer.inside:
            yield f"  {table.name} takes no row, so what is told of inside did not happen"


def _headline(table: AnyTable, event: object, answer: Answer[Any, Any]) -> str:
    sent, where = _cut(repr(event)), answer.source.name
    match answer:
        case Step(row=number):
            return f"{table.name} in {where} takes row {number} on {sent}"
        case Refused(why=""):
            return f"{table.name} in {where} refuses {sent}: no row holds"
        case Refused(why=why):
            return f"{table.name} in {where} refuses {sent}: {why}"
        case Ignored(why=why):
            return f"{table.name} in {where} ignores {sent}: {why}"
        case Unhandled(event=name):
            known = ", ".join(kind.__name__ for kind in table.events)
            return f"{table.name} in {where} does not know {sent}: {name} is not in its alphabet, which is {known}"


def _rows(table: AnyTable, event: object, answer: Step[Any, Any] | Refused[Any]) -> Iterator[str]:
    rows = texts(table)
    asked = heard(table, answer.source, type(event), answer.seen)
    for number in table.cell(answer.source, type(event)):
        yield f"  {rows[number]}"
        for one in asked:
            if one.row == number:
                values = ", ".join(f"{name}={value!r}" for name, value in _values(one.found).items())
                yield f"      {'yes' if one.holds else 'no '} {one.name}{f': {values}' if values else ''}"
        if number == answer.row:
            return


def _values(found: Finding) -> dict[str, Any]:
    return {**(limits(found) if isinstance(found, Reading) else {}), **found.seen}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
