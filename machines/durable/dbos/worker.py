"""A worker: takes rows from DBOS, has each carried out, and puts down when its run is to be driven next.

The rules: a worker has its lease before it takes a row, and gives it up after its last one. A burst that is broken off,
because the worker is to stop, is put back into the queue. Bursts run in the event loop that serves, asyncio or trio;
DBOS has threads of its own, which wait for them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Final

import anyio
import anyio.to_thread
import attrs
from anyio.from_thread import BlockingPortal
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer

from statecraft.journal import Shelf

from ...agent.agent import Agent
from ...agent.lease import new_holder
from ...journaled import AGENT_RUN
from . import wake as wakes
from .driver import Done, Driver, Row, row_of
from .leases import Leases
from .rows import APPLICATION, BURST, Rows, queue_of
from .sweep import Sweep


@attrs.frozen
class Pace:
    """How a worker works. Times in seconds.

    `at_once`: bursts that it drives side by side. `poll`: how often it looks for rows. `lease`: after how long without
    a sign of life it counts as dead, and what it had is handed on; `beat`: how often it gives one. `sweep`: how often
    all runs are looked over for one whose wake was lost. `patience`: a wait that is no longer is waited for in place.
    `keep`: how long rows are kept after their burst.
    """

    at_once: int = 16
    poll: float = 0.1
    lease: float = 10.0
    beat: float = 2.0
    sweep: float = 30.0
    patience: float = 1.0
    keep: float = 3_600.0


USUAL: Final = Pace()


class Worker:
    """One worker of this process."""

    def __init__(self, url: str, shelf: Shelf, rows: Rows, agent_for: Callable[[str], Agent], pace: Pace) -> None:
        self._url, self._shelf, self._rows, self._pace = url, shelf, rows, pace
        self._driver = Driver(shelf, agent_for, pace.patience)
        self._table = AGENT_RUN.table.digest
        self.name = new_holder()
        self._portal: BlockingPortal | None = None

    async def serve(self, stopped_by: Sequence[signal.Signals]) -> None:
        """Work until cancelled, or told to stop."""
        if _AT_WORK:
            raise RuntimeError("found a worker at work in this process, expected none: DBOS is one a process")
        _AT_WORK.append(self)
        try:
            await self._serve(stopped_by)
        finally:
            _AT_WORK.remove(self)

    async def _serve(self, stopped_by: Sequence[signal.Signals]) -> None:
        leases = await anyio.to_thread.run_sync(Leases, self._url)
        stop = threading.Event()
        sweep = Sweep(self.name, leases, self._rows, self._shelf, self._pace.sweep, self._pace.keep)
        alive = partial(sweep.keep, stop, self._pace.beat, self._pace.lease)
        try:
            async with BlockingPortal() as portal:
                self._portal = portal
                # From here on every row that this worker takes is of a worker that lives.
                await anyio.to_thread.run_sync(leases.take, self.name, self._pace.lease)
                try:
                    await anyio.to_thread.run_sync(self._launch)
                    async with anyio.create_task_group() as group:
                        group.start_soon(anyio.to_thread.run_sync, alive)
                        try:
                            await _told(stopped_by)
                        finally:
                            stop.set()
                finally:
                    with anyio.CancelScope(shield=True):
                        await self._stop(portal)
                        await anyio.to_thread.run_sync(leases.give_up, self.name)
        finally:
            leases.close()

    def _launch(self) -> None:
        self._rows.open_queue(self._table, self._pace.at_once, self._pace.poll)
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_url": self._url,
            "executor_id": self.name,
            "application_version": self._table,
            "serializer": DBOSPortableJSONSerializer(),
            "max_executor_threads": self._pace.at_once + 2,
            "log_level": "WARNING",
            "enable_otlp": False,
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": 0.05,
            "scheduler_polling_interval_sec": 3_600.0,
        }
        DBOS(config=config)
        DBOS.listen_queues([queue_of(self._table)])
        DBOS.launch()

    async def _stop(self, portal: BlockingPortal) -> None:
        """DBOS takes no more rows, then bursts are broken off, and DBOS waits until their rows are written."""
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, partial(DBOS.destroy, workflow_completion_timeout_sec=5))
            await portal.stop(cancel_remaining=True)

    def carry_out(self, run: str, wake: str) -> Row:
        """One row, in a thread of DBOS."""
        assert self._portal is not None
        try:
            done = self._portal.call(self._driver.carry_out, run, wake)
        except (CancelledError, RuntimeError):  # the portal is closed, or closing
            done = Done(row_of(run, "handed on"), wakes.again(wake), self._pace.poll)
        if done.wake is not None:
            self._rows.put(self._table, run, done.wake, done.seconds)
        return done.row


_AT_WORK: Final[list[Worker]] = []
"""The worker of this process, while it is at work."""


@DBOS.workflow(name=BURST, max_recovery_attempts=None)
def burst_of(run: str, wake: str) -> Row:
    """The one workflow: a row, carried out by this process's worker."""
    return _AT_WORK[0].carry_out(run, wake)


async def _told(stopped_by: Sequence[signal.Signals]) -> None:
    """Wait for a signal to stop."""
    if not stopped_by:
        await anyio.sleep_forever()
    with anyio.open_signal_receiver(*stopped_by) as signals:
        async for _ in signals:
            return
