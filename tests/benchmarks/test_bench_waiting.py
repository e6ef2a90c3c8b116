"""What waiting costs: ten thousand runs put down in one process, the time until each is woken, and taking one up.

The model answers in this process, at once; the journals lie in SQLite.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path

import anyio
import pytest

from machines.agent.agent import Agent
from machines.agent.from_outside import WaitFor, wait_for
from machines.agent.taking_up import take_up
from machines.agent.tools import tool
from machines.agent.wire import CallPart, Completion, Request, ResultPart
from machines.durable.burst import Stood, enlist
from machines.durable.keeper import Keeper
from machines.events import StopReason, Usage
from machines.letters import Letter, post
from machines.policy import Budget, Policy
from machines.standing import ENDED, WAITING
from statecraft.journal import SqliteShelf

from .conftest import Bench

pytestmark = pytest.mark.benchmark

SIGNALS_A_SECOND = 200
LONG = Policy(budget=Budget(turns=20_000, tokens=10**12, seconds=None, usd=None))


@tool
async def hook() -> WaitFor:
    """Wait for the hook."""
    return wait_for("hook")


@tool
async def add(one: int) -> int:
    """Give the number back."""
    return one


class WaitsAfter:
    """A model that makes so many calls, then waits for the hook, and is done when that has come."""

    name = "at once"

    def __init__(self, turns: int = 0) -> None:
        self._turns = turns

    async def complete(self, request: Request) -> Completion:
        number = len(request.messages) // 2
        heard = [part for part in request.messages[-1].parts if isinstance(part, ResultPart)]
        if number < self._turns:
            call = CallPart(f"c{number}", "add", f'{{"one": {number}}}')
        elif heard and "arrived" in heard[0].content:
            call = CallPart("end", "finish", '{"kind": "final", "text": "done"}')
        else:
            call = CallPart("hook", "hook", "{}")
        return Completion(StopReason.TOOL_USE, (call,), Usage(1_000, 50))

    async def aclose(self) -> None:
        """Nothing is open."""


def resident() -> float:
    """Megabytes that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096 / 1e6


async def waking(shelf: SqliteShelf, runs: int, signals: int) -> tuple[float, list[float]]:
    """Megabytes for these runs that wait, and the seconds from each signal to the end of its run."""
    agent = Agent(WaitsAfter(), [hook], policy=LONG, journal=shelf.store)
    ended: dict[str, float] = {}
    waiting: set[str] = set()

    def heard(stood: Stood) -> None:
        if stood.state == WAITING:
            waiting.add(stood.run)
        elif stood.state == ENDED:
            ended[stood.run] = time.monotonic()

    for number in range(runs):
        enlist(shelf.store(f"r{number}"), f"r{number}", "go", time.time())
    gc.collect()
    before = grown = resident()
    posted: dict[str, float] = {}
    async with anyio.create_task_group() as group:
        group.start_soon(Keeper(shelf, lambda run: agent, heard=heard).serve)
        while len(waiting) < runs:
            await anyio.sleep(0.05)
        gc.collect()
        grown = resident() - before
        began = time.monotonic()
        while len(posted) < signals:
            for number in range(len(posted), min(signals, int((time.monotonic() - began) * SIGNALS_A_SECOND))):
                post(shelf.store(f"r{number}"), "letter", Letter("hook", time.time()))
                posted[f"r{number}"] = time.monotonic()
            await anyio.sleep(0.005)
        with anyio.fail_after(60):
            while len(ended) < signals:
                await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    return grown, [ended[run] - at for run, at in posted.items()]


@pytest.mark.parametrize(
    ("runs", "signals"), [(500, 400), pytest.param(10_000, 2_000, marks=pytest.mark.deep)], ids=["500", "10,000"]
)
def test_runs_that_wait_cost_little_and_each_is_woken_within_a_second(
    bench: Bench, tmp_path: Path, runs: int, signals: int
) -> None:
    shelf = SqliteShelf(tmp_path / "runs.db")
    grown, took = anyio.run(waking, shelf, runs, signals)
    shelf.close()
    assert len(took) == signals
    if runs >= 10_000:  # fewer find room in what the process holds already
        beside = "a transitions Machine each: 292 to 656 MB"
        bench.hold(f"{runs:,} runs waiting, put down", grown, 50.0, "MB", beside=beside)
    bench.hold(f"of {runs:,} waiting, woken at {SIGNALS_A_SECOND} signals a second, the last", max(took), 1.0, "s")


@pytest.mark.parametrize("turns", [500, pytest.param(10_000, marks=pytest.mark.deep)])
def test_taking_up_a_long_run_is_short(bench: Bench, tmp_path: Path, turns: int) -> None:
    shelf = SqliteShelf(tmp_path / "runs.db")
    agent = Agent(WaitsAfter(turns), [add, hook], policy=LONG, journal=shelf.store)
    anyio.run(agent.start("go", run="run").burst)
    assert take_up(shelf.store("run")).run.turn.number == turns + 1
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        take_up(shelf.store("run"))
        best = min(best, (time.process_time() - began) * 1e3)
    shelf.close()
    bench.hold(f"taking up a run of {turns:,} turns", best, 200.0, "ms", beside="by replay 2 s")
