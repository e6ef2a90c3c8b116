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
from statecraft.testing.heard import heard


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


def question(name: str) -> Guard[Hall, Push]:
    def ask(run: Hall, event: Push) -> Evidence:
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


def build(*cell: tuple[list[Any], bool], mark: bool = True) -> Table[Hall, Door, Push, Any]:
    """A row of each list of guards, in order, in the cell of SHUT; those with True spend the oil."""
    rows = [row(Door.SHUT, Push, Door.OPEN, keep, *guards, spends=Stock.OIL if oil else None) for guards, oil in cell]
    marks = [ordered([Door.SHUT], [Push], "the first that holds is meant")] if mark else []
    return Table[Hall, Door, Push, Any](
        "hall",
        [*rows, row(Door.OPEN, Push, Door.SHUT, keep), *marks],
        events=[Push],
        initial=Door.SHUT,
        final=[],
        at=at,
        move=move,
        budgets={Stock.OIL: 1},
        purse=purse,
        pay=pay,
    )


def told(table: Table[Hall, Door, Push, Any], event: Push, run: Hall | None = None) -> list[tuple[int, str, bool]]:
    answer = table.step(run or Hall(), event)
    assert isinstance(answer, Step | Refused)
    return [(one.row, one.name, one.holds) for one in heard(table, answer.source, Push, answer.seen)]


def test_each_row_gets_its_own_answers_under_the_names_of_the_table() -> None:
    table = build(([a, b], True), ([b, c], False))
    assert told(table, Push({"a": 1, "c": 1})) == [
        (0, "oil_left", True),
        (0, "a", True),
        (0, "b", False),
        (1, "b", False),
    ]


def test_the_answer_to_a_question_that_is_asked_again_comes_back_for_each_row() -> None:
    table = build(([a, b], False), ([~a], False), ([a, c], False))
    assert told(table, Push({"a": 1, "c": 1}))[-2:] == [(2, "a", True), (2, "c", True)]


def test_a_reading_is_held_against_the_level_that_its_row_asks() -> None:
    table = build(([STOP], False), ([NUDGE], False), ([a], False))
    assert told(table, Push({"count": 1})) == [(0, "count at stop", False), (1, "count at nudge", True)]


def test_the_parts_of_a_combination_come_before_it() -> None:
    table = build(([a & ~b], False), ([a], False), mark=False)
    assert told(table, Push({"a": 1, "b": 1})) == [
        (0, "a", True),
        (0, "b", True),
        (0, "~b", False),
        (0, "(a & ~b)", False),
        (1, "a", True),
    ]


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
    {"a": st.booleans(), "b": st.booleans(), "c": st.booleans(), "count": st.integers(0, 3)}
)


@given(CELL, ANSWERS, st.integers(0, 1))
def test_every_answer_of_every_cell_finds_its_question(
    cell: list[tuple[list[Guard[Hall, Push]], bool]], answers: dict[str, int], oil: int
) -> None:
    table = next((made for mark in (True, False) if (made := built(cell, mark)) is not None), None)
    if table is None:
        return  # rows that no cell may have
    event = Push(answers)
    answer = table.step(Hall(left={Stock.OIL: oil}), event)
    assert isinstance(answer, Step | Refused)
    found = heard(table, answer.source, Push, answer.seen)
    assert list({id(one.found): one.found for one in found}.values()) == list(answer.seen)
    rows = {number: [one for one in found if one.row == number] for number in table.cell(Door.SHUT, Push)}
    for number, guards in enumerate(guards for guards, _ in cell):
        for one in guards:
            expected = one(Hall(), event).holds
            assert all(said.holds is expected for said in rows[number] if said.name == one.name)
    assert answer.row is None or rows[answer.row] == [] or rows[answer.row][-1].holds
    assert not any(one.row > answer.row for one in found if answer.row is not None)


def built(cell: list[tuple[list[Any], bool]], mark: bool) -> Table[Hall, Door, Push, Any] | None:
    try:
        return build(*cell, mark=mark)
    except BadTable:
        return None


def test_answers_that_do_not_fit_the_table_are_refused_with_the_question() -> None:
    table = build(([a, b], False), ([b], False), mark=False)
    yes, no = seen("says a", True), seen("says a", False)
    with pytest.raises(ValueError, match=r"^hall row 0: asks b, but the step has no answer to it$"):
        heard(table, Door.SHUT, Push, [yes])
    with pytest.raises(ValueError, match=r"^hall: the step has the answer extra, which no row of the cell asks$"):
        heard(table, Door.SHUT, Push, [no, seen("b", True), seen("extra", True)])
    with pytest.raises(ValueError, match=r"^hall row 0: a is answered with the Reading r$"):
        heard(table, Door.SHUT, Push, [Reading("r", 1, 2, 3, 4)])
