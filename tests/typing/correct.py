"""A door with a closer inside it: every feature of a table once, clean under both type checkers.

It runs as well: `python correct.py` walks the door through one push.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

import attrs
from attrs import frozen

from statecraft import (
    Answer,
    Evidence,
    Ignored,
    Level,
    Reading,
    Refused,
    Rows,
    Step,
    Table,
    Unhandled,
    guard,
    ignore,
    inner,
    keep,
    ordered,
    reaches,
    refuse,
    seen,
)


class Spring(Enum):
    SLACK = auto()
    TENSE = auto()
    WORN = auto()


class Door(Enum):
    OPEN = auto()
    SHUT = auto()
    LOCKED = auto()
    GONE = auto()


class Oil(Enum):
    DROP = "drops"


class Wear(Enum):
    TURN = "turns"


@frozen
class Push:
    force: int


@frozen
class Turn:
    key: str


@frozen
class Wind:
    speed: float


@frozen
class Knock:
    """An event that the door does not know."""


@frozen
class Ring:
    times: int


@frozen
class Squeak:
    pass


@frozen
class Shout:
    """A command that the door does not know."""


Event = Push | Turn | Wind
Command = Ring | Squeak


@frozen
class Closer:
    at: Spring
    turns: Mapping[Wear, int | None]


@frozen
class Hall:
    at: Door
    needed: int
    key: str
    pushes: int
    oil: Mapping[Oil, int | None]
    closer: Closer


# The closer: the machine inside.


def wind_up(run: Closer, event: Push) -> tuple[Closer, tuple[Squeak, ...]]:
    return run, (Squeak(),) if event.force > 9 else ()


def closer_at(run: Closer) -> Spring:
    return run.at


def closer_move(run: Closer, at: Spring) -> Closer:
    return attrs.evolve(run, at=at)


def closer_purse(run: Closer) -> Mapping[Wear, int | None]:
    return run.turns


def closer_pay(run: Closer, left: Mapping[Wear, int | None]) -> Closer:
    return attrs.evolve(run, turns=left)


spring = Rows[Closer, Spring, Command]()

CLOSER: Table[Closer, Spring, Push, Command] = Table(
    "closer",
    [
        spring(Spring.SLACK, Push, Spring.TENSE, wind_up, asks=[Squeak], spends=Wear.TURN),
        spring(Spring.SLACK, Push, Spring.WORN, keep),
        spring(Spring.TENSE, Push, Spring.SLACK, keep),
    ],
    events=[Push],
    initial=Spring.SLACK,
    final=[Spring.WORN],
    at=closer_at,
    move=closer_move,
    budgets={Wear.TURN: 3},
    purse=closer_purse,
    pay=closer_pay,
)


# The door.


@guard
def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.force >= run.needed, force=event.force, needed=run.needed)


@guard
def gentle(run: Hall, event: Push | Wind) -> Evidence:
    return seen("gentle", run.needed < 10, needed=run.needed)


def fits(run: Hall, event: Turn) -> Evidence:
    return seen("fits", event.key == run.key, key=event.key)


def well_worn(run: Hall, event: object) -> Evidence:
    return seen("well_worn", run.closer.at is Spring.WORN, closer=run.closer.at.name)


def tired(run: Hall, event: Wind) -> Reading:
    return Reading("tired", now=run.pushes, nudge=3, stop=5, most=7, seen={"speed": event.speed})


def swing(run: Hall, event: Push | Wind) -> tuple[Hall, tuple[Ring, ...]]:
    return attrs.evolve(run, pushes=run.pushes + 1), (Ring(1),)


def creak(run: Hall, event: object) -> tuple[Hall, list[Command]]:
    return run, [Ring(2), Squeak()]


def the_closer(run: Hall, event: Push) -> Closer | None:
    return run.closer


def with_closer(run: Hall, event: Push, closer: Closer) -> Hall:
    return attrs.evolve(run, closer=closer)


def fresh_closer(run: Hall) -> Closer:
    return Closer(Spring.SLACK, {Wear.TURN: 3})


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, at: Door) -> Hall:
    return attrs.evolve(run, at=at)


def purse(run: Hall) -> Mapping[Oil, int | None]:
    return run.oil


def pay(run: Hall, left: Mapping[Oil, int | None]) -> Hall:
    return attrs.evolve(run, oil=left)


def drops(run: Hall) -> int | None:
    return 40


row = Rows[Hall, Door, Command]()
INSIDE = inner(CLOSER, during=[Door.OPEN, Door.SHUT], get=the_closer, put=with_closer, fresh=fresh_closer)

HALL: Table[Hall, Door, Event, Command] = Table(
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, swing, strong & gentle, asks=[Ring], spends=Oil.DROP),
        row(Door.SHUT, Push, Door.SHUT, creak, ~strong | gentle, asks=[Ring, Squeak]),
        row(Door.SHUT, Push, Door.GONE, keep, guard(well_worn)),
        row([Door.SHUT, Door.LOCKED], Turn, Door.LOCKED, keep, fits),
        row({Door.OPEN}, Push, Door.SHUT, keep, spends=INSIDE, refills=[Oil.DROP]),
        row(Door.OPEN, Push, Door.GONE, keep),
        row(Door.OPEN, Wind, Door.GONE, swing, reaches(tired, Level.STOP), asks=[Ring]),
        [row(Door.OPEN, Wind, Door.SHUT, swing, reaches(tired, level), asks=[Ring]) for level in (Level.NUDGE,)],
        row(Door.OPEN, Wind, Door.OPEN, keep, ~reaches(tired, Level.NUDGE) & gentle),
        ordered([Door.SHUT], [Push], "a strong push opens before anything else is looked at"),
        ignore([Door.SHUT, Door.LOCKED], [Wind], "a shut door does not feel the wind"),
        refuse([Door.LOCKED], [Push], "it is locked"),
        refuse([Door.OPEN], [Turn], "an open door cannot be locked"),
    ],
    events=[Push, Turn, Wind],
    initial=Door.SHUT,
    final=[Door.GONE],
    at=at,
    move=move,
    budgets={Oil.DROP: drops},
    purse=purse,
    pay=pay,
    inners=[INSIDE],
)


def say(answer: Answer[Hall, Command]) -> str:
    match answer:
        case Step(run=run, commands=commands):
            return f"{run.at.name}, asks for {', '.join(type(command).__name__ for command in commands)}"
        case Refused(why=why) | Ignored(why=why):
            return why
        case Unhandled(event=name):
            return name


def start() -> Hall:
    return Hall(Door.SHUT, 2, "brass", 0, {Oil.DROP: 40}, Closer(Spring.SLACK, {Wear.TURN: 3}))


if __name__ == "__main__":
    print(say(HALL.step(start(), Push(3))))
