"""What is wrong with a table in its world: commands that nothing answers, and waits that nothing ends. The flaws:

* a row asks, itself or through an inner machine in its step, for a command of which the world says nothing;
* a row asks for a command whose answer meets no row: neither where the row leads, nor in any state that the run can
  come to from there before it asks for the same again. (A row that leads to an ending may leave a command unanswered.)
* a state in which nothing is out has no row on time that leaves it;
* a state that is no ending has no row on the cancel that leads to one.

So what is shown is that there is a row, not that its guards hold. A command whose answers are none asks nothing back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

from ..world import World
from .edges import AnyTable, may_ask
from .graph import reached
from .structure import Flaw


def outside(table: AnyTable, world: World) -> tuple[Flaw, ...]:
    """What is wrong with the table in this world: rows first, then states, each in the order of the table."""
    asked = {kind for number in range(len(table.rows)) for kind in _asked(table, number)}
    if world.request is not None and world.request not in asked:
        name = world.request.__name__
        return (Flaw(table.name, f"unknown command {name}", None, None, "the world's request, which no row asks for"),)
    waits = () if world.time is None else _waiting(table, world.waits, world.time)
    cancel = () if world.cancel is None else _uncancelled(table, world.cancel)
    return (*_rows(table, world), *waits, *cancel)


def _rows(table: AnyTable, world: World) -> Iterator[Flaw]:
    for number, row in enumerate(table.rows):
        for command in sorted(_asked(table, number), key=lambda kind: kind.__name__):
            name = command.__name__
            if command not in world.answers:
                reason = f"{row} asks for it, and the world does not say what answers it (nothing: an empty list)"
                yield Flaw(table.name, f"unknown command {name}", None, number, reason)
            elif (events := world.answers[command]) and not _answered(table, row.target, command, events):
                expected = " or ".join(event.__name__ for event in events)
                reason = f"{row} asks for it; from {row.target.name} on no row takes {expected} before it asks again"
                yield Flaw(table.name, f"no answer to {name}", None, number, reason)


def _asked(table: AnyTable, number: int) -> set[type[Any]]:
    """What the row asks for, and what inner machines may in its step."""
    row = table.rows[number]
    return {*row.asks, *(kind for source in row.sources for kind in may_ask(table, source, row.event))}


def _answered(table: AnyTable, target: Enum, command: type[Any], events: Sequence[type[Any]]) -> bool:
    if target in table.final:
        return True
    after: dict[Enum, list[Enum]] = {}
    for number, row in enumerate(table.rows):
        if command not in _asked(table, number):
            for source in row.sources:
                after.setdefault(source, []).append(row.target)
    return any(table.cell(state, event) for state in reached([target], after) for event in events)


def _waiting(table: AnyTable, waits: Sequence[Enum], time: type[Any]) -> Iterator[Flaw]:
    for state in waits:
        if all(table.rows[number].target is state for number in table.cell(state, time)):
            reason = f"nothing is out there, and no row on {time.__name__} leaves it"
            yield Flaw(table.name, "no way out by time", state.name, None, reason)


def _uncancelled(table: AnyTable, cancel: type[Any]) -> Iterator[Flaw]:
    for state in table.states:
        ends = (table.rows[number].target in table.final for number in table.cell(state, cancel))
        if state not in table.final and not any(ends):
            reason = f"no row on {cancel.__name__} leads from it to an ending"
            yield Flaw(table.name, "no way out by cancel", state.name, None, reason)
