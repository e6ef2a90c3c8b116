"""Where a journal is kept: one small protocol. One store is one run's chain, and the content that lies beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, Protocol

import attrs

from ..codec import digest_of

# What an appended line survives: the end of the process (kill -9), or the end of the machine's power as well.
Durability = Literal["process", "power"]

_DIGEST = re.compile("[0-9a-f]{64}")


class JournalError(Exception):
    """A journal that cannot be written or read, with what it is and what was wrong, in one line."""


class Store(Protocol):
    """The lines of one run, and content by digest. Not for two threads at once.

    Whatever goes wrong with the disk is raised as `JournalError`, and then nothing half-written is taken for whole.
    """

    @property
    def durability(self) -> Durability:
        """What `append` waits for."""
        ...

    @property
    def name(self) -> str:
        """How messages call it."""
        ...

    def claim(self, *, fresh: bool = False) -> bytes:
        """Become the run's writer. Gives the part of a line that a dead writer left at the end, which is cut off.

        `fresh`: for a run that begins; then a place that holds anything already is refused before anything is cut off.
        """
        ...

    def append(self, seq: int, line: bytes) -> None:
        """Keep the line (without a newline) as number `seq`, from 0. The same line again is taken as done."""
        ...

    def lines(self) -> Iterator[bytes]:
        """All whole lines in their order."""
        ...

    def last(self) -> bytes | None:
        """The last whole line."""
        ...

    def tail(self) -> bytes:
        """What stands after the last whole line: a part of a line whose writing was cut short, mostly empty."""
        ...

    def put(self, content: bytes) -> str:
        """Keep content, and give its digest (SHA-256, hex). It is safe once the next line is."""
        ...

    def get(self, digest: str) -> bytes | None:
        """Content by its digest; None where there is none, or no longer any."""
        ...

    def drop(self, digest: str) -> bool:
        """Redact: delete content for good. The chain stays whole. False where there was none."""
        ...

    def close(self) -> None:
        """Give up the claim, and what is open."""
        ...


def is_digest(text: str) -> bool:
    """Whether the text can be the digest of content."""
    return _DIGEST.fullmatch(text) is not None


def checked(content: bytes, digest: str, name: str) -> bytes:
    """The content, if it is what its digest says."""
    if digest_of(content) != digest:
        raise JournalError(f"{name}: the content {digest[:12]} is not what was put there")
    return content


@attrs.define
class MemoryStore:
    """A store that is gone with the process: for tests, and for runs that nobody will ask about."""

    name: str = "in memory"
    durability: Durability = "process"
    _lines: list[bytes] = attrs.field(init=False, factory=list[bytes])
    _content: dict[str, bytes] = attrs.field(init=False, factory=dict[str, bytes])

    def claim(self, *, fresh: bool = False) -> bytes:
        """Nothing is left by a dead writer here."""
        del fresh
        return b""

    def append(self, seq: int, line: bytes) -> None:
        """Keep the line."""
        if seq == len(self._lines):
            self._lines.append(line)
        else:
            refuse_seq(self.name, seq, line, self._lines[seq] if 0 <= seq < len(self._lines) else None)

    def lines(self) -> Iterator[bytes]:
        """All lines."""
        return iter(tuple(self._lines))

    def last(self) -> bytes | None:
        """The last line."""
        return self._lines[-1] if self._lines else None

    def tail(self) -> bytes:
        """Nothing."""
        return b""

    def put(self, content: bytes) -> str:
        """Keep content."""
        digest = digest_of(content)
        self._content[digest] = content
        return digest

    def get(self, digest: str) -> bytes | None:
        """Content by its digest."""
        return self._content.get(digest)

    def drop(self, digest: str) -> bool:
        """Delete content."""
        return self._content.pop(digest, None) is not None

    def close(self) -> None:
        """Nothing is open."""


def refuse_seq(name: str, seq: int, line: bytes, there: bytes | None) -> None:
    """Raise unless the line is already there as it is: appending is the same done twice as done once."""
    if there is None:
        raise JournalError(f"{name}: line {seq} would leave a gap, as the line before it is not there")
    if there != line:
        raise JournalError(f"{name}: line {seq} is already there and differs, so another writer is at work on this run")
