"""DBOS as a fleet: on SQLite, and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from machines.agent import Agent
from machines.durable.dbos import Dbos, Pace
from machines.letters import Letter
from statecraft.journal import Shelf, shelf_at


class DbosFleet:
    """Runs of the shelf at `place`, carried by the DBOS whose tables lie at `url`."""

    module = "dbos_fleet"

    def __init__(self, place: str, url: str) -> None:
        self.place, self.words = place, [url]
        self._shelf = shelf_at(place)
        self._dbos = Dbos(url, self._shelf)

    def enlist(self, run: str, task: str) -> None:
        assert self._dbos.enlist(run, task)

    def deliver(self, run: str, letter: Letter, id: str) -> bool:
        return self._dbos.deliver(run, letter, id)

    def close(self) -> None:
        self._dbos.close()
        self._shelf.close()


async def serve(words: Sequence[str], shelf: Shelf, agent_for: Callable[[str], Agent], at_once: int) -> None:
    """As a worker serves."""
    with Dbos(words[0], shelf) as dbos:
        await dbos.serve(agent_for, pace=Pace(at_once=at_once))
