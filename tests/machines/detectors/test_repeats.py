"""A tool that declares that it may be asked again is only told of its repetitions, and never stopped for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from machines.detectors.consecutive_duplicate import consecutive_duplicate
from machines.events import ErrorKind, TurnEnded
from machines.manifest import Tool
from machines.policy import Detectors, Limits, only
from machines.state import new_run
from machines.streaks import Streaks
from machines.turn import Answer, Turn
from statecraft import Level

NAME = "consecutive_duplicate"
ALONE = only(Detectors(), NAME)
TOOLS = {"tail": Tool(repeats=True)}

Judge = Callable[..., list[tuple[int, str, str]]]


def asking(answer: object) -> list[tuple[str, str, object]]:
    return [("tail", "{}", answer)]


@pytest.mark.parametrize(("answer", "nudged", "stopped"), [("nothing", 3, 4), (ErrorKind.TRANSIENT, 4, 7), (..., 4, 7)])
def test_it_is_nudged_like_any_other_and_not_stopped(judge: Judge, answer: object, nudged: int, stopped: int) -> None:
    nudge: Any = (nudged, "nudge", NAME)
    history = [asking(answer)] * 30
    assert judge(history[: nudged - 1], detectors=ALONE, tools=TOOLS) == []
    assert judge(history, detectors=ALONE, tools=TOOLS) == [nudge]
    assert judge(history, detectors=ALONE) == [nudge, (stopped, "stop", NAME)]


def test_many_at_once_are_no_stop_either(judge: Judge) -> None:
    assert judge([asking("nothing") * 30], detectors=ALONE, tools=TOOLS) == [(1, "nudge", NAME)]


def test_that_nothing_new_comes_in_is_another_rules_to_say(judge: Judge) -> None:
    assert judge([asking("nothing")] * 9, tools=TOOLS)[-1] == (5, "stop", "no_progress")


@pytest.mark.parametrize(("repeats", "level"), [(True, Level.NUDGE), (False, Level.STOP)])
def test_its_count_stays_below_the_stop(repeats: bool, level: Level) -> None:
    run = new_run("run", tools={"tail": Tool(repeats=repeats)})
    streaks = Streaks(same=b"same", same_count=50, same_ok=50)
    turn = Turn(9, answers=(Answer("tail", b"call", b"same"),))
    reading = consecutive_duplicate(attrs.evolve(run, streaks=streaks, turn=turn), TurnEnded(1.0))
    assert reading.level is level
    assert reading.now == (reading.stop - 1 if repeats else 51)


def test_where_a_nudge_and_a_stop_are_one_it_is_not_told_either(judge: Judge) -> None:
    at_once = attrs.evolve(ALONE, consecutive_duplicate=Limits(nudge=2, stop=2))
    assert judge([asking("nothing")] * 9, detectors=at_once, tools=TOOLS) == []
    assert judge([asking("nothing")] * 9, detectors=at_once) == [(2, "stop", NAME)]
