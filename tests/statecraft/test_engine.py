"""How a cell is asked: rows in order, each question once, and by many threads at once."""

from __future__ import annotations

import gc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import (
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
from statecraft._engine import Asked


class Door(Enum):
    SHUT = auto()
    OPEN = auto()


@attrs.frozen
class Push:
    """An event that says how each question is answered, and counts how often it is asked."""

    answers: dict[str, int]
    asked: Counter[str] = attrs.Factory(Counter[str])


@attrs.frozen
class Hall:
    at: Door = Door.SHUT


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, state: Door) -> Hall:
    return Hall(state)


row = Rows[Hall, Door, Any]()


def question(name: str) -> Guard[Hall, Push]:
    def ask(run: Hall, event: Push) -> Evidence:
        event.asked[name] += 1
        return seen(name, bool(event.answers.get(name, 0)))

    ask.__name__ = name
    return guard(ask)


def count(run: Hall, event: Push) -> Reading:
    event.asked["count"] += 1
    return Reading("count", event.answers.get("count", 0), nudge=1, stop=2, most=9)


a, b, c = (question(name) for name in "abc")
NUDGE, STOP = reaches(count, Level.NUDGE), reaches(count, Level.STOP)


def build(*cell: list[Any]) -> Table[Hall, Door, Push, Any]:
    """A table with a row of each list of guards in the cell of SHUT, in order."""
    rows = [row(Door.SHUT, Push, Door.OPEN, keep, *guards) for guards in cell]
    rest = row(Door.OPEN, Push, Door.SHUT, keep)
    given: dict[str, Any] = {"events": [Push], "initial": Door.SHUT, "final": [], "at": at, "move": move}
    mark = [ordered([Door.SHUT], [Push], "the first that holds is meant")] if len(cell) > 1 else []
    return Table("hall", [*rows, rest, *mark], **given)


def names(answer: Any) -> list[str]:
    return [found.name for found in answer.seen]


@pytest.mark.parametrize(
    ("answers", "number"),
    [({"a": 1, "b": 1, "c": 1}, 0), ({"b": 1, "c": 1}, 1), ({"c": 1}, 2), ({}, None)],
)
def test_the_first_row_whose_guards_hold_is_taken(answers: dict[str, int], number: int | None) -> None:
    assert build([a], [b], [c]).step(Hall(), Push(answers)).row == number


def test_rows_behind_the_one_that_is_taken_ask_nothing() -> None:
    event = Push({"b": 1})
    step = build([a], [b], [c]).step(Hall(), event)
    assert names(step) == ["a", "b"]
    assert event.asked == Counter(a=1, b=1)


def test_a_row_ends_at_its_first_no() -> None:
    event = Push({"c": 1})
    refused = build([a, b], [b, c], [c, a]).step(Hall(), event)
    assert names(refused) == ["a", "b", "c"]
    assert event.asked == Counter(a=1, b=1, c=1)
    event = Push({})
    assert names(build([a, b, c]).step(Hall(), event)) == ["a"]


def test_and_and_or_ask_all_their_parts() -> None:
    for combined, answers in ((a & b & c, {"b": 1, "c": 1}), (a | b | c, {"a": 1})):
        event = Push(answers)
        answer = build([combined]).step(Hall(), event)
        assert event.asked == Counter(a=1, b=1, c=1)
        assert [name for name in names(answer) if len(name) == 1] == ["a", "b", "c"]
        assert names(answer)[-1] == combined.name


def test_each_question_is_asked_once_though_several_rows_stand_on_it() -> None:
    event = Push({"c": 1})
    table = build([STOP, a], [NUDGE, a], [a & b], [~b & a], [~a & ~(b | c)], [~a, ~b, c, ~NUDGE])
    step = table.step(Hall(), event)
    assert step.row == 5
    assert event.asked == Counter(a=1, b=1, c=1, count=1)


def test_the_same_function_is_one_question_with_and_without_its_guard() -> None:
    event = Push({"b": 1})
    plain: Any = a.function
    assert build([a, c], [plain, b], [b, c], [~guard(plain), b]).step(Hall(), event).row == 3
    assert event.asked["a"] == 1


def test_equal_guards_that_are_objects_are_one_question() -> None:
    event = Push({"a": 1})
    step = build([Named("a"), c], [Named("a"), b], [guard(Named("a"))]).step(Hall(), event)
    assert step.row == 2
    assert event.asked == Counter(a=1, b=1, c=1)


@attrs.frozen
class Named:
    """A guard that is an object."""

    asks: str

    def __call__(self, run: Hall, event: Push) -> Evidence:  # noqa: ARG002  # a guard need not use both
        event.asked[self.asks] += 1
        return seen(self.asks, bool(event.answers.get(self.asks)))


def test_the_next_event_asks_anew() -> None:
    table = build([a])
    event = Push({"a": 1})
    for times in (1, 2, 3):
        table.step(Hall(), event)
        assert event.asked["a"] == times


@pytest.mark.parametrize(("now", "number"), [(0, None), (1, 1), (2, 0), (3, 0)])
def test_a_reading_is_read_once_for_all_its_levels_and_kept_as_it_was(now: int, number: int | None) -> None:
    event = Push({"count": now})
    answer = build([STOP], [NUDGE, ~a], [a]).step(Hall(), event)
    assert answer.row == number
    assert isinstance(answer, Step | Refused)
    assert answer.seen[0] == Reading("count", now, 1, 2, 9)
    assert event.asked["count"] == 1


GUARDS = st.recursive(
    st.sampled_from([a, b, c, NUDGE, STOP]),
    lambda parts: st.one_of(
        parts.map(lambda one: ~one),
        st.tuples(parts, parts).map(lambda two: two[0] & two[1]),
        st.tuples(parts, parts).map(lambda two: two[0] | two[1]),
    ),
    max_leaves=6,
)
ANSWERS = st.fixed_dictionaries(
    {"a": st.booleans(), "b": st.booleans(), "c": st.booleans(), "count": st.integers(0, 3)}
)


@given(st.lists(GUARDS, min_size=1, max_size=4), ANSWERS)
def test_a_cell_asks_no_question_twice_and_decides_as_the_guards_alone_would(
    guards: list[Guard[Hall, Push]], answers: dict[str, int]
) -> None:
    event = Push(answers)
    answer = build(guards).step(Hall(), event)
    assert set(event.asked.values()) <= {1}
    assert (answer.row == 0) is all(one(Hall(), Push(answers)).holds for one in guards)


def test_many_threads_on_one_table_get_the_answers_of_one() -> None:
    table = build([STOP], [a & b], [~a, c], [b, ~c])
    every = [{"a": x, "b": y, "c": z, "count": n} for x in (0, 1) for y in (0, 1) for z in (0, 1) for n in (0, 1, 2)]
    alone = [table.step(Hall(), Push(answers)) for answers in every]
    with ThreadPoolExecutor(8) as threads:
        rounds = [threads.submit(lambda: [table.step(Hall(), Push(answers)) for answers in every]) for _ in range(64)]
        for one in rounds:
            assert one.result() == alone


def alive() -> int:
    gc.collect()
    return sum(isinstance(one, Asked | Push) for one in gc.get_objects())


def test_nothing_of_an_event_stays_behind_in_the_table() -> None:
    table = build([a])
    before = alive()
    for force in range(50):
        table.step(Hall(), Push({"a": force % 2}))
    assert alive() == before
