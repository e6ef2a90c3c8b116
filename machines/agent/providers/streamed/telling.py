"""Pieces of a reply as they may be shown: no key in them, and no half of a character."""

from __future__ import annotations

from typing import Final

import attrs

from ...wire import Completion, Heard, TextPart, ThinkingPart
from ..key import HIDDEN, Key, secrets_of
from .gathering import joined

_HIGH: Final = ("\ud800", "\udbff")  # the first half of a character beyond 16 bits is between these


@attrs.define(eq=False)
class Telling:
    """Tells the pieces of a reply to whoever hears them; `heard` says whether any was told.

    What may be the beginning of the key is held back until it is known to be none: a key can come in two pieces.
    """

    to: Heard
    key: Key | None = None
    heard: bool = False
    _channel: str = attrs.field(default="", init=False)
    _held: str = attrs.field(default="", init=False)
    _secrets: tuple[str, ...] = attrs.field(
        init=False, repr=False, default=attrs.Factory(lambda self: secrets_of(self.key), takes_self=True)
    )

    def tell(self, channel: str, piece: str) -> None:
        """Tell a piece, or as much of it as is safe by now."""
        if channel != self._channel:
            self.end()
        self._channel = channel
        text = joined((self._held, piece))
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        held = max((_begun(text, secret) for secret in self._secrets), default=0)
        if not held and text and _HIGH[0] <= text[-1] <= _HIGH[1]:
            held = 1
        self._held = text[len(text) - held :]
        self._say(text[: len(text) - held])

    def end(self) -> None:
        """Tell what is held back: nothing follows it."""
        held, self._held = self._held, ""
        self._say(held)

    def drop(self) -> None:
        """Forget what is held back: its reply broke off, and it may be most of a key."""
        self._held = ""

    def tell_whole(self, reply: Completion) -> None:
        """Tell a reply that came whole."""
        for part in reply.parts:
            if isinstance(part, TextPart | ThinkingPart):
                self.tell("text" if isinstance(part, TextPart) else "thinking", part.text)
        self.end()

    def _say(self, piece: str) -> None:
        if piece:
            self.heard = True
            self.to(self._channel, piece)


def _begun(text: str, secret: str) -> int:
    """How many characters at the end of a text are the beginning of a secret, which does not stand there whole."""
    longest = min(len(secret) - 1, len(text))
    return next((n for n in range(longest, 0, -1) if text.endswith(secret[:n])), 0)
