"""The workflow of one run in Temporal: a burst, a wait, a burst. Imports temporalio and the standard library alone.

It knows the run's name, when the run goes on, and how it ended: nothing of what is said in it, which stands in the
run's own journal. A nudge carries nothing; it says that the next burst is due now, and that burst reads the run's mail.

Temporal replays a workflow's history in whatever worker takes it up. So whoever changes here what is asked for, or in
which order, keeps the old way for the workflows under way, with `workflow.patched`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy

FLOW: Final = "statecraft-run"
BURST: Final = "statecraft-burst"
NUDGE: Final = "nudge"
"""What they are called in Temporal. Workflows under way know each other's by these names, so they stay."""

ENDED: Final = "ended"
"""The state of a run that has ended."""

BEYOND_HELP: Final = "beyond_help"
"""The type of the error of a burst that no other burst will do better than."""

BURSTS: Final = 50
"""Bursts of one execution, after which it continues as a new one: its history is told again at each step."""

LONGEST: Final = timedelta(days=30)
"""The longest wait between two bursts. One that comes too early finds nothing to do."""

AGAIN: Final = timedelta(seconds=1)
"""How soon a burst comes again that put its run down until a time which is over by the server's clock."""

UNBOUNDED: Final = timedelta(days=3650)
"""How long a burst may take: a run has limits of its own, and a worker that is gone is known by its silence."""

RETRIES: Final = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=1.0,  # what is waited for is a dead worker; a burst that failed names its own delay
    maximum_attempts=0,
    non_retryable_error_types=[BEYOND_HELP],
)


@dataclass(frozen=True)
class Due:
    """What a workflow is given. `silence`: seconds without a sign of life after which a burst's worker is given up."""

    run: str
    silence: float


@dataclass(frozen=True)
class Down:
    """How a burst left the run: `until` (seconds since 1970) is when it goes on; `status` says how it ended."""

    state: str
    until: float | None = None
    status: str | None = None


@workflow.defn(name=FLOW, sandboxed=False)
class RunFlow:
    """One run, from its first burst to its end."""

    def __init__(self) -> None:
        self._nudged = False

    @workflow.signal(name=NUDGE)
    def nudge(self) -> None:
        """Something lies in the run's mail."""
        self._nudged = True

    @workflow.run
    async def run(self, due: Due) -> Down:
        """Drive the run, burst by burst."""
        for _ in range(BURSTS):
            self._nudged = False  # what comes from here on may have come too late for this burst
            down: Down = await workflow.execute_activity(
                BURST,
                due.run,
                result_type=Down,
                start_to_close_timeout=UNBOUNDED,
                heartbeat_timeout=timedelta(seconds=due.silence),
                retry_policy=RETRIES,
            )
            if down.state == ENDED:
                return down
            await self._wait(down.until)
            if workflow.info().is_continue_as_new_suggested():
                break
        workflow.continue_as_new(due)

    async def _wait(self, until: float | None) -> None:
        left = LONGEST if until is None else timedelta(seconds=min(until - workflow.time(), LONGEST.total_seconds()))
        with suppress(asyncio.TimeoutError):
            await workflow.wait_condition(lambda: self._nudged, timeout=left if left > timedelta() else AGAIN)
