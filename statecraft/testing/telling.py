"""An answer of a table as lines for people: what happened, and each row that was tried with what its guards saw."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import attrs

from .. import replay
from ..heard import AnyTable
from ..replay.explain import Explanation, explained, of_answer
from ..step import Answer, Fault

LONGEST = 300  # letters of an event that are shown


def told(table: AnyTable, event: object, answer: Answer[Any, Any]) -> tuple[str, ...]:
    """What the table answered to the event: a headline, the rows that were tried, one line a guard with its values."""
    return _lines(of_answer(table, type(event), answer), event)


def told_fault(table: AnyTable, run: Any, event: object, fault: Fault) -> tuple[str, ...]:
    """The rows that were tried before the fault, of the machine whose it is; none where it cannot be told."""
    with suppress(Exception):  # the table is at fault, so any of its functions may be
        for machine, held in _machines(table, run, event):
            if machine.name == fault.machine:
                return _lines(explained(machine, held, event, fault), event)
    return ()


def _machines(table: AnyTable, run: Any, event: object) -> Iterator[tuple[AnyTable, Any]]:
    """The table with its run, and those inner machines, however deep, that the event is for."""
    yield table, run
    for held in table.inners:
        if table.at(run) in held.during and type(event) in held.table.events:
            kid = held.get(run, event)
            if kid is not None:
                yield from _machines(held.table, kid, event)


def _lines(found: Explanation, event: object) -> tuple[str, ...]:
    sent = repr(event)
    cut = sent if len(sent) <= LONGEST else f"{sent[:LONGEST]}..."
    return tuple(replay.told(attrs.evolve(found, event=cut)).split("\n"))
