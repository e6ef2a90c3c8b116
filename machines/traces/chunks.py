"""Chunks of a streaming reply, joined to pieces of one size, so that a judge sees the same however they were cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from .lines import Channel, ChunkLine
from .recorded import Numbered

# The neutral trace's "pieces of 2 KB", counted in characters: a piece never ends inside one.
PIECE: Final = 2048


def joined(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """The same lines, chunks of one channel joined and cut to PIECE characters.

    What is left is given out when the channel changes or any other line comes. A piece has the number and the time
    of the chunk that filled it.
    """
    held: list[str] = []
    size = 0
    channel: Channel = "text"
    number: int | None = None
    at: float | None = None
    for place, line in lines:
        if isinstance(line, ChunkLine):
            if line.channel != channel and held:
                yield number, ChunkLine("".join(held), channel, at)
                held, size = [], 0
            channel, number, at = line.channel, place, line.at
            held.append(line.text)
            size += len(line.text)
            if size >= PIECE:
                text = "".join(held)
                whole = size - size % PIECE
                for start in range(0, whole, PIECE):
                    yield number, ChunkLine(text[start : start + PIECE], channel, at)
                held, size = ([text[whole:]], size - whole) if size > whole else ([], 0)
            continue
        if size:
            yield number, ChunkLine("".join(held), channel, at)
        held, size = [], 0
        yield place, line
    if size:
        yield number, ChunkLine("".join(held), channel, at)
