"""The machine of these tests: a door that opens to a strong push and wears out, with its closer inside it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

import attrs

from statecraft import Evidence, Rows, Table, ignore, inner, keep, ordered, seen


class Spring(Enum):
    SLACK = auto()
    WORN = auto()


class Door(Enum):
    SHUT = auto()
    OPEN = auto()
    GONE = auto()


class Stock(Enum):
    OIL = "oil"


@attrs.frozen
class Push:
    force: int = 0
    soft: bool = False


@attrs.frozen
class Wind:
    pass


@attrs.frozen
class Closer:
    at: Spring = Spring.SLACK
    pushes: int = 0


@attrs.frozen
class Hall:
    at: Door = Door.SHUT
    closer: Closer = Closer()
    left: Mapping[Stock, int | None] = attrs.Factory(lambda: {Stock.OIL: 5})
    notes: list[int] = attrs.field(factory=list[int])


def strong(run: object, event: Push) -> Evidence:
    return seen("strong", event.force >= 5, force=event.force)


def at(run: Any) -> Any:
    return run.at


def move(run: Any, state: Any) -> Any:
    return attrs.evolve(run, at=state)


def purse(run: Hall) -> Mapping[Stock, int | None]:
    return run.left


def pay(run: Hall, left: Mapping[Stock, int | None]) -> Hall:
    return attrs.evolve(run, left=left)


def the_closer(run: Hall, event: Push) -> Closer:
    return run.closer


def with_closer(run: Hall, event: Push, closer: Closer) -> Hall:
    return attrs.evolve(run, closer=closer)


row, spring = Rows[Hall, Door, Any](), Rows[Closer, Spring, Any]()


def closer(*rows: Any) -> Table[Closer, Spring, Push, Any]:
    """A closer of these rows."""
    return Table[Closer, Spring, Push, Any](
        "closer", rows, events=[Push], initial=Spring.SLACK, final=[Spring.WORN], at=at, move=move
    )


def inside(table: Table[Closer, Spring, Push, Any]) -> Any:
    """The closer inside the door while that is shut."""
    return inner(table, during=[Door.SHUT], get=the_closer, put=with_closer)


def hall(
    *entries: Any, inners: Any = (), final: Any = (Door.GONE,), name: str = "hall"
) -> Table[Hall, Door, Push | Wind, Any]:
    """A door of these rows and marks."""
    return Table[Hall, Door, Push | Wind, Any](
        name,
        entries,
        events=[Push, Wind],
        initial=Door.SHUT,
        final=final,
        at=at,
        move=move,
        inners=inners,
        budgets={Stock.OIL: 5},
        purse=purse,
        pay=pay,
    )


def count(run: Closer, event: Push) -> tuple[Closer, tuple[()]]:
    return attrs.evolve(run, pushes=run.pushes + 1), ()


def push(*guards: Any, **more: Any) -> Any:
    """A row on which a push opens the door."""
    return row(Door.SHUT, Push, Door.OPEN, keep, *guards, **more)


IN_ORDER = ordered([Door.SHUT], [Push], "as they are tried")
REST = row(Door.SHUT, Push, Door.SHUT, keep)
QUIET = ignore([Door.SHUT], [Wind], "nobody feels it")


def door(*entries: Any, inners: Any = ()) -> Table[Hall, Door, Push | Wind, Any]:
    """A hall that ends when its door opens, and in which nobody feels the wind."""
    return hall(*entries, QUIET, inners=inners, final=[Door.OPEN, Door.GONE])


CLOSER = closer(spring(Spring.SLACK, Push, Spring.WORN, keep, strong), spring(Spring.SLACK, Push, Spring.SLACK, keep))
