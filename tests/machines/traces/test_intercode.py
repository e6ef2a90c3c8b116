"""InterCode's results, with tasks of our own making."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.traces.bad_trace import BadTrace
from machines.traces.intercode import NAME, read
from machines.traces.lines import (
    UNSEEN,
    CallSpec,
    EndLine,
    GoalLine,
    Line,
    ReplyLine,
    ResultLine,
    RunLine,
    UserLine,
    result_error,
)
from machines.traces.tools import INTERCODE

Task = dict[str, Any]
File = Callable[..., Path]
Imported = Callable[[Task], list[Line]]


def task(environment: str = "ic_bash", summary: Any = None, **history: Any) -> Task:
    given: Task = {"actions": [], "observations": [], "rewards": [], "valid_action": [], **history}
    summary = {"max_reward": 0.5, "turns_taken": 1, "turns_max": 10} if summary is None else summary
    return {"environment": environment, "query": "do it", "turn_history": given, "summary": summary}


def one(environment: str, action: str, observation: Any = "out", valid: Any = True, **more: Any) -> Task:
    return task(environment, actions=[action], observations=[observation], valid_action=[valid], **more)


@pytest.fixture
def file(tmp_path: Path) -> File:
    def write(**tasks: Any) -> Path:
        path = tmp_path / "some.json"
        path.write_text(json.dumps(tasks), encoding="utf-8")
        return path

    return write


@pytest.fixture
def imported(file: File, lines_of: Callable[..., list[Line]]) -> Imported:
    """The lines of one task, without the run, the question and the end."""

    def run(given: Task) -> list[Line]:
        first, query, *lines, end = lines_of(file(key=given), NAME)
        assert (type(first), query, type(end)) == (RunLine, UserLine("do it"), EndLine)
        return lines

    return run


def calls(lines: list[Line]) -> list[tuple[str, Any]]:
    return [(call.tool, json.loads(call.args)) for line in lines if isinstance(line, ReplyLine) for call in line.calls]


def test_each_task_is_a_run_with_its_key(file: File) -> None:
    path = file(**{"7": task(), "3": task("ic_sql"), "x y": task()})
    assert [(run.run.id, run.line) for run in read(path)] == [("7", None), ("3", None), ("x y", None)]


def test_an_action_is_a_reply_with_one_call_its_result_and_the_goal_that_was_reached(imported: Imported) -> None:
    given = task(actions=["ls", "ls -a"], observations=["a", "b"], rewards=[0.25, 1.0], valid_action=[True, True])
    assert imported(given) == [
        ReplyLine("tool_use", (CallSpec("turn-1", "bash", '{"command":"ls"}'),)),
        ResultLine("turn-1", "a"),
        GoalLine(0.25, 1),
        ReplyLine("tool_use", (CallSpec("turn-2", "bash", '{"command":"ls -a"}'),)),
        ResultLine("turn-2", "b"),
        GoalLine(1.0, 1),
    ]


@pytest.mark.parametrize(
    ("environment", "call"),
    [
        ("ic_bash", ("bash", {"command": "a b"})),
        ("ic_other", ("bash", {"command": "a b"})),
        ("ic_ctf", ("bash", {"command": "a b"})),
        ("ic_python", ("python", {"code": "a b"})),
        ("ic_sql", ("sql", {"query": "a b"})),
    ],
)
def test_the_environment_says_what_an_action_is(file: File, imported: Imported, environment: str, call: Any) -> None:
    given = one(environment, "a b")
    assert calls(imported(given)) == [call]
    assert next(read(file(key=given))).run.tools == {call[0]: INTERCODE[call[0]]}


def test_every_language_is_a_command() -> None:
    assert {name for name, spec in INTERCODE.items() if spec.kind == "command"} == {"bash", "python", "sql"}


@pytest.mark.parametrize(
    ("valid", "observation", "error"),
    [
        (True, "out", None),
        (None, "out", None),
        (False, "", "other"),
        (False, "Command timed out", "timeout"),
        (True, "Command timed out", "timeout"),
        (True, "Command timed out?", None),
        (True, "Error executing query: no such table", "other"),
        (True, "an Error executing query", None),
        (None, "{'error': 'Error: invalid syntax'}", "other"),
        (None, "{'output': '', 'error': ''}", None),
        (True, [[1, "a"]], None),
    ],
)
def test_an_error_is_what_the_environment_says_is_one(
    imported: Imported, valid: Any, observation: Any, error: str | None
) -> None:
    result = imported(one("ic_bash", "x", observation, valid))[1]
    assert result == ResultLine("turn-1", observation, None if error is None else result_error(error))


@pytest.mark.parametrize(
    ("reward", "goal"),
    [(0.0, [GoalLine(0.0, 1)]), (0.5, [GoalLine(0.5, 1)]), (1, [GoalLine(1, 1)]), (0, []), (None, []), (-1.0, [])],
)
def test_a_reward_is_a_goal_where_it_was_scored(imported: Imported, reward: Any, goal: list[Line]) -> None:
    assert imported(one("ic_bash", "x", rewards=[reward]))[2:] == goal


def test_lists_that_are_too_short_say_nothing(imported: Imported) -> None:
    found = imported(task(actions=["a", "b"], observations=["x"], rewards=[0.5], valid_action=[False]))
    assert [line for line in found if not isinstance(line, ReplyLine)] == [
        ResultLine("turn-1", "x", result_error("other")),
        GoalLine(0.5, 1),
        ResultLine("turn-2", UNSEEN),
    ]


def test_a_reply_that_the_provider_blocked_calls_nothing(imported: Imported) -> None:
    found = imported(task(actions=["ls", "blocked"], observations=["x"], rewards=[0.5, 0], valid_action=[True]))
    assert found[3:] == [ReplyLine("content_filter")]
    answered = imported(one("ic_bash", "blocked"))
    assert calls(answered) == [("bash", {"command": "blocked"})]


@pytest.mark.parametrize(
    ("action", "command"),
    [
        ("execute[ls [a]]", "ls [a]"),
        ("execute[ls", "ls"),
        ("ls", "ls"),
        ("execute", "execute"),
        ("submit it", "submit it"),
    ],
)
def test_an_agent_that_thinks_says_execute(imported: Imported, action: str, command: str) -> None:
    found = imported(one("ic_bash", action, thoughts=["hm"]))
    assert found[0] == ReplyLine(
        "tool_use", (CallSpec("turn-1", "bash", json.dumps({"command": command}, separators=(",", ":"))),), "hm"
    )
    assert calls(imported(one("ic_bash", "execute[ls]"))) == [("bash", {"command": "execute[ls]"})]


def test_an_agent_that_thinks_declares_its_end_by_submit(file: File, lines_of: Callable[..., list[Line]]) -> None:
    given = task(actions=["execute[ls]", "submit"], observations=["x", "last"], rewards=[0, 1.0], thoughts=["a", "b"])
    assert lines_of(file(key=given), NAME)[4:] == [
        ReplyLine("end_turn", text="b\nsubmit", kind="final"),
        GoalLine(1.0, 1),
        EndLine("reward 0.5", "last"),
    ]


def test_a_submit_that_is_not_the_last_is_a_call(imported: Imported) -> None:
    given = task(actions=["submit", "submit"], observations=["x", "y"], thoughts=["a", "b"])
    assert imported(given)[:2] == [
        ReplyLine("tool_use", (CallSpec("turn-1", "submit"),), "a"),
        ResultLine("turn-1", "x"),
    ]


def test_a_submit_that_the_harness_made_is_no_reply(imported: Imported) -> None:
    spent = ["a", "EXCEEDED MAX TURNS: submit"]
    given = task(actions=["execute[ls]", "submit"], observations=["x", "x"], rewards=[0, 0.25], thoughts=spent)
    assert [type(line) for line in imported(given)] == [ReplyLine, ResultLine, GoalLine]


def test_a_flag_that_is_submitted_last_is_the_answer(file: File, lines_of: Callable[..., list[Line]]) -> None:
    actions = ["cmd ls", "submit f{1}", "submit f{2}"]
    given = task("ic_ctf", actions=actions, observations=["f", "wrong", "right"], rewards=[0, 0, 1])
    first, _, *found = lines_of(file(key=given), NAME)
    assert found == [
        ReplyLine("tool_use", (CallSpec("turn-1", "bash", '{"command":"ls"}'),)),
        ResultLine("turn-1", "f"),
        ReplyLine("tool_use", (CallSpec("turn-2", "submit", '{"text":"f{1}"}'),)),
        ResultLine("turn-2", "wrong"),
        ReplyLine("end_turn", text="submit f{2}", kind="final"),
        GoalLine(1, 1),
        EndLine("reward 0.5", "right"),
    ]
    assert isinstance(first, RunLine)
    assert list(first.tools) == ["bash", "submit"]


def test_only_where_a_flag_is_sought_is_submit_more_than_a_command(imported: Imported) -> None:
    assert calls(imported(one("ic_bash", "submit f{1}"))) == [("bash", {"command": "submit f{1}"})]
    assert calls(imported(one("ic_bash", "cmd ls"))) == [("bash", {"command": "cmd ls"})]


def test_a_session_of_a_person_has_one_reward(file: File, lines_of: Callable[..., list[Line]]) -> None:
    steps = [{"action": "select 1", "observation": "(1,)"}, {"action": "x"}]
    given = {"environment": "ic_sql", "query": "do it", "reward": 0.0, "trajectory": steps}
    assert lines_of(file(key=given), NAME)[2:] == [
        ReplyLine("tool_use", (CallSpec("turn-1", "sql", '{"query":"select 1"}'),)),
        ResultLine("turn-1", "(1,)"),
        ReplyLine("tool_use", (CallSpec("turn-2", "sql", '{"query":"x"}'),)),
        ResultLine("turn-2", UNSEEN),
        EndLine("reward 0.0"),
    ]


@pytest.mark.parametrize(
    ("summary", "end"),
    [({"max_reward": 1}, [EndLine("reward 1")]), ({"max_reward": 0.67}, [EndLine("reward 0.67")]), ({}, [])],
)
def test_the_end_has_the_best_reward_and_is_not_there_without(
    file: File, lines_of: Callable[..., list[Line]], summary: Task, end: list[Line]
) -> None:
    assert lines_of(file(key=task(summary=summary)), NAME)[2:] == end


BAD: list[tuple[Any, str]] = [
    (1, "field k: found 1, expected an object"),
    ({"query": "q"}, "field k.environment: found nothing, expected a string"),
    ({"environment": "e"}, "field k.query: found nothing, expected a string"),
    ({"environment": "e", "query": "q"}, "field k.turn_history: found nothing, expected an object"),
    ({"environment": "e", "query": "q", "turn_history": []}, "field k.turn_history: found a list, expected an object"),
    (task(actions=None), "field k.turn_history.actions: found null, expected a list"),
    (task(actions=["a", 1]), "field k.turn_history.actions[1]: found 1, expected a string"),
    (task(observations="x"), 'field k.turn_history.observations: found "x", expected a list'),
    (task(rewards={}), "field k.turn_history.rewards: found an object, expected a list"),
    (task(summary=[]), "field k.summary: found a list, expected an object"),
    (task(summary={"max_reward": "x"}), 'field k.summary.max_reward: found "x", expected a number, 0 or more'),
    ({**task(), "turn_history": None}, "field k.turn_history: found null, expected an object"),
    (
        {"environment": "e", "query": "q", "trajectory": [{}]},
        "field k.trajectory[0].action: found nothing, expected a string",
    ),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_what_is_wrong_is_named_with_its_place(
    file: File, lines_of: Callable[..., list[Line]], given: Any, message: str
) -> None:
    path = file(k=given)
    with pytest.raises(BadTrace) as caught:
        lines_of(path, NAME)
    assert str(caught.value) == f"{path}, {message}"


def test_a_file_that_breaks_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text('{"0": {"environment": "ic_bash", "query"', encoding="utf-8")
    with pytest.raises(BadTrace, match="found text that is no JSON at column 41, expected an object of objects"):
        list(read(path))
