"""Notices: what a host's owner can subscribe to, by callback or as an async stream. They decide nothing.

Each carries the name of its run. A callback that raises changes nothing for the run: it is counted, and reported once
on the log `machines.agent`. The ending always reaches a stream, however far behind its reader is.
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Final

import anyio
import anyio.lowlevel
import attrs

from statecraft import Scalar

from ..outcome import Outcome

_LOG: Final = logging.getLogger("machines.agent")


@attrs.frozen
class TextNotice:
    """Words of the model; `checkpoint` = shown while the run goes on."""

    text: str
    checkpoint: bool = False
    run: str = ""


@attrs.frozen
class PieceNotice:
    """A piece of a reply that is still coming; `channel` is `text` or `thinking`. The whole is told apart."""

    text: str
    channel: str
    run: str = ""


@attrs.frozen
class CallsNotice:
    """Calls that are about to run: their ids, tools and arguments as received."""

    calls: tuple[tuple[str, str, str], ...]
    run: str = ""


@attrs.frozen
class ResultNotice:
    """A call's answer."""

    call: str
    tool: str
    content: str
    error: str | None
    run: str = ""


@attrs.frozen
class VerdictNotice:
    """A nudge or a stop: by which rule, on what evidence, at the end of which turn."""

    turn: int
    verdict: str
    by: str
    evidence: Mapping[str, Scalar]
    run: str = ""


@attrs.frozen
class RepetitionNotice:
    """A repetition was noticed: a cycle of `period` calls, `laps` times, beginning with `tool`."""

    period: int
    laps: int
    tool: str
    run: str = ""


@attrs.frozen
class RecoveryNotice:
    """A reply or a request went wrong and is recovered from.

    Why, the how manieth time in this incident, and the reply budget of the next request in tokens (None: not known). Of
    a refused request also the HTTP status (0: no answer came), what was said with it, at most 200 characters, and the
    seconds that pass before the next one is sent.
    """

    reason: str
    attempt: int
    reply_budget: int | None
    status: int | None = None
    said: str = ""
    after: float = 0.0
    run: str = ""


@attrs.frozen
class TodosNotice:
    """The plan changed."""

    todos: tuple[Mapping[str, object], ...]
    completed: int
    total: int
    in_progress: str | None
    run: str = ""


@attrs.frozen
class CondensedNotice:
    """The history was condensed: so many tokens are freed, by these steps (`Condensed` names them)."""

    messages_dropped: int
    summary_chars: int
    summarized: bool
    freed: int = 0
    steps: tuple[str, ...] = ()
    run: str = ""


@attrs.frozen
class AttemptResetNotice:
    """What was shown of an attempt that is given up counts no longer."""

    reason: str
    run: str = ""


@attrs.frozen
class PersonNotice:
    """Something that a person should know."""

    by: str
    evidence: Mapping[str, Scalar]
    run: str = ""


@attrs.frozen
class StateNotice:
    """The run moved: its state, its turn, and what is spent of each budget.

    Each is a pair (spent, limit): spent None is not known, which is so of money without prices; limit None is no limit.
    """

    state: str
    turn: int
    budgets: Mapping[str, tuple[float | None, float | None]]
    run: str = ""


@attrs.frozen
class EndingNotice:
    """The run has ended."""

    outcome: Outcome
    message: str
    run: str = ""


Notice = (
    TextNotice
    | PieceNotice
    | CallsNotice
    | ResultNotice
    | VerdictNotice
    | RepetitionNotice
    | RecoveryNotice
    | TodosNotice
    | CondensedNotice
    | AttemptResetNotice
    | PersonNotice
    | StateNotice
    | EndingNotice
)

Callback = Callable[[Notice], object]


@attrs.define(eq=False)
class _Hearers:
    """Who is told, and what went wrong in telling."""

    callbacks: dict[object, Callback] = attrs.field(factory=dict[object, Callback])
    streams: list[_Stream] = attrs.field(factory=lambda: list[_Stream]())
    reported: set[object] = attrs.field(factory=set[object])
    failures: int = 0
    dropped: int = 0


