"""All that stepping a table can answer.

`Step`     a row was taken: the next run, the commands that it asks for, and every answer that was heard on the way
`Refused`  there are rows for this event here, and a guard of each said no; the evidence says why
`Ignored`  the table says on purpose that this event means nothing here
`Unhandled` the event is not in the machine's alphabet: a fault of whoever sent it

Each carries `run`: after a step the next one, otherwise the one that was given, untouched. What can go wrong inside a
table (a guard that raises, an effect that asks for what its row does not declare) is a `Fault`, raised; the caller
still holds the old run.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Generic, TypeVar

import attrs

from .guards import Finding

R = TypeVar("R")
C = TypeVar("C")
R_co = TypeVar("R_co", covariant=True)
C_co = TypeVar("C_co", covariant=True)


@attrs.frozen
class Step(Generic[R_co, C_co]):
    """One row taken: `row` is its number in `table.rows`, `seen` all that was asked, in the order of asking."""

    run: R_co
    commands: tuple[C_co, ...]
    row: int
    seen: tuple[Finding, ...]
    inside: tuple[Answer[Any, C_co], ...]
    machine: str
    source: Enum
    target: Enum


@attrs.frozen
class Refused(Generic[R_co]):
    """Every row of the cell said no; `why` is filled where the table itself refuses the event in this state.

    `event` is the name of the event's class.
    """

    run: R_co
    seen: tuple[Finding, ...]
    inside: tuple[Answer[Any, Any], ...]
    machine: str
    source: Enum
    event: str
    why: str = ""
    commands: tuple[()] = ()
    row: None = None


@attrs.frozen
class Ignored(Generic[R_co]):
    """The table ignores this event (the name of its class) in this state, and says why."""

    run: R_co
    machine: str
    source: Enum
    event: str
    why: str
    commands: tuple[()] = ()
    row: None = None


@attrs.frozen
class Unhandled(Generic[R_co]):
    """The event (the name of its class) is not in the alphabet of the machine."""

    run: R_co
    machine: str
    source: Enum
    event: str
    commands: tuple[()] = ()
    row: None = None


Answer = Step[R_co, C_co] | Refused[R_co] | Ignored[R_co] | Unhandled[R_co]


class Fault(Exception):
    """The machine itself is wrong: which machine, which row, which guard or effect, and what it did.

    `asked` holds the answers heard before the fault, so that it can be explained like any other step.
    """

    def __init__(self, machine: str, row: int | None, part: str, problem: str, asked: tuple[Finding, ...] = ()) -> None:
        self.machine, self.row, self.part, self.problem, self.asked = machine, row, part, problem, asked
        where = machine if row is None else f"{machine} row {row}"
        super().__init__(f"{where}: {part} {problem}")


def keep(run: R, event: object) -> tuple[R, tuple[()]]:
    """The effect of a row that changes nothing but the state."""
    return run, ()
