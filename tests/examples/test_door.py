"""The door: each transition alone, all of them together, what is proved of it, and its pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from statecraft import BadTable, Evidence, Refused, Row, Table
from statecraft.diagrams import dot, mermaid
from statecraft.proofs import Bound, FreeCycle, ends, prove
from statecraft.testing import covered, step_one

from .door import FULL, HALL, Door, Hall, Oil, Push, Ring, at, move, oil, pour

SHUT = Hall()
OPEN = move(SHUT, Door.OPEN)
DRY = pour(SHUT, {Oil.DROP: 0})


def hall_of(*rows: Row[Hall, Door, Ring]) -> Table[Hall, Door, Push, Ring]:
    """The same machine with other rows."""
    return Table(
        "hall", rows, events=[Push], initial=Door.SHUT, final=[], at=at, move=move, budgets=FULL, purse=oil, pay=pour
    )


def test_a_hard_push_opens_the_door_and_takes_a_drop_of_oil() -> None:
    step = step_one(HALL, SHUT, Push(20), row=0, target=Door.OPEN, commands=[Ring])
    assert step.run == Hall(Door.OPEN, 20, {Oil.DROP: 39})
    assert step.seen == (
        Evidence("drops_left", True, {"left": 40}),
        Evidence("strong", True, {"force": 20, "needed": 20}),
    )


def test_a_weak_push_makes_it_creak_and_takes_no_oil() -> None:
    step = step_one(HALL, SHUT, Push(19), row=1, target=Door.SHUT, commands=[])
    assert step.run == attrs.evolve(SHUT, creaks=1)
    assert step.seen[-1] == Evidence("strong", False, {"force": 19, "needed": 20})


def test_without_oil_the_hardest_push_makes_it_creak() -> None:
    step = step_one(HALL, DRY, Push(1000), row=1, target=Door.SHUT, commands=[])
    assert step.seen == (Evidence("drops_left", False, {"left": 0}),)


def test_any_push_shuts_an_open_door() -> None:
    assert step_one(HALL, OPEN, Push(0), row=2, target=Door.SHUT, commands=[]).run == SHUT


def test_a_test_that_expects_the_wrong_row_is_told_what_every_guard_saw() -> None:
    with pytest.raises(AssertionError, match="expected row 0, found row 1") as told:
        step_one(HALL, SHUT, Push(19), row=0)
    assert "no  strong: force=19, needed=20" in str(told.value)


def test_the_cases_take_every_row_and_hear_every_guard_both_ways() -> None:
    cases = [(SHUT, Push(20)), (SHUT, Push(19)), (DRY, Push(20)), (OPEN, Push(0))]
    coverage = covered(HALL, [(push, HALL.step(hall, push)) for hall, push in cases])
    assert coverage.rows == (3, 3)
    assert coverage.guards == (2, 2)
    assert coverage.whole


def test_its_coverage_is_not_whole_when_nobody_pushes_too_weakly() -> None:
    coverage = covered(HALL, [(Push(20), HALL.step(SHUT, Push(20)))])
    assert coverage.rows == (1, 3)
    assert not coverage.whole


def test_the_door_swings_as_often_as_there_are_drops() -> None:
    report = prove([HALL])
    assert report.ok
    (proved,) = report.tables
    assert isinstance(proved.steps, Bound)
    assert proved.steps.number == 80  # each drop opens it once, and once it is shut again
    assert [(one.asking, one.number) for one in proved.requests] == [("Ring", 40)]
    assert proved.quiet == (1,)  # a creak changes no state and asks for nothing


def test_the_bound_is_reached_by_the_machine_itself() -> None:
    hall, steps, rings = Hall(), 0, 0
    while (step := step_one(HALL, hall, Push(20))).row != 1:
        hall, steps, rings = step.run, steps + 1, rings + len(step.commands)
    assert (steps, rings) == (80, 40)


def test_a_door_that_swings_for_nothing_is_found_to_go_round_for_ever() -> None:
    free = hall_of(*(attrs.evolve(one, spends=None) for one in HALL.rows))
    found = ends(free)
    assert isinstance(found, FreeCycle)
    assert found.rows == (0, 2)
    assert found.lines == (
        "hall can go round for ever:",
        "  row 0: SHUT Push -> OPEN",
        "  row 2: OPEN Push -> SHUT",
    )
    assert not prove([free]).ok


def test_a_door_that_says_nothing_of_a_push_while_it_is_open_cannot_be_built() -> None:
    with pytest.raises(BadTable, match="cell OPEN on Push is blank"):
        hall_of(*HALL.rows[:2])


def test_a_door_without_the_creak_refuses_a_weak_push_with_its_evidence() -> None:
    answer = hall_of(HALL.rows[0], HALL.rows[2]).step(SHUT, Push(19))
    assert isinstance(answer, Refused)
    assert answer.run is SHUT
    assert answer.seen[-1] == Evidence("strong", False, {"force": 19, "needed": 20})


def test_its_pictures_are_made_of_the_same_rows_alike() -> None:
    again = hall_of(*HALL.rows)
    assert mermaid(again) == mermaid(HALL)
    assert dot(again) == dot(HALL)
    other = hall_of(*(attrs.evolve(one, spends=None) for one in HALL.rows))
    assert mermaid(other) != mermaid(HALL)
    assert dot(other) != dot(HALL)


@pytest.mark.parametrize("draw", [mermaid, dot])
def test_its_picture_shows_states_guard_command_and_budget(draw: Callable[[Table[Any, Any, Any, Any]], str]) -> None:
    arrow = next(line for line in draw(HALL).splitlines() if "SHUT -" in line and "> OPEN" in line)
    for words in ("Push [strong]", "Ring", "drops"):
        assert words in arrow
