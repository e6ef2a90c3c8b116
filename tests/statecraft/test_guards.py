"""Guards, readings and evidence, with no table around them."""

from __future__ import annotations

import functools
from enum import Enum
from itertools import product

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import Evidence, Guard, Level, Reading, guard, reaches, seen, value_is
from statecraft.guards import as_guard, name_of


@attrs.frozen
class Push:
    force: int


@attrs.frozen
class Hall:
    needed: int


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.force >= run.needed, force=event.force, needed=run.needed)


def tired(run: Hall, event: Push) -> Reading:
    return Reading("tired", now=event.force, nudge=3, stop=5, most=9, seen={"needed": run.needed})


def fixed(name: str, holds: bool, asked: list[str]) -> Guard[Hall, Push]:
    """A guard that always answers the same and notes that it was asked."""

    def ask(run: Hall, event: Push) -> Evidence:
        asked.append(name)
        return seen(name, holds)

    ask.__name__ = name
    return guard(ask)


def test_evidence_holds_its_name_its_answer_and_the_values_it_looked_at() -> None:
    found = strong(Hall(2), Push(3))
    assert (found.name, found.holds, dict(found.seen)) == ("strong", True, {"force": 3, "needed": 2})


def test_evidence_of_nothing_has_no_values() -> None:
    assert dict(seen("alone", False).seen) == {}


def test_a_value_may_be_called_name_or_holds() -> None:
    assert dict(seen("who", True, name="ada", holds=False).seen) == {"name": "ada", "holds": False}


@pytest.mark.parametrize(
    ("now", "level"),
    [(0, Level.REST), (2, Level.REST), (3, Level.NUDGE), (4, Level.NUDGE), (5, Level.STOP), (6, Level.STOP)],
)
def test_a_reading_changes_its_level_at_its_limits(now: int, level: Level) -> None:
    assert Reading("tired", now, nudge=3, stop=5, most=9).level is level


@given(st.integers(), st.integers(), st.integers())
def test_the_level_never_falls_as_the_count_grows(now: int, nudge: int, stop: int) -> None:
    assert Reading("r", now, nudge, stop, 9).level <= Reading("r", now + 1, nudge, stop, 9).level


@given(st.integers(), st.integers())
def test_at_the_stop_limit_a_reading_stops_wherever_its_nudge_limit_is(nudge: int, stop: int) -> None:
    assert Reading("r", stop, nudge, stop, 9).level is Level.STOP


def test_a_guard_answers_like_its_function() -> None:
    assert guard(strong)(Hall(2), Push(3)) == strong(Hall(2), Push(3))
    assert guard(strong)(Hall(2), Push(1)) == strong(Hall(2), Push(1))


@pytest.mark.parametrize(("one", "other"), list(product([True, False], repeat=2)))
def test_and_or_not_answer_as_logic_does_and_ask_both_sides(one: bool, other: bool) -> None:
    asked: list[str] = []
    a, b = fixed("a", one, asked), fixed("b", other, asked)
    for combined, expected in ((a & b, one and other), (a | b, one or other), (~a & ~b, not one and not other)):
        asked.clear()
        assert combined(Hall(0), Push(0)).holds is expected
        assert asked == ["a", "b"]


def test_a_guard_is_combined_with_a_plain_function() -> None:
    both = guard(strong) & strong
    assert both.name == "(strong & strong)"
    assert both(Hall(2), Push(2)).holds
    assert not both(Hall(2), Push(1)).holds


def test_the_name_of_a_combination_shows_how_it_is_made() -> None:
    a, b, c = (fixed(name, True, []) for name in "abc")
    assert (a & (b | ~c)).name == "(a & (b | ~c))"
    assert (~(a & b) | c).name == "(~(a & b) | c)"
    assert repr(a & b) == "<guard (a & b)>"


@pytest.mark.parametrize(
    ("force", "level", "holds"),
    [
        (2, Level.NUDGE, False),
        (3, Level.NUDGE, True),
        (5, Level.NUDGE, True),
        (4, Level.STOP, False),
        (5, Level.STOP, True),
    ],
)
def test_a_reading_reaches_a_level_from_its_limit_on(force: int, level: Level, holds: bool) -> None:
    assert reaches(tired, level)(Hall(2), Push(force)).holds is holds


def test_what_a_reading_reaches_shows_its_count_its_limits_and_what_it_rests_on() -> None:
    found = reaches(tired, Level.STOP)(Hall(2), Push(4))
    assert found.name == "tired at stop"
    assert dict(found.seen) == {"now": 4, "nudge": 3, "stop": 5, "most": 9, "needed": 2}


@attrs.frozen
class Stronger:
    """A guard that is an object."""

    than: int

    def __call__(self, run: Hall, event: Push) -> Evidence:
        return seen("stronger", event.force > self.than + run.needed)


def test_questions_are_named_after_their_function() -> None:
    assert name_of(strong) == "strong"
    assert name_of(guard(strong)) == "strong"
    assert name_of(functools.partial(strong, Hall(2))) == "strong"
    assert name_of(Stronger(1)) == "Stronger"
    assert name_of(reaches(tired, Level.NUDGE)) == "tired at nudge"


def test_only_a_guard_is_a_guard() -> None:
    made = guard(strong)
    assert as_guard(made) is made
    assert as_guard(strong) is None


# What a value is


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def colour(run: Hall, event: Push) -> Colour | None:
    return {1: Colour.RED, 2: Colour.BLUE}.get(event.force)


@pytest.mark.parametrize(("force", "holds", "shown"), [(1, True, "red"), (2, False, "blue"), (3, True, None)])
def test_a_value_is_one_of_those_that_are_wanted(force: int, holds: bool, shown: str | None) -> None:
    found = value_is("warm", "colour", colour, Colour.RED, None)(Hall(0), Push(force))
    assert (found.name, found.holds, dict(found.seen)) == ("warm", holds, {"colour": shown})
