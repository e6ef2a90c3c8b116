"""Each rule of the termination proof on a machine of a few rows, at its boundary."""

from __future__ import annotations

import time
from typing import Any

import pytest

from statecraft import Table
from statecraft.proofs import Bound, FreeCycle, NeedsRun, cycle, ends

AnyTable = Table[Any, Any, Any, Any]


def number(found: Bound | FreeCycle) -> int:
    assert isinstance(found, Bound), found.lines
    return found.number


def free(found: Bound | FreeCycle) -> FreeCycle:
    assert isinstance(found, FreeCycle), found
    return found


def itself(run: int) -> int:
    return run


def command(table: AnyTable, name: str) -> type[Any]:
    return next(kind for row in table.rows for kind in sorted(row.asks, key=str) if kind.__name__ == name)


def test_two_budgets_that_refill_each_other_are_a_free_cycle(build: Any, walk: Any) -> None:
    table = build(
        "A Go -> A; spends one; refills two",
        "A Go -> A; spends two; refills one",
        "A Tick -> Z",
        final="Z",
        budgets={"one": 3, "two": 3},
    )
    found = free(ends(table))
    assert found.rows == (0, 1)
    assert found.payable
    assert walk(table) is None
    assert found.lines[:3] == (
        "machine can go round for ever:",
        "  row 0: A Go -> A, spends one, refills two",
        "  row 1: A Go -> A, spends two, refills one",
    )


def test_the_cycle_of_two_budgets_is_walked_on_the_table_and_the_purse_pays_for_it_each_time(
    build: Any, begin_run: Any
) -> None:
    rows = ("A Go -> A; spends one; refills two", "A Go -> A; spends two; refills one", "A Tick -> Z")
    table = build(*rows, final="Z", budgets={"one": 3, "two": 3})
    # Without all rows that spend, nothing goes round: who looks no further calls it finite.
    assert number(ends(build(rows[2], final="Z"))) == 1
    (go,) = {table.rows[hop.row].event for hop in free(ends(table)).hops}
    run: Any = begin_run(table)
    lefts = list[dict[Any, int]]()
    for _ in range(50):
        for hop in free(ends(table)).hops:
            step: Any = table.step(run, go((hop.row,)))
            assert step.row == hop.row
            run = step.run
        lefts.append(dict(table.left(run)))
    assert lefts[1:] == lefts[:-1]


def test_a_ring_of_three_budgets_that_refill_the_next_is_a_free_cycle(build: Any, walk: Any) -> None:
    table = build(
        "A Go -> A; spends one; refills two",
        "A Go -> A; spends two; refills three",
        "A Go -> A; spends three; refills one",
        budgets={"one": 1, "two": 1, "three": 1},
    )
    assert sorted(free(ends(table)).rows) == [0, 1, 2]
    assert walk(table) is None


@pytest.mark.parametrize("size", [1, 7])
def test_a_budget_that_nothing_refills_bounds_its_loop_by_its_size(build: Any, walk: Any, size: int) -> None:
    table = build("A Go -> A; spends oil", "A Tick -> Z", final="Z", budgets={"oil": size})
    assert number(ends(table)) == size + 1 == walk(table)


def test_a_budget_that_the_loop_refills_does_not_bound_it(build: Any, walk: Any) -> None:
    table = build("A Go -> B; spends oil", "B Go -> A; refills oil", budgets={"oil": 2})
    assert free(ends(table)).rows == (0, 1)
    assert walk(table) is None


def test_a_row_that_refills_what_it_spends_itself_is_a_free_cycle(build: Any, walk: Any) -> None:
    table = build("A Go -> A; spends oil; refills oil", budgets={"oil": 1})
    assert free(ends(table)).rows == (0,)
    assert walk(table) is None


def test_a_refill_on_the_way_out_of_the_loop_leaves_it_bounded(build: Any, walk: Any) -> None:
    table = build("A Go -> A; spends oil", "A Go -> B; refills oil", "B Go -> B; spends oil", budgets={"oil": 2})
    assert number(ends(table)) == 5 == walk(table)


def test_budgets_that_nothing_refills_add_up(build: Any, walk: Any) -> None:
    table = build("A Go -> A; spends one", "A Go -> A; spends two", budgets={"one": 3, "two": 5})
    assert number(ends(table)) == 8 == walk(table)


def test_more_budgets_than_are_tried_in_all_sets_add_up_too(build: Any) -> None:
    sizes = {f"b{n}": n + 1 for n in range(8)}
    table = build(*(f"A Go -> A; spends {name}" for name in sizes), budgets=sizes)
    assert number(ends(table)) == sum(sizes.values())


