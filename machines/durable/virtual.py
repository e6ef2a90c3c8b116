"""Runs under a virtual clock, in memory: for tests of agents that wait. Hours pass at once, and nothing sleeps.

Every wait puts the run down; the clock is moved to where it ends, and the run is taken up again. So a test also walks
through everything that another process would do.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from ..agent.agent import Agent
from ..agent.agent_run import PutDown
from ..agent.result import RunResult


@attrs.define
class VirtualClock:
    """A wall clock that moves when it is told to. `now`: seconds since 1970."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


async def to_end(
    agent: Agent, task: str, clock: VirtualClock, *, run: str = "run", waits: Callable[[PutDown], object] | None = None
) -> RunResult:
    """Drive a run to its end, moving the clock over every wait.

    `waits` is told of each one first, and may answer it, or move the clock itself. The agent's `clock` must be this
    one, its `journal` a place that keeps its runs, such as `MemoryShelf().store`. Raises `RuntimeError` for a wait
    without an end that nobody answers.
    """
    found = await agent.start(task, run=run).burst()
    while isinstance(found, PutDown):
        before = clock.now
        if waits is not None:
            waits(found)
        if clock.now == before and not agent.store(run).mail():
            if found.until is None:
                raise RuntimeError(f"run {run} waits without an end, and nothing has come for it")
            clock.now = max(clock.now, found.until)
        found = await agent.resume(run).burst()
    return found
