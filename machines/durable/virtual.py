"""Runs under a virtual clock, in memory: for tests of agents that wait. Hours pass at once, and nothing sleeps.

Every wait puts the run down; the clock is moved to where it ends, and the run is taken up again. So a test also walks
through everything that another process would do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from statecraft.journal import MemoryStore

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


@attrs.define
class MemoryShelf:
    """Runs in memory, gone with the process."""

    name: str = "in memory"
    _stores: dict[str, MemoryStore] = attrs.field(init=False, factory=dict[str, MemoryStore])

    def store(self, run: str) -> MemoryStore:
        """The store of a run, the same each time."""
        return self._stores.setdefault(run, MemoryStore(name=f"in memory ({run})"))

    def runs(self) -> tuple[str, ...]:
        """The runs that have a journal, sorted."""
        return tuple(sorted(run for run, store in self._stores.items() if store.last() is not None))

    def notes(self, name: str) -> Iterator[tuple[str, bytes]]:
        """The note of that name of every run that has it."""
        for run, store in sorted(self._stores.items()):
            if (body := store.kept(name)) is not None:
                yield run, body

    def mailed(self) -> tuple[str, ...]:
        """The runs that have mail, sorted."""
        return tuple(sorted(run for run, store in self._stores.items() if store.mail()))

    def close(self) -> None:
        """Nothing is open."""


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
