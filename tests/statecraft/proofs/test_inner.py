"""Inner machines in the termination proof: a budget of their own, and a source of requests."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from statecraft import Table
from statecraft.proofs import Bound, FreeCycle, NeedsRun, ends

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


@pytest.fixture
def polls(build: Any) -> AnyTable:
    """Three polls that ask for a call, then the end; a tick ends it at once."""
    table: AnyTable = build(
        "W Go -> W; spends poll; asks Call",
        "W Go -> Y; asks Tell",
        "W Tick -> Y",
        name="wait",
        final="Y",
        depth=1,
        budgets={"poll": 3},
    )
    return table


def test_a_loop_that_spends_an_inner_machine_goes_round_as_often_as_that_stays_open(
    build: Any, hold: Any, walk: Any, polls: AnyTable
) -> None:
    table = build("A Go -> A; spends wait", "A Tick -> Z", final="Z", inners={"wait": hold(polls, "A")})
    assert number(ends(table)) == 3 + 1 == walk(table)


def test_only_steps_on_the_events_that_are_paid_with_count(build: Any, hold: Any, walk: Any) -> None:
    rows = ("P Go -> Q; spends retry", "Q Tick -> P; asks Call", "P Tick -> Y")
    both = build(*rows, name="request", final="Y", depth=1, budgets={"retry": 2})
    table = build("A Go -> B; spends request", "B Tick -> A", inners={"request": hold(both, "A B")})
    assert number(ends(table)) == 4 == walk(table)
    assert number(ends(table, None, command(both, "Call"))) == 2 == walk(table, command(both, "Call"))


def test_an_inner_machine_that_the_loop_begins_again_does_not_bound_it(
    build: Any, hold: Any, walk: Any, polls: AnyTable
) -> None:
    table = build("A Go -> A; spends wait", "A Tick -> A; refills wait", inners={"wait": hold(polls, "A")})
    assert isinstance(ends(table), FreeCycle)
    assert walk(table) is None


def test_an_inner_machine_begun_again_by_a_row_that_spends_turns_is_counted_each_time(
    build: Any, hold: Any, walk: Any, polls: AnyTable
) -> None:
    table = build(
        "A Go -> B; spends turn; refills wait",
        "B Go -> B; spends wait; always",
        "B Go -> A; always",
        final="",
        budgets={"turn": 2},
        inners={"wait": hold(polls, "B")},
    )
    assert number(ends(table)) == 2 * (1 + 3 + 1) == walk(table)
    for name, most in (("Call", 6), ("Tell", 2)):
        assert number(ends(table, None, command(polls, name))) == most == walk(table, command(polls, name))


def test_as_many_as_live_at_once_are_as_many_budgets(build: Any, hold: Any, walk: Any) -> None:
    kid = build("W Go -> W; spends poll", "W Tick -> W; spends poll", name="call", depth=1, budgets={"poll": 2})
    rows = ("A Go -> A; spends call", "A Tick -> A; spends call")
    assert number(ends(build(*rows, inners={"call": hold(kid, "A")}))) == 2
    two = build(*rows, inners={"call": hold(kid, "A", most=2)})
    assert number(ends(two)) == 4 == walk(two)


def test_how_many_live_at_once_may_depend_on_the_run(build: Any, hold: Any, polls: AnyTable) -> None:
    table = build("A Go -> A; spends wait", inners={"wait": hold(polls, "A", most=itself)})
    assert number(ends(table, 4)) == 12
    with pytest.raises(NeedsRun, match="how many wait live at once depends on the run"):
        ends(table)


def test_the_sizes_of_an_inner_machine_come_from_its_fresh_run(build: Any, hold: Any, begin_run: Any) -> None:
    def size(run: Any) -> int:
        return 1 if run is None else len(run.kids)

    kid = build("W Go -> W; spends poll", name="wait", depth=1, budgets={"poll": size})

    def fresh(run: int) -> Any:
        return attrs.evolve(begin_run(kid), kids=(("another", None),) * run)

    rows = ("A Go -> A; spends wait",)
    assert number(ends(build(*rows, inners={"wait": hold(kid, "A", fresh=fresh)}), 21)) == 21
    with pytest.raises(NeedsRun, match="table wait: the size of poll depends on the run"):
        ends(build(*rows, inners={"wait": hold(kid, "A")}), 21)


def test_an_inner_machine_that_may_go_round_itself_bounds_nothing_and_its_cycle_is_shown(build: Any, hold: Any) -> None:
    kid = build("W Go -> W", "W Tick -> Y", name="wait", final="Y", depth=1)
    table = build("A Go -> A; spends wait", "A Tick -> Z", final="Z", inners={"wait": hold(kid, "A")})
    found = free(ends(table))
    assert found.rows == (0,)
    assert [(one.table, one.rows) for one in found.inside] == [("wait", (0,))]
    assert "the inner machine wait has no bound of its own:" in found.lines


def test_an_inner_machine_that_may_go_round_is_no_matter_where_another_budget_bounds(build: Any, hold: Any) -> None:
    kid = build("W Go -> W", name="wait", depth=1)
    rows = ("A Go -> B; spends wait", "B Go -> A; spends turn")
    assert number(ends(build(*rows, budgets={"turn": 2}, inners={"wait": hold(kid, "A")}))) == 5


def test_an_inner_machine_is_walked_from_its_initial_state_and_from_that_of_its_fresh_run(
    build: Any, hold: Any, begin_run: Any
) -> None:
    kid = build("W Go -> X", "X Go -> X; spends poll", "V Go -> W", name="wait", depth=1, budgets={"poll": 2})

    def bound(fresh: Any) -> int:
        table = build("A Go -> A; spends wait", inners={"wait": hold(kid, "A", fresh=fresh)})
        return number(ends(table, "run"))

    def late(_: object) -> Any:
        return attrs.evolve(begin_run(kid), at=kid.states[-1])

    assert bound(None) == 3
    assert bound(late) == 4


def test_a_row_that_spends_an_inner_machine_where_it_never_steps_is_never_taken(
    build: Any, hold: Any, polls: AnyTable
) -> None:
    rows = ("A Go -> A; spends wait; refills wait", "A Go -> B", "B Go -> Z")
    assert number(ends(build(*rows, final="Z", inners={"wait": hold(polls, "B")}))) == 2
    assert free(ends(build(*rows, final="Z", inners={"wait": hold(polls, "A")}))).rows == (0,)


def test_a_row_that_stays_while_a_spent_inner_machine_asks_is_paid_by_its_steps(
    build: Any, hold: Any, walk: Any, polls: AnyTable
) -> None:
    """The second row spends nothing, but each time the inner machine asks on it, that has taken a step."""
    table = build("A Tick -> A; spends wait", "A Go -> A", inners={"wait": hold(polls, "A")})
    assert number(ends(table)) == 4 == walk(table)
    assert number(ends(table, None, command(polls, "Call"))) == 3 == walk(table, command(polls, "Call"))


def test_a_row_that_stays_while_an_inner_machine_that_nothing_spends_asks_is_a_free_cycle(
    build: Any, hold: Any, polls: AnyTable
) -> None:
    assert free(ends(build("A Go -> A", inners={"wait": hold(polls, "A")}))).rows == (0,)
    assert number(ends(build("A Go -> A", "A Tick -> B", inners={"wait": hold(polls, "B")}))) == 1


def test_what_an_inner_machine_of_an_inner_machine_asks_is_counted(build: Any, hold: Any, walk: Any) -> None:
    deep = build("U Go -> U; spends p; asks Call", name="deep", depth=2, budgets={"p": 2})
    middle = build("W Go -> W; spends deep; asks Call", name="middle", depth=1, inners={"deep": hold(deep, "W")})
    table = build("A Go -> A; spends middle; asks Tell", inners={"middle": hold(middle, "A")})
    assert number(ends(table)) == 2 == walk(table)
    assert number(ends(table, None, command(middle, "Call"))) == 4 == walk(table, command(middle, "Call"))


def test_below_the_row_that_spends_it_an_inner_machine_has_ended(build: Any, hold: Any) -> None:
    """So what it asks while it stays open cannot come with the row below, if that has every guard of the row above."""
    kid = build("W Go -> W; spends poll; asks Call", "W Go -> Y", name="wait", final="Y", depth=1, budgets={"poll": 2})
    rows = ("A Go -> A; spends wait; always", "A Go -> B; spends turn; always", "B Go -> A; refills wait")
    table = build(*rows, budgets={"turn": 2}, inners={"wait": hold(kid, "A")})
    assert number(ends(table, None, command(kid, "Call"))) == 3 * 2
    apart = build(*(row.replace("; always", "") for row in rows), budgets={"turn": 2}, inners={"wait": hold(kid, "A")})
    assert number(ends(apart, None, command(kid, "Call"))) >= 3 * 2


def test_below_a_row_with_another_guard_an_inner_machine_may_still_be_open(build: Any, hold: Any, walk: Any) -> None:
    kid = build("W Go -> W; spends poll; asks Call", name="wait", depth=1, budgets={"poll": 2})
    rows = ("A Go -> Z; spends wait", "A Go -> A; spends turn")
    table = build(*rows, final="Z", budgets={"turn": 2}, inners={"wait": hold(kid, "A")})
    assert walk(table, command(kid, "Call")) == 2
    assert number(ends(table, None, command(kid, "Call"))) >= 2


def test_what_an_inner_machine_that_nothing_spends_asks_counts_with_every_step(
    build: Any, hold: Any, walk: Any
) -> None:
    kid = build("W Go -> W; asks Call", name="ladder", depth=1)
    table = build("A Go -> A; spends turn", budgets={"turn": 3}, inners={"ladder": hold(kid, "A")})
    assert number(ends(table, None, command(kid, "Call"))) == 3 == walk(table, command(kid, "Call"))
