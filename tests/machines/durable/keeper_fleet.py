"""The plain keeper as a fleet: it has nothing but the shelf."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence

import anyio

from machines.agent import Agent
from machines.durable.burst import enlist
from machines.durable.keeper import Keeper
from machines.letters import Letter, post
from statecraft.journal import Shelf, shelf_at


class KeeperFleet:
    """Runs of the shelf at `place`."""

    module = "keeper_fleet"

    def __init__(self, place: str) -> None:
        self.place = place
        self.words: list[str] = []
        self._shelf = shelf_at(place)

    def enlist(self, run: str, task: str) -> None:
        assert enlist(self._shelf.store(run), run, task, time.time())

    def deliver(self, run: str, letter: Letter, id: str) -> bool:
        return post(self._shelf.store(run), id, letter)

    def close(self) -> None:
        self._shelf.close()


async def serve(words: Sequence[str], shelf: Shelf, agent_for: Callable[[str], Agent], at_once: int) -> None:
    """As a worker serves, until it is told to stop."""
    async with anyio.create_task_group() as group:
        group.start_soon(Keeper(shelf, agent_for, at_once=at_once).serve)
        with anyio.open_signal_receiver(signal.SIGTERM) as signals:
            async for _ in signals:
                group.cancel_scope.cancel()
                return
