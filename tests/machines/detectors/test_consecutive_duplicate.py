"""The same call with the same outcome, back to back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from machines.detectors.consecutive_duplicate import consecutive_duplicate, nudge
from machines.events import (
    Begin,
    Call,
    ErrorKind,
    GoalMeasured,
    PlanChanged,
    PlanItem,
    Reply,
    Said,
    StopReason,
    Text,
    TurnEnded,
)
from machines.policy import Budget, Detectors, Limits, Policy, only
from machines.state import new_run
from machines.streaks import Streaks
from machines.supervisor import Moved, feed
from machines.turn import Answer, Turn
from statecraft import Level, Reading, Step

NAME = "consecutive_duplicate"
ALONE = only(Detectors(), NAME)
"""The other detector is off."""

Judge = Callable[..., list[tuple[int, str, str]]]

SAME = [("search", '{"q": "x"}', "nothing")]
FAILING = [("search", '{"q": "x"}', ErrorKind.TRANSIENT)]
UNSEEN = [("search", '{"q": "x"}', ...)]
OTHER = [("search", '{"q": "y"}', "nothing")]
NUDGED, STOPPED = (3, "nudge", NAME), (4, "stop", NAME)


@pytest.mark.parametrize(
    ("turns", "expected"), [(2, []), (3, [NUDGED]), (4, [NUDGED, STOPPED]), (9, [NUDGED, STOPPED])]
)
def test_it_nudges_at_the_third_and_stops_at_the_fourth(judge: Judge, turns: int, expected: list[Any]) -> None:
    assert judge([SAME] * turns, detectors=ALONE) == expected


@pytest.mark.parametrize("turn", [FAILING, UNSEEN], ids=["failing", "unseen"])
def test_while_none_succeeded_it_waits_nearly_twice_as_long(judge: Judge, turn: Any) -> None:
    nudged, stopped = (4, "nudge", NAME), (7, "stop", NAME)
    assert judge([turn] * 3, detectors=ALONE) == []
    assert judge([turn] * 4, detectors=ALONE) == [nudged]
    assert judge([turn] * 6, detectors=ALONE) == [nudged], "it speaks once in a streak"
    assert judge([turn] * 7, detectors=ALONE) == [nudged, stopped]


def test_one_success_after_failures_is_another_outcome(judge: Judge) -> None:
    assert judge([*[FAILING] * 3, *[SAME] * 2, *[FAILING] * 3], detectors=ALONE) == []


def test_two_kinds_of_failure_are_two_outcomes(judge: Judge) -> None:
    timeout = [("search", '{"q": "x"}', ErrorKind.TIMEOUT)]
    assert judge([FAILING, timeout] * 6, detectors=ALONE) == []


def test_a_changed_answer_is_another_outcome(judge: Judge) -> None:
    ticking = [[("status", "{}", {"done": number})] for number in range(20)]
    assert judge(ticking, detectors=ALONE) == []
    assert judge([*ticking[:5], *[ticking[4]] * 2], detectors=ALONE) == [(7, "nudge", NAME)]


def test_what_only_ticks_is_the_same_answer(judge: Judge) -> None:
    ticking = [[("status", "{}", {"state": "up", "at": f"2026-03-17T09:00:{number:02}Z"})] for number in range(4)]
    assert judge(ticking, detectors=ALONE) == [NUDGED, STOPPED]


def test_arguments_that_say_the_same_are_the_same_call(judge: Judge) -> None:
    spelled = ['{"q": "x", "n": 1}', '{ "n":1.0, "q":"x" }', '{"q":"\\u0078","n":1}']
    assert judge([[("search", args, "nothing")] for args in spelled], detectors=ALONE) == [NUDGED]


def test_only_what_is_back_to_back_counts_and_words_between_are_nothing(judge: Judge) -> None:
    assert judge([SAME, SAME, OTHER] * 6, detectors=ALONE) == []
    assert judge([SAME, SAME, [], SAME, [], SAME], detectors=ALONE) == [(4, "nudge", NAME), (6, "stop", NAME)]


def test_a_streak_that_was_broken_is_nudged_again_when_it_comes_back(judge: Judge) -> None:
    history = [*[SAME] * 3, OTHER, *[SAME] * 3]
    assert judge(history, detectors=ALONE) == [NUDGED, (7, "nudge", NAME)]


# A turn is one unit, and counts as often as it made the call.


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([2], []),
        ([3], [(1, "nudge", NAME)]),
        ([4], [(1, "stop", NAME)]),
        ([30], [(1, "stop", NAME)]),
        ([2, 1], [(2, "nudge", NAME)]),
        ([2, 2], [(2, "stop", NAME)]),
        ([1, 1, 2], [(3, "stop", NAME)]),
    ],
)
def test_a_turn_of_equal_calls_counts_each(judge: Judge, sizes: list[int], expected: list[Any]) -> None:
    assert judge([SAME * size for size in sizes], detectors=ALONE) == expected


def test_a_turn_with_another_call_beside_it_is_not_this_shape(judge: Judge) -> None:
    assert judge([SAME + OTHER] * 9, detectors=ALONE) == []
    assert judge([SAME, SAME, SAME + OTHER, SAME, SAME], detectors=ALONE) == []


# What clears it.


def plan(*statuses: str) -> PlanChanged:
    return PlanChanged(1.0, tuple(PlanItem(Text(f"item {n}", 6), status) for n, status in enumerate(statuses)))


def test_a_closed_item_of_the_plan_clears_it(judge: Judge) -> None:
    opened = plan("pending", "pending")
    history = [opened, SAME, SAME, plan("completed", "pending"), *[SAME] * 4]
    assert judge(history, detectors=ALONE) == [(6, "nudge", NAME)]
    reworded = [opened, SAME, SAME, plan("in_progress", "pending"), SAME]
    assert judge(reworded, detectors=ALONE) == [NUDGED]


def test_a_better_count_of_the_goal_clears_it(judge: Judge) -> None:
    start = GoalMeasured(1.0, 0, 9)
    history = [start, SAME, SAME, GoalMeasured(1.0, 1, 9), *[SAME] * 4]
    assert judge(history, detectors=ALONE) == [(6, "nudge", NAME)]
    no_better = [start, SAME, SAME, start, SAME]
    assert judge(no_better, detectors=ALONE) == [NUDGED]


def test_a_new_state_clears_it_and_a_new_result_alone_does_not() -> None:
    # One turn whose result is new as well: the third of one outcome is the third all the same.
    run = new_run("run")
    before = Streaks(same=b"same", same_count=2, same_ok=2)
    turn = Turn(3, answers=(Answer("write", b"call", b"same"),), signal="result")
    reading = consecutive_duplicate(attrs.evolve(run, streaks=before, turn=turn), TurnEnded(1.0))
    assert (reading.now, reading.level) == (3, Level.NUDGE)
    cleared = attrs.evolve(turn, signal="state", strong=True)
    assert consecutive_duplicate(attrs.evolve(run, streaks=before, turn=cleared), TurnEnded(1.0)).now == 0


def test_a_person_clears_it_and_a_program_in_a_persons_name_does_not(judge: Judge) -> None:
    words = Text("go on", 5)
    assert judge([SAME, SAME, Said(2.5, words), SAME, SAME], detectors=ALONE) == []
    assert judge([SAME, SAME, Said(2.5, words, synthetic=True), SAME], detectors=ALONE) == [NUDGED]
    stopped = [*[SAME] * 4, Said(4.5, words), *[SAME] * 3]
    assert judge(stopped, detectors=ALONE) == [NUDGED, STOPPED, (7, "nudge", NAME)]


# The reading itself.


def test_a_reading_at_rest_carries_no_more_than_its_numbers() -> None:
    policy = Policy(budget=Budget(turns=5, calls_per_turn=7))
    run = attrs.evolve(new_run("run", policy), turn=Turn(1, answers=(Answer("read", b"call", b"one"),)))
    assert consecutive_duplicate(run, TurnEnded(1.0)) == Reading(NAME, 1, 3, 4, 35)
    # Where no call was made none succeeded, and the wider limits hold.
    assert consecutive_duplicate(new_run("run", policy), TurnEnded(1.0)) == Reading(NAME, 0, 4, 7, 35)


def test_a_reading_that_speaks_says_of_what() -> None:
    run = new_run("run", Policy(budget=Budget(turns=5, calls_per_turn=7)))
    failed = Answer("search", b"call", b"same", error=ErrorKind.OTHER)
    turn = Turn(9, answers=(failed,) * 3)
    assert consecutive_duplicate(attrs.evolve(run, turn=turn), TurnEnded(1.0)).level is Level.REST
    four = attrs.evolve(turn, answers=(failed,) * 4)
    reading = consecutive_duplicate(attrs.evolve(run, turn=four), TurnEnded(1.0))
    assert reading == Reading(
        NAME, 4, 4, 7, 35, {"tool": "search", "turn": 9, "signatures": b"call".hex(), "failing": True}
    )


def test_a_count_is_never_above_the_most_that_it_can_reach() -> None:
    run = feed(new_run("run", Policy(budget=Budget(turns=1, calls_per_turn=1))), Begin(0.0)).run
    garbled = tuple(Call(str(n), "search", b"signature", Text("{", 1), parsed=False) for n in range(5))
    reply = feed(run, Reply(1.0, StopReason.TOOL_USE, garbled))
    readings = [
        found
        for move in reply.moves
        if isinstance(move, Moved) and isinstance(move.answer, Step)
        for found in move.answer.seen
        if isinstance(found, Reading)
    ]
    assert readings
    assert all(found.now <= found.most for found in readings)


def test_it_can_be_switched_off_and_given_other_limits(judge: Judge) -> None:
    off = only(Detectors())
    assert judge([SAME] * 30, detectors=off) == []
    wide = attrs.evolve(ALONE, consecutive_duplicate=Limits(nudge=1, stop=6))
    assert judge([SAME] * 6, detectors=wide) == [(1, "nudge", NAME), (6, "stop", NAME)]
    at_once = attrs.evolve(ALONE, consecutive_duplicate=Limits(nudge=2, stop=2))
    assert judge([SAME] * 2, detectors=at_once) == [(2, "stop", NAME)]


def test_what_the_model_is_told_names_the_tool_and_the_count() -> None:
    told = nudge({"tool": "search", "now": 3})
    assert "The same call of search" in told
    assert "3 times" in told
