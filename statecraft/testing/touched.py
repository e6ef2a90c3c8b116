"""In which mutants a test could show: what its steps took, where rows of them ended, which limits were close.

It is told of every step of a session, so steps that asked alike are looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..guards import Level, Reading
from ..heard import AnyTable, Asking, heard
from ..proofs.mutants import Touch
from ..step import Answer, Refused, Step


class Touched:
    """Collects what steps touch into `found`, which its user takes and replaces for each test."""

    def __init__(self) -> None:
        self.found: set[Touch] = set()
        self.tables: dict[AnyTable, None] = {}
        self._known: dict[Any, frozenset[Touch]] = {}

    def hear(self, table: AnyTable, event: object, answer: Answer[Any, Any]) -> None:
        """Add what the table's answer to the event touched, in its inner machines too."""
        self.tables.setdefault(table)
        self._hear(table, type(event), answer)

    def _hear(self, table: AnyTable, event: type[Any], answer: Answer[Any, Any]) -> None:
        if not isinstance(answer, Step | Refused):
            return
        alike = (table, answer.source, event, answer.row, *map(_stands, answer.seen))
        touched = self._known.get(alike)
        if touched is None:
            asked = heard(table, answer.source, event, answer.seen, answer.row)
            touched = self._known[alike] = frozenset(_touches(table, answer.row, asked))
        self.found |= touched
        if answer.inside:
            inner = {held.name: held.table for held in table.inners}
            for inside in answer.inside:
                self._hear(inner[inside.machine], event, inside)


def _stands(found: Any) -> Any:
    """An answer as far as any touch tells it from another."""
    if isinstance(found, Reading):
        return max(-2, min(1, found.now - found.nudge)), max(-2, min(1, found.now - found.stop))
    return found.holds


def _touches(table: AnyTable, taken: int | None, asked: tuple[Asking, ...]) -> Iterator[Touch]:
    if taken is not None:
        yield "taken", table, taken
    places: dict[int, int] = {}
    for one in asked:
        if one.found is None:
            continue
        if one.depth == 0:
            first = 0 if table.rows[one.row].spends is None else -1
            place = places[one.row] = places[one.row] + 1 if one.row in places else first
            if not one.holds:
                yield "denied", table, one.row, place
        if isinstance(one.found, Reading):
            for level, limit in ((Level.NUDGE, one.found.nudge), (Level.STOP, one.found.stop)):
                if (off := one.found.now - limit) in (0, -1):
                    yield "edge", table, one.key, level, off
