"""Notices: what a host's owner can subscribe to, by callback or as an async stream. They decide nothing.

A callback that raises changes nothing for the run: it is reported on the log `machines.agent` and counted.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Final

import anyio
import attrs
from anyio.streams.memory import MemoryObjectSendStream

from statecraft import Scalar

from ..outcome import Outcome

_LOG: Final = logging.getLogger("machines.agent")


@attrs.frozen
class TextNotice:
    """Words of the model; `checkpoint` = shown while the run goes on."""

    text: str
    checkpoint: bool = False


@attrs.frozen
class CallsNotice:
    """Calls that are about to run: their ids, tools and arguments as received."""

    calls: tuple[tuple[str, str, str], ...]


@attrs.frozen
class ResultNotice:
    """A call's answer."""

    call: str
    tool: str
    content: str
    error: str | None


@attrs.frozen
class VerdictNotice:
    """A nudge or a stop: by which rule, on what evidence, at the end of which turn."""

    turn: int
    verdict: str
    by: str
    evidence: Mapping[str, Scalar]


@attrs.frozen
class RepetitionNotice:
    """A repetition was noticed: a cycle of `period` calls, `laps` times, beginning with `tool`."""

    period: int
    laps: int
    tool: str


@attrs.frozen
class RecoveryNotice:
    """A reply or a request went wrong and is recovered from.

    Why, the how manieth time in this incident, and the reply budget of the next request in tokens.
    """

    reason: str
    attempt: int
    reply_budget: int


@attrs.frozen
class TodosNotice:
    """The plan changed."""

    todos: tuple[Mapping[str, object], ...]
    completed: int
    total: int
    in_progress: str | None


@attrs.frozen
class CondensedNotice:
    """The history was condensed."""

    messages_dropped: int
    summary_chars: int
    summarized: bool


@attrs.frozen
class AttemptResetNotice:
    """What was shown of an attempt that is given up counts no longer."""

    reason: str


@attrs.frozen
class PersonNotice:
    """Something that a person should know."""

    by: str
    evidence: Mapping[str, Scalar]


@attrs.frozen
class StateNotice:
    """The run moved: its state, its turn, and what is spent of each budget (spent, limit)."""

    state: str
    turn: int
    budgets: Mapping[str, tuple[float, float | None]]


@attrs.frozen
class EndingNotice:
    """The run has ended."""

    outcome: Outcome
    message: str


Notice = (
    TextNotice
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


class Notices:
    """Who is told. `failures` counts callbacks that raised."""

    def __init__(self) -> None:
        self._callbacks: list[Callback] = []
        self._streams: list[MemoryObjectSendStream[Notice]] = []
        self.failures = 0

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Have `callback` told of every notice; what is given back ends that."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    @contextmanager
    def stream(self, most: int = 1_000) -> Generator[AsyncIterator[Notice], None, None]:
        """A stream of notices, for `async for`, inside a `with`.

        Of a reader that is `most` notices behind, the newest are dropped: a slow reader never slows the run.
        """
        send, receive = anyio.create_memory_object_stream[Notice](most)
        self._streams.append(send)
        try:
            with send, receive:
                yield _until_end(receive)
        finally:
            self._streams.remove(send)

    def tell(self, notice: Notice) -> None:
        """Tell everybody, in the order of subscription."""
        for callback in tuple(self._callbacks):
            try:
                callback(notice)
            except Exception:  # noqa: BLE001  # a listener is never allowed to change a run
                self.failures += 1
                _LOG.exception("a callback raised on %s; the run is not touched by it", type(notice).__name__)
        for stream in tuple(self._streams):
            try:
                stream.send_nowait(notice)
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self.failures += 1


async def _until_end(stream: AsyncIterator[Notice]) -> AsyncIterator[Notice]:
    """The notices up to the ending, and that one."""
    async for notice in stream:
        yield notice
        if isinstance(notice, EndingNotice):
            return
