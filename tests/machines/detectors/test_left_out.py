"""What the roster does not hold: what is said to cover a guard that was left out does, and what none sees none does."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from machines.detectors.left_out import LEFT_OUT, UNSEEN
from machines.detectors.roster import SHAPES
from machines.manifest import Kind, Tool
from machines.policy import DEFAULT, Detectors, only

Judge = Callable[..., list[tuple[int, str, str]]]
Turn = list[tuple[str, str, object]]


def run(command: str, answer: object) -> Turn:
    return [("bash", f'{{"command": "{command}"}}', answer)]


def test_a_sleep_detector_is_the_first_that_was_left_out() -> None:
    assert LEFT_OUT[0].name == "sleep"
    assert LEFT_OUT[0].covered_by == ("spread_duplicate", "fruitless_tool", "same_tool")
    assert "idle time-out" in LEFT_OUT[0].beside


def test_what_covers_a_guard_is_in_the_roster_and_the_guard_is_not() -> None:
    for out in LEFT_OUT:
        assert out.name not in SHAPES
        assert out.covered_by
        assert set(out.covered_by) <= set(SHAPES)
        assert len(set(out.covered_by)) == len(out.covered_by)


def test_what_none_can_see_is_named_with_whose_job_it_is() -> None:
    assert [unseen.name for unseen in UNSEEN] == ["direction", "the first act", "a tool that lies"]
    assert all(text for unseen in UNSEEN for text in attrs.astuple(unseen))


# Sleep: one command again and again, in other words, and many at once.


def noted(n: int) -> Turn:
    return [("note", f'{{"n": {n}}}', f"noted {n}")]


WAITS: list[Turn] = [turn for n in range(12) for turn in (run("sleep 5 && make", "no rule"), noted(n))]
REWORDED: list[Turn] = [turn for n in range(12) for turn in (run(f"sleep {n + 1} && make", "no rule"), noted(n))]


@pytest.mark.parametrize(
    ("history", "by"),
    [(WAITS, "spread_duplicate"), (WAITS, "fruitless_tool"), (REWORDED, "fruitless_tool")],
    ids=["the same with others between", "the same, by its tool", "ever longer"],
)
def test_a_sleep_that_waits_for_nothing_is_stopped_by_what_covers_it(
    judge: Judge, history: list[Turn], by: str
) -> None:
    assert [(verdict, who) for _, verdict, who in judge(history, detectors=only(Detectors(), by))] == [
        ("nudge", by),
        ("stop", by),
    ]


def test_a_sleep_between_arguments_that_change_in_turn_is_stopped_by_the_tools_own_count(judge: Judge) -> None:
    history = [run(f"sleep {n % 5} && make", f"no rule {n % 5}") for n in range(60)]
    found = judge(history, detectors=only(Detectors(), "same_tool"))
    assert [verdict for _, verdict, _ in found] == ["nudge", "stop"]


def test_sleeps_side_by_side_that_each_bring_their_own_are_left_alone(judge: Judge) -> None:
    batch = [call for n in range(8) for call in run(f"sleep 5; echo {n}", f"slept, {n}")]
    assert judge([batch]) == []


@pytest.mark.parametrize("name", [name for out in LEFT_OUT[1:2] for name in out.covered_by])
def test_a_call_that_comes_again_is_seen_by_what_covers_its_hash(judge: Judge, name: str) -> None:
    again, other = run("ls", "a b"), run("ls sub", "c d")
    history = {
        "consecutive_duplicate": [again] * 9,
        "spread_duplicate": [turn for n in range(20) for turn in (again, [("read", f'{{"n": {n}}}', f"page {n}")])],
        "cycle": [again, other] * 9,
    }[name]
    assert judge(history, detectors=only(Detectors(), name))[-1][1:] == ("stop", name)


@pytest.mark.parametrize("name", LEFT_OUT[2].covered_by)
def test_pages_that_are_read_again_are_seen_by_what_covers_their_count(judge: Judge, name: str) -> None:
    tools = {"fetch": Tool(Kind.READ, source=("url",))}
    laps = [[("fetch", f'{{"url": "{page}"}}', f"text of {page}")] for _ in range(5) for page in "ABC"]
    assert judge(laps, detectors=only(Detectors(), name), tools=tools)[-1][1:] == ("stop", name)


@pytest.mark.parametrize("name", LEFT_OUT[4].covered_by)
def test_talk_is_seen_by_what_covers_its_wording(judge: Judge, name: str) -> None:
    assert judge([run("ls", "a b"), *[[]] * 9], detectors=only(Detectors(), name))[-1][1:] == ("stop", name)


# What none can see.


def test_a_wrong_direction_that_brings_something_new_each_time_is_not_seen(judge: Judge) -> None:
    wrong = [[("search", f'{{"q": "{n}"}}', f"a document about something else, {n}")] for n in range(40)]
    assert judge(wrong) == []


def test_a_first_act_is_not_seen(judge: Judge) -> None:
    emptied: Turn = [("file_write", '{"path": "notes.txt"}', "ok, 0 bytes")]
    assert judge([emptied]) == []
    assert judge([emptied] * 2) == []
    assert judge([emptied] * 4)[0] == (3, "nudge", "consecutive_duplicate"), "by then it was written three times"


def test_a_tool_that_says_another_thing_each_time_and_does_nothing_is_not_seen(judge: Judge) -> None:
    lies = [[("save", '{"path": "notes.txt"}', f"saved as version {n} of many")] for n in range(40)]
    assert judge(lies, policy=attrs.evolve(DEFAULT, budget=attrs.evolve(DEFAULT.budget, seconds=None))) == []