def test_a_budget_refilled_by_a_row_that_spends_another_counts_again_each_time(build: Any, walk: Any) -> None:
    table = build("A Go -> A; spends turn; refills nudge", "A Go -> A; spends nudge", budgets={"turn": 3, "nudge": 2})
    assert number(ends(table)) == 3 * (1 + 2) + 2 == walk(table)


def test_a_budget_spent_in_several_parts_and_between_them_counts_once(build: Any, walk: Any) -> None:
    rows = ("A Go -> A; spends oil", "A Go -> B; spends oil", "B Go -> B; spends oil", "B Go -> C; spends oil")
    table = build(*rows, budgets={"oil": 4})
    assert number(ends(table)) == 4 == walk(table)


def test_a_budget_refilled_between_two_parts_counts_in_each(build: Any, walk: Any) -> None:
    rows = ("A Go -> A; spends oil", "A Go -> B; refills oil", "B Go -> B; spends oil", "B Go -> C; spends oil")
    table = build(*rows, budgets={"oil": 4})
    assert number(ends(table)) == 4 + 1 + 4 == walk(table)


def test_a_huge_budget_that_need_not_be_taken_is_not(build: Any, walk: Any) -> None:
    table = build("A Go -> B; spends few", "B Go -> A; spends many", budgets={"few": 2, "many": 1000})
    assert number(ends(table)) == 2 * 2
    assert walk(build("A Go -> B; spends few", "B Go -> A; spends many", budgets={"few": 2, "many": 20})) == 4


def test_a_budget_without_limit_bounds_nothing_and_is_named(build: Any) -> None:
    def boundless(_: object) -> None:
        return None

    found = free(ends(build("A Go -> A; spends oil", budgets={"oil": boundless}), "any run"))
    assert found.unlimited == ("oil",)
    assert "oil has no limit, so it bounds nothing" in found.lines


def test_a_row_that_spends_a_budget_of_size_zero_is_never_taken(build: Any, walk: Any) -> None:
    rows = ("A Go -> A; spends oil; refills oil", "A Tick -> Z")
    assert number(ends(build(*rows, final="Z", budgets={"oil": 0}))) == 1
    assert walk(build(*rows, final="Z", budgets={"oil": 0})) == 1
    assert free(ends(build(*rows, final="Z", budgets={"oil": 1}))).rows == (0,)


def test_a_loop_without_any_budget_is_a_free_cycle_and_the_shortest_is_shown(build: Any) -> None:
    table = build("A Go -> B", "B Go -> C", "C Go -> A", "B Tick -> A", "C Tick -> Z", final="Z")
    assert free(ends(table)).rows == (0, 3)


def test_a_free_cycle_comes_with_the_way_that_leads_to_it(build: Any) -> None:
    table = build("A Go -> B", "B Go -> C", "C Go -> D", "D Go -> C")
    found = free(ends(table))
    assert (found.rows, tuple(hop.row for hop in found.way)) == ((2, 3), (0, 1))
    assert "reached by:" in found.lines


def test_a_cycle_that_is_too_long_to_search_for_still_gives_back_what_it_takes(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cycle, "MOST_LOOKED_AT", 0)
    table = build("A Go -> B; spends one", "B Go -> A; refills one", "B Go -> B; spends one", budgets={"one": 3})
    found = free(ends(table))
    spent = {name for hop in found.hops for name in hop.spends}
    assert spent == {name for hop in found.hops for name in hop.refills} == {"one"}
    assert [hop.source for hop in found.hops[1:]] == [hop.target for hop in found.hops[:-1]]
    assert found.hops[-1].target == found.hops[0].source


def test_a_cycle_off_every_way_from_the_initial_state_bounds_nothing_less(build: Any) -> None:
    rows = ("A Go -> Z", "B Go -> B; asks Call")
    assert number(ends(build(*rows, final="Z"))) == 1
    assert free(ends(build(*rows, "A Tick -> B", final="Z"))).rows == (1,)


@pytest.mark.parametrize(("size", "for_ever"), [(1, False), (2, True)])
def test_where_a_refill_costs_more_than_the_purse_holds_the_cycle_is_not_payable(
    build: Any, walk: Any, size: int, *, for_ever: bool
) -> None:
    table = build("A Go -> B; spends oil", "B Go -> C; spends oil", "C Go -> A; refills oil", budgets={"oil": size})
    found = free(ends(table))
    assert found.payable is for_ever
    assert (walk(table) is None) is for_ever
    assert any("does not pay" in line for line in found.lines) is not for_ever


