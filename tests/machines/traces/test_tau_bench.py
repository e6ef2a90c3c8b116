"""tau-bench's trials, with messages of our own making."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.manifest import Tool
from machines.traces.bad_trace import BadTrace
from machines.traces.lines import CallSpec, EndLine, Line, ReplyLine, ResultLine, RunLine, UserLine, result_error
from machines.traces.tau_bench import NAME, read
from machines.traces.tools import TAU_BENCH

Message = dict[str, Any]
Imported = Callable[..., list[Line]]


def said(text: Any, **more: Any) -> Message:
    return {"role": "user", "content": text, **more}


def replied(text: str | None, *calls: Message) -> Message:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def call(id: str, tool: str, arguments: Any = "{}") -> Message:
    return {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}


def answer(id: str, content: Any) -> Message:
    return {"role": "tool", "tool_call_id": id, "name": "any", "content": content}


def trial(*messages: Message, **top: Any) -> dict[str, Any]:
    return {"task_id": 3, "trial": 1, "reward": 0.5, "info": {}, "traj": list(messages), **top}


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def write(*trials: Any) -> Path:
        path = tmp_path / "some.json"
        path.write_text(json.dumps(trials, indent=1), encoding="utf-8")
        return path

    return write


@pytest.fixture
def imported(file: Callable[..., Path], lines_of: Callable[..., list[Line]]) -> Imported:
    """The lines of one trial, without the first and the last."""

    def run(*messages: Message) -> list[Line]:
        return lines_of(file(trial(*messages)), NAME)[1:-1]

    return run


def test_a_run_is_named_after_its_task_its_trial_and_its_place(file: Callable[..., Path]) -> None:
    path = file(trial(), trial(task_id="x", trial=0), {"task_id": 4, "traj": []})
    assert [run.run.id for run in read(path)] == ["task3/trial1/0", "taskx/trial0/1", "task4/trial0/2"]


def test_the_person_is_a_person_and_the_policy_of_the_shop_is_no_message(imported: Imported) -> None:
    found = imported({"role": "system", "content": "be good"}, said("hi"), replied("yes?"), said("go"))
    assert found == [UserLine("hi"), ReplyLine("end_turn", text="yes?"), UserLine("go")]


def test_a_text_declares_nothing_and_a_batch_stays_one_reply(imported: Imported) -> None:
    two = (call("a", "think", '{"thought": 1}'), call("b", "list_all_airports"))
    found = imported(replied("both", *two), answer("a", ""), answer("b", "{}"))
    calls = (CallSpec("a", "think", '{"thought": 1}'), CallSpec("b", "list_all_airports"))
    assert found == [ReplyLine("tool_use", calls, "both"), ResultLine("a", ""), ResultLine("b", "{}")]


def test_arguments_that_are_no_object_stay_text(imported: Imported) -> None:
    reply = imported(replied(None, call("a", "think", "{broken"), call("b", "think", "[]")))[0]
    assert isinstance(reply, ReplyLine)
    assert [(made.args, made.raw) for made in reply.calls] == [("{broken", True), ("[]", True)]


@pytest.mark.parametrize(
    ("content", "error"),
    [("Error: no such flight", "other"), ("Error", "other"), ("No Error", None), ("error: x", None), ("", None)],
)
def test_an_answer_is_an_error_where_it_begins_as_one(imported: Imported, content: str, error: str | None) -> None:
    result = imported(replied(None, call("a", "calculate")), answer("a", content))[1]
    assert isinstance(result, ResultLine)
    assert result.error == (None if error is None else result_error(error))
    assert result.value == content


def test_a_tool_that_writes_has_written_where_it_did_not_refuse(imported: Imported) -> None:
    change = call("a", "cancel_reservation", '{"reservation_id": "R1"}')
    look = call("a", "get_reservation_details", '{"reservation_id": "R1"}')
    found = imported(
        *(replied(None, change), answer("a", "{R1: 1}"), replied(None, change), answer("a", "{R1: 2}")),
        *(replied(None, change), answer("a", "Error: no"), replied(None, look), answer("a", "{R1: 1}")),
    )
    done, again, refused, seen = (line for line in found if isinstance(line, ResultLine))
    assert (done.wrote, done.target, again.wrote, again.target) == (True, "R1", True, "R1")
    assert done.state is not None
    assert done.state != again.state
    assert (
        (refused.wrote, refused.target, refused.state) == (seen.wrote, seen.target, seen.state) == (False, None, None)
    )


def test_a_write_without_its_target_touches_nothing_that_is_known(imported: Imported) -> None:
    for arguments in ("{}", '{"reservation_id": 7}', "{broken"):
        result = imported(replied(None, call("a", "cancel_reservation", arguments)), answer("a", "x"))[1]
        assert isinstance(result, ResultLine)
        assert (result.wrote, result.target) == (True, None)


def test_two_calls_with_one_name_are_told_apart_by_when_they_were_made(imported: Imported) -> None:
    found = imported(
        *(replied(None, call("a", "cancel_reservation", '{"reservation_id": "R1"}')), answer("a", "x")),
        *(replied(None, call("a", "think")), answer("a", "x")),
    )
    assert [line.wrote for line in found if isinstance(line, ResultLine)] == [True, False]


def test_an_answer_to_no_call_wrote_nothing(imported: Imported) -> None:
    assert imported(answer("z", "x")) == [ResultLine("z", "x")]


def test_a_last_message_that_hangs_up_is_the_end(file: Callable[..., Path], lines_of: Imported) -> None:
    bye = said("bye ###STOP###")
    assert lines_of(file(trial(said("hi"), bye)), NAME)[1:] == [UserLine("hi"), EndLine("reward 0.5", "bye ###STOP###")]
    inside = lines_of(file(trial(bye, replied("x"))), NAME)[1:]
    assert inside == [UserLine("bye ###STOP###"), ReplyLine("end_turn", text="x"), EndLine("reward 0.5")]
    assert lines_of(file(trial(said("bye"))), NAME)[1:] == [UserLine("bye"), EndLine("reward 0.5")]


@pytest.mark.parametrize(
    ("top", "end"),
    [({"reward": 1}, [EndLine("reward 1")]), ({"reward": 0.0}, [EndLine("reward 0.0")]), ({"reward": None}, [])],
)
def test_the_end_has_the_reward_and_is_not_there_without(
    file: Callable[..., Path], lines_of: Imported, top: dict[str, Any], end: list[Line]
) -> None:
    assert lines_of(file(trial(**top)), NAME)[1:] == end


def test_the_manifest_has_what_was_called(file: Callable[..., Path], lines_of: Imported) -> None:
    run = lines_of(file(trial(replied(None, call("a", "book_reservation"), call("b", "own")))), NAME)[0]
    assert isinstance(run, RunLine)
    assert run.tools == {"book_reservation": TAU_BENCH["book_reservation"], "own": Tool()}


BAD: list[tuple[Any, str]] = [
    ([1], "field [0]: found 1, expected an object"),
    ([{}], "field [0].task_id: found nothing, expected a number or a string"),
    ([trial(task_id=None)], "field [0].task_id: found null, expected a number or a string"),
    ([trial(task_id=True)], "field [0].task_id: found true, expected a number or a string"),
    ([trial(), trial(traj={})], "field [1].traj: found an object, expected a list"),
    ([trial(trial="a")], 'field [0].trial: found "a", expected a whole number from 0 to 1e15'),
    ([trial(reward="a")], 'field [0].reward: found "a", expected a number, 0 or more'),
    ([{"task_id": 0}], "field [0].traj: found nothing, expected a list"),
    ([trial(said("x"), {})], "field [0].traj[1].role: found nothing, expected a string"),
    ([trial(said("x", role="bird"))], 'field [0].traj[0].role: found "bird", expected system, user, assistant or tool'),
    ([trial(said("x", role="tool"))], "field [0].traj[0].tool_call_id: found nothing, expected a string"),
    ([trial(said("x", tool_calls=[1]))], "field [0].traj[0].tool_calls[0]: found 1, expected an object"),
]


@pytest.mark.parametrize(("trials", "message"), BAD)
def test_what_is_wrong_is_named_with_its_place(
    file: Callable[..., Path], lines_of: Imported, trials: Any, message: str
) -> None:
    path = file(*trials)
    with pytest.raises(BadTrace) as caught:
        lines_of(path, NAME)
    assert str(caught.value) == f"{path}, {message}"


def test_a_trial_before_a_bad_one_is_read(file: Callable[..., Path]) -> None:
    found = read(file(trial(), 1))
    assert next(found).run.id == "task3/trial1/0"
    with pytest.raises(BadTrace):
        next(found)
