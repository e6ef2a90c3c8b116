"""The side of the engine that faces the application: bursts in the event loop that serves them, asyncio or trio.

Temporal's loop is another thread's. From there a burst is begun, looked at, and broken off, through a portal that takes
no more once the worker stops.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Final

import anyio
import attrs
from anyio.from_thread import BlockingPortal

from statecraft.journal import JournalError, Store

from ...agent.agent import Agent
from ...agent.taking_up import RunOver, retell
from ...standing import TASK
from ..burst import Stood, burst

_LOG: Final = logging.getLogger("machines.durable")

AgentFor = Callable[[str], Agent]
"""The agent that drives a run, by the run's name. Its journals lie where the run was enlisted."""


@attrs.frozen
class Failed(Exception):
    """A burst that failed, by the kind of its error. `again`: another one may do better."""

    kind: str
    again: bool


@attrs.frozen
class UnderWay:
    """A burst as the other thread sees it. `came`: None where it was broken off."""

    came: Future[Stood | None]
    break_off: Callable[[], None]


class Home:
    """Bursts in one event loop, through its portal."""

    def __init__(self, portal: BlockingPortal, agent_for: AgentFor, patience: float) -> None:
        self._portal, self._agent_for, self._patience = portal, agent_for, patience

    def begin(self, run: str) -> UnderWay:
        """Begin a burst, from the other thread. RuntimeError where the worker stops."""
        one = _Breakable(lambda: self._drive(run))

        def break_off() -> None:
            with suppress(RuntimeError):  # the worker stops, and breaks off all there is
                self._portal.start_task_soon(one.break_off)

        return UnderWay(self._portal.start_task_soon(one.drive), break_off)

    def alive(self) -> Future[None]:
        """Done when this loop has come round. RuntimeError where the worker stops."""
        return self._portal.start_task_soon(_nothing)

    async def _drive(self, run: str) -> Stood:
        agent: Agent | None = None
        try:
            agent = self._agent_for(run)
            return await burst(agent, run, patience=self._patience)
        except JournalError as error:
            again = agent is None or not is_beyond_help(agent.store(run))
            _LOG.warning("run %s: %s", run, error) if again else _LOG.error("run %s is given up: %s", run, error)
            raise Failed(type(error).__name__, again) from error
        except Exception as error:
            _LOG.exception("run %s: a burst failed, and is begun again", run)
            raise Failed(type(error).__name__, again=True) from error


class _Breakable:
    """Work that can be broken off, even before it has begun."""

    def __init__(self, work: Callable[[], Awaitable[Stood]]) -> None:
        self._work, self._off = work, False
        self._open: anyio.CancelScope | None = None

    async def drive(self) -> Stood | None:
        with anyio.CancelScope() as self._open:
            return None if self._off else await self._work()
        return None

    def break_off(self) -> None:
        self._off = True
        if self._open is not None:
            self._open.cancel()


def is_beyond_help(store: Store) -> bool:
    """Whether no burst will ever drive this run: it is not there, is broken, or was made by other rules.

    A place that cannot be read just now is none of these, and neither is a run that somebody else is at work on.
    """
    try:
        if store.last() is None:
            return store.kept(TASK) is None
        retell(store)
    except RunOver:
        return False
    except JournalError as error:
        return error.__cause__ is None or isinstance(error.__cause__, ValueError)  # else what its place is kept in
    finally:
        store.close()
    return False


def _nothing() -> None:
    """What a loop does that has come round."""
