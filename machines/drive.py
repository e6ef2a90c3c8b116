"""The loop: steps the machine over a host. It decides nothing, and knows no event loop.

The rules: a step is in the journal before its commands are carried out. Commands are carried out in their order, one at
a time; what they bring is fed at once. Whatever ends the loop from outside (a cancelled task, an interrupt) is fed as a
cancel first, so that the run has an ending, every open call an answer, and the journal its terminal record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise

from .commands import Command, WaitUntil
from .events import Cancel, Event
from .host import Host, Key
from .journaled import RunJournal
from .state import Run
from .supervisor import Fed, ended, feed

Watch = Callable[[Event, Fed], None]
"""Is shown each event with what it did, after it was written and before anything of it is carried out."""


class Loop:
    """One run under way. `run` is its value after the last step."""

    def __init__(self, run: Run, host: Host, journal: RunJournal, watch: Watch) -> None:
        self.run, self._host, self._journal, self._watch = run, host, journal, watch
        self._left: deque[tuple[Command, Key]] = deque()

    async def drive(self, first: Event) -> Run:
        """Feed `first` and go on until the run has ended. The journal is closed whatever happens."""
        try:
            self._take(first)
            while self._left and not ended(self.run):
                await self._carry_out(*self._left.popleft())
        except BaseException as reason:
            self._break_off(reason)
            raise
        finally:
            self._journal.close(self.run)
        return self.run

    async def _carry_out(self, command: Command, key: Key) -> None:
        if isinstance(command, WaitUntil):
            self._take(await self._host.wait(command.at, command.signals))
            return
        events = (*await self._host.effect(command, key), None)
        for event, then in pairwise(events):
            if event is not None:
                self._take(event, then)

    def _take(self, event: Event, then: Event | None = None) -> None:
        fed = feed(self.run, event, then=then)
        for move in fed.moves:
            self._journal.watch(move)
        self.run = fed.run
        sequence = self._journal.lines - 1
        self._left.extend((command, Key(fed.run.id, sequence, type(command).__name__)) for command in fed.commands)
        self._watch(event, fed)

    def _break_off(self, reason: BaseException) -> None:
        """Bring the run to an ending without awaiting anything."""
        if ended(self.run):
            return
        self._left.clear()
        for event in self._host.abandon():
            self._take(event)
        if not ended(self.run):
            self._take(Cancel(self._host.now(), f"{type(reason).__name__}: {reason}".rstrip(": ")))
        self._host.settle([command for command, _ in self._left])
