"""A run is cancelled at every point at which it waits: each time it has an ending, a journal, and leaves no task."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from types import coroutine
from typing import Any

import anyio
import pytest

from machines.agent.agent_run import AgentRun
from machines.agent.scripted import Received, Refuse, Turn, call
from machines.agent.tools import tool
from machines.events import Facts
from machines.journaled import AGENT_RUN
from machines.manifest import Kind, Tool
from machines.outcome import TerminalStatus
from statecraft.journal import FileStore, verify
from statecraft.replay import replay

pytestmark = pytest.mark.anyio


@tool
async def slow(number: int) -> int:
    """Take a moment."""
    await anyio.sleep(0)
    return number


async def look(target: str) -> str:
    await anyio.sleep(0)
    return target


@tool(manifest=Tool(kind=Kind.WRITE, target=("path",)), digest=look)
async def put(path: str) -> str:
    """Write something, and take a moment for it."""
    await anyio.sleep(0)
    return path


async def facts(answer: object) -> Facts:
    await anyio.sleep(0)
    return Facts(grounded=True)


async def goal() -> tuple[float, float]:
    await anyio.sleep(0)
    return (1, 2)


SCRIPT = [
    Turn(calls=(call("slow", {"number": 1}), call("put", {"path": "a"}))),
    Refuse(529, headers={"retry-after": "0"}),
    Turn(calls=(call("slow", {"number": 3}), call("slow", "no JSON"))),
    Turn("a note"),
    Turn("words beside it", calls=(call("put", {"path": "b"}),)),
    Turn(calls=(call("finish", {"kind": "final", "text": "done"}),)),
]


@coroutine
def stepped(work: Coroutine[Any, Any, Any], waited: Callable[[int], None]) -> Generator[Any, Any, Any]:
    """Drive a coroutine, and say before each wait the how manieth it is."""
    count, send, error = 0, None, None
    while True:
        try:
            asked = work.send(send) if error is None else work.throw(error)
        except StopIteration as end:
            return end.value
        count += 1
        waited(count)
        send, error = None, None
        try:
            send = yield asked
        except BaseException as raised:  # noqa: BLE001  # whatever it is, it goes into the coroutine
            error = raised


def from_outside(under_way: AgentRun, scope: anyio.CancelScope) -> None:
    scope.cancel()


def by_the_run_itself(under_way: AgentRun, scope: anyio.CancelScope) -> None:
    under_way.cancel("enough")


@pytest.mark.parametrize("end", [from_outside, by_the_run_itself])
async def test_a_cancel_at_every_wait_leaves_an_ending_a_whole_journal_that_replays_and_no_task(
    serve: Callable[..., Any], tmp_path: Path, end: Callable[[AgentRun, anyio.CancelScope], None]
) -> None:
    waits = 0

    def count(number: int) -> None:
        nonlocal waits
        waits = number

    def script(received: Received) -> Any:
        return SCRIPT[received.number]

    tasks = {task.id for task in anyio.get_running_tasks()}
    with serve(script) as stage:
        whole = stage.agent([slow, put], run="whole", facts=facts, goal=goal).start("go", run="whole")
        result = await stepped(whole.result(), count)
        assert result.ok
        assert waits > 10
        ends: set[TerminalStatus] = set()
        for at in range(1, waits + 1):
            name = f"at-{at}"
            under_way = stage.agent([slow, put], run=name, facts=facts, goal=goal).start("go", run=name)
            with anyio.CancelScope() as scope:

                def cancel(number: int, under_way: AgentRun = under_way, scope: Any = scope, at: int = at) -> None:
                    if number == at:
                        end(under_way, scope)

                await stepped(under_way.result(), cancel)
            outcome = under_way.run.outcome
            assert outcome is not None, name
            ends.add(outcome.status)
            assert under_way.open_calls == (), name
            assert verify(tmp_path / f"{name}.jsonl").verdict == "whole", name
            store = FileStore(tmp_path / f"{name}.jsonl")
            again = replay(store, AGENT_RUN)
            store.close()
            assert (again.difference, again.run.outcome) == (None, outcome), name
            assert {task.id for task in anyio.get_running_tasks()} == tasks, name
        assert TerminalStatus.CANCELLED in ends
        assert ends <= {TerminalStatus.CANCELLED, TerminalStatus.COMPLETED}
        await stage.close()


async def test_a_cancel_before_the_start_asks_for_nothing(serve: Callable[..., Any], tmp_path: Path) -> None:
    with serve(SCRIPT) as stage:
        under_way = stage.agent([slow, put]).start("go", run="early")
        under_way.cancel("changed my mind")
        result = await under_way.result()
        await stage.close()
        assert (result.status, stage.server.requests()) == (TerminalStatus.CANCELLED, ())
        assert dict(result.outcome.reason.values)["why"] == "changed my mind"
        assert verify(tmp_path / "early.jsonl").verdict == "whole"
