"""A reply as the events of a stream, whatever the wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from ..providers.exact import written

_LENGTH: Final = 7  # characters of a piece: short enough that a key, and most words, come in several


@attrs.frozen
class Event:
    """One event: its name, where the wire has names, and its data. `piece`: it brings something of the reply."""

    name: str
    data: bytes
    piece: bool = False

    def encoded(self) -> bytes:
        """The event as it is sent."""
        named = f"event: {self.name}\n".encode() if self.name else b""
        # A line each: arguments may have been laid out in several.
        return named + b"".join(b"data: " + line + b"\n" for line in self.data.splitlines()) + b"\n"


def event(data: Mapping[str, Any], *, named: bool = True, piece: bool = False) -> Event:
    """An event with this value, under the name of its type where the wire has names."""
    return Event(str(data.get("type", "")) if named else "", written(data), piece)


def split(text: str) -> Iterator[str]:
    """The pieces in which a text is sent."""
    return (text[at : at + _LENGTH] for at in range(0, len(text), _LENGTH))


def before(events: Sequence[Event], pieces: int) -> list[Event]:
    """What of a stream comes before its next piece, when so many have come; never its end."""
    places = [at for at, one in enumerate(events) if one.piece]
    last = places[-1] + 1 if places else 1
    return list(events[: places[pieces] if pieces < len(places) else last])
