"""The door of a hall: it swings open if it is pushed hard enough, and each swing takes a drop of oil.

A first machine: one event, one guard, one budget. Nothing is imported but the framework.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

import attrs

from statecraft import Evidence, Rows, Table, keep, seen


class Door(Enum):
    """The states."""

    SHUT = auto()
    OPEN = auto()


class Oil(Enum):
    """What swings are paid with."""

    DROP = "drops"


FULL: Mapping[Oil, int] = {Oil.DROP: 40}


@attrs.frozen
class Push:
    """Somebody pushes the door. Force in newtons."""

    force: int


@attrs.frozen
class Ring:
    """The bell above the door rings."""


@attrs.frozen
class Hall:
    """One hall: how its door stands, the force it takes to open it, what oil is left, and how often it has creaked."""

    at: Door = Door.SHUT
    needed: int = 20
    oil: Mapping[Oil, int | None] = FULL
    creaks: int = 0


def strong(run: Hall, event: Push) -> Evidence:
    """The push is hard enough."""
    return seen("strong", event.force >= run.needed, force=event.force, needed=run.needed)


def swing(run: Hall, event: Push) -> tuple[Hall, tuple[Ring, ...]]:
    """The door opens, and the bell rings."""
    return run, (Ring(),)


def creak(run: Hall, event: Push) -> tuple[Hall, tuple[()]]:
    """It only creaks."""
    return attrs.evolve(run, creaks=run.creaks + 1), ()


def at(run: Hall) -> Door:
    """How the door stands."""
    return run.at


def move(run: Hall, state: Door) -> Hall:
    """The same hall with its door so."""
    return attrs.evolve(run, at=state)


def oil(run: Hall) -> Mapping[Oil, int | None]:
    """What oil is left."""
    return run.oil


def pour(run: Hall, left: Mapping[Oil, int | None]) -> Hall:
    """The same hall with so much oil left."""
    return attrs.evolve(run, oil=left)


row = Rows[Hall, Door, Ring]()

HALL: Table[Hall, Door, Push, Ring] = Table(
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, swing, strong, asks=[Ring], spends=Oil.DROP),
        row(Door.SHUT, Push, Door.SHUT, creak),
        row(Door.OPEN, Push, Door.SHUT, keep),
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[],
    at=at,
    move=move,
    budgets=FULL,
    purse=oil,
    pay=pour,
)
