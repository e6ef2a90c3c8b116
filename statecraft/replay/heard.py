"""The rows of the cell in which an event was decided, as plain values: what became of each, and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Literal

import attrs

from ..guards import Finding, Reading, Scalar, limits
from ..heard import AnyTable, Asking, heard

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
    table: AnyTable,
    source: Enum,
    event: type[object],
    seen: Sequence[Finding],
    row: int | None,
    *,
    fault: bool = False,
) -> tuple[RowHeard, ...]:
    """Every row of the cell, with the answers laid over them; arguments as `statecraft.heard.heard`."""
    asked = heard(table, source, event, seen, row, fault=fault)
    return tuple(
        RowHeard(
            number,
            str(table.rows[number]),
            _outcome(number, row, fault),
            tuple(_plain(one) for one in asked if one.row == number),
        )
        for number in table.cell(source, event)
    )


def _outcome(number: int, row: int | None, fault: bool) -> Outcome:
    if number == row:
        return "fault" if fault else "taken"
    if row is None:
        return "not asked" if fault else "refused"
    return "refused" if number < row else "not asked"


def _plain(one: Asking) -> Heard:
    level = one.found.level.name.lower() if isinstance(one.found, Reading) else ""
    return Heard(one.name, one.holds, values_of(one.found), level, one.depth)


def values_of(found: Finding | None) -> Mapping[str, Scalar]:
    """The values behind an answer; of a reading, its numbers first."""
    if isinstance(found, Reading):
        return {**limits(found), **found.seen}
    return {} if found is None else found.seen
