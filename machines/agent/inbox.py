"""What comes to a run from outside, in its own process: signals, a person's words, a cancel.

A cancel breaks off the command that is under way, and is fed last. A person's words are heard between two commands, so
that no request that is out is changed by them. A signal lies here until a wait asks for it by its name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import anyio

from ..events import Cancel, Event, Said, Signal
from ..ledger.observe import Keep, text_of


class Inbox:
    """The inbox of one run. `hear` is told a person's words when they are taken out."""

    def __init__(self, now: Callable[[], float], keep: Keep, hear: Callable[[str], None]) -> None:
        self._now, self._keep, self._hear = now, keep, hear
        self._events: deque[Event] = deque()
        self._words: dict[int, str] = {}
        self._knock = anyio.Event()
        self.under_way: anyio.CancelScope | None = None

    def say(self, text: str, *, synthetic: bool = False) -> None:
        """A person speaks, or (`synthetic`) a program in a person's name."""
        said = Said(self._now(), text_of(text, self._keep), synthetic)
        self._words[id(said)] = text
        self.post(said)

    def post(self, event: Event) -> None:
        """Put an event in. Raises `ValueError` for words of a person without their text."""
        if isinstance(event, Said) and id(event) not in self._words:
            raise ValueError("found words of a person without their text, expected them by say(text)")
        self._events.append(event)
        self._knock.set()
        if isinstance(event, Cancel) and self.under_way is not None:
            self.under_way.cancel()

    @property
    def cancelled(self) -> bool:
        """Whether a cancel lies here."""
        return any(isinstance(event, Cancel) for event in self._events)

    def ends_wait(self, signals: Sequence[str]) -> Event | None:
        """Take out what a wait for these signals ends by; None where nothing of the kind has come."""
        for event in tuple(self._events):
            if not isinstance(event, Signal) or event.name in signals:
                self._events.remove(event)
                self._heard(event)
                return event
        return None

    async def knock(self, seconds: float) -> None:
        """Wait until something comes, or so long."""
        self._knock = anyio.Event()
        with anyio.move_on_after(seconds):
            await self._knock.wait()

    def take(self) -> Sequence[Event]:
        """Take out all but the signals, a cancel last and once."""
        if not self._events:
            return ()
        cancels = [event for event in self._events if isinstance(event, Cancel)][:1]
        others = [event for event in self._events if not isinstance(event, Cancel | Signal)]
        self._events = deque(event for event in self._events if isinstance(event, Signal))
        for event in others:
            self._heard(event)
        return (*others, *cancels)

    def _heard(self, event: Event) -> None:
        if (text := self._words.pop(id(event), None)) is not None:
            self._hear(text)
