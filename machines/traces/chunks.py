"""Chunks of a streaming reply, joined to pieces of one size, so that a judge sees the same however they were cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from attrs import define, field

from .lines import Channel, ChunkLine
from .recorded import Numbered

# The neutral trace's "pieces of 2 KB", counted in characters: a piece never ends inside one.
PIECE: Final = 2048


def joined(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """The same lines, chunks of one channel joined and cut to PIECE characters.

    What is left is given out when the channel changes or any other line comes. A piece has the number and the time
    of the chunk that filled it.
    """
    held = _Held()
    for number, line in lines:
        if not isinstance(line, ChunkLine):
            yield from _rest(held)
            yield number, line
            continue
        if line.channel != held.channel:
            yield from _rest(held)
        held.texts.append(line.text)
        held.size += len(line.text)
        held.channel, held.number, held.at = line.channel, number, line.at
        if held.size >= PIECE:
            yield from _full(held)
    yield from _rest(held)


@define
class _Held:
    """Text that fills no piece yet, and where the last of it came from."""

    channel: Channel = "text"
    texts: list[str] = field(factory=list[str])
    size: int = 0
    number: int | None = None
    at: float | None = None


def _full(held: _Held) -> Iterator[Numbered]:
    text = "".join(held.texts)
    whole = held.size - held.size % PIECE
    for start in range(0, whole, PIECE):
        yield held.number, ChunkLine(text[start : start + PIECE], held.channel, held.at)
    held.texts, held.size = [text[whole:]], held.size - whole


def _rest(held: _Held) -> Iterator[Numbered]:
    if held.size:
        yield held.number, ChunkLine("".join(held.texts), held.channel, held.at)
    held.texts, held.size = [], 0
