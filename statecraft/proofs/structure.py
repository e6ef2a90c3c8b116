"""What is wrong with a table's shape, whatever its guards say: states and rows that no run comes to, and dead ends.

Policy plays no part here: a budget of size 0 is a switch that is off, and the rows that spend it are not unreachable.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import attrs

from .edges import AnyTable, stays_open
from .graph import reached


@attrs.frozen
class Flaw:
    """Something that the table should not have: what, in which state or row (its number), and why it is one."""

    table: str
    what: str
    state: str | None
    row: int | None
    reason: str

    def __str__(self) -> str:
        where = f"state {self.state}" if self.row is None else f"row {self.row}"
        return f"{where}: {self.what}: {self.reason}"


def flaws(table: AnyTable) -> tuple[Flaw, ...]:
    """All flaws of the table, those of rows first, each in the order of the table."""
    after: dict[Enum, list[Enum]] = {}
    before: dict[Enum, list[Enum]] = {}
    for number, row in enumerate(table.rows):
        for source in row.sources:
            if _can_pay(table, number, source):
                after.setdefault(source, []).append(row.target)
                before.setdefault(row.target, []).append(source)
    inside = reached([table.initial], after)
    return (*_rows(table, inside), *_states(table, inside, reached(table.final, before)))


def _rows(table: AnyTable, inside: set[Enum]) -> Iterator[Flaw]:
    for number, row in enumerate(table.rows):
        for source in row.sources:
            if row.spends is not None and not isinstance(row.spends, Enum) and not _can_pay(table, number, source):
                what, event = row.spends.name, row.event.__name__
                reason = f"spends {what}, but no step of {what} on {event} while in {source.name} leaves it open"
                yield Flaw(table.name, "can never be taken", source.name, number, f"{row} {reason}")
        if not any(source in inside for source in row.sources):
            reason = f"{row} starts only where no way from {table.initial.name} leads"
            yield Flaw(table.name, "unreachable row", None, number, reason)


def _states(table: AnyTable, inside: set[Enum], ending: set[Enum]) -> Iterator[Flaw]:
    for state in table.states:
        if state not in inside:
            reason = f"no way from {table.initial.name} leads to it"
            yield Flaw(table.name, "unreachable state", state.name, None, reason)
        elif table.final and state not in ending:
            finals = ", ".join(one.name for one in table.states if one in table.final)
            yield Flaw(table.name, "no way to an ending", state.name, None, f"no rows lead from it to any of {finals}")


def _can_pay(table: AnyTable, number: int, source: Enum) -> bool:
    row = table.rows[number]
    return row.spends is None or isinstance(row.spends, Enum) or bool(stays_open(row.spends, source, row.event))
