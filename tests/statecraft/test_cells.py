"""Which rows may stand in one cell: those that are shadowed, the rest of another, apart, or in order."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import (
    BadTable,
    Evidence,
    Level,
    Reading,
    Rows,
    Table,
    guard,
    keep,
    ordered,
    reaches,
    seen,
    value_is,
)
from statecraft.guards import as_guard


class Light(Enum):
    RED = auto()
    GREEN = auto()


class Fuel(Enum):
    DROP = "drops"
    SPARK = "sparks"


@attrs.frozen
class Go:
    pass


@attrs.frozen
class Halt:
    pass


@attrs.frozen
class Run:
    at: Light
    left: Mapping[Fuel, int | None]


def at(run: Run) -> Light:
    return run.at


def move(run: Run, state: Light) -> Run:
    return attrs.evolve(run, at=state)


def purse(run: Run) -> Mapping[Fuel, int | None]:
    return run.left


def pay(run: Run, left: Mapping[Fuel, int | None]) -> Run:
    return attrs.evolve(run, left=left)


# Guards come from parametrized lists, so rows and guards are untyped here.
row: Any = Rows[Run, Light, Any]()


def asks_a(run: Run, event: object) -> Evidence:
    return seen("a", True)


def asks_b(run: Run, event: object) -> Evidence:
    return seen("b", True)


def count(run: Run, event: object) -> Reading:
    return Reading("count", 0, 3, 5, 9)


def light(run: Run, event: object) -> Light:
    return run.at


def other_light(run: Run, event: object) -> Light:
    return run.at


def is_(*wanted: Light) -> Any:
    return value_is("is", "light", light, *wanted)


a: Any = guard(asks_a)
b: Any = guard(asks_b)
NUDGE: Any = reaches(count, Level.NUDGE)
STOP: Any = reaches(count, Level.STOP)


def go(*guards: Any, **more: Any) -> Any:
    return row(Light.RED, Go, Light.GREEN, keep, *guards, **more)


def build(*entries: Any) -> Table[Any, Any, Any, Any]:
    """The entries in a table whose cells have all a row, except that of red on `Go`."""
    others = (row(Light.GREEN, Go, Light.RED, keep), row([Light.RED, Light.GREEN], Halt, Light.RED, keep))
    return Table[Run, Light, Any, Any](
        "light",
        [*entries, *others],
        events=[Go, Halt],
        initial=Light.RED,
        final=[],
        at=at,
        move=move,
        budgets={Fuel.DROP: 1, Fuel.SPARK: 1},
        purse=purse,
        pay=pay,
    )


def problems(*entries: Any) -> list[str]:
    with pytest.raises(BadTable) as caught:
        build(*entries)
    return caught.value.problems


def only_problem(*entries: Any) -> str:
    (one,) = problems(*entries)
    return one


IN_ORDER = ordered([Light.RED], [Go], "the first that holds is meant")


def test_two_rows_without_guards_in_one_cell_are_refused() -> None:
    found = only_problem(go(), row(Light.RED, Go, Light.RED, keep))
    assert found == ("row 1 (RED Go -> RED) and row 0 are both without guards in one cell: only the first is reached")


def test_two_rows_without_guards_in_two_cells_are_not_refused() -> None:
    assert build(go()).cell(Light.RED, Halt) == (2,)


def test_rows_that_share_only_one_of_their_sources_meet_there() -> None:
    found = only_problem(row([Light.RED, Light.GREEN], Go, Light.GREEN, keep))
    assert found.startswith("row 1 (GREEN Go -> RED) and row 0 are both without guards")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], [a]),
        ([a], [a]),
        ([a], [a, b]),
        ([a], [a & b]),
        ([a & b], [a, b, a & b]),
        ([asks_a], [a]),
        ([NUDGE], [STOP]),
        ([NUDGE], [STOP, a]),
        ([~STOP], [~NUDGE]),
        ([~(a | b)], [~b, ~a]),
        ([is_(Light.RED)], [is_(Light.RED)]),
    ],
)
def test_a_row_behind_one_that_asks_nothing_more_is_shadowed(first: list[Any], second: list[Any]) -> None:
    found = problems(go(*first), go(*second))
    assert [one.partition(" is shadowed: row 0")[0] for one in found] == ["row 1 (RED Go -> GREEN)"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([a], []),
        ([a, b], [a]),
        ([a & b], [b]),
        ([STOP], [NUDGE]),
        ([STOP, a], [NUDGE, a]),
        ([~NUDGE], [~STOP]),
    ],
)
def test_a_row_that_is_the_rest_of_an_earlier_one_needs_no_mark(first: list[Any], second: list[Any]) -> None:
    assert build(go(*first), go(*second))
    found = only_problem(go(*first), go(*second), IN_ORDER)
    assert found == "ordered RED on Go: no two rows of this cell overlap, so there is nothing to order"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([a], [~a]),
        ([~a], [a]),
        ([a], [~a, b]),
        ([a, b], [~b]),
        ([~(a | b)], [a]),
        ([a & b], [~a]),
        ([NUDGE], [~NUDGE]),
        ([STOP], [~NUDGE]),
        ([is_(Light.RED)], [is_(Light.GREEN)]),
        ([is_(Light.RED), a], [b, is_(Light.GREEN)]),
    ],
)
def test_rows_of_which_one_denies_what_the_other_asks_need_no_mark(first: list[Any], second: list[Any]) -> None:
    assert build(go(*first), go(*second))
    assert "nothing to order" in only_problem(go(*first), go(*second), IN_ORDER)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([a], [b]),
        ([a], [~b]),
        ([a | b], [~a]),
        ([a | b], [a]),
        ([~(a & b)], [a]),
        ([NUDGE], [~STOP]),
        ([STOP], [a]),
        ([is_(Light.RED)], [is_(*Light)]),
        ([~is_(Light.RED)], [is_(Light.GREEN)]),
        ([is_(Light.RED)], [value_is("is", "light", other_light, Light.GREEN)]),
    ],
)
def test_rows_that_may_both_hold_need_the_mark(first: list[Any], second: list[Any]) -> None:
    found = only_problem(go(*first), go(*second))
    assert found.startswith("row 1 (RED Go -> GREEN) overlaps row 0 in cell RED on Go")
    assert build(go(*first), go(*second), IN_ORDER)


def test_the_mark_holds_for_its_own_cells_alone() -> None:
    on_halt = [row(Light.RED, Halt, Light.RED, keep, one) for one in (a, b)]
    found = problems(go(a), go(b), *on_halt, IN_ORDER)
    assert [one.partition(":")[0] for one in found] == ["row 3 (RED Halt -> RED) overlaps row 2 in cell RED on Halt"]


def test_a_mark_does_not_excuse_a_shadowed_row() -> None:
    assert only_problem(go(a), go(b), go(a), IN_ORDER).startswith("row 2 (RED Go -> GREEN) is shadowed: row 0")


def test_a_row_that_spends_comes_before_the_same_row_that_does_not() -> None:
    assert build(go(a, spends=Fuel.DROP), go(a))
    found = only_problem(go(a), go(a, spends=Fuel.DROP))
    assert found.startswith("row 1 (RED Go -> GREEN) is shadowed: row 0")


def test_rows_that_spend_two_budgets_overlap() -> None:
    entries = (go(spends=Fuel.DROP), go(spends=Fuel.SPARK))
    assert only_problem(*entries).startswith("row 1 (RED Go -> GREEN) overlaps row 0")
    assert build(*entries, IN_ORDER)


def test_of_rows_that_overlap_and_spend_the_same_it_is_said_that_spending_does_not_part_them() -> None:
    said = "both spend drops: the guard that this brings stands in both, so it does not part them"
    assert only_problem(go(a, spends=Fuel.DROP), go(b, spends=Fuel.DROP)).endswith(f"; {said}")
    for first, second in [({}, {}), ({"spends": Fuel.DROP}, {"spends": Fuel.SPARK}), ({"spends": Fuel.DROP}, {})]:
        found = only_problem(go(a, **first), go(b, **second))
        assert found.endswith("or mark the cell with ordered(...)")
    assert build(go(a, spends=Fuel.DROP), go(~a, b, spends=Fuel.DROP))


def test_two_rows_that_spend_the_same_shadow_each_other() -> None:
    found = only_problem(go(spends=Fuel.DROP), go(a, spends=Fuel.DROP))
    assert found.startswith("row 1 (RED Go -> GREEN) is shadowed: row 0")


GUARDS = st.sampled_from([a, b, ~a, ~b, a & b, a | b, ~(a & b), ~(a | b), NUDGE, STOP, ~NUDGE, ~STOP])
ANSWERS = [
    {asks_a: one, asks_b: two, count: level} for one in (True, False) for two in (True, False) for level in Level
]


def holds(one: Any, answers: dict[Any, Any]) -> bool:
    """Whether the guard would hold if the three questions were answered so."""
    made = as_guard(one)
    if made is None:
        return bool(answers[one])
    if made.how == "reaches":
        return bool(answers[made.function] >= made.level)
    if made.how == "asks":
        return bool(answers[made.function])
    parts = [holds(part, answers) for part in made.parts]
    return not parts[0] if made.how == "not" else all(parts) if made.how == "all" else any(parts)


@given(st.lists(GUARDS, max_size=3), st.lists(GUARDS, max_size=3))
def test_what_the_check_says_of_two_rows_is_true_of_all_answers(first: list[Any], second: list[Any]) -> None:
    """It may ask for a mark where none is needed, since guards are opaque; it is never wrong the other way."""
    both = [
        answers
        for answers in ANSWERS
        if all(holds(one, answers) for one in first) and all(holds(one, answers) for one in second)
    ]
    alone = [answers for answers in ANSWERS if all(holds(one, answers) for one in second) and answers not in both]
    try:
        build(go(*first), go(*second))
    except BadTable as error:
        (problem,) = error.problems
        if "shadowed" in problem or "without guards" in problem:
            assert not alone, problem
        else:
            assert "overlaps" in problem
    else:
        rest = not any(
            all(holds(one, x) for one in first) and not all(holds(one, x) for one in second) for x in ANSWERS
        )
        assert not both or rest
