"""Flaws in a table's shape, each beside the table that is just right."""

from __future__ import annotations

from typing import Any

from statecraft.proofs import flaws


def found(table: Any) -> list[tuple[str, str | None, int | None]]:
    return [(flaw.what, flaw.state, flaw.row) for flaw in flaws(table)]


def test_a_table_with_a_way_to_everything_and_an_ending_has_no_flaw(build: Any) -> None:
    assert found(build("A Go -> B", "B Go -> Z", final="Z")) == []


def test_a_state_that_no_way_from_the_initial_one_reaches_is_found_with_its_rows(build: Any) -> None:
    table = build("A Go -> Z", "B Go -> C", "C Go -> B", "C Tick -> Z", final="Z")
    assert found(table) == [
        ("unreachable row", None, 1),
        ("unreachable row", None, 2),
        ("unreachable row", None, 3),
        ("unreachable state", "B", None),
        ("unreachable state", "C", None),
    ]
    assert str(flaws(table)[0]) == "row 1: unreachable row: B Go -> C starts only where no way from A leads"


def test_a_row_with_one_reachable_source_is_reachable(build: Any) -> None:
    assert ("unreachable row", None, 0) not in found(build("A|B Go -> Z", final="Z"))


def test_a_final_state_that_is_never_reached_is_found(build: Any) -> None:
    assert found(build("A Go -> Y", final="Y Z")) == [("unreachable state", "Z", None)]


def test_a_state_from_which_no_ending_can_be_reached_is_found(build: Any) -> None:
    table = build("A Go -> B", "A Tick -> Z", "B Go -> C", "C Go -> B", final="Z")
    assert found(table) == [("no way to an ending", "B", None), ("no way to an ending", "C", None)]


def test_a_machine_without_final_states_needs_no_way_to_one(build: Any) -> None:
    assert found(build("A Go -> B", "B Go -> A")) == []


def test_a_budget_of_size_zero_is_a_switch_and_no_flaw(build: Any) -> None:
    assert found(build("A Go -> B; spends oil", "A Tick -> Z", "B Go -> Z", final="Z", budgets={"oil": 0})) == []


def test_a_row_that_spends_an_inner_machine_where_it_does_not_step_can_never_be_taken(build: Any, hold: Any) -> None:
    kid = build("W Go -> W; spends poll", "W Tick -> Y", name="wait", final="Y", depth=1, budgets={"poll": 1})
    rows = ("A|B Go -> B; spends wait", "A Go -> B", "B Tick -> Z", "A Tick -> B")
    assert found(build(*rows, final="Z", inners={"wait": hold(kid, "A B")})) == []
    assert found(build(*rows, final="Z", inners={"wait": hold(kid, "B")})) == [("can never be taken", "A", 0)]


def test_a_row_that_spends_an_inner_machine_on_an_event_that_always_ends_it_can_never_be_taken(
    build: Any, hold: Any
) -> None:
    kid = build("W Go -> W; spends poll", "W Tick -> Y", name="wait", final="Y", depth=1, budgets={"poll": 1})
    table = build("A Tick -> B; spends wait", "A Go -> B", "B Go -> Z", final="Z", inners={"wait": hold(kid, "A")})
    assert found(table) == [("can never be taken", "A", 0)]


def test_what_can_never_be_taken_leads_nowhere(build: Any, hold: Any) -> None:
    kid = build("W Go -> W; spends poll", name="wait", depth=1, budgets={"poll": 1})
    table = build("A Go -> B; spends wait", "A Go -> Z", "B Go -> Z", final="Z", inners={"wait": hold(kid, "B")})
    assert found(table) == [
        ("can never be taken", "A", 0),
        ("unreachable row", None, 2),
        ("unreachable state", "B", None),
    ]
