"""Temporal as a fleet, over a shelf in SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from machines.agent import Agent
from machines.durable.temporal import Temporal
from machines.letters import Letter
from statecraft.journal import Shelf, shelf_at

SILENCE = 1.0
"""Seconds after which a killed worker's bursts begin again here."""


class TemporalFleet:
    """Runs of the shelf at `place`, carried by the Temporal server at `address` under the name `queue`."""

    module = "temporal_fleet"

    def __init__(self, place: str, address: str, queue: str) -> None:
        self.place, self.words = place, [address, queue]
        self._shelf = shelf_at(place)
        self._temporal = Temporal(address, self._shelf, queue=queue, silence=SILENCE)

    def enlist(self, run: str, task: str) -> None:
        assert self._temporal.enlist(run, task)

    def deliver(self, run: str, letter: Letter, id: str) -> bool:
        return self._temporal.deliver(run, letter, id)

    def close(self) -> None:
        self._temporal.close()
        self._shelf.close()


async def serve(words: Sequence[str], shelf: Shelf, agent_for: Callable[[str], Agent], at_once: int) -> None:
    """As a worker serves."""
    with Temporal(words[0], shelf, queue=words[1], silence=SILENCE) as temporal:
        await temporal.serve(agent_for, at_once=at_once)
