"""The mutants of a table: which there are, which are left out since they cannot differ, how a table becomes one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import attrs
import pytest

from statecraft import (
    Answer,
    Evidence,
    Inner,
    Level,
    Reading,
    Refused,
    Row,
    Rows,
    Step,
    Table,
    guard,
    inner,
    keep,
    ordered,
    reaches,
    seen,
    value_is,
)
from statecraft.guards import UNLIMITED, Question
from statecraft.proofs.altered import altered
from statecraft.proofs.mutants import Mutant, mutants
from statecraft.table import with_inner


class Lamp(Enum):
    OFF = "off"
    ON = "on"


class Oil(Enum):
    DROP = "drops"


@attrs.frozen
class Turn:
    value: int = 0


@attrs.frozen
class Room:
    at: Lamp = Lamp.OFF
    left: Mapping[Oil, int | None] = attrs.field(factory=lambda: {Oil.DROP: 2})


@guard
def odd(run: Room, event: Turn) -> Evidence:
    return seen("odd", event.value % 2 == 1)


@guard
def big(run: Room, event: Turn) -> Evidence:
    return seen("big", event.value > 9)


def often(run: Room, event: Turn) -> Reading:
    return Reading("often", event.value, 3, 5, 9)


def endless(run: Room, event: Turn) -> Reading:
    return Reading("endless", event.value, 3, UNLIMITED, 9)


def lit(run: Room, event: Turn) -> Lamp:
    return run.at


IS_ON, IS_OFF = value_is("is_on", "lamp", lit, Lamp.ON), value_is("is_off", "lamp", lit, Lamp.OFF)
row = Rows[Room, Lamp, None]()
NUDGED, STOPPED, OVER = (
    reaches(often, Level.NUDGE),
    reaches(often, Level.STOP),
    reaches(endless, Level.STOP),
)
AnyLamp = Table[Room, Lamp, Turn, None]


def lamp(*rows: Row[Room, Lamp, None], size: Any = 2, inners: Iterable[Inner[Room, Lamp, None]] = ()) -> AnyLamp:
    def built(*marks: Any) -> AnyLamp:
        return Table[Room, Lamp, Turn, None](
            "lamp",
            [*rows, row(Lamp.OFF, Turn, Lamp.OFF, keep), *marks],
            events=[Turn],
            initial=Lamp.OFF,
            final=[Lamp.ON],
            at=lambda run: run.at,
            move=lambda run, state: attrs.evolve(run, at=state),
            budgets={Oil.DROP: size},
            purse=lambda run: run.left,
            pay=lambda run, left: attrs.evolve(run, left=left),
            inners=inners,
        )

    try:
        return built()
    except TypeError:
        return built(ordered([Lamp.OFF], [Turn], "the first one wins"))


def on(*guards: Question[Room, Turn], **more: Any) -> Row[Room, Lamp, None]:
    return row(Lamp.OFF, Turn, Lamp.ON, keep, *guards, **more)


def named(table: AnyLamp, *kinds: str) -> list[str]:
    return [f"{one.rows[0]} {one.what}" for one in mutants(table) if one.kind in kinds]


def the(table: AnyLamp, what: str) -> Mutant:
    (found,) = [one for one in mutants(table) if f"{one.rows[0]} {one.what}" == what]
    return found


def taken(table: AnyLamp, value: int) -> int | None:
    return table.step(Room(), Turn(value)).row


def under(table: AnyLamp, what: str, *values: int) -> list[int | None]:
    """The rows taken by the mutant for these values."""
    with altered(the(table, what)):
        return [taken(table, value) for value in values]


# What there is


def test_each_row_is_removed() -> None:
    table = lamp(on(odd))
    assert named(table, "removed") == ["0 the row removed", "1 the row removed"]
    assert under(table, "0 the row removed", 1, 2) == [1, 1]


def test_a_cell_without_its_only_row_refuses() -> None:
    table = lamp()
    with altered(the(table, "0 the row removed")):
        answer = table.step(Room(), Turn())
    assert isinstance(answer, Refused)
    assert answer.why == "its only row is removed"


def test_each_pair_of_neighbours_is_swapped() -> None:
    table = lamp(on(odd), on(big))
    assert named(table, "swapped") == ["0 tried after row 1", "1 tried after row 2"]
    assert [taken(table, value) for value in (11, 10, 2)] == [0, 1, 2]
    assert under(table, "0 tried after row 1", 11, 10, 2) == [1, 1, 2]
    assert under(table, "1 tried after row 2", 11, 10, 2) == [0, 2, 2]


def test_each_guard_is_negated_and_dropped() -> None:
    table = lamp(on(odd, ~big))
    assert named(table, "negated", "dropped") == ["0 odd negated", "0 odd dropped", "0 ~big negated", "0 ~big dropped"]
    values = (1, 2, 11, 12)
    assert [taken(table, value) for value in values] == [0, 1, 1, 1]
    assert under(table, "0 odd negated", *values) == [1, 0, 1, 1]
    assert under(table, "0 odd dropped", *values) == [0, 0, 1, 1]
    assert under(table, "0 ~big negated", *values) == [1, 1, 0, 1]
    assert under(table, "0 ~big dropped", *values) == [0, 1, 0, 1]


def test_so_is_each_part_of_a_combined_guard() -> None:
    table = lamp(on(~(odd | big)))
    assert named(table, "negated", "dropped") == [
        "0 ~(odd | big) negated",
        "0 ~(odd | big) dropped",
        "0 ~(odd | big): odd negated",
        "0 ~(odd | big): odd dropped",
        "0 ~(odd | big): big negated",
        "0 ~(odd | big): big dropped",
    ]
    assert under(table, "0 ~(odd | big): odd dropped", 1, 2, 12) == [0, 0, 1]
    assert under(table, "0 ~(odd | big): odd negated", 1, 2, 11) == [0, 1, 1]


def test_a_limit_is_moved_in_all_rows_that_ask_the_reading() -> None:
    table = lamp(on(odd, STOPPED), on(big, STOPPED), on(NUDGED))
    moved = [f"0 often: its stop limit one {way}" for way in ("higher", "lower")]
    assert named(table, "limit") == [*moved, *(one.replace("0", "2").replace("stop", "nudge") for one in moved)]
    assert the(table, moved[0]).rows == (0, 1)
    assert [taken(table, value) for value in (5, 3, 2)] == [0, 2, 3]
    assert under(table, moved[0], 7, 5, 3, 2) == [0, 2, 2, 3]
    assert under(table, moved[1], 7, 5, 3, 2) == [0, 0, 2, 3]
    assert under(table, "2 often: its nudge limit one higher", 3, 4) == [3, 2]
    assert under(table, "2 often: its nudge limit one lower", 2, 1) == [2, 3]


def test_a_limit_that_is_off_stays_off() -> None:
    table = lamp(on(OVER))
    assert under(table, "0 endless: its stop limit one lower", UNLIMITED - 1) == [1]


def two(run: Room) -> int:
    return 2


def unlimited(run: Room) -> None:
    return None


@pytest.mark.parametrize(("size", "larger", "smaller"), [(2, 3, 1), (two, 3, 1), (unlimited, None, None)])
def test_the_size_of_a_budget_is_changed_where_a_row_refills_it(
    size: Any, larger: int | None, smaller: int | None
) -> None:
    table = lamp(on(odd, refills=[Oil.DROP]), size=size)
    found: dict[str, int | None] = {}
    for way in ("larger", "smaller"):
        with altered(the(table, f"0 budget drops: one unit {way} when it is full")):
            found[way] = step(table, 1).run.left[Oil.DROP]
    assert found == {"larger": larger, "smaller": smaller}


def step(table: AnyLamp, value: int) -> Step[Room, None]:
    answer: Answer[Room, None] = table.step(Room(), Turn(value))
    assert isinstance(answer, Step)
    return answer


# What cannot differ


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param((on(odd, big), on(~odd, STOPPED)), id="one asks the contrary of the other"),
        pytest.param((on(IS_ON, odd), on(IS_OFF, big)), id="one value is asked for two things"),
        pytest.param((on(STOPPED, odd), on(~NUDGED, big)), id="a stop is no rest"),
        pytest.param((on(odd, big), on(odd, STOPPED), on(big, NUDGED)), id="both hold where an earlier row holds"),
    ],
)
def test_rows_that_never_both_hold_are_not_swapped(rows: tuple[Row[Room, Lamp, None], ...]) -> None:
    last = len(rows) - 2
    assert f"{last} tried after row {last + 1}" not in named(lamp(*rows), "swapped")


def test_a_guard_that_the_rest_of_its_row_implies_is_not_dropped() -> None:
    assert named(lamp(on(odd, odd)), "dropped") == []
    assert named(lamp(on(NUDGED, STOPPED)), "dropped") == ["0 often at stop dropped"]


def test_a_guard_that_must_hold_where_its_row_is_reached_is_not_dropped() -> None:
    table = lamp(on(odd, big), on(odd, ~big), on(~odd, big))
    assert named(table, "dropped") == [
        "0 odd dropped",
        "0 big dropped",
        "1 odd dropped",
        "2 big dropped",
    ]


def test_a_size_is_not_changed_where_no_row_refills_it_nor_below_zero() -> None:
    assert named(lamp(on(odd, spends=Oil.DROP)), "size") == []
    assert named(lamp(on(odd, refills=[Oil.DROP]), size=None), "size") == []
    none = lamp(on(odd, refills=[Oil.DROP]), size=0)
    assert named(none, "size") == ["0 budget drops: one unit larger when it is full"]


# How a table becomes one


def test_a_table_is_itself_again_however_the_block_ends() -> None:
    table = lamp(on(odd, refills=[Oil.DROP]), on(NUDGED))
    before, text = dict(vars(table)), table.listing
    for mutant in mutants(table):
        with pytest.raises(KeyboardInterrupt), altered(mutant):  # noqa: PT012  # any line of it may be interrupted
            assert any(vars(table)[name] is not held for name, held in before.items())
            assert table.listing == text
            raise KeyboardInterrupt
        assert {name: vars(table)[name] for name in before} == before
        assert [taken(table, value) for value in (1, 4, 2)] == [0, 1, 2]


def test_a_machine_that_holds_the_table_steps_the_mutant() -> None:
    inside = lamp(on(odd))
    held: Inner[Room, Lamp, None] = inner(
        inside, during=[Lamp.OFF], get=lambda run, event: Room(), put=lambda run, event, kid: run
    )
    outer = lamp(on(odd, spends=held), inners=[held])
    assert taken(outer, 1) == 1  # the inner one has ended
    with altered(the(inside, "0 the row removed")):
        assert taken(outer, 1) == 0


def test_a_table_that_others_hold_is_mutated_once() -> None:
    inside = lamp(on(odd))
    held: list[Inner[Room, Lamp, None]] = [
        inner(inside, during=[Lamp.OFF], get=lambda run, event: Room(), put=lambda run, event, kid: run)
        for _ in range(2)
    ]
    outer = lamp(on(odd), inners=held)
    assert with_inner((outer, inside)) == (outer, inside)
