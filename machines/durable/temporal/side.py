"""The side that faces Temporal: an asyncio loop of its own, whichever the application runs on.

What goes over the wire is JSON, and of a failure its kind alone: the words of an error may quote what a run said, and
stand in this process's log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cache
from typing import Any, Final, Self

import anyio.abc
from temporalio import activity
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.converter import CompositePayloadConverter, DataConverter, JSONPlainPayloadConverter
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, WorkflowAlreadyStartedError
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from ..burst import Stood
from .flow import BEYOND_HELP, BURST, NUDGE, Down, Due, RunFlow
from .home import Failed, Home, UnderWay

_LOG: Final = logging.getLogger("machines.durable")

CALL_SECONDS: Final = timedelta(seconds=10)
"""How long one request to the server may take, with all that is tried again."""

LONGEST_PAUSE: Final = 10.0
"""Seconds between two tries of a burst that fails, at most."""

STOPPED_PAUSE: Final = 0.1
"""Seconds until the burst of a worker that stops begins again elsewhere."""


class _JsonAlone(CompositePayloadConverter):
    """Plain JSON for whatever there is, so that nothing goes out in a form that cannot be read."""

    def __init__(self) -> None:
        super().__init__(JSONPlainPayloadConverter())


@cache
def _runtime() -> Runtime:
    """One a process. What Temporal's core has to say goes to our log; of itself it would write to standard output."""
    told = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(logger=_LOG),
    )
    return Runtime(telemetry=TelemetryConfig(logging=told))


class Side:
    """A client of a server. Its methods are called in the loop that connected it."""

    def __init__(self, client: Client, queue: str, silence: float) -> None:
        self._client, self._queue, self._silence = client, queue, silence

    @classmethod
    async def connected(
        cls, address: str, namespace: str, queue: str, silence: float, options: Mapping[str, Any]
    ) -> Self:
        """A client of the server at `HOST:PORT`. `ConnectionError` where there is none."""
        json = DataConverter(payload_converter_class=_JsonAlone)
        made: dict[str, Any] = {"runtime": _runtime(), "data_converter": json, **options}
        try:
            return cls(await Client.connect(address, namespace=namespace, **made), queue, silence)
        except (RuntimeError, RPCError) as error:
            raise ConnectionError(f"found no Temporal server at {address}, namespace {namespace}: {error}") from error

    async def nudge(self, run: str, mail: bool) -> bool:
        """See that the run is driven, and (`mail`) that its mail is looked into. False where it has ended.

        Whether there is a workflow of the run already makes no difference, nor whether any worker lives. One that was
        given up is begun again: the run stands in its journal. `ConnectionError` where the server cannot be asked.
        """
        try:
            await self._client.start_workflow(
                RunFlow.run,
                Due(run, self._silence),
                id=f"{self._queue}/{run}",
                task_queue=self._queue,
                start_signal=NUDGE if mail else None,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                # A step is a matter of milliseconds; one that a worker took as it ended is given to another.
                task_timeout=timedelta(seconds=max(1.0, self._silence * 2 / 3)),
                rpc_timeout=CALL_SECONDS,
            )
        except WorkflowAlreadyStartedError:
            return False
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:  # it ended while the nudge was on its way
                return False
            raise ConnectionError(f"run {run}: Temporal was not told of it: {error.status.name.lower()}") from error
        return True

    async def work(self, home: Home, at_once: int, *, task_status: anyio.abc.TaskStatus[asyncio.Event]) -> None:
        """Carry bursts, `at_once` at most, until the event is set that `task_status` is told."""
        stop = asyncio.Event()
        worker = Worker(
            self._client,
            task_queue=self._queue,
            workflows=[RunFlow],
            activities=[_activity(home)],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_concurrent_activities=at_once,
            # A workflow is told again from its short history at each step: a run that waits takes no memory here, and
            # none waits for a worker that is dead because that one knew it.
            max_cached_workflows=0,
            # What a dead worker had asked for may still be handed out to it: the fewer polls, the less.
            max_concurrent_activity_task_polls=1,
            max_concurrent_workflow_task_polls=1,
            max_heartbeat_throttle_interval=timedelta(seconds=self._silence / 3),
            graceful_shutdown_timeout=timedelta(seconds=1),
        )
        async with worker:
            task_status.started(stop)
            await stop.wait()


def _activity(home: Home) -> Callable[[str], Coroutine[Any, Any, Down]]:
    @activity.defn(name=BURST)
    async def run_burst(run: str) -> Down:
        return await _carry(run, home)

    return run_burst


async def _carry(run: str, home: Home) -> Down:
    """One burst, with signs of life as long as the application's loop comes round."""
    beating = asyncio.create_task(_beat(home))
    try:
        stood = await _came(home.begin(run))
    except RuntimeError:  # there is no home any more
        stood = None
    except Failed as error:
        raise _told(error, min(LONGEST_PAUSE, 2.0 ** min(activity.info().attempt - 1, 9))) from None
    finally:
        beating.cancel()
    if stood is None:
        raise _told(Failed("worker_stopped", again=True), STOPPED_PAUSE)
    return Down(stood.state, stood.until, stood.status)


async def _came(under_way: UnderWay) -> Stood | None:
    """What came of a burst; None where its worker stops. Given up by Temporal, it has let go before that is told."""
    came = asyncio.wrap_future(under_way.came)
    try:
        return await asyncio.shield(came)
    except asyncio.CancelledError:
        if came.done():
            return None
        under_way.break_off()
        await asyncio.wait([came])
        raise


async def _beat(home: Home) -> None:
    every = (activity.info().heartbeat_timeout or timedelta(seconds=6)).total_seconds() / 3
    with suppress(RuntimeError):
        while True:
            await asyncio.wrap_future(home.alive())
            activity.heartbeat()
            await asyncio.sleep(every)


def _told(error: Failed, pause: float) -> ApplicationError:
    return ApplicationError(
        "the log of the worker says what was wrong",
        type=error.kind if error.again else BEYOND_HELP,
        non_retryable=not error.again,
        category=ApplicationErrorCategory.BENIGN,
        next_retry_delay=timedelta(seconds=pause),
    )
