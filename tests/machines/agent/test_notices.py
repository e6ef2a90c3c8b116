"""Notices: each kind reaches callbacks and streams, an ending reaches every reader, runs side by side keep apart."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.agent.agent import Agent
from machines.agent.notices import (
    AttemptResetNotice,
    CallsNotice,
    CondensedNotice,
    EndingNotice,
    Notice,
    Notices,
    PersonNotice,
    RecoveryNotice,
    RepetitionNotice,
    ResultNotice,
    StateNotice,
    TextNotice,
    TodosNotice,
    VerdictNotice,
)
from machines.agent.result import refused_by
from machines.agent.scripted import Move, Received, Refuse, Stall, Turn, call
from machines.agent.telling import recovered, repetition, spent
from machines.agent.tools import tool
from machines.commands import Ask
from machines.events import Refusal, Text, Usage
from machines.manifest import Tool, Wait
from machines.outcome import TerminalStatus
from machines.policy import DEFAULT, Policy, Recovery
from machines.run import RUN
from machines.state import Phase, Spent, new_run
from machines.supervisor import Moved
from statecraft import Step
from statecraft.evolve import evolve
from statecraft.journal import FileStore, Store

pytestmark = pytest.mark.anyio

DONE = Turn(calls=(call("finish", {"kind": "final", "text": "It is 3."}),))
TOO_LONG = Refuse(400, '{"error": {"code": "context_length_exceeded", "message": "too long"}}')


@tool(manifest=Tool(wait=Wait(progress_field="*", waiting_values=("building",), terminal_values=("built",))))
async def build() -> str:
    """Look at the build."""
    return "on fire"


@tool
async def add(one: int, other: int) -> int:
    """Add two numbers."""
    return one + other


@tool
async def dump() -> str:
    """Give more than is kept when the history is condensed."""
    return "x" * 20_000


ADD = Turn(calls=(call("add", {"one": 1, "other": 2}),))
PLAN = Turn(calls=(call("write_todos", {"todos": [{"content": "add", "status": "in_progress"}]}),))

EVERYTHING: list[Move] = [
    Turn("Let me see."),
    PLAN,
    ADD,
    ADD,
    ADD,
    Turn(calls=(call("dump"),)),
    Refuse(529, headers={"retry-after": "0"}),
    TOO_LONG,
    TOO_LONG,
    Turn(calls=(call("build"),)),
    Turn(calls=(call("write_todos", {"todos": [{"content": "add", "status": "completed"}]}),)),
    DONE,
]


async def heard(stream: AsyncIterator[Notice], into: list[Notice]) -> None:
    into.extend([notice async for notice in stream])


async def test_every_kind_of_notice_is_told_to_callbacks_and_to_streams_alike(serve: Callable[..., Any]) -> None:
    by_callback: list[Notice] = []
    by_stream: list[Notice] = []
    with serve(EVERYTHING) as stage:
        agent: Agent = stage.agent([add, build, dump], stream=True)
        agent.notices.subscribe(by_callback.append)
        with agent.notices.stream() as stream, anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(heard, stream, by_stream)
                assert (await agent.run("Everything", run="all")).ok
        await stage.close()
    assert by_stream == by_callback
    assert {type(notice) for notice in by_callback} == set(Notice.__args__)
    assert {notice.run for notice in by_callback} == {"all"}
    found = {type(notice): notice for notice in reversed(by_callback)}
    assert found[TextNotice] == TextNotice("Let me see.", checkpoint=True, run="all")
    assert found[RepetitionNotice] == RepetitionNotice(1, 3, "add", run="all")
    shorter = found[CondensedNotice]
    assert isinstance(shorter, CondensedNotice)
    assert (shorter.messages_dropped, shorter.summarized, shorter.steps) == (0, False, ("spilled",))
    assert shorter.freed > 4_000
    calls, results = found[CallsNotice], found[ResultNotice]
    assert isinstance(calls, CallsNotice)
    assert isinstance(results, ResultNotice)
    assert (calls.calls[0][1], results.tool, results.content) == ("write_todos", "write_todos", "0 of 1 done")
    todos, verdict = found[TodosNotice], found[VerdictNotice]
    assert isinstance(todos, TodosNotice)
    assert isinstance(verdict, VerdictNotice)
    assert (todos.completed, todos.total, todos.in_progress) == (0, 1, "add")
    assert (verdict.verdict, verdict.by) == ("nudge", "consecutive_duplicate")
    recoveries = [notice for notice in by_callback if isinstance(notice, RecoveryNotice)]
    assert [(r.reason, r.attempt, r.status) for r in recoveries] == [
        ("refused", 1, 529),
        ("short_prompt", 1, 400),
        ("condensed", 1, 400),
    ]
    assert recoveries[1].said == "HTTP 400: too long"
    assert [n.reason for n in by_callback if isinstance(n, AttemptResetNotice)] == ["refused"]
    assert [n.by for n in by_callback if isinstance(n, PersonNotice)] == ["wait"]
    assert isinstance(by_callback[-1], EndingNotice)
    assert by_callback[-1].message == "It is 3."
    assert [n.state for n in by_callback if isinstance(n, StateNotice)][-1] == "completed"


async def test_a_reader_that_falls_behind_loses_the_oldest_and_never_the_ending(serve: Callable[..., Any]) -> None:
    with serve([ADD, DONE]) as stage:
        agent: Agent = stage.agent([add])
        with agent.notices.stream(2) as stream, anyio.fail_after(10):
            await agent.run("go")
            late = [notice async for notice in stream]
        await stage.close()
    assert isinstance(late[-1], EndingNotice)
    assert len(late) == 2
    assert agent.notices.dropped > 0
    assert agent.notices.failures == 0


async def test_a_stream_holds_the_endings_of_more_runs_than_it_has_room_for(serve: Callable[..., Any]) -> None:
    with serve([DONE] * 3) as stage:
        agent: Agent = stage.agent()
        with agent.notices.stream(1) as stream, anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                for name in ("a", "b", "c"):
                    group.start_soon(lambda name: agent.run("go", run=name), name)
            late = [notice async for notice in stream]
        await stage.close()
    assert sorted(notice.run for notice in late if isinstance(notice, EndingNotice)) == ["a", "b", "c"]


async def test_a_run_that_is_cancelled_from_outside_tells_its_ending(serve: Callable[..., Any]) -> None:
    with serve([Stall(60.0)]) as stage:
        under_way = stage.agent().start("go")
        notices: list[Notice] = []
        with under_way.notices.stream() as stream, anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(heard, stream, notices)
                with anyio.move_on_after(0.2):
                    await under_way.result()
        await stage.close()
    assert isinstance(notices[-1], EndingNotice)
    assert notices[-1].outcome.status is TerminalStatus.CANCELLED


async def test_runs_side_by_side_are_told_apart(serve: Callable[..., Any]) -> None:
    def script(received: Received) -> Move:
        said = str(received.request.messages[0].parts[0])
        return DONE if received.run == "short" or received.request.messages[2:] or "short" in said else ADD

    of_long: list[Notice] = []
    of_all: list[Notice] = []
    by_callback: list[Notice] = []
    with serve(script) as stage:
        agent: Agent = stage.agent([add])
        long = agent.start("long", run="long")
        long.notices.subscribe(by_callback.append)
        with agent.notices.stream(run="long") as one, agent.notices.stream() as every, anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(heard, one, of_long)
                group.start_soon(heard, every, of_all)
                group.start_soon(long.result)
                group.start_soon(lambda: agent.run("short", run="short"))
        await stage.close()
    assert {notice.run for notice in of_long} == {"long"}
    assert by_callback == of_long
    assert [notice for notice in of_all if notice.run == "long"] == of_long
    assert {n.run for n in of_all if isinstance(n, EndingNotice)} == {"long", "short"}


class Full(FileStore):
    """A disk that is full after two lines."""

    def append(self, seq: int, line: bytes) -> None:
        if seq > 1:
            raise OSError(28, "No space left on device")
        super().append(seq, line)


async def test_a_run_that_breaks_ends_its_streams(serve: Callable[..., Any], tmp_path: Path, wire: str) -> None:
    def store(run: str) -> Store:
        return Full(tmp_path / f"{run}.jsonl")

    with serve([DONE]) as stage:
        async with Agent(stage.server.model("r", wire), journal=store) as agent:
            under_way = agent.start("go")
            with under_way.notices.stream() as stream:
                with pytest.raises(OSError, match="No space left"):
                    await under_way.result()
                assert not any([isinstance(notice, EndingNotice) async for notice in stream])
            with under_way.notices.stream() as stream:
                assert [notice async for notice in stream] == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_callback_that_always_raises_is_counted_each_time_and_reported_once(
    caplog: pytest.LogCaptureFixture, anyio_backend: str
) -> None:
    def angry(notice: Notice) -> None:
        raise RuntimeError("no")

    notices = Notices()
    end = notices.subscribe(angry)
    for _ in range(3):
        notices.tell(TextNotice("x"))
    assert (notices.failures, len(caplog.records)) == (3, 1)
    end()
    end()
    notices.tell(TextNotice("x"))
    assert notices.failures == 3


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_one_callback_subscribed_twice_is_told_twice_until_each_is_ended(anyio_backend: str) -> None:
    told: list[Notice] = []
    notices = Notices()
    first, second = notices.subscribe(told.append), notices.subscribe(told.append)
    notices.tell(TextNotice("x"))
    first()
    first()
    notices.tell(TextNotice("y"))
    second()
    notices.tell(TextNotice("z"))
    assert [notice.text for notice in told if isinstance(notice, TextNotice)] == ["x", "x", "y"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_async_callback_is_refused_since_nobody_would_await_it(anyio_backend: str) -> None:
    async def hear(notice: Notice) -> None: ...

    with pytest.raises(TypeError, match="stream"):
        Notices().subscribe(hear)


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        ({"now": 4, "tool": "read"}, RepetitionNotice(1, 4, "read")),
        ({"now": 3, "period": 2, "tool": "read"}, RepetitionNotice(2, 3, "read")),
        ({}, RepetitionNotice(1, 0, "")),
    ],
)
def test_a_repetition_has_the_period_of_its_evidence(evidence: dict[str, Any], told: RepetitionNotice) -> None:
    assert repetition(evidence) == told


def test_a_recovery_tells_the_refusal_and_the_wait_before_the_next_request() -> None:
    policy = Policy(recovery=Recovery(refused=3))
    run = evolve(new_run("r", policy), at=Phase.ASKING)
    event = Refusal(1.0, 503, Text("0" * 64, 3), None, too_long=False, budget=99)
    answer = RUN.step(run, event)
    assert isinstance(answer, Step)
    after = next(command.after for command in answer.commands if isinstance(command, Ask))
    told = recovered(Moved(event, answer), refused_by(503, "busy"))
    assert told == (RecoveryNotice("refused", 1, 99, 503, "HTTP 503: busy", after), AttemptResetNotice("refused"))


def test_money_is_not_known_where_nothing_had_a_price() -> None:
    run = new_run("r", DEFAULT)
    assert spent(run, 0.0)["usd"] == (None, DEFAULT.budget.usd)
    paid = evolve(run, spent=Spent(usage=Usage(10, 10, 0, 0.25)))
    assert spent(paid, 0.0)["usd"] == (0.25, DEFAULT.budget.usd)
