"""What all wires have in common in gathering a stream."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol

import attrs

from ...wire import Completion

Piece = tuple[Literal["text", "thinking"], str]
"""A piece of a reply: its channel, and what it says."""

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


@attrs.frozen
class Gathered:
    """What a stream came to: the body of the same reply when it is whole.

    `args` has the arguments of each part of the body that is a call, as received, where the wire has them as JSON and
    not as a text: those that were cut are no JSON, and could not stand in `value`.
    """

    value: Mapping[str, Any]
    args: Sequence[str | None] = ()


class Gathering(Protocol):
    """Gathers the events of one stream. It does no I/O; what it is not told, it does not know."""

    ended: bool
    """Whether the stream has said that nothing comes any more."""

    def whole(self, *, broke_off: bool) -> bool:
        """Whether the reply is there to its end. `broke_off`: the stream did not end, its connection did."""
        ...

    def take(self, text: str, event: Mapping[str, Any], /) -> Iterable[Piece]:
        """Take the next event, whose text is `text`: what it adds to what can be read. NotJson as `exact.pieces`."""
        ...

    def gathered(self) -> Gathered:
        """All that has come so far."""
        ...


@attrs.frozen
class Streamed:
    """How a wire streams: the fields that ask for it, where it is asked, and how what comes is read.

    `fields` are members of a JSON object, without its braces. `reply` is `Wire.reply`, of what was gathered.
    """

    fields: bytes
    gathering: Callable[[], Gathering]
    reply: Callable[[Gathered], Completion | None]
    url: Callable[[str], str] = lambda url: url

    def body(self, whole: bytes) -> bytes:
        """The body of a request for a whole reply, made into one for a stream. It is an object, and never empty."""
        return whole[:-1] + b"," + self.fields + b"}" if self.fields else whole


def joined(pieces: Iterable[str]) -> str:
    """The text of its pieces. Two halves of one character, a surrogate at each end of a seam, become that character."""
    text = "".join(pieces)
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
