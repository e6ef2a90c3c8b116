"""Turns in a row in which nothing new came in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from machines.detectors.no_progress import no_progress, nudge
from machines.events import ErrorKind, GoalMeasured, PlanChanged, PlanItem, Said, Text, TurnEnded
from machines.policy import Budget, Detectors, Limits, Policy, Progress, only
from machines.state import new_run
from machines.streaks import Streaks
from machines.turn import Answer, Turn
from statecraft import Level, Reading, Scalar

NAME = "no_progress"
ALONE = only(Detectors(), NAME)
"""The other detectors are off."""

Judge = Callable[..., list[tuple[int, str, str]]]


def search(number: int, answer: object = "nothing") -> list[tuple[str, str, object]]:
    """A search in words of its own."""
    return [("search", f'{{"q": "{number}"}}', answer)]


def barren(turns: int, answer: object = "nothing") -> list[Any]:
    """Reworded searches that all find the same; the first of them is news."""
    return [search(number, answer) for number in range(turns + 1)]


NUDGED, STOPPED = (4, "nudge", NAME), (5, "stop", NAME)


@pytest.mark.parametrize(
    ("turns", "expected"), [(2, []), (3, [NUDGED]), (4, [NUDGED, STOPPED]), (9, [NUDGED, STOPPED])]
)
def test_it_nudges_at_the_third_turn_without_news_and_stops_at_the_fourth(
    judge: Judge, turns: int, expected: list[Any]
) -> None:
    assert judge(barren(turns), detectors=ALONE) == expected


def test_while_every_call_failed_it_waits_twice_as_long(judge: Judge) -> None:
    nudged, stopped = (7, "nudge", NAME), (9, "stop", NAME)
    failing = ErrorKind.TRANSIENT
    assert judge(barren(5, failing), detectors=ALONE) == []
    assert judge(barren(6, failing), detectors=ALONE) == [nudged]
    assert judge(barren(7, failing), detectors=ALONE) == [nudged]
    assert judge(barren(8, failing), detectors=ALONE) == [nudged, stopped]


def test_one_success_among_the_failures_ends_the_patience(judge: Judge) -> None:
    # What the success says was heard before, so the streak goes on with it.
    history = [search(0), *barren(3, ErrorKind.TRANSIENT), search(9)]
    assert judge(history, detectors=ALONE) == [(6, "stop", NAME)]
    assert judge([*history[:-1], search(9, ErrorKind.TRANSIENT)], detectors=ALONE) == []


def test_while_every_call_failed_or_went_unseen_it_waits_twice_as_long(judge: Judge) -> None:
    assert judge(barren(4, ...), detectors=ALONE) == []


def test_a_turn_of_talk_brings_nothing_either(judge: Judge) -> None:
    assert judge([search(0), [], [], []], detectors=ALONE) == [NUDGED]
    assert judge([search(0), [], [], search(1, "found"), [], []], detectors=ALONE) == []


# What counts as news.


@pytest.mark.parametrize("turns", [1, 50, 400])
def test_distinct_work_earns_no_verdict_at_any_length(judge: Judge, turns: int) -> None:
    assert judge([search(number, f"found {number}") for number in range(turns)]) == []


def test_one_new_result_starts_the_count_afresh(judge: Judge) -> None:
    history = [*barren(2), search(7, "found"), search(8), search(9)]
    assert judge(history, detectors=ALONE) == []
    assert judge([*history, search(10)], detectors=ALONE) == [(7, "nudge", NAME)]


@pytest.mark.parametrize(("kept", "verdicts"), [(8, []), (9, [(12, "nudge", NAME)])])
def test_a_result_is_news_again_when_it_is_not_among_the_last_of_its_tool(
    judge: Judge, kept: int, verdicts: list[Any]
) -> None:
    policy = Policy(
        budget=Budget(turns=100, seconds=None, tokens=None, usd=None),
        detectors=ALONE,
        progress=Progress(recent_results=kept),
    )
    # Nine results of one tool, then the first three of them again.
    history = [search(number, f"found {number % 9}") for number in range(12)]
    assert judge(history, policy=policy) == verdicts


def test_the_same_result_of_another_tool_is_news(judge: Judge) -> None:
    assert judge([[(f"tool {number}", "{}", "nothing")] for number in range(20)], detectors=ALONE) == []


def plan(*statuses: str) -> PlanChanged:
    return PlanChanged(1.0, tuple(PlanItem(Text(f"item {n}", 6), status) for n, status in enumerate(statuses)))


def test_a_closed_item_of_the_plan_is_news(judge: Judge) -> None:
    opened = plan("pending", "pending")
    history = [opened, *barren(2), plan("completed", "pending"), search(3), search(4), search(5), search(6)]
    assert judge(history, detectors=ALONE) == [(7, "nudge", NAME)]
    reworded = [opened, *barren(2), plan("in_progress", "pending"), search(3)]
    assert judge(reworded, detectors=ALONE) == [NUDGED]


def test_a_better_count_of_the_goal_is_news(judge: Judge) -> None:
    start = GoalMeasured(1.0, 0, 9)
    history = [start, *barren(2), GoalMeasured(1.0, 1, 9), search(3), search(4), search(5), search(6)]
    assert judge(history, detectors=ALONE) == [(7, "nudge", NAME)]
    assert judge([start, *barren(2), start, search(3)], detectors=ALONE) == [NUDGED]


def test_a_person_clears_it_and_a_program_in_a_persons_name_does_not(judge: Judge) -> None:
    words = Text("go on", 5)
    assert judge([*barren(2), Said(3.5, words), search(3), search(4)], detectors=ALONE) == []
    assert judge([*barren(2), Said(3.5, words, synthetic=True), search(3)], detectors=ALONE) == [NUDGED]
    # What is new is asked afresh, so the first of the new leg is.
    after_the_stop = [*barren(4), Said(5.5, words), *barren(3)]
    assert judge(after_the_stop, detectors=ALONE) == [NUDGED, STOPPED, (9, "nudge", NAME)]


# A turn is one unit.


def test_a_lap_of_several_calls_is_one_turn_in_any_order(judge: Judge) -> None:
    batch = [*search(1, "a"), *search(2, "b"), *search(3, "c")]
    shuffled = [batch, batch[::-1], batch[1:] + batch[:1], batch, batch[::-1]]
    assert judge(shuffled, detectors=ALONE) == [NUDGED, STOPPED]


def test_one_new_result_among_many_old_ones_is_news(judge: Judge) -> None:
    old = [*search(1, "a"), *search(2, "b")]
    assert judge([old + search(number, f"found {number}") for number in range(3, 20)], detectors=ALONE) == []


# The reading itself.


def test_a_reading_at_rest_carries_no_more_than_its_numbers() -> None:
    assert no_progress(new_run("run", Policy(budget=Budget(turns=5))), TurnEnded(1.0)) == Reading(NAME, 1, 3, 4, 5)


def test_the_most_it_can_reach_is_the_turns_or_those_that_the_tokens_allow() -> None:
    for budget, most in (
        (Budget(turns=5, tokens=9), 5),
        (Budget(turns=None, tokens=9), 9),
        (Budget(turns=None, tokens=None, unbounded=True), 2**31 - 1),
    ):
        assert no_progress(new_run("run", Policy(budget=budget)), TurnEnded(1.0)).most == most


def test_a_reading_that_speaks_says_what_was_last_new() -> None:
    run = new_run("run", Policy(budget=Budget(turns=60)))
    streaks = Streaks(barren=2, barren_ok=2, last_signal="plan", last_signal_turn=4)
    reading = no_progress(
        attrs.evolve(run, streaks=streaks, turn=Turn(7, answers=(Answer("a", b"a", b"a"),))), TurnEnded(1.0)
    )
    seen: dict[str, Scalar] = {
        "last_signal": "plan",
        "last_signal_turn": 4,
        "turn": 7,
        "tools": "a",
        "signatures": b"a".hex(),
        "failing": False,
    }
    assert reading == Reading(NAME, 3, 3, 4, 60, seen)
    assert reading.level is Level.NUDGE


def test_it_can_be_switched_off_and_given_other_limits(judge: Judge) -> None:
    off = only(Detectors())
    assert judge(barren(30), detectors=off) == []
    wide = attrs.evolve(ALONE, no_progress=Limits(nudge=1, stop=6))
    assert judge(barren(6), detectors=wide) == [(2, "nudge", NAME), (7, "stop", NAME)]


def test_what_the_model_is_told_says_how_long() -> None:
    assert "For 3 turns" in nudge({"now": 3})
