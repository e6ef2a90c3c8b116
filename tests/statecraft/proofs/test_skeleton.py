"""The skeleton can do all that the machine can, whatever its guards say; so what holds of it holds of the machine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecraft.proofs import Crossing, Law, TooLarge, skeleton


def reached_states(table: Any, start: Any) -> set[str]:
    """By real steps, whichever row of a cell is picked."""
    runs, todo = {start}, [start]
    while todo:
        run = todo.pop()
        for number, row in enumerate(table.rows):
            answer = table.step(run, row.event((number,)))
            if answer.run not in runs:
                runs.add(answer.run)
                todo.append(answer.run)
    return {run.at.name for run in runs}


def never_at(name: str) -> Law[Crossing]:
    def broken(row: Crossing, _: object) -> str:
        return f"{name} is reached" if row.target.name == name else ""

    return Law(f"never {name}", "for this test", broken)


def test_every_row_of_a_cell_is_free_to_fire(build: Any) -> None:
    table = build("A Go -> B; always", "B Go -> C", "B Go -> D", final="C D")
    found = skeleton(table, [never_at("C"), never_at("D")])
    assert {broken.law.name for broken in found.broken} == {"never C", "never D"}
    assert found.places == 4
    assert found.crossings == 3


def test_the_way_to_what_breaks_a_law_is_told_row_by_row(build: Any) -> None:
    table = build("A Go -> A", "A Go -> B", "B Go -> C", final="C")
    (broken,) = skeleton(table, [never_at("C")]).broken
    assert broken.lines == ("row 1: A Go -> B", "row 2: B Go -> C")


def test_what_is_spent_is_gone_and_any_size_is_covered(build: Any) -> None:
    """After one unit is spent there may be more, or none: then only what refills leads on."""
    table = build(
        "A Go -> B; spends oil",
        "A Tick -> Z",
        "B Go -> C; spends oil",
        "C Go -> Z",
        "B Tick -> Z",
        final="Z",
        budgets={"oil": 1},
    )
    found = skeleton(table, [never_at("C")])
    assert found.broken, "with two units it is reached, so that is no law of the table"
    once = build("A Go -> B; spends oil", "A Tick -> Z", "B Go -> Z", final="Z", budgets={"oil": 1})
    assert skeleton(once).ok


def test_a_dead_end_when_a_budget_is_gone_is_found(build: Any) -> None:
    table = build(
        "A Go -> A; spends oil", "A Tick -> B; spends oil", "B Go -> Z; always", final="Z", budgets={"oil": 3}
    )
    assert skeleton(table).stuck == ("A",)
    safe = build("A Go -> A; spends oil", "A Tick -> B", "B Go -> Z; always", final="Z", budgets={"oil": 3})
    assert skeleton(safe).stuck == ()


def test_a_run_begins_with_its_budgets_full_where_their_size_is_known(build: Any) -> None:
    def by_run(run: object) -> int:
        return 1

    lines = "A Go -> B; spends oil", "B Tick -> Z"
    assert skeleton(build(*lines, final="Z", budgets={"oil": 1})).stuck == ()
    assert skeleton(build(*lines, final="Z", budgets={"oil": None})).stuck == ()
    assert skeleton(build(*lines, final="Z", budgets={"oil": 0})).stuck == ("A",)
    assert skeleton(build(*lines, final="Z", budgets={"oil": by_run})).stuck == ("A",), "it may be 0 in a run"


def test_a_machine_without_endings_is_never_stuck(build: Any) -> None:
    assert skeleton(build("A Go -> B", "B Go -> A")).stuck == ()


def test_what_a_law_remembers_is_carried_along_each_way(build: Any) -> None:
    def after(seen: bool, row: Crossing) -> bool:
        return seen or row.source.name == "B"

    def broken(row: Crossing, seen: bool) -> str:
        return "D after B" if seen and row.target.name == "D" else ""

    law = Law[Crossing]("no D after B", "for this test", broken, False, after)
    both = build("A Go -> B", "A Tick -> C", "B Go -> C", "C Go -> D", final="D")
    (found,) = skeleton(both, [law]).broken
    assert [row.row for row in found.way] == [0, 2, 3]
    other = build("A Go -> C", "A Tick -> B", "C Go -> D", "B Go -> E", final="D E")
    assert skeleton(other, [law]).ok


def test_an_inner_machine_that_is_spent_has_to_be_open(build: Any, hold: Any) -> None:
    kid = build("k Go -> l", name="kid", final="l", depth=1)
    table = build("A Go -> B; spends kid", "A Tick -> Z", "B Go -> Z", final="Z", inners={"kid": hold(kid, "A")})
    assert skeleton(table, [never_at("B")]).ok, "its only step ends it"
    open_kid = build("k Go -> k", "k Go -> l", name="kid", final="l", depth=1)
    table = build("A Go -> B; spends kid", "A Tick -> Z", "B Go -> Z", final="Z", inners={"kid": hold(open_kid, "A")})
    assert skeleton(table, [never_at("B")]).broken


def test_as_many_inner_machines_as_may_live_at_once_may_each_be_open(build: Any, hold: Any) -> None:
    """Two of them take one step each: a skeleton that knew of one alone would not go so far."""
    kid = build("k Go -> m", "m Go -> l", "k Tick -> m", "m Tick -> l", name="kid", final="l", depth=1)
    table = build(
        "A Go -> B; spends kid",
        "B Tick -> C; spends kid",
        "A Tick -> Z",
        "B Go -> Z",
        "C Go -> Z",
        "C Tick -> Z",
        final="Z",
        inners={"kid": hold(kid, "A B", most=2)},
    )
    assert skeleton(table, [never_at("C")]).broken


def test_a_row_that_refills_an_inner_machine_need_not_begin_it_again(build: Any, hold: Any) -> None:
    kid = build("k Go -> m", "m Tick -> m", "m Go -> l", name="kid", final="l", depth=1)
    table = build(
        "A Go -> B; spends kid; refills kid",
        "B Tick -> C; spends kid",
        "A Tick -> Z",
        "B Go -> Z",
        "C Go -> Z",
        final="Z",
        inners={"kid": hold(kid, "A B")},
    )
    assert skeleton(table, [never_at("C")]).broken, "its first run may stand in m still"


def test_what_machines_deep_inside_may_ask_is_part_of_a_crossing(build: Any, hold: Any) -> None:
    deep = build("d Go -> d; asks Call", name="deep", depth=2)
    mid = build("m Go -> m", name="mid", depth=1, inners={"deep": hold(deep, "m")})
    table = build("A Go -> A", "A Tick -> Z", final="Z", inners={"mid": hold(mid, "A")})

    def asks(row: Crossing, _: object) -> str:
        return "it may ask" if row.asks | row.may_ask else ""

    assert skeleton(table, [Law("nothing asks", "for this test", asks)]).broken


def test_too_large_a_skeleton_is_given_up(build: Any) -> None:
    table = build("A Go -> B", "B Go -> C", final="C")
    assert skeleton(table, most=3).places == 3
    with pytest.raises(TooLarge, match="machine: its skeleton has more than 2 places"):
        skeleton(table, most=2)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ABCD"),
            st.sampled_from("ABCDZ"),
            st.sampled_from(["", "oil"]),
            st.sampled_from(["", "oil"]),
        ),
        min_size=1,
        max_size=7,
    ),
    st.integers(0, 3),
)
@settings(max_examples=60, deadline=None)
def test_whatever_the_machine_reaches_its_skeleton_reaches(
    build: Any, begin_run: Any, rows: list[tuple[str, str, str, str]], size: int
) -> None:
    lines = [
        f"{source} Go -> {target}"
        + (f"; spends {spends}" if spends else "")
        + (f"; refills {refills}" if refills else "")
        for source, target, spends, refills in rows
    ]
    states = {row[0] for row in rows} | {row[1] for row in rows}
    lines += [f"{state} Tick -> Z" for state in "ABCD" if state in states]
    table = build(*lines, final="Z", budgets={"oil": size})
    found = skeleton(table, [never_at(state) for state in "ABCDZ"])
    shown = {broken.law.name.removeprefix("never ") for broken in found.broken}
    assert reached_states(table, begin_run(table)) <= shown | {table.initial.name}
