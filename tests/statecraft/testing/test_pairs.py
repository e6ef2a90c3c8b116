"""Which rows hold at once: seen though the first of them is taken, through inner machines and purses too."""

from __future__ import annotations

from typing import Any

import pytest

from statecraft import Evidence, Level, Reading, Table, guard, keep, ordered, reaches, seen
from statecraft.testing import PairTally, pair_report

from .halls import (
    IN_ORDER,
    REST,
    Closer,
    Door,
    Hall,
    Push,
    Spring,
    Stock,
    Wind,
    closer,
    count,
    door,
    inside,
    push,
    spring,
    strong,
)


def heavy(run: object, event: Push) -> Evidence:
    return seen("heavy", event.force >= 9)


def brittle(run: object, event: Push) -> Evidence:
    return seen("brittle", 1 // (9 - event.force) < 2)


def tired(run: Hall, event: Push) -> Reading:
    return Reading("tired", event.force, nudge=3, stop=5, most=99)


def pushed(run: Hall, event: Push) -> Evidence:
    return seen("pushed", run.closer.pushes > 0)


def never(table: Table[Hall, Door, Push | Wind, Any], *forces: int, run: Hall | None = None) -> list[tuple[int, int]]:
    """The pairs of the table, and of what it holds, that pushes in one run do not show to hold at once."""
    tally = PairTally()
    for force in forces:
        tally.hear(table, run or Hall(), Push(force))
    return [pair for cell in tally.coverage([table]).cells for pair in cell.never]


def test_two_rows_are_seen_though_the_first_is_taken() -> None:
    table = door(push(strong), push(heavy), REST, IN_ORDER)
    assert never(table) == [(0, 1)]
    assert never(table, 8) == [(0, 1)]
    assert never(table, 9) == []


def test_one_that_holds_alone_is_no_pair() -> None:
    table = door(push(heavy), push(strong), REST, IN_ORDER)
    assert never(table, 5, 8, 4) == [(0, 1)]


def test_the_plain_rest_of_a_row_is_in_a_pair_and_a_row_without_guards_in_none() -> None:
    table = door(push(strong, heavy), push(strong), REST)
    assert never(table, 8) == [(0, 1)]
    assert never(table, 9) == []
    assert never(door(push(strong), REST)) == []


def test_rows_that_part_themselves_by_a_negation_are_in_no_pair() -> None:
    assert never(door(push(strong), push(~guard(strong)))) == []


def test_combinations_are_asked_in_full() -> None:
    both, either = guard(strong) & heavy, guard(heavy) | strong
    table = door(push(both), push(either), REST, IN_ORDER)
    assert never(table, 8) == [(0, 1)]
    assert never(table, 9) == []


def test_a_reading_has_to_reach_its_level() -> None:
    table = door(push(heavy), push(reaches(tired, Level.STOP)), push(reaches(tired, Level.NUDGE)), REST, IN_ORDER)
    assert never(table, 4) == [(0, 1), (0, 2), (1, 2)]
    assert never(table, 5) == [(0, 1), (0, 2)]
    assert never(table, 9) == []


def test_what_a_row_spends_is_a_guard_of_it() -> None:
    table = door(push(strong), push(spends=Stock.OIL), REST, IN_ORDER)
    assert never(table, 5, run=Hall(left={Stock.OIL: 0})) == [(0, 1)]
    assert never(table, 5, run=Hall(left={Stock.OIL: 1})) == []
    assert never(table, 5, run=Hall(left={Stock.OIL: None})) == []


def test_a_guard_that_raises_where_the_table_would_not_have_asked_it_says_nothing() -> None:
    table = door(push(strong), push(brittle), REST, IN_ORDER)
    assert never(table, 9) == [(0, 1)]
    assert never(table, 8) == []


def test_outer_guards_see_the_inner_machine_after_its_step() -> None:
    held = inside(closer(spring(Spring.SLACK, Push, Spring.SLACK, count)))
    table = door(push(strong), push(pushed), REST, IN_ORDER, inners=[held])
    assert never(table, 5) == []
    assert never(door(push(strong), push(pushed), REST, IN_ORDER), 5) == [(0, 1)]


@pytest.mark.parametrize(("target", "left"), [(Spring.SLACK, []), (Spring.WORN, [(0, 1)])])
def test_a_row_that_spends_an_inner_machine_holds_while_that_goes_on(target: Spring, left: list[Any]) -> None:
    held = inside(closer(spring(Spring.SLACK, Push, target, count)))
    table = door(push(strong), push(spends=held), REST, IN_ORDER, inners=[held])
    assert never(table, 5) == left


def test_the_rows_of_an_inner_machine_count_through_the_outer_one() -> None:
    rows = (spring(Spring.SLACK, Push, Spring.WORN, keep, one) for one in (strong, heavy))
    table = closer(*rows, ordered([Spring.SLACK], [Push], "as they are tried"))
    outer = door(REST, inners=[inside(table)])
    assert never(outer, 8) == [(0, 1)]
    assert never(outer, 9) == []
    tally = PairTally()
    tally.hear(table, Closer(), Push(9))
    assert tally.coverage([outer]).count == (0, 1)
    assert tally.coverage([table]).count == (1, 1)


def test_the_report_is_by_cell_and_joins_what_one_row_was_not_seen_with() -> None:
    table = door(push(brittle), push(strong), push(heavy), push(pushed), REST, IN_ORDER)
    tally = PairTally()
    tally.hear(table, Hall(), Push(5))
    assert pair_report(tally.coverage([table])) == (
        "hall: 1 of 6 pairs of rows seen to hold at once (16.6 %)",
        "  SHUT on Push: 1 of 6",
        "    rows 0 and 2, 3 hold at once: never seen",
        "    rows 1 and 2, 3 hold at once: never seen",
        "    rows 2 and 3 hold at once: never seen",
        "a row without guards holds always, and is in no pair",
    )
    assert pair_report(tally.coverage([door(REST)])) == ("no two rows with guards can hold at once",)
