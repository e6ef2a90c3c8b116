"""One row carried out: the run is driven, if it is to be driven, and what comes next is said. Raises nothing.

A row never fails, since a row that failed would be a wake that is lost: what went wrong is logged, and the run is woken
again a little later. A run that was made by other rules is refused, and not tried again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import time
from typing import Final, TypedDict

import attrs

from statecraft.journal import Shelf
from statecraft.replay import TableChanged

from ...agent.agent import Agent
from ..burst import burst
from ..rest import Rest, rest_of
from . import wake as wakes

_LOG: Final = logging.getLogger("machines.durable")

MOST_AGAIN: Final = 30
"""How often a run that cannot be driven is tried again, before it is left to the next look over all runs."""

AGAIN_SECONDS: Final = 2.0
"""How long until it is tried again, at most. A lease of a run holds for 20 s where its worker is dead."""


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


@attrs.frozen
class Driver:
    """Drives the runs of a shelf. `patience`: a wait of no more seconds is waited for in place."""

    shelf: Shelf
    agent_for: Callable[[str], Agent]
    patience: float

    async def carry_out(self, run: str, wake: str) -> Done:
        """One row. Raises nothing but cancellation."""
        try:
            return await self._driven(run, wake)
        except TableChanged as error:
            _LOG.error("%s", error)
            return Done(row_of(run, "refused", why=str(error)))
        except Exception as error:  # noqa: BLE001  # whatever it is, the run's next wake must not be lost
            why = f"{type(error).__name__}: {error}"
            if wakes.times(wake) >= MOST_AGAIN:
                _LOG.error("run %s cannot be driven, and is not tried again for now: %s", run, why)
                return Done(row_of(run, "given up", why=why))
            _LOG.warning("run %s could not be driven, and is tried again: %s", run, why)
            return Done(row_of(run, "failed", why=why), wakes.again(wake), _after(wake))

    async def _driven(self, run: str, wake: str) -> Done:
        rest = self._rest(run)
        if rest.due:
            stood = await burst(self.agent_for(run), run, patience=self.patience)
            if stood.state == "ended":
                return Done(row_of(run, stood.state, status=stood.status))
            rest = self._rest(run)
        if rest.ended:
            return Done(row_of(run, "ended"))
        row = row_of(run, "waiting", until=rest.until)
        if rest.until is None:
            return Done(row)  # what it waits for has a row of its own when it comes
        following = wakes.of_lines(rest.lines)
        own = following == wakes.once(wake)  # the row's own name is taken as long as it is not over
        return Done(row, wakes.again(wake) if own else following, max(0.0, rest.until - time()))

    def _rest(self, run: str) -> Rest:
        store = self.shelf.store(run)
        try:
            return rest_of(store, time())
        finally:
            store.close()


def row_of(
    run: str, state: str, *, until: float | None = None, status: str | None = None, why: str | None = None
) -> Row:
    """What a row has come to."""
    return {"run": run, "state": state, "until": until, "status": status, "why": why}


def _after(wake: str) -> float:
    """Seconds until a run that could not be driven is tried again: a quarter, then twice as long each time."""
    return min(AGAIN_SECONDS, 0.25 * 2.0 ** min(wakes.times(wake), 10))
