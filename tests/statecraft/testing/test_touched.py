"""What steps touch: the rows they take, the guard at which rows end, the limits that are close."""

from __future__ import annotations

from enum import Enum

import attrs
import pytest

from statecraft import Evidence, Inner, Level, Reading, Rows, Table, guard, inner, keep, reaches, seen
from statecraft.proofs.mutants import Touch
from statecraft.testing import recording
from statecraft.testing.recorder import unheard
from statecraft.testing.touched import Touched


class Lamp(Enum):
    OFF = "off"
    ON = "on"


@attrs.frozen
class Turn:
    value: int


@attrs.frozen
class Room:
    at: Lamp = Lamp.OFF


@guard
def odd(run: Room, event: Turn) -> Evidence:
    return seen("odd", event.value % 2 == 1)


def often(run: Room, event: Turn) -> Reading:
    return Reading("often", event.value, 20, 30, 40)


def at(run: Room) -> Lamp:
    return run.at


def move(run: Room, state: Lamp) -> Room:
    return attrs.evolve(run, at=state)


row = Rows[Room, Lamp, None]()
KID = Table[Room, Lamp, Turn, None](
    "kid",
    [row(Lamp.OFF, Turn, Lamp.OFF, keep, odd), row(Lamp.OFF, Turn, Lamp.ON, keep)],
    events=[Turn],
    initial=Lamp.OFF,
    final=[Lamp.ON],
    at=at,
    move=move,
)
HELD: Inner[Room, Lamp, None] = inner(
    KID, during=[Lamp.OFF], get=lambda run, event: Room(), put=lambda run, event, kid: run
)
LAMP = Table[Room, Lamp, Turn, None](
    "lamp",
    [
        row(Lamp.OFF, Turn, Lamp.ON, keep, odd, reaches(often, Level.NUDGE), spends=HELD),
        row(Lamp.OFF, Turn, Lamp.OFF, keep),
    ],
    events=[Turn],
    initial=Lamp.OFF,
    final=[Lamp.ON],
    at=at,
    move=move,
    inners=[HELD],
)
NUDGE, STOP = ("edge", LAMP, often, Level.NUDGE), ("edge", LAMP, often, Level.STOP)


@pytest.mark.parametrize(
    ("value", "touches"),
    [
        (2, {("taken", LAMP, 1), ("denied", LAMP, 0, -1), ("taken", KID, 1), ("denied", KID, 0, 0)}),
        (3, {("taken", LAMP, 1), ("denied", LAMP, 0, 1), ("taken", KID, 0)}),
        (19, {("taken", LAMP, 1), ("denied", LAMP, 0, 1), ("taken", KID, 0), (*NUDGE, -1)}),
        (21, {("taken", LAMP, 0), ("taken", KID, 0)}),
        (29, {("taken", LAMP, 0), ("taken", KID, 0), (*STOP, -1)}),
        (31, {("taken", LAMP, 0), ("taken", KID, 0)}),
    ],
)
def test_a_step_touches_what_it_takes_where_rows_end_and_what_is_close(value: int, touches: set[Touch]) -> None:
    touched = Touched()
    for _ in range(2):  # the second time from what is known
        touched.found = set()
        with recording(touched.hear):
            LAMP.step(Room(), Turn(value))
        assert touched.found == touches
    assert list(touched.tables) == [LAMP]


def test_what_is_unheard_touches_nothing() -> None:
    touched = Touched()
    with recording(touched.hear):
        with unheard():
            LAMP.step(Room(), Turn(2))
        assert touched.found == set()
        LAMP.step(Room(), Turn(2))
    assert touched.found != set()
