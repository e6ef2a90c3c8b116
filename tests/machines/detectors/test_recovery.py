"""A run that has just recovered is given a turn; a tool that may repeat is only told."""

from __future__ import annotations

import pytest

from machines.events import ErrorKind
from machines.manifest import Kind, Tool
from machines.policy import DEFAULT, only

from .counted import with_work
from .incidents import ASKED, LOST, READ, work
from .told import Call, Happening, Verdict, told

CONSECUTIVE, SPREAD = "consecutive_duplicate", "spread_duplicate"


def alone(name: str, *history: Happening, repeats: str = "") -> list[Verdict]:
    tools = {repeats: Tool(repeats=True)} if repeats else {}
    return [one.short for one in told(history, detectors=only(DEFAULT.detectors, name), tools=tools)]


def test_a_success_right_after_a_failure_is_not_counted_against() -> None:
    four = ASKED * 4
    assert alone(CONSECUTIVE, four) == [(1, "stop", CONSECUTIVE)]
    assert alone(CONSECUTIVE, LOST, four) == []
    assert alone(CONSECUTIVE, LOST, [], four) == [], "words between change nothing"
    assert alone(CONSECUTIVE, LOST, work(0), four) == [(3, "stop", CONSECUTIVE)], "it has recovered a turn ago"
    assert alone(CONSECUTIVE, LOST + work(0), four) == [(2, "stop", CONSECUTIVE)], "not all of it had failed"
    assert alone(CONSECUTIVE, LOST, LOST + four) == [], "not all of it is one call"


def test_the_turn_is_passed_over_and_its_calls_are_not_forgotten() -> None:
    assert alone(CONSECUTIVE, LOST, ASKED * 2, ASKED) == [(3, "nudge", CONSECUTIVE)]
    assert alone(CONSECUTIVE, LOST, ASKED * 4, ASKED) == [(3, "stop", CONSECUTIVE)]
    assert alone(SPREAD, LOST, READ * 5) == []
    assert alone(SPREAD, LOST, READ * 5, work(0)) == [(3, "nudge", SPREAD)]
    assert alone(SPREAD, READ * 5) == [(1, "nudge", SPREAD)]


def test_a_failure_after_a_failure_is_no_recovery() -> None:
    other: list[Call] = [("other", "{}", ErrorKind.TIMEOUT)]
    assert alone(CONSECUTIVE, other, LOST * 7) == [(2, "stop", CONSECUTIVE)]
    assert alone(CONSECUTIVE, other, [("ask", "{}", ...)] * 7) == [(2, "stop", CONSECUTIVE)], "nor is what nobody saw"


def test_a_recovery_between_does_not_let_it_speak_twice_of_one_streak() -> None:
    """Each piece of work is a success right after a failure; the failures are one streak all the same."""
    found = alone(SPREAD, *with_work(*[LOST] * 20))
    assert found == [(19, "nudge", SPREAD), (39, "stop", SPREAD)]


@pytest.mark.parametrize("answer", ["the same terms", ErrorKind.TRANSIENT, ...])
def test_a_tool_that_may_repeat_is_told_of_repetitions_once_and_never_stopped(answer: object) -> None:
    call: list[Call] = [("open", '{"doc": "terms"}', answer)]
    spread = with_work(*[call] * 60)
    (nudge,) = alone(SPREAD, *spread, repeats="open")
    assert nudge[1:] == ("nudge", SPREAD)
    assert alone(SPREAD, *spread)[-1][1] == "stop"
    assert [one[1] for one in alone(CONSECUTIVE, *[call] * 60, repeats="open")] == ["nudge"]


@pytest.mark.parametrize("detector", ["no_progress", "stalled_work", "fruitless_tool"])
def test_a_tool_that_may_repeat_is_judged_by_the_others_as_any_is(detector: str) -> None:
    history = [READ] * 30
    assert alone(detector, *history, repeats="open") == alone(detector, *history) != []


def test_a_tool_that_polls_is_exempt_from_the_count_of_one_tool_and_one_that_repeats_is_not() -> None:
    assert alone("same_tool", *[READ] * 40)[-1] == (25, "stop", "same_tool")
    assert alone("same_tool", *[READ] * 40, repeats="open")[-1] == (25, "stop", "same_tool")
    polled = told([READ] * 40, detectors=only(DEFAULT.detectors, "same_tool"), tools={"open": Tool(poll=True)})
    assert polled == []


def test_two_tools_that_repeat_are_not_one() -> None:
    """What one may do, the other may not."""
    other: list[Call] = [("view", '{"doc": "terms"}', "the same terms")]
    history = [one for n in range(12) for one in (READ, other, work(n))]
    assert alone(SPREAD, *history, repeats="open")[:1] == [(13, "nudge", SPREAD)]
    assert [one[1] for one in alone(SPREAD, *with_work(*[READ + other] * 12), repeats="open")] == ["nudge", "stop"]


@pytest.mark.parametrize("between", [[], [("think", '{"thought": "x"}', "ok")]], ids=["words", "a thought"])
def test_words_and_thoughts_after_a_recovery_change_nothing(between: list[Call]) -> None:
    failed: list[Call] = [("run", "{}", ErrorKind.OTHER)]
    good: list[Call] = [("run", "{}", "good")]
    tools = {"think": Tool(kind=Kind.THINK)}
    alone_ = only(DEFAULT.detectors, "consecutive_duplicate")
    assert [one.short[1] for one in told([failed, good * 4, between], detectors=alone_, tools=tools)] == []