class Notices:
    """Who is told: of the runs of one agent, or of the one run that `of` has bound them to.

    `failures` counts callbacks that raised, `dropped` the notices that a stream's reader was too slow for. To be used
    in the event loop of the runs alone.
    """

    def __init__(self, run: str = "", hearers: _Hearers | None = None) -> None:
        self._run, self._hearers, self._over = run, hearers or _Hearers(), False

    @property
    def failures(self) -> int:
        """How many callbacks raised, so far."""
        return self._hearers.failures

    @property
    def dropped(self) -> int:
        """How many notices were dropped for slow readers, so far."""
        return self._hearers.dropped

    def of(self, run: str) -> Notices:
        """The same hearers, bound to one run: what is told is stamped with it, what is heard is of it alone."""
        return Notices(run, self._hearers)

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Have `callback` told of every notice; what is given back ends that.

        TypeError for an async function: nobody would await it. An async reader takes `stream`.
        """
        if inspect.iscoroutinefunction(callback):
            raise TypeError("subscribe: found an async function, expected a plain one; an async reader takes stream()")
        key, run = object(), self._run

        def of_one(notice: Notice) -> None:
            if notice.run == run:
                callback(notice)

        self._hearers.callbacks[key] = of_one if run else callback

        def end() -> None:
            self._hearers.callbacks.pop(key, None)

        return end

    @contextmanager
    def stream(self, most: int = 1_000, *, run: str | None = None) -> Generator[AsyncIterator[Notice], None, None]:
        """A stream of notices, for `async for`, inside a `with`: of one run, or of all.

        Of a reader that is `most` notices behind, the oldest are dropped, an ending never: a slow reader never slows
        the run. One run's stream ends with its ending; that of all runs when every run that it has heard of has ended.
        """
        stream = _Stream(max(1, most), self._run or run or "")
        if self._over:
            stream.close()
        self._hearers.streams.append(stream)
        try:
            yield stream
        finally:
            stream.close()
            self._hearers.streams.remove(stream)

    def tell(self, notice: Notice) -> None:
        """Tell everybody, in the order of subscription."""
        hearers = self._hearers
        if not hearers.callbacks and not hearers.streams:
            return
        if self._run:
            notice = attrs.evolve(notice, run=self._run)
        for key, callback in tuple(hearers.callbacks.items()):
            try:
                callback(notice)
            except Exception:  # noqa: BLE001  # a listener is never allowed to change a run
                hearers.failures += 1
                if key not in hearers.reported:
                    hearers.reported.add(key)
                    _LOG.exception("a callback raised on %s; the run is not touched by it", type(notice).__name__)
        for stream in tuple(hearers.streams):
            hearers.dropped += stream.put(notice)

    def over(self) -> None:
        """Nothing more will be told of this run: a stream that waits for its ending waits no longer."""
        self._over = True
        for stream in tuple(self._hearers.streams):
            stream.ended(self._run)


class _Stream:
    """Notices that wait for one reader."""

    def __init__(self, most: int, run: str) -> None:
        self._most, self._run = most, run
        self._held: deque[Notice] = deque()
        self._under_way: set[str] = set()
        self._closed = False
        self._knock: anyio.Event | None = None

    def put(self, notice: Notice) -> int:
        """Keep a notice for the reader. Gives how many were dropped for it."""
        if self._closed or (self._run and notice.run != self._run):
            return 0
        dropped = len(self._held) >= self._most and self._dropped()
        self._held.append(notice)
        self._under_way.add(notice.run)
        if isinstance(notice, EndingNotice):
            self.ended(notice.run)
        self._wake()
        return int(dropped)

    def ended(self, run: str) -> None:
        """A run has ended: if no other is under way, what is held is the rest."""
        if run in self._under_way or run == self._run:
            self._under_way.discard(run)
            if not self._under_way:
                self.close()

    def close(self) -> None:
        """Nothing more comes."""
        self._closed = True
        self._wake()

    def __aiter__(self) -> AsyncIterator[Notice]:
        return self

    async def __anext__(self) -> Notice:
        await anyio.lowlevel.checkpoint()  # a reader that never waits would keep the run from going on
        while not self._held:
            if self._closed:
                raise StopAsyncIteration
            self._knock = self._knock or anyio.Event()
            await self._knock.wait()
        return self._held.popleft()

    def _dropped(self) -> bool:
        """Drop the oldest notice that is no ending; there may be none, and then the stream holds one more."""
        for at, notice in enumerate(self._held):
            if not isinstance(notice, EndingNotice):
                del self._held[at]
                return True
        return False

    def _wake(self) -> None:
        knock, self._knock = self._knock, None
        if knock is not None:
            knock.set()
