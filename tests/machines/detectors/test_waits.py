"""Declared waits: looking again is waiting while the field holds a waiting value and time is left, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import attrs
import pytest

from machines.commands import Tell, TellPerson, WaitUntil
from machines.events import Begin, Call, Clock, ErrorKind, PollState, Reply, Result, StopReason, Text
from machines.manifest import Kind, Tool, Wait
from machines.policy import DEFAULT, Budget, Policy, Waiting
from machines.state import Phase, Run, new_run
from machines.supervisor import feed
from machines.words import words_of

from .incidents import pages
from .told import Answered, told

Judge = Callable[..., list[tuple[int, str, str]]]

CALL = Call("1", "build", b"signature", Text("args", 4))
BUILD = Tool(wait=Wait("status", ("queued", "running"), ("done",), max_wait_seconds=100.0, min_interval_seconds=5.0))
TOOLS = {"build": BUILD}


def look(status: object = "queued", **more: object) -> list[tuple[str, str, object]]:
    return [("build", '{"id": 7}', {"status": status, **more})]


def test_looking_again_while_it_waits_is_no_repetition(judge: Judge) -> None:
    assert judge([look()] * 90, tools=TOOLS) == []
    undeclared = judge([look()] * 90)
    assert undeclared == [(3, "nudge", "consecutive_duplicate"), (4, "stop", "consecutive_duplicate")]


def test_a_wait_that_ends_well_says_nothing(judge: Judge) -> None:
    assert judge([*[look()] * 20, look("done")], tools=TOOLS) == []


@pytest.mark.parametrize("status", ["done", "lost", ["queued"], None, True])
def test_the_status_counts_and_not_what_else_the_answer_says(judge: Judge, status: object) -> None:
    found = judge([look("queued", log="a"), look("running", log="b"), look(status)], tools=TOOLS)
    assert found == ([] if status == "done" else [(3, "nudge", "wait_over")])


@pytest.mark.parametrize(("every", "over"), [(100.0 / 9, []), (10.0, [(11, "nudge", "wait_over")])])
def test_a_wait_expires_when_its_time_is_over(judge: Judge, every: float, over: list[Any]) -> None:
    """It is under way since the first look, in turn 1."""
    assert judge([look()] * 9, tools=TOOLS, every=every) == []
    assert judge([look()] * (11 if over else 9), tools=TOOLS, every=every) == over


def test_a_wait_that_has_expired_is_an_ordinary_call_from_then_on(judge: Judge) -> None:
    found = judge([look()] * 30, tools=TOOLS, every=50.0)
    # The third look is the first that counts.
    assert found == [
        (3, "nudge", "wait_over"),
        (5, "nudge", "consecutive_duplicate"),
        (6, "stop", "consecutive_duplicate"),
    ]


def test_a_status_that_nobody_foresaw_ends_the_wait_at_once(judge: Judge) -> None:
    found = judge([look(), *[look("lost")] * 9], tools=TOOLS)
    assert found[0] == (2, "nudge", "wait_over")
    assert found[-1] == (5, "stop", "consecutive_duplicate")


def test_a_wait_that_was_over_is_not_begun_again_by_a_waiting_value(judge: Judge) -> None:
    found = judge([look("lost"), *[look()] * 9], tools=TOOLS)
    assert found[0] == (1, "nudge", "wait_over")
    assert found[-1] == (5, "stop", "consecutive_duplicate")


WRITE: list[tuple[str, str, object]] = [("save", '{"path": "a"}', Answered(wrote=True, state="new", target="a"))]


def test_a_change_in_the_world_lets_it_wait_again_and_nothing_else_does(judge: Judge) -> None:
    over = [look("lost"), *[look()] * 2]
    assert judge([*over, WRITE, *[look()] * 40], tools=TOOLS) == [(1, "nudge", "wait_over")]
    for other in (pages(1), [("plan", "{}", "ok")], []):
        assert judge([*over, other, *[look()] * 9], tools=TOOLS)[-1][1] == "stop"


@pytest.mark.parametrize("first", [True, False])
def test_the_turn_of_the_change_itself_is_no_wait_whatever_came_first(judge: Judge, first: bool) -> None:
    both = [*WRITE, *look()] if first else [*look(), *WRITE]
    assert judge([look("lost"), both, *[look()] * 40], tools=TOOLS) == [(1, "nudge", "wait_over")]


def other(number: int, status: str) -> list[tuple[str, str, object]]:
    return [("build", f'{{"id": {number}}}', {"status": status})]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_of_waits_that_end_in_one_turn_each_is_told_the_unforeseen_first(order: tuple[int, ...]) -> None:
    calls = [look()[0], other(8, "queued")[0], other(9, "lost")[0]]
    history = [look(), [*look(), *other(8, "queued")], [calls[number] for number in order]]
    found = told(history, tools=TOOLS, every=60.0)[0]
    assert (found.values["how"], found.values["value"]) == ("unrecognised", "lost")
    tells = [dict(command.values) for command in found.commands if isinstance(command, Tell)]
    assert [(values["how"], values["seconds"]) for values in tells] == [("unrecognised", 0.0), ("expired", 120.0)]
    assert sum(isinstance(command, TellPerson) for command in found.commands) == 1


def test_a_finished_job_asked_again_is_an_ordinary_repetition(judge: Judge) -> None:
    found = judge([look(), look(), *[look("done")] * 9], tools=TOOLS)
    assert found == [(5, "nudge", "consecutive_duplicate"), (6, "stop", "consecutive_duplicate")]


def test_an_error_is_a_status_that_nobody_foresaw(judge: Judge) -> None:
    failed = [("build", '{"id": 7}', ErrorKind.TIMEOUT)]
    assert judge([look(), failed], tools=TOOLS) == [(2, "nudge", "wait_over")]


def test_an_error_and_a_missing_field_are_told_apart() -> None:
    (failed,) = told([look(), [("build", '{"id": 7}', ErrorKind.TRANSIENT)]], tools=TOOLS)
    (missing,) = told([look(), [("build", '{"id": 7}', {"state": "queued"})]], tools=TOOLS)
    assert (failed.values["error"], "error" in missing.values) == ("transient", False)
    (tell,) = [command for command in failed.commands if isinstance(command, Tell)]
    assert "an error (transient)" in words_of(tell)


def test_an_answer_without_the_field_is_a_status_that_nobody_foresaw(judge: Judge) -> None:
    assert judge([[("build", '{"id": 7}', "no such job")]], tools=TOOLS) == [(1, "nudge", "wait_over")]


def test_an_answer_that_was_not_seen_is_no_look(judge: Judge) -> None:
    unseen = [("build", '{"id": 7}', ...)]
    assert judge([look(), unseen, look()], tools=TOOLS) == []
    assert judge([unseen] * 4, tools=TOOLS) == [(4, "nudge", "consecutive_duplicate")]


def test_each_call_is_a_wait_of_its_own(judge: Judge) -> None:
    other = [("build", '{"id": 8}', {"status": "queued"})]
    history = [look(), look("lost"), *[other] * 40]
    assert judge(history, tools=TOOLS) == [(2, "nudge", "wait_over")]


def test_what_else_a_turn_does_while_it_waits_is_judged(judge: Judge) -> None:
    both = [*look(), ("search", "{}", "nothing")]
    found = judge([both] * 9, tools=TOOLS)
    assert found == [(3, "nudge", "consecutive_duplicate"), (4, "stop", "consecutive_duplicate")]


def test_waiting_neither_adds_to_a_streak_nor_ends_it(judge: Judge) -> None:
    search = [("search", "{}", "nothing")]
    found = judge([look(), search, search, look(), look(), search], tools=TOOLS)
    assert found == [(6, "nudge", "consecutive_duplicate")]


def test_switched_off_a_declared_wait_is_an_ordinary_call(judge: Judge) -> None:
    budget = Budget(turns=100, seconds=None, tokens=None, usd=None)
    off = Policy(budget=budget, waiting=Waiting(enabled=False))
    assert judge([look()] * 9, policy=off, tools=TOOLS)[-1] == (4, "stop", "consecutive_duplicate")
    assert judge([look()] * 9, policy=attrs.evolve(off, waiting=Waiting()), tools=TOOLS) == []


# What a wait asks for, and its time.


def waiting(policy: Policy = DEFAULT, at: float = 10.0) -> tuple[Run, tuple[object, ...]]:
    run = feed(new_run("run", policy, tools=TOOLS), Begin(0.0)).run
    return polled(run, at)


def polled(run: Run, at: float, state: PollState = PollState.WAITING) -> tuple[Run, tuple[object, ...]]:
    call = Call(f"look at {at}", "build", b"signature", Text("args", 4))
    run = feed(run, Reply(at, StopReason.TOOL_USE, (call,))).run
    fed = feed(run, Result(at, call.id, b"digest", poll=state, poll_value="what it says"))
    return fed.run, fed.commands


def expired(seconds: float) -> Tell:
    return Tell("wait_over", (("how", "expired"), ("seconds", seconds), ("tool", "build"), ("value", "what it says")))


def test_nothing_is_asked_before_it_is_worth_looking_again() -> None:
    run, commands = waiting(at=10.0)
    assert (run.at, commands) == (Phase.WAITING, (WaitUntil(15.0),))
    assert feed(run, Clock(15.0)).run.at is Phase.ASKING


def test_the_model_is_told_how_a_wait_ended_and_a_person_where_nobody_foresaw_it() -> None:
    run = feed(waiting()[0], Clock(15.0)).run
    _, commands = polled(run, 20.0, PollState.UNRECOGNISED)
    values = (("how", "unrecognised"), ("seconds", 10.0), ("tool", "build"), ("value", "what it says"))
    assert commands[:2] == (TellPerson("wait", values), Tell("wait_over", values))
    _, commands = polled(run, 110.0)
    assert commands[0] == expired(100.0)


@pytest.mark.parametrize(("seconds", "longest"), [(1_000.0, 100.0), (200.0, 70.0), (None, 100.0)])
def test_a_wait_is_a_slice_of_what_is_left_of_the_runs_time(seconds: float | None, longest: float) -> None:
    policy = Policy(budget=Budget(seconds=seconds, tokens=None, usd=None))
    run = feed(waiting(policy, 10.0)[0], Clock(15.0)).run
    assert polled(run, 10.0 + longest - 0.5)[0].at is Phase.WAITING
    assert polled(run, 10.0 + longest)[0].at is Phase.ASKING


def test_the_time_kept_for_the_work_after_a_wait_is_the_policys() -> None:
    policy = Policy(budget=Budget(seconds=1_000.0, tokens=None, usd=None), waiting=Waiting(hold_back_seconds=500.0))
    run = feed(waiting(policy, 450.0)[0], Clock(455.0)).run  # 550 seconds are left, and 500 of them are kept
    assert polled(run, 499.0)[0].at is Phase.WAITING
    assert polled(run, 500.0)[1][0] == expired(50.0)


def test_where_no_time_is_left_for_it_a_wait_is_over_at_the_first_look() -> None:
    policy = Policy(budget=Budget(seconds=200.0, tokens=None, usd=None))
    assert waiting(policy, 79.0)[0].at is Phase.WAITING
    assert waiting(policy, 80.0)[1][0] == expired(0.0)


def test_a_wait_without_a_longest_time_is_as_long_as_the_run() -> None:
    assert BUILD.wait is not None
    endless = {"build": attrs.evolve(BUILD, wait=attrs.evolve(BUILD.wait, max_wait_seconds=None))}
    run = feed(new_run("run", Policy(budget=Budget(seconds=None, usd=None)), tools=endless), Begin(0.0)).run
    for at in (10.0, 1e6, 1e9):
        run = polled(run, at)[0]
        assert run.at is Phase.WAITING


# What happens beside a wait.


@pytest.mark.parametrize("steps", [2, 8, 9, 10, 30])
def test_a_field_that_moves_in_a_circle_while_it_waits_stops_nothing(judge: Judge, steps: int) -> None:
    history = [look("running", step=f"step {number % steps}") for number in range(60)]
    assert judge(history, tools=TOOLS) == []


def test_a_thought_beside_a_look_is_nothing(judge: Judge) -> None:
    thinking = {**TOOLS, "think": Tool(kind=Kind.THINK)}
    history = [[*look(), ("think", f'{{"thought": "{number}"}}', "ok")] for number in range(20)]
    assert judge(history, tools=thinking) == []


def test_a_turn_that_only_waits_is_no_third_nudge(judge: Judge) -> None:
    looking = {**TOOLS, "look": Tool(look=True)}
    seen: list[Any] = [("look", "{}", "a picture")]
    history = [look(), seen, [("do", "{}", "new")], seen, seen, seen, look()]
    assert judge(history, tools=looking)[-1] == (6, "nudge", "consecutive_duplicate")


@pytest.mark.parametrize("requires", [(), ("a.txt",)])
def test_a_wait_that_ends_in_the_turn_of_a_stop_or_a_rescue_is_told_all_the_same(requires: tuple[str, ...]) -> None:
    barren: list[list[tuple[str, str, object]]] = [[("try", f'{{"n": {number}}}', "no")] for number in range(4)]
    history = [[*look(), *other(8, "queued")], other(8, "lost"), *barren, look("lost")]
    found = told(history, tools=TOOLS, requires=requires)[-1]
    assert found.short == ((7, "nudge", "rescue") if requires else (7, "stop", "no_progress"))
    kinds = [(type(command), getattr(command, "by", "")) for command in found.commands]
    assert kinds[0] == (TellPerson, "wait")
    assert ((Tell, "wait_over") in kinds) == bool(requires)


def test_of_several_looks_in_a_turn_the_one_that_is_due_first_says_how_long_to_wait() -> None:
    slow = Tool(wait=Wait("status", ("queued",), ("done",), 100.0, 60.0))
    tools = {"build": BUILD, "slow": slow}
    for names in (("build", "slow"), ("slow", "build")):
        run = feed(new_run("run", tools=tools), Begin(0.0)).run
        calls = tuple(Call(name, name, name.encode(), Text("args", 4)) for name in names)
        run = feed(run, Reply(1.0, StopReason.TOOL_USE, calls)).run
        run = feed(run, Result(10.0, names[0], b"digest", poll=PollState.WAITING)).run
        fed = feed(run, Result(10.0, names[1], b"digest", poll=PollState.WAITING))
        assert fed.commands == (WaitUntil(15.0),)


def test_a_clock_that_is_put_back_makes_no_wait_longer_or_shorter() -> None:
    run = feed(new_run("run", tools=TOOLS), Begin(0.0)).run
    run = feed(run, Reply(1_000.0, StopReason.TOOL_USE, (CALL,))).run
    fed = feed(run, Result(5.0, CALL.id, b"digest", poll=PollState.WAITING))
    assert fed.commands == (WaitUntil(1_005.0),)
    again = feed(fed.run, Clock(1_005.0)).run
    assert polled(again, 1_010.0)[0].at is Phase.WAITING
