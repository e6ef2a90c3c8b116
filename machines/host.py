"""The seam to the world: what a loop needs of whoever carries commands out.

A host owns everything that is not pure: the model, the tools, the clock, whatever comes from outside. The loop owns
nothing; it steps the machine and hands the commands over. Each answer is an event that carries its own time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from .commands import Command
from .events import Event


@attrs.frozen
class Key:
    """The key of one command: which run, the number of the journal's line that asked for it, and its kind.

    It is in the journal before the command is carried out, and a host that meets it again knows that it has been sent.
    """

    run: str
    sequence: int
    kind: str


class Host(Protocol):
    """The world around one run."""

    async def effect(self, command: Command, key: Key) -> Sequence[Event]:
        """Carry the command out; what comes of it are events, in their order. Most commands bring one event or none.

        Raises nothing for what a model or a tool may do: that is an event too. Cancelled, it leaves nothing behind.
        """
        ...

    async def wait(self, until: float, signals: tuple[str, ...]) -> Event | None:
        """The event that ends a wait: the time (seconds since the run began), a signal, or a cancel.

        None: nobody waits for it here, and the run is to be put down until it comes.
        """
        ...

    async def deliver(self, run: str, event: Event) -> None:
        """Bring an event from outside to a run: a signal, a person's message, a cancel."""
        ...

    def abandon(self) -> Sequence[Event]:
        """The loop is ended from outside: what has come in already and was not fed yet. Nothing may be awaited here."""
        ...

    def settle(self, commands: Sequence[Command]) -> None:
        """The run is over, however it ended, and these were left: give every open call its answer, awaiting nothing."""
        ...

    def now(self) -> float:
        """Seconds since the run began; never falling."""
        ...
