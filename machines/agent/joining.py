"""A text that was cut and its continuation, as one.

The rules: what the continuation says again of the end is left out once; one that begins anew, as the text itself did,
takes its place. Less than a few characters in common is no repetition: any two texts share a letter.
"""

from __future__ import annotations

from typing import Final

LEAST: Final = 12
"""Characters that both have to share before that counts as said again."""

MOST: Final = 4_000
"""Characters of an overlap that are looked for; nobody repeats more of what was just said."""


def joined(before: str, after: str) -> str:
    """The whole text. Takes time in proportion to what is compared."""
    head = before[:LEAST]
    if len(head) == LEAST and after.startswith(head):
        return after if len(after) >= len(before) else before
    return before + after[_overlap(before[-MOST:], after[:MOST]) :]


def _overlap(end: str, start: str) -> int:
    """The length of the longest end of the one that is a start of the other, LEAST at least, else 0."""
    if not start:
        return 0
    # As Knuth, Morris and Pratt have it: `fall[n]` is the longest border of the first n + 1 letters of `start`.
    fall = [0] * len(start)
    length = 0
    for at in range(1, len(start)):
        while length and start[at] != start[length]:
            length = fall[length - 1]
        length += start[at] == start[length]
        fall[at] = length
    length = 0
    for letter in end:
        if length == len(start):
            length = fall[length - 1]
        while length and letter != start[length]:
            length = fall[length - 1]
        length += letter == start[length]
    return length if length >= LEAST else 0
