"""What clears a streak, and what does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from machines.events import ErrorKind, Event, GoalMeasured, PlanChanged, PlanItem, Said, Text
from machines.manifest import Kind, Tool
from machines.policy import DEFAULT, only

from .counted import COUNTED, Counted
from .incidents import ASKED, LOST, READ, failing, pages, shell, work
from .told import Answered, Call, Happening, Verdict, told


def plan(*statuses: str, worded: str = "item") -> PlanChanged:
    return PlanChanged(1.0, tuple(PlanItem(Text(f"{worded} {n}", 6), status) for n, status in enumerate(statuses)))


JUDGING_TURNS = [c for c in COUNTED if c.detector not in ("chanting", "vain_condensing")]
each = pytest.mark.parametrize("counted", JUDGING_TURNS, ids=[counted.name for counted in JUDGING_TURNS])
HELLO = Text("go on", 5)

Clearing = tuple[Event, Event]
"""What comes first of all, and then what comes before the turn that would be counted."""

CLEARS: dict[str, Clearing] = {
    "an item of the plan closed": (plan("pending", "pending"), plan("completed", "pending")),
    "a better count of the goal": (GoalMeasured(1.0, 2, 9), GoalMeasured(1.0, 3, 9)),
    "a goal whose total is nearer": (GoalMeasured(1.0, 2, 9), GoalMeasured(1.0, 2, 8)),
    "a person": (Said(1.0, HELLO), Said(1.0, HELLO)),
}
KEEPS: dict[str, Clearing] = {
    "the plan as it was": (plan("pending", "completed"), plan("pending", "completed")),
    "the plan in other words": (plan("pending", "pending"), plan("pending", "pending", worded="point")),
    "an item begun": (plan("pending", "pending"), plan("in_progress", "pending")),
    "an item opened again": (plan("completed", "pending"), plan("pending", "pending")),
    "the goal as it was": (GoalMeasured(1.0, 2, 9), GoalMeasured(1.0, 2, 9)),
    "a goal that has gone back": (GoalMeasured(1.0, 2, 9), GoalMeasured(1.0, 1, 9)),
    "a program in a person's name": (Said(1.0, HELLO, synthetic=True), Said(1.0, HELLO, synthetic=True)),
}


def alone(counted: Counted, history: Sequence[Happening]) -> list[Verdict]:
    detectors = only(DEFAULT.detectors, counted.detector)
    return [one.short for one in told(history, detectors=detectors, tools=counted.tools)]


def with_events(counted: Counted, first: Event, then: Event) -> list[Verdict]:
    """The history of a first verdict, with `then` before the turn that brings it."""
    history = counted.history(counted.nudge)
    # What is said first of all stands in the first turn, so that nothing of it is left for the others.
    return alone(counted, [first, work(99), *history[:-1], then, history[-1]])


@each
@pytest.mark.parametrize("event", list(CLEARS))
def test_what_moves_the_task_clears_every_streak(counted: Counted, event: str) -> None:
    if counted.detector == "redundant_check":
        return  # which counts no streak, see test_redundant_check.py
    assert with_events(counted, *CLEARS[event]) == []


@each
@pytest.mark.parametrize("event", list(KEEPS))
def test_what_only_sounds_like_it_clears_nothing(counted: Counted, event: str) -> None:
    ((_, _, by),) = with_events(counted, *KEEPS[event])
    assert by == counted.detector


# A new external state.


def saved(state: str | None, receipt: str = "saved", text: str = "v1") -> list[Call]:
    return [("save", f'{{"path": "a.txt", "text": "{text}"}}', Answered(receipt, wrote=True, state=state))]


SAVES = {"save": Tool(kind=Kind.WRITE, target=("path",))}


def with_saves(counted: Counted, *turns: list[Call]) -> list[Verdict]:
    """The history of a first verdict, with a save first of all, and these turns before the one that brings it."""
    history = counted.history(counted.nudge)
    detectors = only(DEFAULT.detectors, counted.detector)
    events = [saved("one"), *history[:-1], *turns, history[-1]]
    return [one.short for one in told(events, detectors=detectors, tools={**counted.tools, **SAVES})]


@each
def test_a_new_state_clears_every_streak_and_what_repeats_beside_it(counted: Counted) -> None:
    if counted.detector == "redundant_check":
        return
    history = counted.history(counted.nudge)
    beside: Happening = [*(history[0] if isinstance(history[0], Sequence) else []), *saved("two")]
    assert isinstance(beside, Sequence)
    assert with_saves(counted, list(beside)) == []


# Whose count another call does not break by being there.
SPREAD = ("spread_duplicate", "same_error", "search_escalation", "family", "fruitless_tool", "same_tool")
STANDING = ("no_progress", "stalled_work")


@pytest.mark.parametrize("state", ["one", "again"])
@pytest.mark.parametrize("counted", [c for c in COUNTED if c.detector in SPREAD], ids=lambda c: c.name)
def test_a_state_that_was_there_before_clears_nothing(counted: Counted, state: str) -> None:
    """Whatever the call and its receipt say."""
    turn = saved("one", *(("saved for the second time", "v2") if state == "again" else ()))
    ((_, verdict, by),) = with_saves(counted, turn)
    assert (verdict, by) == ("nudge", counted.detector)


@pytest.mark.parametrize("detector", STANDING)
def test_a_new_receipt_of_the_same_write_is_no_progress(detector: str) -> None:
    alone = only(DEFAULT.detectors, detector)
    digested = [saved("one", f"receipt {number}") for number in range(6)]
    assert [one.short[2] for one in told(digested, detectors=alone, tools=SAVES)][:1] == [detector]
    new = [saved(f"state {number}", "saved") for number in range(6)]
    assert told(new, detectors=alone, tools=SAVES) == []


def test_a_write_that_nobody_digests_counts_once() -> None:
    """For what stands still; whether it left things as they were, nobody knows, so that the work may have grown."""
    blind = [saved(None, f"receipt {number}") for number in range(6)]
    no_progress = told(blind, detectors=only(DEFAULT.detectors, "no_progress"), tools=SAVES)
    assert [one.short for one in no_progress] == [(4, "nudge", "no_progress"), (5, "stop", "no_progress")]
    assert told(blind, detectors=only(DEFAULT.detectors, "stalled_work"), tools=SAVES) == []


def test_a_scratch_tool_changes_nothing_whatever_it_writes() -> None:
    tools = {"save": Tool(kind=Kind.WRITE, scratch=True)}
    turns = [saved(f"state {number}", f"receipt {number}", f"v{number}") for number in range(9)]
    found = [one.short for one in told(turns, detectors=only(DEFAULT.detectors, "no_progress"), tools=tools)]
    assert found == [(3, "nudge", "no_progress"), (4, "stop", "no_progress")]


def test_to_fix_and_to_test_again_is_work_while_the_file_is_new() -> None:
    red = [("test", "{}", Answered("1 failed: test_clock", ErrorKind.OTHER))]
    fixing = [one for n in range(20) for one in (saved(f"state {n}", text=f"v{n}"), red)]
    assert told(fixing, tools=SAVES) == []
    reverting = [one for n in range(20) for one in (saved(f"state {n % 2}", text=f"v{n % 2}"), red)]
    assert told(reverting, tools=SAVES)[-1].verdict == "stop"


# A new thought, and a changed result.


def test_a_new_thought_clears_nothing() -> None:
    def thought(number: int) -> list[Call]:
        return [("ponder", f'{{"idea": "idea {number}"}}', f"idea {number} is noted")]

    tools = {"ponder": Tool(kind=Kind.THINK)}
    for detector in STANDING:
        history = [one for number in range(4) for one in (ASKED, thought(number))]
        assert told(history, detectors=only(DEFAULT.detectors, detector), tools=tools)[0].turn in (4, 5)
    told_of_searches = told(
        [one for n in range(12) for one in (failing(n), thought(n))],
        detectors=only(DEFAULT.detectors, "same_error"),
        tools=tools,
    )
    assert [one.short for one in told_of_searches] == [(11, "nudge", "same_error"), (23, "stop", "same_error")]


@pytest.mark.parametrize(
    ("detector", "one", "other", "news"),
    [
        ("fruitless_tool", [shell(n) for n in range(5)], [shell(n, "console") for n in range(5)], "a new line"),
        ("spread_duplicate", [READ] * 5, [LOST[:] and [("look up", "{}", "as before")]] * 5, "another text"),
        ("same_tool", [READ] * 13, [[("look up", "{}", "as before")]] * 13, "another text"),
        (
            "same_error",
            [failing(n) for n in range(6)],
            [[("deploy", f'{{"n": {n}}}', Answered("no rights", ErrorKind.PERMISSION))] for n in range(6)],
            "it worked",
        ),
    ],
)
def test_a_changed_result_clears_what_is_counted_of_its_own_tool_alone(
    detector: str, one: list[list[Call]], other: list[list[Call]], news: str
) -> None:
    alone = only(DEFAULT.detectors, detector)
    tool, args, _ = one[0][0]
    before: list[Happening] = [turn for pair in zip(one[:-1], other[:-1], strict=True) for turn in pair]
    changed: list[Call] = [(tool, args, news)]
    assert told([*before, changed, one[-1]], detectors=alone) == []
    assert [found.verdict for found in told([*before, changed, other[-1]], detectors=alone)] == ["nudge"]
    assert [found.verdict for found in told([*before, one[-1]], detectors=alone)] == ["nudge"]


def test_a_result_heard_lately_is_no_changed_one() -> None:
    flip = [[("status", "{}", f"state {number % 2}")] for number in range(9)]
    found = [one.short for one in told(flip, detectors=only(DEFAULT.detectors, "fruitless_tool"))]
    assert found == [(6, "nudge", "fruitless_tool"), (9, "stop", "fruitless_tool")]


def test_a_plan_closed_beside_the_stop_keeps_the_run_going() -> None:
    before: list[Happening] = [plan("pending"), *[ASKED] * 3]
    assert told([*before, ASKED])[-1].verdict == "stop"
    assert [one.verdict for one in told([*before, plan("completed"), ASKED])] == ["nudge"]
    assert told([*before, plan("completed"), *[ASKED] * 5])[-1].verdict == "stop", "and no longer than it should"


def test_a_turn_of_many_pages_is_news_while_one_of_them_is() -> None:
    assert told([pages(*range(n)) for n in range(1, 40)], detectors=only(DEFAULT.detectors, "no_progress")) == []
