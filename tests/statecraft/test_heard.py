"""Answers find their questions again, whatever the guards of a cell look like."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import (
    BadTable,
    Evidence,
    Fault,
    Guard,
    Level,
    Reading,
    Refused,
    Rows,
    Step,
    Table,
    guard,
    keep,
    ordered,
    reaches,
    seen,
)
from statecraft.heard import Asking, heard


class Door(Enum):
    SHUT = auto()
    OPEN = auto()


class Stock(Enum):
    OIL = "oil"


@attrs.frozen
class Push:
    answers: dict[str, int]


@attrs.frozen
class Hall:
    at: Door = Door.SHUT
    left: dict[Stock, int | None] = attrs.Factory(lambda: {Stock.OIL: 1})


RAISES = 2  # an answer that is none


def question(name: str) -> Guard[Hall, Push]:
    def ask(run: Hall, event: Push) -> Evidence:
        if event.answers.get(name) == RAISES:
            raise ArithmeticError(name)
        return seen(f"says {name}", bool(event.answers.get(name, 0)))

    ask.__name__ = name
    return guard(ask)


def count(run: Hall, event: Push) -> Reading:
    return Reading("says count", event.answers.get("count", 0), nudge=1, stop=2, most=9)


a, b, c = (question(name) for name in "abc")
NUDGE, STOP = reaches(count, Level.NUDGE), reaches(count, Level.STOP)
row = Rows[Hall, Door, Any]()


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, state: Door) -> Hall:
    return attrs.evolve(run, at=state)


def purse(run: Hall) -> dict[Stock, int | None]:
    return run.left


def pay(run: Hall, left: Any) -> Hall:
    return attrs.evolve(run, left=left)


def table_of(rows: list[Any]) -> Table[Hall, Door, Push, Any]:
    return Table[Hall, Door, Push, Any](
        "hall",
        [*rows, row(Door.OPEN, Push, Door.SHUT, keep)],
        events=[Push],
        initial=Door.SHUT,
        final=[],
        at=at,
        move=move,
        budgets={Stock.OIL: 1},
        purse=purse,
        pay=pay,
    )


def build(*cell: tuple[list[Any], bool]) -> Table[Hall, Door, Push, Any]:
    """A row of each list of guards, in order, in the cell of SHUT; those with True spend the oil."""
    rows = [row(Door.SHUT, Push, Door.OPEN, keep, *guards, spends=Stock.OIL if oil else None) for guards, oil in cell]
    try:
        return table_of(rows)
    except BadTable:  # they overlap, unless they are wrong in another way too
        return table_of([*rows, ordered([Door.SHUT], [Push], "the first that holds is meant")])


def laid(table: Table[Hall, Door, Push, Any], event: Push) -> tuple[Asking, ...]:
    try:
        answer = table.step(Hall(), event)
    except Fault as fault:
        return heard(table, Door.SHUT, Push, fault.asked, fault.row, fault=True)
    assert isinstance(answer, Step | Refused)
    return heard(table, answer.source, Push, answer.seen, answer.row)


def told(table: Table[Hall, Door, Push, Any], event: Push) -> list[tuple[int, str, bool | None]]:
    return [(one.row, one.name, one.holds) for one in laid(table, event)]


def test_each_row_gets_its_own_answers_under_the_names_of_the_table() -> None:
    table = build(([a, b], True), ([b, c], False))
    assert told(table, Push({"a": 1, "c": 1})) == [
        (0, "oil_left", True),
        (0, "a", True),
        (0, "b", False),
        (1, "b", False),
        (1, "c", None),
    ]


def test_the_answer_to_a_question_that_is_asked_again_comes_back_for_each_row() -> None:
    table = build(([a, b], False), ([~a], False), ([a, c], False))
    assert told(table, Push({"a": 1, "c": 1}))[-2:] == [(2, "a", True), (2, "c", True)]


def test_a_reading_is_held_against_the_level_that_its_row_asks() -> None:
    table = build(([STOP], False), ([NUDGE], False), ([a], False))
    assert told(table, Push({"count": 1})) == [
        (0, "count at stop", False),
        (1, "count at nudge", True),
        (2, "a", None),
    ]


def test_the_parts_of_a_combination_come_after_it_and_deeper() -> None:
    table = build(([a & ~b], False), ([a], False))
    assert [(one.name, one.depth, one.holds) for one in laid(table, Push({"a": 1, "b": 1}))] == [
        ("(a & ~b)", 0, False),
        ("a", 1, True),
        ("~b", 1, False),
        ("b", 2, True),
        ("a", 0, True),
    ]


def test_nothing_is_asked_below_the_row_that_holds() -> None:
    table = build(([a], False), ([a | b], True), ([], False))
    assert told(table, Push({"a": 1})) == [
        (0, "a", True),
        (1, "oil_left", None),
        (1, "(a | b)", None),
        (1, "a", None),
        (1, "b", None),
    ]


def test_a_guard_that_raises_ends_the_asking_and_nothing_after_it_was_asked() -> None:
    table = build(([b, a], False), ([~b | (a & c) | b, b], False), ([a], False))
    assert told(table, Push({"b": 0, "a": 1, "c": RAISES})) == [
        (0, "b", False),
        (0, "a", None),
        (1, "(~b | (a & c) | b)", None),
        (1, "~b", True),
        (1, "b", False),
        (1, "(a & c)", None),
        (1, "a", True),
        (1, "c", None),
        (1, "b", None),
        (1, "b", None),
        (2, "a", None),
    ]


def test_an_effect_that_raises_has_the_answers_of_its_row_and_of_those_before_it() -> None:
    def jam(run: Hall, event: Push) -> Any:
        raise ArithmeticError("jammed")

    rows = [row(Door.SHUT, Push, Door.OPEN, keep, a), row(Door.SHUT, Push, Door.OPEN, jam, ~a & b)]
    table = table_of([*rows, row(Door.SHUT, Push, Door.SHUT, keep, ~a & ~b)])
    assert told(table, Push({"b": 1})) == [
        (0, "a", False),
        (1, "(~a & b)", True),
        (1, "~a", True),
        (1, "a", False),
        (1, "b", True),
        *((2, name, None) for name in ("(~a & ~b)", "~a", "a", "~b", "b")),
    ]


def test_an_answer_of_the_wrong_kind_ends_the_asking_where_the_row_could_not_use_it() -> None:
    def untyped(run: Any, event: Any) -> Any:
        return seen("says untyped", False)

    table = build(([untyped], False), ([a, reaches(untyped, Level.STOP), b], False))
    answers = seen("says untyped", False), seen("says a", True)
    found = heard(table, Door.SHUT, Push, answers, 1, fault=True)
    assert [(one.row, one.name, one.holds) for one in found] == [
        (0, "untyped", False),
        (1, "a", True),
        (1, "untyped at stop", None),
        (1, "b", None),
    ]
    with pytest.raises(ValueError, match=r"^hall row 1: untyped at stop is answered with the Evidence says untyped$"):
        heard(table, Door.SHUT, Push, answers, 1)


def test_a_fault_before_any_question_leaves_all_unasked() -> None:
    table = build(([a], False), ([b], False))
    found = heard(table, Door.SHUT, Push, (), None, fault=True)
    assert [(one.row, one.holds) for one in found] == [(0, None), (1, None)]


GUARDS = st.recursive(
    st.sampled_from([a, b, c, NUDGE, STOP]),
    lambda parts: st.one_of(
        parts.map(lambda one: ~one),
        st.tuples(parts, parts).map(lambda two: two[0] & two[1]),
        st.tuples(parts, parts).map(lambda two: two[0] | two[1]),
    ),
    max_leaves=4,
)
CELL = st.lists(st.tuples(st.lists(GUARDS, max_size=3), st.booleans()), min_size=1, max_size=4)
ANSWERS = st.fixed_dictionaries(
    {"a": st.integers(0, 1), "b": st.integers(0, 1), "c": st.integers(0, RAISES), "count": st.integers(0, 3)}
)


@given(CELL, ANSWERS, st.integers(0, 1))
def test_every_answer_of_every_cell_finds_its_question(
    cell: list[tuple[list[Guard[Hall, Push]], bool]], answers: dict[str, int], oil: int
) -> None:
    try:
        table = build(*cell)
    except BadTable:
        return  # rows that no cell may have
    event, run = Push(answers), Hall(left={Stock.OIL: oil})
    fault: Fault | None = None
    try:
        answer = table.step(run, event)
    except Fault as raised:
        fault, answered, number = raised, raised.asked, raised.row
    else:
        assert isinstance(answer, Step | Refused)
        answered, number = answer.seen, answer.row
    found = heard(table, Door.SHUT, Push, answered, number, fault=fault is not None)

    # Each answer that was given stands somewhere, and says there what its guard says alone.
    assert {id(one.found) for one in found if one.found is not None} == set(map(id, answered))
    for one in found:
        if one.found is not None and callable(question := one.key):
            assert one.found == question(run, event)
        if isinstance(one.found, Reading):
            assert one.holds is (one.found.level >= {"count at nudge": 1, "count at stop": 2}[one.name])

    for each, (guards, spends) in enumerate(cell):
        row_of = [one for one in found if one.row == each]
        top = [one.holds for one in row_of if one.depth == 0]
        assert len(top) == len(guards) + spends
        asked = [holds for holds in top if holds is not None]
        assert top == [*asked, *[None] * (len(top) - len(asked))]
        if number is not None and each > number:
            assert not asked
        elif each == number and fault is not None:
            assert all(asked)
            assert fault.part in [one.name for one in row_of if one.found is None]
        elif each == number:
            assert top == [True] * len(top)
        else:
            assert asked == [*[True] * (len(asked) - 1), False]


def test_answers_that_do_not_fit_the_table_are_refused_with_the_question() -> None:
    table = build(([a, b], False), ([b], False))
    yes, no = seen("says a", True), seen("says a", False)
    with pytest.raises(ValueError, match=r"^hall row 0: asks b, but the step has no answer to it$"):
        heard(table, Door.SHUT, Push, [yes], None)
    with pytest.raises(ValueError, match=r"^hall: the step has the answer extra, which no row of the cell asks$"):
        heard(table, Door.SHUT, Push, [no, seen("b", True), seen("extra", True)], 1)
    with pytest.raises(ValueError, match=r"^hall: the step has the answer extra, which no row of the cell asks$"):
        heard(table, Door.SHUT, Push, [no, seen("b", True), seen("extra", True)], 1, fault=True)
    with pytest.raises(ValueError, match=r"^hall row 0: a is answered with the Reading r$"):
        heard(table, Door.SHUT, Push, [Reading("r", 1, 2, 3, 4)], None)
    with pytest.raises(ValueError, match=r"^hall row 0: count at stop is answered with the Evidence says a$"):
        heard(build(([STOP], False)), Door.SHUT, Push, [yes], 0)


@pytest.mark.parametrize(("row", "called"), [(None, "no row"), (1, "row 1")])
def test_a_row_that_the_answers_do_not_lead_to_is_refused(row: int | None, called: str) -> None:
    table = build(([a], False), ([b], False))
    assert [one.found for one in heard(table, Door.SHUT, Push, [seen("a", True)], 0)] == [seen("a", True), None]
    with pytest.raises(ValueError, match=f"^hall: by its answers the step takes row 0, but it took {called}$"):
        heard(table, Door.SHUT, Push, [seen("a", True)], row)
