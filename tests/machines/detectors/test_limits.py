"""Where each detector speaks and where it stops: exactly there, and nowhere before."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.commands import Tell
from machines.detectors.roster import NUDGES, ROSTER
from machines.events import Call, Reply, StopReason, Text, TurnEnded
from machines.manifest import Tool
from machines.policy import DEFAULT, only
from machines.run import RUN
from machines.state import Phase, new_run
from machines.streaks import Streaks
from machines.turn import Answer, Turn
from statecraft import Scalar

from .counted import COUNTED, Counted, silence
from .told import Told, told

each = pytest.mark.parametrize("counted", COUNTED, ids=[counted.name for counted in COUNTED])


def found(counted: Counted, count: int, **more: Any) -> list[Told]:
    alone = only(DEFAULT.detectors, counted.detector)
    return told(counted.history(count), detectors=alone, tools=counted.tools, **more)


def test_every_detector_is_counted() -> None:
    assert {counted.detector for counted in COUNTED} == set(NUDGES)


@each
def test_the_limits_are_those_of_the_policy(counted: Counted) -> None:
    limits = getattr(DEFAULT.detectors, counted.detector)
    failing = "failing" in counted.note
    nudge, stop = (limits.failing_nudge, limits.failing_stop) if failing else (limits.nudge, limits.stop)
    assert (nudge, stop or 0) == (counted.nudge, counted.stop)


@each
def test_it_says_nothing_one_before_its_nudge(counted: Counted) -> None:
    assert [one.short for one in found(counted, counted.nudge - 1)] == []


@each
def test_it_speaks_or_stops_at_its_nudge(counted: Counted) -> None:
    (only_one,) = found(counted, counted.nudge)
    assert (only_one.verdict, only_one.by) == ("stop" if counted.stop == counted.nudge else "nudge", counted.detector)
    assert only_one.values["now"] == counted.nudge


@each
def test_it_speaks_once_and_stops_exactly_at_its_stop(counted: Counted) -> None:
    if not counted.stop:
        return
    before = [one.verdict for one in found(counted, counted.stop - 1)]
    assert before == (["nudge"] if counted.nudge < counted.stop else [])
    *earlier, last = found(counted, counted.stop)
    assert [one.verdict for one in earlier] == before
    assert (last.verdict, last.by, last.values["now"]) == ("stop", counted.detector, counted.stop)


@each
def test_what_was_said_holds_the_counters(counted: Counted) -> None:
    shown: dict[str, Scalar] = {"failing": "failing" in counted.note}
    for one in found(counted, counted.stop or counted.nudge):
        assert {"now", "stop", "turn"} <= one.values.keys()
        assert one.values.get("failing", shown["failing"]) == shown["failing"]
        assert one.values["turn"] == one.turn
        assert NUDGES[counted.detector](one.values)


@each
def test_other_words_of_the_model_change_nothing(counted: Counted) -> None:
    count = counted.stop or counted.nudge
    assert [one.short for one in found(counted, count, worded=True)] == [one.short for one in found(counted, count)]


@each
def test_switched_off_or_without_limits_it_is_silent(counted: Counted) -> None:
    """However far its count goes."""
    own = getattr(DEFAULT.detectors, counted.detector)
    none = {name: None for name in ("nudge", "stop", "failing_nudge", "failing_stop") if hasattr(own, name)}
    off = only(DEFAULT.detectors)
    endless = attrs.evolve(off, **{counted.detector: attrs.evolve(own, **none)})
    for detectors in (off, endless):
        assert told(counted.history(counted.stop or counted.nudge), detectors=detectors, tools=counted.tools) == []


@pytest.mark.parametrize("counted", [c for c in COUNTED if c.detector != "chanting"], ids=lambda c: c.name)
def test_where_it_never_stops_it_still_speaks_once(counted: Counted) -> None:
    own = getattr(DEFAULT.detectors, counted.detector)
    none = {name: None for name in ("stop", "failing_stop") if hasattr(own, name)}
    endless = attrs.evolve(only(DEFAULT.detectors, counted.detector), **{counted.detector: attrs.evolve(own, **none)})
    found = told(counted.history(counted.nudge + 3), detectors=endless, tools=counted.tools)
    assert [(one.verdict, one.by, one.values["now"]) for one in found] == [("nudge", counted.detector, counted.nudge)]


def test_a_look_that_was_spoken_of_is_not_spoken_of_again() -> None:
    """No history leads there, since a look ends what it is judged by; the row's guard says no all the same."""
    look = Turn(3, answers=(Answer("look", b"call", b"came"),))
    said = {True: ("redundant_check",), False: ()}
    for known, names in said.items():
        run = new_run("run", attrs.evolve(DEFAULT, detectors=only(DEFAULT.detectors, "redundant_check")))
        streaks = Streaks(told="read", nudged=names)
        acting = attrs.evolve(run, at=Phase.ACTING, turn=look, streaks=streaks, tools={"look": Tool(look=True)})
        commands = RUN.step(acting, TurnEnded(5.0)).commands
        assert any(isinstance(command, Tell) for command in commands) is not known


def test_only_where_a_detector_reads_failures_has_it_wider_limits_for_them() -> None:
    wider = {counted.detector for counted in COUNTED if counted.note == "failing"}
    have = {d.name for d in ROSTER if hasattr(getattr(DEFAULT.detectors, d.name), "failing_stop")}
    assert wider == have


def test_words_alone_stand_still_without_any_failure() -> None:
    """So that the wider limits, which wait for a failure to pass, do not hold."""
    for detector in ("no_progress", "stalled_work"):
        found = told(silence(9), detectors=only(DEFAULT.detectors, detector))
        assert (found[-1].short, found[-1].values["failing"]) == ((4, "stop", detector), False)


@pytest.mark.parametrize("name", ["validation_error", "empty_thought"])
def test_a_reply_that_may_come_to_something_reads_as_nothing(name: str) -> None:
    (detector,) = (d for d in ROSTER if d.name == name)
    assert detector.before is not None
    for calls in ((), (Call("1", "read", b"sign", Text("args", 4)),)):
        assert detector.before(new_run("run"), Reply(1.0, StopReason.TOOL_USE, calls)).now == 0
