"""Where a journal is kept: one protocol. One store is one run's chain, and what lies beside it.

Beside the chain lie its content by digest, notes by name, the mail for the run, and its lease. The chain and its
content are the record. The rest lets a run be put down in one process and taken up in another: it may be read, and
mail and lease may be changed, by a process that has not claimed the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, Protocol

from ..codec import digest_of

# What an appended line survives: the end of the process (kill -9), or the end of the machine's power as well.
Durability = Literal["process", "power"]

_DIGEST = re.compile("[0-9a-f]{64}")


class JournalError(Exception):
    """A journal that cannot be written or read, with what it is and what was wrong, in one line."""


class Overtaken(JournalError):
    """Another writer is at work on the run, or has been since it was read: what this one knows of it is old."""


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

    def lines(self, after: int = -1) -> Iterator[bytes]:
        """The whole lines in their order: those numbered above `after`, and from -1 on all."""
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

    def keep(self, name: str, body: bytes | None) -> None:
        """Put a note beside the chain in place of the one of that name, as a whole; None takes it away.

        Content that was put before a note is found by whoever finds the note. `name`: letters a to z and `_`, else
        `ValueError`.
        """
        ...

    def kept(self, name: str) -> bytes | None:
        """The note of that name; None where there is none."""
        ...

    def post(self, id: str, body: bytes) -> bool:
        """Put a letter into the run's mail. False, and nothing done, while a letter of that id lies there.

        `id`: any text of 1 to 200 characters, else `ValueError`.
        """
        ...

    def mail(self) -> list[tuple[str, bytes]]:
        """The letters, each with its id, in the order in which they came, as far as clocks agree on it."""
        ...

    def unpost(self, id: str) -> None:
        """Take a letter away. Nothing where there is none."""
        ...

    def lease(self, holder: str, seconds: float, at: float) -> str | None:
        """Have the run for `holder` from now, `at`, for so many seconds: None if so, else who has it.

        It is got where nobody has it, where it ran out (at its last second it has), and by its holder again, which
        renews it. `at` is the wall clock's, in seconds; all who lease a run must agree on it. `holder`: printable text
        of 1 to 200 characters, else `ValueError`.
        """
        ...

    def release(self, holder: str) -> None:
        """Give up the lease, if it is the holder's."""
        ...

    def close(self) -> None:
        """Give up the claim, and what is open. A lease is not given up."""
        ...


def is_digest(text: str) -> bool:
    """Whether the text can be the digest of content."""
    return _DIGEST.fullmatch(text) is not None


def checked(content: bytes, digest: str, name: str) -> bytes:
    """The content, if it is what its digest says."""
    if digest_of(content) != digest:
        raise JournalError(f"{name}: the content {digest[:12]} is not what was put there")
    return content


def refuse_seq(name: str, seq: int, line: bytes, there: bytes | None) -> None:
    """Raise unless the line is already there as it is: appending is the same done twice as done once."""
    if there is None:
        raise JournalError(f"{name}: line {seq} would leave a gap, as the line before it is not there")
    if there != line:
        raise Overtaken(f"{name}: line {seq} is already there and differs, so another writer is at work on this run")
