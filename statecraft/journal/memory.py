"""A store, and a shelf of them, gone with the process: for tests, and for runs that nobody will ask about."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from ..codec import digest_of
from .beside import checked_holder, checked_note, letter_key
from .store import Durability, refuse_seq


@attrs.define
class MemoryStore:
    """One run in memory. Whoever has it shares it, so it need not be claimed and nothing is lost by closing it."""

    name: str = "in memory"
    durability: Durability = "process"
    _lines: list[bytes] = attrs.field(init=False, factory=list[bytes])
    _content: dict[str, bytes] = attrs.field(init=False, factory=dict[str, bytes])
    _notes: dict[str, bytes] = attrs.field(init=False, factory=dict[str, bytes])
    _mail: dict[str, tuple[str, bytes]] = attrs.field(init=False, factory=dict[str, tuple[str, bytes]])
    _lease: tuple[str, float] | None = attrs.field(init=False, default=None)

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

    def lines(self, after: int = -1) -> Iterator[bytes]:
        """The lines above `after`."""
        return iter(tuple(self._lines[max(after, -1) + 1 :]))

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

    def keep(self, name: str, body: bytes | None) -> None:
        """Replace a note."""
        if body is None:
            self._notes.pop(checked_note(name), None)
        else:
            self._notes[checked_note(name)] = body

    def kept(self, name: str) -> bytes | None:
        """A note."""
        return self._notes.get(checked_note(name))

    def post(self, id: str, body: bytes) -> bool:
        """Put a letter into the mail."""
        letter_key(id)
        letter = id, body
        return self._mail.setdefault(id, letter) is letter

    def mail(self) -> list[tuple[str, bytes]]:
        """The letters as they came."""
        return list(self._mail.values())

    def unpost(self, id: str) -> None:
        """Take a letter away."""
        letter_key(id)
        self._mail.pop(id, None)

    def lease(self, holder: str, seconds: float, at: float) -> str | None:
        """Have the run, or hear who has it."""
        checked_holder(holder, seconds)
        if self._lease and self._lease[0] != holder and self._lease[1] > at:
            return self._lease[0]
        self._lease = holder, at + seconds
        return None

    def release(self, holder: str) -> None:
        """Give up one's own lease."""
        checked_holder(holder)
        if self._lease and self._lease[0] == holder:
            self._lease = None

    def close(self) -> None:
        """Nothing is open."""


@attrs.define
class MemoryShelf:
    """Runs in memory, gone with the process."""

    name: str = "in memory"
    _stores: dict[str, MemoryStore] = attrs.field(init=False, factory=dict[str, MemoryStore])

    def store(self, run: str) -> MemoryStore:
        """The store of a run, the same each time."""
        return self._stores.setdefault(run, MemoryStore(name=f"in memory ({run})"))

    def runs(self) -> tuple[str, ...]:
        """The runs that have a journal, sorted."""
        return tuple(sorted(run for run, store in self._stores.items() if store.last() is not None))

    def notes(self, name: str) -> Iterator[tuple[str, bytes]]:
        """The note of that name of every run that has it."""
        for run, store in sorted(self._stores.items()):
            if (body := store.kept(name)) is not None:
                yield run, body

    def mailed(self) -> tuple[str, ...]:
        """The runs that have mail, sorted."""
        return tuple(sorted(run for run, store in self._stores.items() if store.mail()))

    def close(self) -> None:
        """Nothing is open."""
