"""Limits of readings and budgets that nothing can reach: at each side of the most that can come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import attrs
import pytest

from statecraft import Level, Reading, Rows, Table, World, guard, keep, ordered, reaches, seen
from statecraft.guards import UNLIMITED
from statecraft.proofs import bounds_of, limits, prove


class Kettle(Enum):
    WARM = "warm"
    OFF = "off"


@attrs.frozen
class Tick:
    pass


@attrs.frozen
class Other:
    pass


@attrs.frozen
class Pot:
    nudge: int = 3
    stop: int = 4
    most: int = 10
    burnt: bool = False


def boils(run: Pot, event: Tick) -> Reading:
    more = 5 if run.burnt else 0
    return Reading("boils", 0, run.nudge + more, run.stop + more, run.most)


def breaks(run: Pot, event: Tick) -> Reading:
    raise RuntimeError("no water")


def both(run: Pot) -> Iterator[Pot]:
    return iter((run, attrs.evolve(run, burnt=True)))


def nobody(run: Pot) -> tuple[Pot, ...]:
    return ()


def kettle(*reads: Callable[[Pot, Tick], Reading]) -> Table[Pot, Kettle, Tick | Other, object]:
    row = Rows[Pot, Kettle, object]()
    stops = [row(Kettle.WARM, Tick, Kettle.OFF, keep, reaches(read, Level.STOP)) for read in reads]
    nudges = [row(Kettle.WARM, Tick, Kettle.OFF, keep, ~reaches(read, Level.NUDGE) & calm) for read in reads]
    other = row(Kettle.WARM, Other, Kettle.OFF, keep)
    marks = [ordered([Kettle.WARM], [Tick], "a stop before a nudge")] if len(reads) > 1 else []
    return Table(
        "kettle",
        [*stops, *nudges, other, *marks],
        events=[Tick, Other],
        initial=Kettle.WARM,
        final=[Kettle.OFF],
        at=lambda run: Kettle.WARM,
        move=lambda run, state: run,
    )


@guard
def calm(run: Pot, event: Tick) -> Any:
    return seen("calm", True)


TICK = World({}, examples={Tick: Tick()})


def how(run: Pot | None, world: World | None = TICK) -> list[tuple[str, int | None, str]]:
    return [(one.level, one.at, one.how) for one in limits(kettle(boils), run, world)]


@pytest.mark.parametrize(("stop", "found"), [(10, "reached"), (11, "never"), (UNLIMITED - 1, "never")])
def test_a_limit_beyond_the_most_that_can_come_is_never_reached(stop: int, found: str) -> None:
    assert how(Pot(stop=stop)) == [("stop", stop, found), ("nudge", 3, "reached")]


def test_a_limit_without_end_is_off() -> None:
    assert how(Pot(nudge=UNLIMITED, stop=UNLIMITED)) == [("stop", UNLIMITED, "off"), ("nudge", UNLIMITED, "off")]
    assert how(Pot(most=0)) == [("stop", 4, "never"), ("nudge", 3, "never")]


def test_a_stop_below_its_nudge_is_a_nudge_too() -> None:
    assert how(Pot(nudge=20)) == [("stop", 4, "reached"), ("nudge", 4, "reached")]


def test_every_case_of_the_world_is_asked() -> None:
    cases = attrs.evolve(TICK, cases=both)
    found = [("stop", 4, "reached"), ("stop", 9, "never"), ("nudge", 3, "reached"), ("nudge", 8, "reached")]
    assert how(Pot(most=8), cases) == found


@pytest.mark.parametrize(
    ("run", "world", "why"),
    [
        (None, TICK, "there is no sample run to ask it of"),
        (Pot(), None, "there is no example of Tick to ask it with"),
        (Pot(), World({}, examples={Other: Other()}), "there is no example of Tick to ask it with"),
        (Pot(), attrs.evolve(TICK, cases=nobody), "the world makes no case to ask it of"),
    ],
)
def test_a_reading_that_cannot_be_asked_is_unknown(run: Pot | None, world: World | None, why: str) -> None:
    found = limits(kettle(boils), run, world)
    assert [(one.how, one.at, one.why) for one in found] == [("unknown", None, why)] * 2


def test_a_reading_that_raises_is_unknown_and_the_others_are_not() -> None:
    found = {(one.what, one.how, one.why) for one in limits(kettle(boils, breaks), Pot(), TICK)}
    assert found == {("boils", "reached", ""), ("breaks", "unknown", "raised RuntimeError: no water")}


def test_the_report_has_a_line_for_each_way_and_is_ok_unless_a_limit_can_never_be_reached() -> None:
    good = prove([kettle(boils)], {"kettle": Pot()}, worlds={"kettle": TICK})
    assert good.ok
    assert "  readings: 1 stop and 1 nudge can be reached" in good.lines
    bad = prove([kettle(boils)], {"kettle": Pot(stop=11)}, worlds={"kettle": TICK})
    assert not bad.ok
    assert "  can never be reached: boils stop 11: at most 10 can come (row 0)" in bad.lines
    assert not bounds_of(bad).ok
    none = prove([kettle(boils)])
    assert none.ok
    assert [line for line in none.lines if "unknown" in line]


@pytest.mark.parametrize(
    ("size", "found"), [(0, [("turn", "spare"), ("tea", "off")]), (2, []), (3, [("tea", "spare")])]
)
def test_a_budget_of_nothing_is_off_and_one_that_is_never_used_up_is_spare(
    build: Any, size: int, found: list[tuple[str, str]]
) -> None:
    table = build(
        "A Go -> B; spends turn", "B Go -> A; spends tea", "A Tick -> Z", final="Z", budgets={"turn": 2, "tea": size}
    )
    assert [(one.what, one.how) for one in limits(table, None, None)] == found
    assert prove([table]).ok
