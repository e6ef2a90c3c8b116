"""A recorded refusal is judged by what it was for, as a live one is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from machines.audit import Judged

Record = dict[str, Any]
Judge = Callable[..., Judged]

CALL: Record = {"t": "reply", "stop": "tool_use", "calls": [{"id": "c", "tool": "search", "args": {"q": "x"}}]}
FINAL: Record = {"t": "reply", "stop": "end_turn", "calls": [], "text": "Done.", "kind": "final"}


def refusal(status: int, message: str, **error: Any) -> Record:
    return {"t": "refusal", "status": status, "body": {"error": {"message": message, **error}}}


def turn(number: int) -> list[Record]:
    call = {"id": f"c{number}", "tool": "search", "args": {"q": str(number)}}
    return [
        {"t": "reply", "stop": "tool_use", "calls": [call]},
        {"t": "result", "call": call["id"], "value": f"found {number}"},
    ]


@pytest.mark.parametrize(
    "line",
    [
        refusal(429, "You exceeded your current quota", code="insufficient_quota"),
        refusal(400, "Your credit balance is too low to access the API."),
        refusal(401, "invalid x-api-key"),
    ],
)
def test_what_no_later_request_can_pass_ends_the_run_at_once(judged: Judge, line: Record) -> None:
    found = judged([*turn(1), line])
    assert [(verdict.verdict, verdict.by) for verdict in found.verdicts] == [("stop", "refused")]


def test_a_transcript_that_is_not_taken_twice_is_a_stop(judged: Judge) -> None:
    broken = refusal(400, "messages.2: `tool_use` ids were found without `tool_result` blocks")
    assert [verdict.by for verdict in judged([*turn(1), broken, *turn(2), FINAL]).verdicts] == []
    assert [verdict.by for verdict in judged([*turn(1), broken, broken]).verdicts] == ["refused"]


def test_a_wait_that_is_told_in_prose_takes_its_time(judged: Judge) -> None:
    told = {**refusal(429, "Rate limit reached. Please try again in 20s."), "at": 1.0}
    found = judged([*turn(1), told, *turn(2), FINAL], budget={"seconds": 15})
    assert [verdict.by for verdict in found.verdicts] == ["seconds"]
    assert judged([*turn(1), told, *turn(2), FINAL], budget={"seconds": 60}).verdicts == ()


def test_cut_replies_where_the_window_was_full_are_no_condensings_in_vain(judged: Judge) -> None:
    full: Record = {"t": "reply", "stop": "context_window", "calls": [], "text": "half", "usage": {"output": 9}}
    lines = [line for leg in range(4) for line in (full, *(one for n in range(10) for one in turn(10 * leg + n)))]
    assert judged([*lines, FINAL]).verdicts == ()
