"""The face of runs on Temporal: enlist a run, deliver a letter to it, serve runs as a worker."""

from __future__ import annotations

import logging
import signal
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from functools import partial
from threading import Lock
from time import time
from types import TracebackType
from typing import Any, Final, Self

import anyio
import anyio.abc
import anyio.to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal

from statecraft.journal import Shelf

from ...letters import Letter, deliver
from .. import burst
from .home import AgentFor, Home
from .side import Side

_LOG: Final = logging.getLogger("machines.durable")

SILENCE_SECONDS: Final = 6.0
"""How long a worker may be silent before its bursts begin again elsewhere; it gives three signs of life within it."""

STOP_SECONDS: Final = 10.0
"""How long the end of a worker may take; one whose server is gone would wait for it longer."""

STOPPED_BY: Final = (signal.SIGTERM, signal.SIGINT)


class Temporal:
    """The runs of a shelf, carried by the Temporal server at `address`: `HOST:PORT`.

    Any process that enlists, delivers or serves has one of these; it may be used by several threads. `queue`: what they
    agree on; it tells the runs apart from others in the namespace. `silence`: seconds after which a silent worker's
    bursts begin again; a tool that holds up the event loop for so long is silence too. The clocks of workers and server
    should agree to a second. `options` are those of `temporalio.client.Client.connect`, such as `tls` and `api_key`.

    The server is asked when it is first needed; `ConnectionError` where it does not answer.
    """

    def __init__(
        self,
        address: str,
        shelf: Shelf,
        *,
        namespace: str = "default",
        queue: str = "statecraft",
        silence: float = SILENCE_SECONDS,
        **options: Any,
    ) -> None:
        self.address, self.shelf = address, shelf
        self._connect = partial(Side.connected, address, namespace, queue, silence, options)
        self._stack = ExitStack()
        self._lock = Lock()
        self._opened: tuple[BlockingPortal, Side] | None = None

    def enlist(self, run: str, task: str) -> bool:
        """Have a run begun by a worker, under this name. False where it is there already; then it is driven on.

        `ValueError` for a task without words, or a name that no run can have. Where it was not Temporal's to know,
        as the server did not answer, enlist it again.
        """
        store = self.shelf.store(run)
        try:
            new = burst.enlist(store, run, task, time())
        finally:
            store.close()
        self._nudge(run, mail=False)
        return new

    def deliver(self, run: str, letter: Letter, id: str) -> bool:
        """Post a letter to a run, and have its mail read. False while a letter of that id lies there.

        `id` is the sender's own name for it, of 1 to 200 characters: sent twice, it is one. A letter that comes before
        the run waits for it lies there until it does. `JournalError` where there is no such run. Where the server did
        not answer the letter lies in the mail, and is to be delivered again.
        """
        store = self.shelf.store(run)
        try:
            new = deliver(store, letter, id)
        finally:
            store.close()
        self._nudge(run, mail=True)
        return new

    async def serve(
        self,
        agent_for: AgentFor,
        *,
        patience: float = 1.0,
        at_once: int = 16,
        stopped_by: Sequence[signal.Signals] = STOPPED_BY,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Be a worker until cancelled, or told by a signal to stop; a burst under way is left for another worker.

        `agent_for` gives the agent for a run; its journal must be this shelf's (`Agent(journal=shelf.store)`).
        `patience`: seconds; a wait that is no longer is waited for in place. `at_once`: bursts side by side.
        `stopped_by`: none, where this is not the process's main thread. `task_status` is told when it is at work.
        While no server answers this ends within `STOP_SECONDS`, but the package may hold up the process's exit: let
        whoever started the process have a limit for it.
        """
        portal, side = await anyio.to_thread.run_sync(self._open)
        failure: Exception | None = None
        async with BlockingPortal() as home:
            start = partial(portal.start_task, side.work, Home(home, agent_for, patience), at_once)
            over, stop = await anyio.to_thread.run_sync(start)
            try:
                task_status.started()
                await _told(stopped_by, over)
            except Exception as error:  # noqa: BLE001  # raised below, where no task group wraps it
                failure = error
            finally:
                with anyio.CancelScope(shield=True):
                    await home.stop(cancel_remaining=True)
                    portal.start_task_soon(stop.set)
                    await anyio.to_thread.run_sync(_wait_for, over)
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Close the connection; the shelf stays open."""
        with self._lock:
            self._opened = None
            self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _nudge(self, run: str, *, mail: bool) -> None:
        portal, side = self._open()
        portal.call(side.nudge, run, mail)

    def _open(self) -> tuple[BlockingPortal, Side]:
        with self._lock:
            if self._opened is None:
                # Temporal's client knows asyncio alone, and gets a loop in a thread, whichever loop runs here.
                portal = self._stack.enter_context(start_blocking_portal("asyncio", name="temporal"))
                try:
                    self._opened = portal, portal.call(self._connect)
                except BaseException:
                    self._stack.close()
                    raise
            return self._opened


async def _told(stopped_by: Sequence[signal.Signals], over: Future[None]) -> None:
    """Wait for a signal to stop, or the end of the worker, and raise what that raised."""
    with ExitStack() as stack:
        signals = stack.enter_context(anyio.open_signal_receiver(*stopped_by)) if stopped_by else None
        failure: list[Exception] = []
        async with anyio.create_task_group() as group:

            async def ended() -> None:
                try:
                    await anyio.to_thread.run_sync(over.result, abandon_on_cancel=True)
                except Exception as error:  # noqa: BLE001  # raised below, where no task group wraps it
                    failure.append(error)
                group.cancel_scope.cancel()

            group.start_soon(ended)
            if signals is None:
                await anyio.sleep_forever()
            else:
                async for _ in signals:
                    group.cancel_scope.cancel()
        for error in failure:
            raise error


def _wait_for(over: Future[None]) -> None:
    """Wait until a worker has ended, for so long and no longer."""
    try:
        over.exception(STOP_SECONDS)
    except TimeoutError:
        _LOG.warning("the worker did not end in %.0f seconds, as its server may be gone: it is left", STOP_SECONDS)
        over.cancel()
    except CancelledError:
        pass
