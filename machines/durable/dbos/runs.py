"""The face of runs on DBOS: enlist a run, deliver a letter to it, serve runs as a worker."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from time import time
from types import TracebackType
from typing import Final, Self

from statecraft.journal import Shelf

from ...agent.agent import Agent
from ...letters import Letter, deliver
from ..burst import enlist
from ..rest import table_of
from . import wake
from .rows import Rows
from .worker import USUAL, Pace, Worker

STOPPED_BY: Final = (signal.SIGTERM, signal.SIGINT)


class Dbos:
    """The runs of a shelf, carried by the DBOS whose tables lie at `url`: `postgresql://...`, or `sqlite:///FILE`.

    DBOS makes its tables when they are first needed. Any process that enlists, delivers or serves has one of these; a
    file of SQLite serves one machine. A process serves once at a time, as DBOS is one a process.
    """

    def __init__(self, url: str, shelf: Shelf) -> None:
        self.url, self.shelf = url, shelf
        self._opened: Rows | None = None

    def enlist(self, run: str, task: str) -> bool:
        """Have a run begun by a worker, under this name. False where it is there already; then it is woken.

        `ValueError` for a task without words, or a name that no run can have.
        """
        store = self.shelf.store(run)
        try:
            new = enlist(store, run, task, time())
            table = table_of(store)
        finally:
            store.close()
        self._rows.put(table, run, wake.of_lines(0))
        return new

    def deliver(self, run: str, letter: Letter, id: str) -> bool:
        """Post a letter to a run, and wake it. False, and nothing done, while a letter of that id lies there.

        `id` is the sender's own name for it, of 1 to 200 characters: sent twice, it is one. A letter that comes before
        the run waits for it lies there until it does. `JournalError` where there is no such run.
        """
        store = self.shelf.store(run)
        try:
            new = deliver(store, letter, id)
            table = table_of(store)
        finally:
            store.close()
        self._rows.put(table, run, wake.of_letter(id))
        return new

    async def serve(
        self,
        agent_for: Callable[[str], Agent],
        *,
        pace: Pace = USUAL,
        stopped_by: Sequence[signal.Signals] = STOPPED_BY,
    ) -> None:
        """Be a worker until cancelled, or told by a signal to stop; a burst under way is left for another worker.

        `agent_for` gives the agent for a run; its journal must be this shelf's (`Agent(journal=shelf.store)`).
        `stopped_by`: none, where this is not the process's main thread.
        """
        await Worker(self.url, self.shelf, self._rows, agent_for, pace).serve(stopped_by)

    def close(self) -> None:
        """Close the connections to DBOS's tables; the shelf stays open."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _rows(self) -> Rows:
        if self._opened is None:
            self._opened = Rows(self.url)
        return self._opened
