"""The bursts that are to come, as rows of DBOS: put there, handed on from the dead, and forgotten.

A row is named RUN:WAKE. Its queue carries the digest of the run's table, so that a worker never sees the rows of runs
that were made by other rules, and these wait for a worker of theirs. The partition of a queue is a run: one burst of it
at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions

APPLICATION: Final = "statecraft"
BURST: Final = "burst"
"""The name of the one workflow."""

LIVE: Final = ["PENDING", "ENQUEUED", "DELAYED"]
"""States of a burst that is still to come."""

AT_ONCE: Final = 500
"""Rows that are deleted in one statement."""

# DBOS adds a handler of its own, which writes to stderr, unless there is one.
logging.getLogger("dbos").addHandler(logging.NullHandler())


def queue_of(table: str) -> str:
    """The queue of the runs that were made by this table."""
    return f"bursts.{table[:16]}"


class Rows:
    """The rows in one database, whose tables are made where they are not there. May be used by several threads."""

    def __init__(self, url: str) -> None:
        DBOS.migrate(url)
        self._client = DBOSClient(
            system_database_url=url,
            serializer=DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            retry_connection_errors=False,  # whoever asks has to know
        )

    def open_queue(self, table: str, at_once: int, poll: float) -> None:
        """Make the queue, or set how many bursts a worker has at once, and every how many seconds it looks."""
        self._client.register_queue(
            queue_of(table),
            worker_concurrency=at_once,
            partition_concurrency=1,
            polling_interval_sec=poll,
            on_conflict="always_update",
        )

    def put(self, table: str, run: str, wake: str, seconds: float = 0.0) -> None:
        """Have the run driven in so many seconds. Nothing where a row of that name is there, or was of late."""
        options: EnqueueOptions = {
            "workflow_name": BURST,
            "queue_name": queue_of(table),
            "workflow_id": f"{run}:{wake}",
            "queue_partition_key": run,
            "app_version": table,
        }
        if seconds > 0:
            options["delay_seconds"] = seconds
        self._client.enqueue(options, run, wake)

    def hand_on(self, living: Callable[[], Collection[str]]) -> list[str]:
        """Put the bursts whose worker does not live back into their queues; their names.

        `living` is asked when they are known: a worker that took one since had its lease before.
        """
        taken = self._rows("PENDING")
        alive = living() if taken else ()
        found = [row for row in taken if row.executor_id not in alive]
        for queue, rows in groupby(sorted(found, key=attrgetter("queue_name")), attrgetter("queue_name")):
            self._client.resume_workflows([row.workflow_id for row in rows], queue_name=queue)
        return [row.workflow_id for row in found]

    def runs(self, states: Iterable[str] = tuple(LIVE)) -> frozenset[str]:
        """The runs that have a burst to come."""
        return frozenset(row.workflow_id.rpartition(":")[0] for row in self._rows(*states))

    def forget(self, before: float) -> int:
        """Delete the rows of bursts that were over before this time; how many there were."""
        when = datetime.fromtimestamp(before, UTC).isoformat()
        gone = [row.workflow_id for row in self._rows("SUCCESS", "ERROR", completed_before=when)]
        for first in range(0, len(gone), AT_ONCE):
            self._client.delete_workflows(gone[first : first + AT_ONCE])
        return len(gone)

    def close(self) -> None:
        """Close the connections."""
        self._client.destroy()

    def _rows(self, *states: str, **more: Any) -> list[Any]:
        return list(
            self._client.list_workflows(status=[*states], name=BURST, load_input=False, load_output=False, **more)
        )
