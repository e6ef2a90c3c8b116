"""The keeper: drives the runs of one shelf in this process, burst by burst. Between two bursts a run is one entry here.

A run is driven when it was enlisted, when its time has come, when a letter has come that it waits for, and when the
process that drove it is gone. Where somebody else is at work on a run, it is looked at again later. A run that cannot
be driven (its journal is damaged, its rules are others) is logged, and left alone for longer each time; the others go
on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from time import time
from typing import Final

import anyio
import attrs

from statecraft.journal import JournalError, Overtaken, Shelf

from ..agent.agent import Agent
from ..agent.lease import LEASE_SECONDS, Leased
from ..letters import letters_to
from ..standing import ENDED, RUNNING, STANDING, WAITING, Standing, standing_of, standing_read
from .burst import Stood, burst

_LOG: Final = logging.getLogger("machines.durable")

AT_ONCE: Final = 16
"""Bursts that go on side by side."""

SCAN_SECONDS: Final = 5.0
"""How often all runs are looked at: with the time of a lease, the longest that a dead process keeps a run."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds for which a run is left alone that could not be driven: at first, and at most."""

LOOK_SECONDS: Final = 0.1
"""How often the mail of all runs is looked at."""

AgentFor = Callable[[str], Agent]


@attrs.define
class Keeper:
    """What is known of the runs of a shelf. `serve` drives them; one keeper is one process's.

    `agent_for` gives the agent that drives a run, mostly the same for all. `heard` is told how each burst left its run.
    """

    shelf: Shelf
    agent_for: AgentFor
    at_once: int = AT_ONCE
    look: float = LOOK_SECONDS
    clock: Callable[[], float] = time
    heard: Callable[[Stood], object] | None = None
    _waiting: dict[str, tuple[str, ...]] = attrs.field(init=False, factory=dict[str, tuple[str, ...]])
    _timed: list[tuple[float, str]] = attrs.field(init=False, factory=list[tuple[float, str]])
    _at: dict[str, float] = attrs.field(init=False, factory=dict[str, float])
    _busy: set[str] = attrs.field(init=False, factory=set[str])
    _failures: dict[str, int] = attrs.field(init=False, factory=dict[str, int])
    _alone: dict[str, float] = attrs.field(init=False, factory=dict[str, float])
    _elsewhere: set[str] = attrs.field(init=False, factory=set[str])
    _vain: dict[str, tuple[str, ...]] = attrs.field(init=False, factory=dict[str, tuple[str, ...]])

    async def serve(self, *, once: bool = False) -> None:
        """Drive the runs until this is cancelled; with `once`, drive those that are due now and give back.

        What is under way when it is cancelled is left as it stands, for whoever serves next.
        """
        limiter = anyio.Semaphore(self.at_once)
        looked = -inf
        async with anyio.create_task_group() as group:
            while True:
                try:
                    if self.clock() - looked >= SCAN_SECONDS:
                        looked = self.clock()
                        self._scan()
                    due = self._due()
                except JournalError as error:
                    if once:
                        raise
                    _LOG.error("the shelf is away, and is looked at again: %s", error)
                    due = []
                for run in due:
                    self._busy.add(run)
                    await limiter.acquire()
                    group.start_soon(self._burst, run, limiter)
                if once:
                    return
                await anyio.sleep(self._pause())

    def _scan(self) -> None:
        """Look at how all runs stand: those that nobody has told of, and those whose process has gone."""
        for run, body in self.shelf.notes(STANDING):
            if run not in self._busy and (run not in self._waiting or run in self._elsewhere):
                self._seen(run, standing_read(body))

    @property
    def kept(self) -> int:
        """How many runs wait, or are driven."""
        return len(self._waiting) + len(self._busy)

    def _seen(self, run: str, stood: Standing | None) -> None:
        """Note how a run stands, as its last process said."""
        if stood is None or stood.state == ENDED:
            return
        until = stood.until
        if stood.state != RUNNING:
            self._elsewhere.discard(run)
        elif Leased(stood.by).gone:
            until = self.clock()
        elif run in self._elsewhere:
            return  # it is tried when the lease that was seen first may have run out
        else:
            self._elsewhere.add(run)
            until = max(stood.at, self.clock()) + LEASE_SECONDS
        self._wait(run, until, stood.signals if stood.state == WAITING else ())

    def _wait(self, run: str, until: float | None, signals: tuple[str, ...]) -> None:
        self._waiting[run] = signals
        self._vain.pop(run, None)  # what was for nothing before may be for this
        if until is not None:
            self._at[run] = until
            heappush(self._timed, (until, run))

    def _due(self) -> list[str]:
        """The runs to be driven now, each once."""
        found: dict[str, None] = {}
        now = self.clock()
        while self._timed and self._timed[0][0] <= now:
            at, run = heappop(self._timed)
            if self._at.get(run) == at:  # else it has waited for something else since
                found[run] = None
        for run in self.shelf.mailed():
            if run not in self._busy and run not in found and self._has_come(run):
                found[run] = None
        for run in found:
            self._elsewhere.discard(run)
            self._waiting.pop(run, None)
            self._at.pop(run, None)
        return [run for run in found if run not in self._busy]

    def _has_come(self, run: str) -> bool:
        """Whether the mail of the run has what it waits for."""
        if self._alone.get(run, 0.0) > self.clock():
            return False
        try:
            return self._mail_has_come(run)
        except JournalError as error:
            self._failed(run, error)
            return False

    def _mail_has_come(self, run: str) -> bool:
        store = self.shelf.store(run)
        letters = store.mail()
        ids = tuple(id for id, _ in letters)
        if self._vain.get(run) == ids:
            return False
        if run not in self._waiting:  # enlisted since, or by another process
            stood = standing_of(store)
            if stood is None or stood.state in (ENDED, RUNNING):
                self._vain[run] = ids
                return False
            self._seen(run, stood)
            if stood.state != WAITING:
                return True
        if letters_to(letters, self._waiting.get(run, ())):
            self._vain.pop(run, None)
            return True
        self._vain[run] = ids
        return False

    def _pause(self) -> float:
        """Seconds until the next look."""
        if not self._timed:
            return self.look
        return min(self.look, max(0.0, self._timed[0][0] - self.clock()))

    async def _burst(self, run: str, limiter: anyio.Semaphore) -> None:
        try:
            stood = await burst(self.agent_for(run), run)
        except Exception as error:  # noqa: BLE001  # one run that cannot be driven ends no other
            self._failed(run, error)
            return
        finally:
            self._busy.discard(run)
            limiter.release()
        self._failures.pop(run, None)
        if stood.state == WAITING:
            self._wait(run, stood.until, stood.signals)
        if self.heard is not None:
            self.heard(stood)

    def _failed(self, run: str, error: Exception) -> None:
        if isinstance(error, Overtaken):
            self._elsewhere.add(run)  # so that it is seen when that process has gone, or has put it down
            self._wait(run, self.clock() + LEASE_SECONDS, ())
            return
        count = self._failures[run] = self._failures.get(run, 0) + 1
        pause = min(FIRST_PAUSE * 2 ** (count - 1), LONGEST_PAUSE)
        known = isinstance(error, JournalError)
        _LOG.error("run %s is left alone for %.0f s: %s", run, pause, error, exc_info=None if known else error)
        self._alone[run] = self.clock() + pause
        self._wait(run, self.clock() + pause, ())
