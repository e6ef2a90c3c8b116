"""The plan in what the model is sent: at the end, as it stands, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from machines.agent.notices import RecoveryNotice
from machines.agent.planning import PLAN_LINE, Todo, plan_note
from machines.agent.scripted import Move, Turn
from machines.agent.tools import tool
from machines.agent.wire import Message, Request, TextPart
from machines.events import StopReason
from machines.outcome import TerminalStatus
from machines.policy import Planning, Policy, Recovery

from .scripts import calling, done, last_texts, summing_up, texts, too_long

pytestmark = pytest.mark.anyio

FIRST: list[Todo] = [{"content": "read", "status": "in_progress"}, {"content": "answer", "status": "pending"}]
SECOND: list[Todo] = [{"content": "read", "status": "completed"}, {"content": "answer", "status": "in_progress"}]
CLOSED: list[Todo] = [{"content": "read", "status": "completed"}, {"content": "answer", "status": "completed"}]


@tool
async def read(page: int) -> str:
    """Read a page."""
    return f"page {page}: " + " ".join(f"w{page * 10_000 + n}" for n in range(300))


def planning(todos: Sequence[Todo]) -> Turn:
    return calling("write_todos", todos=list(todos))


def without(request: Request, note: str) -> list[Message]:
    """The messages without the plan, which has to be the very end of the last one."""
    *first, last = request.messages
    words = last.parts[-1]
    assert isinstance(words, TextPart)
    assert words.text.endswith(note)
    # Where a wire has one text for what a user says, the plan is the end of it.
    before = words.text.removesuffix(note).rstrip("\n")
    parts = (*last.parts[:-1], TextPart(before)) if before else last.parts[:-1]
    return [*first, Message(last.role, parts)] if parts else first


async def test_the_plan_as_it_stands_is_the_end_of_each_request_and_all_before_it_is_as_it_was_sent(
    serve: Callable[..., Any],
) -> None:
    script = [
        calling("read", page=0),
        planning(FIRST),
        calling("read", page=1),
        Turn("I have read page 1."),
        Turn("The pages sa", stop=StopReason.LENGTH),
        planning(SECOND),
        calling("read", page=2),
        planning(CLOSED),
        done(),
    ]
    with serve(script) as stage:
        ran = await stage.ran("read", [read])
    assert ran.result.ok
    notes = ["", "", *[plan_note(FIRST)] * 4, *[plan_note(SECOND)] * 2, plan_note(CLOSED)]
    before: list[Message] = []
    for received, note in zip(ran.requests, notes, strict=True):
        request = received.request
        now = without(request, note) if note else list(request.messages)
        assert now[: len(before)] == before, "what was sent before is the beginning, byte for byte"
        assert "\n".join(texts(request)).count("[Your plan as it stands") == bool(note)
        before = now


async def test_the_plan_stays_in_view_when_the_history_is_condensed(serve: Callable[..., Any]) -> None:
    pages = [calling("read", page=page) for page in range(9)]
    script: list[Move] = [planning(FIRST), *pages, too_long(), calling("read", page=9), planning(CLOSED), done()]
    with serve(summing_up(script, Turn("Pages were read."))) as stage:
        ran = await stage.ran("read", [read])
    assert ran.result.ok
    for received in ran.requests[11:13]:
        without(received.request, plan_note(FIRST))
        assert "\n".join(texts(received.request)).count("[Your plan as it stands") == 1


async def test_a_final_answer_beside_an_open_plan_is_reminded_once_and_then_partial(serve: Callable[..., Any]) -> None:
    with serve([planning(FIRST), done("It says nothing."), done("It says nothing.")]) as stage:
        ran = await stage.ran("read", [read])
    assert (ran.result.status, ran.result.output) == (TerminalStatus.PARTIAL, "It says nothing.")
    assert [(notice.reason, notice.attempt) for notice in ran.heard(RecoveryNotice)] == [("unfinished_plan", 1)]
    said = "\n".join(last_texts(ran.requests[2].request))
    assert said.startswith("2 items of your plan are not done.")
    assert said.endswith(plan_note(FIRST))


async def test_a_reminder_that_is_heeded_leads_to_a_whole_answer(serve: Callable[..., Any]) -> None:
    with serve([planning(FIRST), done(), planning(CLOSED), done()]) as stage:
        ran = await stage.ran("read", [read])
    assert ran.result.status is TerminalStatus.COMPLETED


async def test_an_empty_reply_beside_an_open_plan_is_reminded_of_it_before_it_is_nudged(
    serve: Callable[..., Any],
) -> None:
    with serve([planning(FIRST), Turn(), Turn(), planning(CLOSED), done()]) as stage:
        ran = await stage.ran("read", [read])
    assert ran.result.ok
    assert [notice.reason for notice in ran.heard(RecoveryNotice)] == ["unfinished_plan", "empty"]


async def test_with_the_reminder_switched_off_an_open_plan_holds_no_answer_up(serve: Callable[..., Any]) -> None:
    with serve([planning(FIRST), done()]) as stage:
        ran = await stage.ran("read", policy=Policy(recovery=Recovery(unfinished_plan=0)))
    assert (ran.result.status, len(ran.requests)) == (TerminalStatus.COMPLETED, 2)


async def test_planning_switched_off_has_no_tools_and_no_line(serve: Callable[..., Any]) -> None:
    with serve([planning(FIRST), done()]) as stage:
        ran = await stage.ran("read", [read], policy=Policy(planning=Planning(enabled=False)))
    assert (ran.result.status, ran.result.todos) == (TerminalStatus.COMPLETED, ())
    for received in ran.requests:
        assert {made.name for made in received.request.tools} == {"read", "finish"}
        assert PLAN_LINE not in received.request.system
        assert "[Your plan" not in "\n".join(texts(received.request))


async def test_with_it_the_line_is_the_same_in_every_request(serve: Callable[..., Any]) -> None:
    with serve([planning(FIRST), planning(CLOSED), done()]) as stage:
        ran = await stage.ran("read", [read])
    [system] = {received.request.system for received in ran.requests}
    assert system.count(PLAN_LINE) == 1


async def test_an_applications_own_write_todos_has_neither_line_nor_note(serve: Callable[..., Any]) -> None:
    kept: list[Any] = []

    @tool
    async def write_todos(todos: list[dict[str, Any]]) -> str:
        """Keep a plan elsewhere."""
        kept.append(todos)
        return "kept"

    with serve([planning(FIRST), done()]) as stage:
        ran = await stage.ran("read", [write_todos])
    assert (ran.result.status, kept) == (TerminalStatus.COMPLETED, [FIRST])
    for received in ran.requests:
        assert PLAN_LINE not in received.request.system
        assert "[Your plan" not in "\n".join(texts(received.request))
