"""A table with its rows changed, for tests that break one on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs

from statecraft import Row, Table, refuse

AnyRow = Row[Any, Any, Any]
AnyTable = Table[Any, Any, Any, Any]


def rebuilt(table: AnyTable, change: Callable[[AnyRow], AnyRow | None]) -> AnyTable:
    """The table with each row as `change` has it (None: without it); a cell left blank refuses."""
    rows = [new for row in table.rows if (new := change(row)) is not None and new.sources]
    full = Counter((source, row.event) for row in rows for source in row.sources)
    ordered = [
        attrs.evolve(mark, states=(state,), events=(event,))
        for mark in table.marks
        if mark.how == "ordered"
        for state in mark.states
        for event in mark.events
        if full[state, event] > 1
    ]
    marks = [mark for mark in table.marks if mark.how != "ordered"]
    said = {(state, event) for mark in marks for state in mark.states for event in mark.events}
    blank = [
        refuse([state], [event], "left blank")
        for state in table.states
        for event in table.events
        if state not in table.final and not full[state, event] and (state, event) not in said
    ]
    return Table(
        table.name,
        [*rows, *marks, *ordered, *blank],
        events=table.events,
        initial=table.initial,
        final=table.final,
        at=table.at,
        move=table.move,
        budgets=table.budgets,
        purse=table.left,
        pay=table.pay,
        inners=table.inners,
    )
