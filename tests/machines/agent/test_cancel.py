"""A run is cancelled at every point at which it waits: each time it has an ending, a journal, and leaves no task."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from types import coroutine
from typing import Any

import anyio
import pytest

from machines.agent.scripted import Received, Turn, call
from machines.agent.tools import tool
from machines.outcome import TerminalStatus
from statecraft.journal import verify

pytestmark = pytest.mark.anyio


@tool
async def slow(number: int) -> int:
    """Take a moment."""
    await anyio.sleep(0)
    return number


SCRIPT = [
    Turn(calls=(call("slow", {"number": 1}), call("slow", {"number": 2}))),
    Turn(calls=(call("slow", {"number": 3}),)),
    Turn("a note"),
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


async def test_a_cancel_at_every_wait_leaves_an_ending_and_a_whole_journal(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    waits = 0

    def count(number: int) -> None:
        nonlocal waits
        waits = number

    def script(received: Received) -> Turn:
        return SCRIPT[received.number]

    with serve(script) as stage:
        result = await stepped(stage.agent([slow], run="whole").run("go", run="whole"), count)
        assert result.ok
        assert waits > 5
        for at in range(1, waits + 1):
            name = f"at-{at}"
            under_way = stage.agent([slow], run=name).start("go", run=name)
            with anyio.CancelScope() as scope:

                def cancel(number: int, scope: anyio.CancelScope = scope, at: int = at) -> None:
                    if number == at:
                        scope.cancel()

                await stepped(under_way.result(), cancel)
            outcome = under_way.run.outcome
            assert outcome is not None, name
            assert outcome.status in (TerminalStatus.CANCELLED, TerminalStatus.COMPLETED), name
            assert under_way.open_calls == (), name
            assert verify(tmp_path / f"{name}.jsonl").verdict == "whole", name
        await stage.close()
