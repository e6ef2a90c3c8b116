"""The last answers of a run, packed: a few bytes each, so that ten thousand runs can hold theirs.

An entry is twelve bytes: five of the outcome, four of the call, two of the tool, one of flags. Two entries are taken
for the same where these bytes are; among forty of them that is once in a billion windows by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from .ledger.work import digest8

SIZE: Final = 12
OUTCOME, CALL, TOOL, FLAGS = slice(0, 5), slice(5, 9), slice(9, 11), 11
FAILED, STALE, AGAIN = 1, 2, 4
"""Flags: it failed or was not seen; nothing about it was new; its outcome stood in the window already."""


@lru_cache(maxsize=1024)
def tool_key(tool: str) -> bytes:
    """The two bytes of a tool."""
    return digest8(tool.encode("utf-8", "surrogatepass"))[:2]


def added(window: bytes, *, outcome: bytes, call: bytes, tool: str, failed: bool, new: bool, keep: int) -> bytes:
    """The window with one more answer, and only its last `keep`."""
    came_to, made = outcome[-5:].ljust(5), call[-4:].ljust(4)
    again = holds(window, came_to, OUTCOME)
    stale = not new and holds(window, made, CALL)
    flags = FAILED * failed | STALE * stale | AGAIN * again
    whole = window + came_to + made + tool_key(tool) + bytes((flags,))
    return whole[-keep * SIZE :]


def without(window: bytes, tool: str) -> bytes:
    """The window without the answers of one tool."""
    key = tool_key(tool)
    if key not in window:
        return window
    return b"".join(entry for entry in entries(window) if entry[TOOL] != key)


def holds(window: bytes, key: bytes, part: slice) -> bool:
    """Whether an entry has these bytes in this part."""
    at = window.find(key)
    while at >= 0:
        if at % SIZE == part.start:
            return True
        at = window.find(key, at + 1)
    return False


def entries(window: bytes, last: int | None = None) -> Iterator[bytes]:
    """The entries, the oldest first; only the `last` ones, where that is given."""
    start = 0 if last is None else max(0, len(window) - last * SIZE)
    return (window[at : at + SIZE] for at in range(start, len(window), SIZE))


def quiet(window: bytes) -> bool:
    """Whether no outcome and no call stands in the window twice: then there is nothing to count."""
    return not window or max(window[FLAGS::SIZE]) < STALE


def most_repeated(window: bytes, last: int, *, failing: bool, most: Mapping[bytes, int]) -> int:
    """How often the most frequent outcome stands among the last answers, of those that failed or of the others.

    `most`: tools of which no more than so many count.
    """
    wanted = FAILED if failing else 0
    counts = Counter(entry[OUTCOME] + entry[TOOL] for entry in entries(window, last) if entry[FLAGS] & FAILED == wanted)
    return max((min(count, most.get(key[-2:], count)) for key, count in counts.items()), default=0)


def most_stale(window: bytes, last: int, exempt: frozenset[bytes]) -> int:
    """How many of the last answers brought nothing new to a call made before, of the tool that has most of them."""
    stale = (entry[TOOL] for entry in entries(window, last) if entry[FLAGS] & STALE)
    return max(Counter(tool for tool in stale if tool not in exempt).values(), default=0)
