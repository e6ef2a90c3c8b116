"""The loop: steps the machine over a host. It decides nothing, and knows no event loop.

The rules: a step is in the journal before its commands are carried out, and `run` is never ahead of the journal.
Commands are carried out in their order, one at a time; what they bring is fed at once. Whatever ends the loop from
outside (a cancelled task, an interrupt) is fed as a cancel first, so that the run has an ending, every open call an
answer, and the journal its terminal record; a run that is to outlive its process is left as it stands instead. Where a
line cannot be written nothing is written after it: the journal is left open, which is what it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import pairwise

from statecraft import Fault
from statecraft.journal import JournalError

from .commands import AnswerCalls, Ask, Command, WaitUntil, Withdraw
from .events import Cancel, Event
from .host import Host, Key
from .journaled import RunJournal
from .state import Phase, Run
from .supervisor import Fed, NewLeg, ended, feed

Watch = Callable[[Event, Fed], None]
"""Is shown each event with what it did, after it was written and before anything of it is carried out."""


class Loop:
    """One run under way. `run` is its value after the last step that was written; `put_down`: it waits, elsewhere.

    `left`: what a run that is taken up had asked for. `outlives`: a run that another process is to take up where this
    one is ended from outside.
    """

    def __init__(
        self,
        run: Run,
        host: Host,
        journal: RunJournal,
        watch: Watch,
        *,
        left: Iterable[tuple[Command, Key]] = (),
        outlives: bool = False,
    ) -> None:
        self.run, self.put_down, self._host, self._journal, self._watch = run, False, host, journal, watch
        self.outlives = outlives
        self._left: deque[tuple[Command, Key]] = deque(left)
        self._withdrawn = False  # the request that is out is not wanted any more
        self._unwritten = False  # a line is being written, or could not be: `run` may not be what the journal says

    @property
    def left(self) -> tuple[tuple[Command, Key], ...]:
        """The commands that have not been carried out."""
        return tuple(self._left)

    async def drive(self, *first: Event) -> Run:
        """Feed `first`, one after another, and go on until the run has ended, or is put down.

        The journal is closed whatever happens, but for a run that is put down: that is left to whoever drives it.

        Raises `RuntimeError`, and ends the run as cancelled, where the host brings nothing that the run could go on by;
        `JournalError` where a line cannot be written, and then the journal is left open.
        """
        try:
            for event in first:
                self._take(event)
            while self._left and not ended(self.run) and not self.put_down:
                await self._carry_out(*self._left.popleft())
            if not ended(self.run) and not self.put_down:
                raise RuntimeError(f"the host brought nothing to a run that is {self.run.at.value}")
        except BaseException as reason:
            self._break_off(reason)
            raise
        finally:
            if not self.put_down:  # else whoever drives it has still to say how it stands, before it lets it go
                try:
                    self._host.settle([command for command, _ in self._left])
                finally:
                    self._journal.close(None if self._unwritten else self.run)
        return self.run

    async def _carry_out(self, command: Command, key: Key) -> None:
        if isinstance(command, WaitUntil):
            if self.run.at is Phase.WAITING:  # what came meanwhile may have ended the wait already
                await self._wait(command, key)
            return
        self._withdrawn = False
        self._take_all(await self._host.effect(command, key))

    def hear(self, event: Event) -> bool:
        """Feed what comes while a request is out; whether that is still wanted. What is asked for waits its turn."""
        self._take(event)
        return not self._withdrawn and not ended(self.run)

    async def _wait(self, command: WaitUntil, key: Key) -> None:
        event = await self._host.wait(command.at, command.signals)
        self.put_down = event is None
        if event is not None:
            self._take(event)
        if self.run.at is Phase.WAITING and not any(isinstance(asked, WaitUntil) for asked, _ in self._left):
            self._left.append((command, key))  # what came ended nothing, so the wait goes on

    def _take_all(self, events: Iterable[Event]) -> None:
        for event, then in pairwise((*events, None)):
            if event is not None:
                self._take(event, then)

    def _take(self, event: Event, then: Event | None = None) -> None:
        fed = feed(self.run, event, then=then)
        lines: dict[int, int] = {}
        for move in fed.moves:
            self._unwritten = True
            self._journal.watch(move)
            if isinstance(move, NewLeg):
                self.run, self._unwritten = move.run, False
                # The old leg asks for nothing any more, but its calls still want their answers.
                self._left = deque(asked for asked in self._left if isinstance(asked[0], AnswerCalls))
            elif not isinstance(move.answer, Fault):  # the run after a fault is known when all is fed
                self.run, self._unwritten = move.answer.run, False
                for command in move.answer.commands:
                    lines[id(command)] = self._journal.lines - 1
        self.run, self._unwritten = fed.run, False
        if any(isinstance(command, Withdraw) for command in fed.commands):
            self._withdrawn = True
            self._left = deque(asked for asked in self._left if not isinstance(asked[0], Ask))
        for command in fed.commands:
            line = lines.get(id(command), self._journal.lines - 1)
            self._left.append((command, Key(fed.run.id, line, type(command).__name__)))
        self._watch(event, fed)

    def _break_off(self, reason: BaseException) -> None:
        """Bring the run to an ending without awaiting anything; one that outlives its process is left as it stands."""
        if self.outlives or isinstance(reason, JournalError):
            return  # a place that is away for a moment is no reason to end a run
        self._left = deque(asked for asked in self._left if isinstance(asked[0], AnswerCalls))
        if self._unwritten or ended(self.run):
            return
        self._take_all(self._host.abandon())
        if not ended(self.run):
            self._take(Cancel(self._host.now(), _why(reason)))


def _why(reason: BaseException) -> str:
    """Why a loop was broken off. The words of a cancellation are its event loop's, and say nothing to a reader."""
    name = type(reason).__name__
    if not isinstance(reason, Exception):
        return name
    try:
        return f"{name}: {reason}".rstrip(": ")
    except Exception:  # noqa: BLE001  # an exception that cannot say what it is has a name at least
        return name
