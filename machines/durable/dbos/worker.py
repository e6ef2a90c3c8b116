"""A worker: takes rows from DBOS, drives the burst of each, and puts down when the run is to be driven next.

The rules: a row never fails, since a row that failed would be a wake that is lost; what went wrong is logged, and the
run is woken again a little later. A burst that is broken off, because the worker is to stop, is put back into the
queue. Bursts run in the event loop that serves, asyncio or trio; DBOS has its own threads, which wait for them.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from time import time
from typing import Final, TypedDict

import anyio
import anyio.to_thread
import attrs
from anyio.from_thread import BlockingPortal
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer

from statecraft.journal import Shelf
from statecraft.replay import TableChanged

from ...agent.agent import Agent
from ...agent.lease import new_holder
from ...journaled import AGENT_RUN
from ..burst import burst
from ..rest import Rest, rest_of
from . import wake as wakes
from .leases import Leases
from .rows import APPLICATION, BURST, Rows, queue_of
from .sweep import Sweep

_LOG: Final = logging.getLogger("machines.durable")

MOST_AGAIN: Final = 30
"""How often a run that cannot be driven is tried again, before it is left to the next look over all runs."""

AGAIN_SECONDS: Final = 2.0
"""How long until it is tried again, at most. A lease of a run holds for half a minute where its worker is dead."""


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


class Row(TypedDict):
    """What a row has come to, for whoever looks at it in DBOS."""

    run: str
    state: str
    until: float | None
    status: str | None
    why: str | None


@attrs.frozen
class Done:
    """What a row has come to, and the wake of the run's next one, if there is to be one, and after how many seconds."""

    row: Row
    wake: str | None = None
    seconds: float = 0.0


class Worker:
    """One worker of this process."""

    def __init__(self, url: str, shelf: Shelf, rows: Rows, agent_for: Callable[[str], Agent], pace: Pace) -> None:
        self._url, self._shelf, self._rows, self._agent_for, self._pace = url, shelf, rows, agent_for, pace
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
            done = self._portal.call(self._drive, run, wake)
        except (CancelledError, RuntimeError):  # the portal is closed, or closing
            done = Done(_row(run, "handed on"), wakes.again(wake), self._pace.poll)
        if done.wake is not None:
            self._rows.put(self._table, run, done.wake, done.seconds)
        return done.row

    async def _drive(self, run: str, wake: str) -> Done:
        """Drive the run, if it is to be driven. Raises nothing but cancellation."""
        try:
            return await self._driven(run, wake)
        except TableChanged as error:
            _LOG.error("%s", error)
            return Done(_row(run, "refused", why=str(error)))
        except Exception as error:  # noqa: BLE001  # whatever it is, the run's next wake must not be lost
            why = f"{type(error).__name__}: {error}"
            if wakes.times(wake) >= MOST_AGAIN:
                _LOG.error("run %s cannot be driven, and is not tried again for now: %s", run, why)
                return Done(_row(run, "given up", why=why))
            _LOG.warning("run %s could not be driven, and is tried again: %s", run, why)
            return Done(_row(run, "failed", why=why), wakes.again(wake), _after(wake))

    async def _driven(self, run: str, wake: str) -> Done:
        rest = self._rest(run)
        if rest.due:
            stood = await burst(self._agent_for(run), run, patience=self._pace.patience)
            rest = self._rest(run)
            if stood.state == "ended":
                return Done(_row(run, stood.state, status=stood.status))
        if rest.ended:
            return Done(_row(run, "ended"))
        row = _row(run, "waiting", until=rest.until)
        if rest.due or rest.until is None:
            # What came while the run was put down has a row of its own.
            return Done(row)
        following = wakes.of_lines(rest.lines)
        # The row's own name is taken as long as it is not over.
        own = following == wake.partition(".")[0]
        return Done(row, wakes.again(wake) if own else following, max(0.0, rest.until - time()))

    def _rest(self, run: str) -> Rest:
        store = self._shelf.store(run)
        try:
            return rest_of(store, time())
        finally:
            store.close()


_AT_WORK: Final[list[Worker]] = []
"""The worker of this process, while it is at work."""


@DBOS.workflow(name=BURST, max_recovery_attempts=None)
def burst_of(run: str, wake: str) -> Row:
    """The one workflow: a row, carried out by this process's worker."""
    return _AT_WORK[0].carry_out(run, wake)


def _row(run: str, state: str, *, until: float | None = None, status: str | None = None, why: str | None = None) -> Row:
    return {"run": run, "state": state, "until": until, "status": status, "why": why}


def _after(wake: str) -> float:
    """Seconds until a run that could not be driven is tried again: a quarter, then twice as long each time."""
    return min(AGAIN_SECONDS, 0.25 * 2.0 ** min(wakes.times(wake), 10))


async def _told(stopped_by: Sequence[signal.Signals]) -> None:
    """Wait for a signal to stop."""
    if not stopped_by:
        await anyio.sleep_forever()
    with anyio.open_signal_receiver(*stopped_by) as signals:
        async for _ in signals:
            return