@pytest.mark.parametrize(("size", "for_ever"), [(2, False), (3, True)])
def test_a_cycle_that_is_paid_for_once_and_not_again_is_not_payable(
    build: Any, walk: Any, size: int, *, for_ever: bool
) -> None:
    rows = ("A Go -> B; spends oil", "B Go -> C; spends oil", "C Go -> D; refills oil", "D Go -> A; spends oil")
    table = build(*rows, budgets={"oil": size})
    assert free(ends(table)).payable is for_ever
    assert (walk(table) is None) is for_ever


def test_a_cycle_that_can_be_paid_for_goes_before_a_shorter_one_that_cannot(build: Any) -> None:
    table = build(
        "A Go -> B; spends oil",
        "B Go -> A; spends oil; refills oil",
        "A Go -> C; spends oil",
        "C Go -> D; refills oil",
        "D Go -> A",
        budgets={"oil": 1},
    )
    found = free(ends(table))
    assert (found.rows, found.payable) == ((2, 3, 4), True)


def test_a_quiet_row_is_left_out_of_a_machine_but_not_of_an_inner_one(build: Any) -> None:
    table = build("A Go -> A", "A Tick -> Z", final="Z")
    assert number(ends(table)) == 1
    assert free(ends(table, within=True)).rows == (0,)


@pytest.mark.parametrize("loud", ["; asks Call", "; refills oil"])
def test_a_row_that_stays_is_not_quiet_if_it_asks_or_refills(build: Any, loud: str) -> None:
    table = build("A Go -> A" + loud, "A Tick -> Z; spends oil", final="Z", budgets={"oil": 1})
    assert free(ends(table)).rows == (0,)


def test_a_row_is_quiet_only_in_the_source_where_it_stays(build: Any) -> None:
    table = build("A|B Go -> B", "A Tick -> Z", "B Tick -> Z", final="Z")
    assert number(ends(table)) == 2


def test_requests_count_the_rows_that_ask_and_no_others(build: Any, walk: Any) -> None:
    table = build(
        "A Go -> B; spends turn; asks Tell",
        "B Go -> A; refills again; asks Call",
        "B Go -> B; spends again; asks Call",
        "A Tick -> Z; asks Tell",
        "B Tick -> Z",
        final="Z",
        budgets={"turn": 2, "again": 1},
    )
    for name, most in (("Call", 4), ("Tell", 3)):
        kind = command(table, name)
        found = ends(table, None, kind)
        assert number(found) == most == walk(table, kind)
        assert isinstance(found, Bound)
        assert found.asking == name


def test_the_reasoning_names_budget_size_dearest_row_and_the_way(build: Any) -> None:
    table = build("A Go -> B", "B Go -> B; spends oil", "B Tick -> Z", final="Z", budgets={"oil": 4})
    found = ends(table)
    assert isinstance(found, Bound)
    assert found.lines == (
        "1 by row 0, A to B",
        "4 in B",
        "  oil, 4, not refilled here: 4 x 1 (the dearest is row 1, B to B: 1)",
        "1 by row 2, B to Z",
    )


def test_a_size_that_depends_on_the_run_needs_one(build: Any) -> None:
    table = build("A Go -> A; spends oil", budgets={"oil": itself})
    assert number(ends(table, 5)) == 5
    with pytest.raises(NeedsRun, match="table machine: the size of oil depends on the run"):
        ends(table)


def test_a_size_that_no_row_spends_needs_no_run(build: Any) -> None:
    table = build("A Go -> A; spends oil", "A Tick -> Z; refills tea", final="Z", budgets={"oil": 1, "tea": itself})
    assert number(ends(table)) == 2


@pytest.mark.benchmark
def test_a_table_of_forty_rows_is_proved_in_milliseconds(build: Any) -> None:
    rows = [f"B Go -> A; spends n{n}; asks Call" for n in range(33)]
    refills = " ".join(f"n{n}" for n in range(33))
    table = build(
        "A Go -> B; spends turn; asks Tell",
        *rows,
        f"B Go -> A; refills {refills}; asks Call",
        "A Tick -> C; asks Call",
        "C Go -> Z",
        final="Z",
        budgets={"turn": 100, **{f"n{n}": 3 for n in range(33)}},
    )
    begun = time.process_time()
    for _ in range(10):
        ends(table)
    assert (time.process_time() - begun) / 10 <= 0.010
