"""What the loop costs in a turn, without model and tool: host, step, journal, transcript and notices.

The model answers in this process, at once, and the tool does nothing, so that all the time that is measured is the
loop's own. A block of turns counts by its best, as a round does elsewhere.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from machines.agent.agent import Agent
from machines.agent.tools import tool
from machines.agent.wire import CallPart, Completion, Request
from machines.events import StopReason, Usage
from machines.policy import Budget, Policy
from statecraft.journal import MemoryStore, SqliteStore, Store

from .conftest import Bench, quiet_collector

pytestmark = pytest.mark.benchmark

BLOCK = 50
LIMITS_MS = {"memory": 0.3, "sqlite": 0.45, "sqlite, fsync": 1.0}
LONG = Policy(budget=Budget(turns=20_000, tokens=10**12, seconds=None, usd=None))
DONE = Completion(StopReason.TOOL_USE, (CallPart("end", "finish", '{"kind": "final", "text": "done"}'),))


@tool
async def add(one: int) -> int:
    """Give the number back."""
    return one


class AtOnce:
    """A model that calls the tool, with a number of its own each turn, and notes the time at which it is asked."""

    name = "at once"

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self.asked: list[float] = []

    async def complete(self, request: Request) -> Completion:
        del request
        self.asked.append(time.process_time())
        number = len(self.asked)
        if number > self._turns:
            return DONE
        call = CallPart(f"call_{number}", "add", f'{{"one": {number}}}')
        return Completion(StopReason.TOOL_USE, (call,), Usage(1_000, 50))

    async def aclose(self) -> None:
        """Nothing is open."""

    def milliseconds(self, first: int, last: int) -> float:
        """A turn's time, in the best block of these turns."""
        blocks = range(first, last - BLOCK, BLOCK)
        return min(self.asked[at + BLOCK] - self.asked[at] for at in blocks) / BLOCK * 1e3


def run_of(turns: int, store: Callable[[str], Store]) -> AtOnce:
    model = AtOnce(turns)
    gc.collect()
    with quiet_collector():
        result = anyio.run(lambda: Agent(model, [add], policy=LONG, journal=store).run("count"))
    assert result.ok
    return model


def store_of(kind: str, folder: Path) -> Callable[[str], Store]:
    if kind == "memory":
        return lambda run: MemoryStore()
    return lambda run: SqliteStore(folder / "runs.db", run, "power" if "fsync" in kind else "process")


@pytest.mark.parametrize("kind", list(LIMITS_MS))
def test_a_turn_of_the_loop_costs_little(bench: Bench, tmp_path: Path, kind: str) -> None:
    _, factor = bench.race(lambda: None)
    found = run_of(1_000, store_of(kind, tmp_path)).milliseconds(10, 1_000)
    bench.hold(f"the loop, a turn, journal in {kind}", found * 1e3, LIMITS_MS[kind] * 1e3 * factor, beside=PEER)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_turn_of_the_loop_costs_no_more_when_the_run_is_long(bench: Bench, tmp_path: Path, kind: str) -> None:
    model = run_of(10_000, store_of(kind, tmp_path))
    early, late = model.milliseconds(10, 1_010), model.milliseconds(9_000, 10_000)
    bench.hold(f"the loop, turn 10,000 to turn 10, journal in {kind}", late / early, 1.3, "x")


PEER = "HarnessX 6 ms at turn 10, 82 ms at turn 400"
