"""A look at what a success had already told: said once until the next such success, and never a stop."""

from __future__ import annotations

from machines.events import ErrorKind
from machines.manifest import Tool
from machines.policy import DEFAULT, only

from .incidents import SEEN, work
from .told import Call, Happening, Told, Verdict, told

NAME = "redundant_check"
LOOK: list[Call] = SEEN
OTHER_LOOK: list[Call] = [("peek", "{}", "the desktop, as it was")]
FAILED: list[Call] = [("work", '{"step": "bad"}', ErrorKind.OTHER)]
TOOLS = {"look": Tool(look=True), "peek": Tool(look=True)}


def found(*history: Happening) -> list[Told]:
    return told(history, detectors=only(DEFAULT.detectors, NAME), tools=TOOLS)


def turns(*history: Happening) -> list[Verdict]:
    return [one.short for one in found(*history)]


def test_a_look_after_a_success_that_shows_nothing_new_is_told() -> None:
    (one,) = found(LOOK, work(0), LOOK)
    assert (one.short, one.values["told_by"]) == ((3, "nudge", NAME), "work")


def test_a_look_that_shows_something_new_is_none() -> None:
    changed: list[Call] = [("look", "{}", "a window has opened")]
    assert turns(LOOK, work(0), changed) == []


def test_it_is_told_once_until_the_next_success() -> None:
    assert turns(LOOK, work(0), LOOK, LOOK, LOOK) == [(3, "nudge", NAME)]
    assert turns(LOOK, work(0), LOOK, work(1), LOOK) == [(3, "nudge", NAME), (5, "nudge", NAME)]
    assert turns(LOOK, work(0), LOOK, work(0), LOOK) == [(3, "nudge", NAME)], "that had been told before"


def test_it_never_stops_a_run() -> None:
    history = [turn for n in range(200) for turn in (LOOK, work(n))]
    patient = only(DEFAULT.detectors, NAME)
    assert {one.verdict for one in told(history, detectors=patient, tools=TOOLS)} == {"nudge"}


def test_a_look_after_another_look_is_a_matter_for_others() -> None:
    assert turns(LOOK, OTHER_LOOK, LOOK, OTHER_LOOK, LOOK) == []


def test_a_turn_that_does_anything_else_is_no_look() -> None:
    assert turns(LOOK, work(0), LOOK + work(1)) == []
    assert turns(LOOK, work(0), [*LOOK, ("work", '{"step": 0}', "step 0 came to 0")]) == []
    assert turns(LOOK, work(0), []) == []


def test_only_a_tool_that_says_that_it_only_looks_is_judged() -> None:
    history = [turn for n in range(9) for turn in (LOOK, work(n))]
    assert told(history, detectors=only(DEFAULT.detectors, NAME)) == []


def test_a_look_right_after_a_recovery_is_told_too() -> None:
    old: list[Call] = [("work", '{"step": 0}', "step 0 came to 0")]  # a success that says nothing new
    (one,) = found(LOOK, old, FAILED, old, LOOK)
    assert (one.short, one.values["recovered"]) == ((5, "nudge", NAME), True)
    assert turns(LOOK, old, FAILED, old, [], LOOK) == [(6, "nudge", NAME)], "words between change nothing"
    assert turns(LOOK, old, FAILED, old, old, LOOK) == [], "it has recovered a turn ago"
    assert turns(LOOK, old, FAILED, LOOK) == [], "nothing has succeeded yet"


def test_a_look_that_fails_or_is_not_seen_shows_nothing_to_go_by() -> None:
    for answer in (ErrorKind.TIMEOUT, ...):
        assert turns([("look", "{}", answer)], work(0), [("look", "{}", answer)]) == []
