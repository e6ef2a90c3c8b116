"""Content that is held back for the line that follows it, so that both are one commit."""

from __future__ import annotations

from typing import Final

import attrs

from ..codec import digest_of

MOST: Final = 1 << 23
"""Bytes that are held back at most; beyond, they are committed by themselves."""


@attrs.define
class HeldBack:
    """Bodies by their digest, in the order in which they came."""

    bodies: dict[str, bytes] = attrs.field(factory=dict[str, bytes])
    size: int = 0

    def add(self, content: bytes) -> str:
        """Hold content back. Gives its digest."""
        digest = digest_of(content)
        if digest not in self.bodies:
            self.bodies[digest] = content
            self.size += len(content)
        return digest

    def drop(self, digest: str) -> bool:
        """Hold it back no longer. False where it was not."""
        content = self.bodies.pop(digest, None)
        self.size -= len(content or b"")
        return content is not None

    def clear(self) -> None:
        """All of it is committed."""
        self.bodies.clear()
        self.size = 0

    @property
    def full(self) -> bool:
        """Whether it is more than should be held back."""
        return self.size > MOST
