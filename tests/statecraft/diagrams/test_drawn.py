"""What a run took: counted from answers, and from row numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from statecraft import Table
from statecraft.diagrams import Taken, dot, mermaid, taken

AnyTable = Table[Any, Any, Any, Any]


def test_answers_are_counted_by_source_and_row(hall_answers: list[Any]) -> None:
    run = taken(hall_answers)
    assert (run.machine, run.ended) == ("hall", "OPEN")
    assert run.times == {("SHUT", 0): 2, ("SHUT", 1): 1, ("OPEN", 2): 1}
    assert run.rows == {0: 2, 1: 1, 2: 1}


def test_inner_machines_are_counted_with_the_steps_that_went_through_the_outer_one(lift_answers: list[Any]) -> None:
    inside = taken(lift_answers).inside
    assert inside["motor"] == Taken("motor", {("FAST", 1): 1, ("SLOW", 0): 1}, "HOT", {})
    assert inside["lamp"] == Taken("lamp", {("DARK", 0): 2, ("LIT", 1): 1}, "LIT", {})


def test_an_answer_that_took_no_row_counts_nothing_but_says_where_the_run_stands(hall_answers: list[Any]) -> None:
    assert taken([hall_answers[3]]) == Taken("hall", {}, "SHUT", {})


def test_a_run_of_nothing_is_nowhere() -> None:
    assert taken([]) == Taken("", {}, "", {})


def test_pairs_with_the_table_are_followed_from_the_initial_state(lift: AnyTable, lift_answers: list[Any]) -> None:
    told = taken([(answer.row, {}) for answer in lift_answers], lift)
    assert (told.machine, told.times, told.ended) == (
        "lift",
        taken(lift_answers).times,
        "OUT",
    )


def test_pairs_of_inner_machines_are_counted_by_name(lift: AnyTable) -> None:
    run = taken([(0, {}), (2, {"motor": (0, {}), "lamp": (0, {})}), (3, {"motor": (1, {}), "lamp": (None, {})})], lift)
    assert run.inside["motor"] == Taken("motor", {("", 0): 1, ("", 1): 1}, "HOT", {})
    assert run.inside["lamp"] == Taken("lamp", {("", 0): 1}, "LIT", {})


def test_a_pair_without_a_row_counts_nothing(hall: AnyTable) -> None:
    assert taken([(1, {}), (None, {"x": (0, {})})], hall) == Taken("hall", {("SHUT", 1): 1}, "SHUT", {})


def test_pairs_without_the_table_say_neither_source_nor_end() -> None:
    assert taken([(5, {}), (5, {})]) == Taken("", {("", 5): 2}, "", {})


def test_an_unknown_source_shows_as_an_upper_limit_on_each_arrow_of_the_row(lift: AnyTable) -> None:
    text = mermaid(lift, taken([(4, {}), (5, {})]))
    assert "IDLE --> OUT : 5 Halt ≤×1" in text
    assert "MOVING --> OUT : 5 Halt ≤×1" in text
    assert "IDLE --> IDLE : 4 Tick ×1<br/>never 1" in text
    assert 'title: "lift: 2 rows taken"' in text


def test_one_row_is_one_row(hall: AnyTable) -> None:
    assert 'title: "hall: 1 row taken, stands in SHUT"' in mermaid(hall, taken([(1, {})], hall))


def test_a_run_that_came_to_a_final_state_has_ended(lift: AnyTable) -> None:
    assert 'title: "lift: 1 row taken, ended in OUT"' in mermaid(lift, taken([(5, {})], lift))


@pytest.mark.parametrize("draw", [mermaid, dot])
@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (Taken("attic", {}, "", {}), "the run is one of machine attic, expected hall"),
        (Taken("", {("", 3): 1}, "", {}), "machine hall: the run took row 3, expected a row from 0 to 2"),
        (Taken("", {("", -1): 1}, "", {}), "machine hall: the run took row -1, expected a row from 0 to 2"),
        (Taken("", {("OPEN", 0): 1}, "", {}), "machine hall: the run took row 0 from OPEN, expected SHUT"),
        (
            Taken("", {}, "", {"bell": Taken("bell", {}, "", {})}),
            "machine hall: the run stepped inner machine bell, which it does not have",
        ),
    ],
)
def test_a_run_of_another_machine_is_refused(
    hall: AnyTable, draw: Callable[[AnyTable, Taken], str], run: Taken, problem: str
) -> None:
    with pytest.raises(ValueError, match=f"^{problem}$"):
        draw(hall, run)


def test_a_run_that_fits_is_not(hall: AnyTable) -> None:
    assert "2 Push ×9" in mermaid(hall, Taken("hall", {("OPEN", 2): 9}, "", {}))


def test_steps_of_two_machines_are_no_run(hall_answers: list[Any], lift_answers: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"^a step of machine lift among those of hall$"):
        taken([*hall_answers, *lift_answers])


def test_a_row_that_the_table_does_not_have_is_refused_while_counting(hall: AnyTable) -> None:
    with pytest.raises(ValueError, match=r"^machine hall: the run took row 3, expected a row from 0 to 2$"):
        taken([(3, {})], hall)
