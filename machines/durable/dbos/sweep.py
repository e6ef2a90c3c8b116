"""What a worker does beside its bursts: it gives signs of life, hands on what the dead had, and finds lost wakes.

A wake is lost where a process ended between two steps: a run was enlisted, a letter was posted, and the row was not put
there. What stands beside the journals says which runs are to be driven; those that have no row get one. One worker at
a time looks.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection
from time import monotonic, time
from typing import Final

from statecraft.journal import Shelf

from ...journaled import AGENT_RUN
from ...standing import WAITING, standing_of
from ..rest import answers, rest_of, table_of, unfinished
from . import wake as wakes
from .leases import Leases
from .rows import Rows

_LOG: Final = logging.getLogger("machines.durable")


class Sweep:
    """The signs of life and the looks of the worker `name`. `every`: seconds between two looks over all runs."""

    def __init__(self, name: str, leases: Leases, rows: Rows, shelf: Shelf, every: float, keep: float) -> None:
        self._name, self._leases, self._rows, self._shelf = name, leases, rows, shelf
        self._every, self._keep = every, keep
        self._looked = monotonic() - every
        self._refused: set[str] = set()

    def keep(self, stop: threading.Event, beat: float, lease: float) -> None:
        """Give a sign of life every `beat` seconds until told to stop; a lease holds for `lease` seconds."""
        while not stop.is_set():
            try:
                self._leases.take(self._name, lease)
                self.once(beat)
            except Exception:  # noqa: BLE001  # a database that is away for a moment must not end the signs of life
                _LOG.exception("worker %s could not look after the runs", self._name)
            stop.wait(beat)

    def once(self, beat: float) -> None:
        """Look after the dead, and now and then over all runs, unless somebody else does."""
        if not self._leases.sweeps(beat / 2):
            return
        handed = self._rows.hand_on(self._leases.living)
        if handed:
            _LOG.warning("the worker of %d bursts is gone, and they were put back: %s", len(handed), handed[:5])
        if monotonic() - self._looked >= self._every:
            self._looked = monotonic()
            self.look_over(time())
            self._rows.forget(time() - self._keep)

    def look_over(self, now: float) -> None:
        """Wake the runs that are to be driven and have no row, and those whose mail nobody was woken for."""
        found = [run for run, stood in unfinished(self._shelf) if stood.state != WAITING or _over(stood.until, now)]
        mailed = self._shelf.mailed()
        live = self._rows.runs() if found or mailed else frozenset[str]()
        for run in found:
            if run not in live:
                self._wake(run, now)
        for run in mailed:
            self._wake_by_mail(run, now, live)

    def _wake(self, run: str, now: float) -> None:
        store = self._shelf.store(run)
        try:
            table, rest = table_of(store), rest_of(store, now)
        finally:
            store.close()
        if table != AGENT_RUN.table.digest:
            self._refuse(run, table)
        elif rest.due:
            self._rows.put(table, run, wakes.of_look(now, self._every))

    def _wake_by_mail(self, run: str, now: float, live: Collection[str]) -> None:
        store = self._shelf.store(run)
        try:
            table, stood = table_of(store), standing_of(store)
            ids = () if stood is None or stood.state != WAITING else answers(store, stood)
        finally:
            store.close()
        if ids and table != AGENT_RUN.table.digest:
            self._refuse(run, table)
        elif ids:
            # A burst that is still to come may be for a later time; one that was given up has a row of the letter.
            wake = wakes.of_letter(ids[0]) if run in live else wakes.of_look(now, self._every)
            self._rows.put(table, run, wake)

    def _refuse(self, run: str, table: str) -> None:
        """Say once that a run is not for this worker. One of its own rules may still come, and finds its rows."""
        if run not in self._refused:
            self._refused.add(run)
            _LOG.error(
                "run %s was made by the table %s, expected %s: it is left for a worker of its own rules",
                run,
                table[:16],
                AGENT_RUN.table.digest[:16],
            )


def _over(until: float | None, now: float) -> bool:
    return until is not None and until <= now
