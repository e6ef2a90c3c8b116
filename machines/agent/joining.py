"""A text that was cut and its continuation, as one.

The rules: what the continuation says again of the end is left out once; one that says all of it again, and goes on,
takes its place. Less than a few characters in common is no repetition: any two texts share a letter, and the lines of a
list or a program begin alike.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

LEAST: Final = 12
"""Characters that both have to share before that counts as said again."""

ALIKE: Final = 2 / 3
"""The share of one unfinished line that a continuation has to say again to be a new beginning of it. Of several lines
it has to say every letter: the next line of a list often begins as the first did.
"""

MOST: Final = 4_000
"""Characters of an overlap that are looked for; nobody repeats more of what was just said."""


def joined(before: str, after: str) -> str:
    """The whole text. Takes time in proportion to what is compared."""
    if _begins_anew(before, after):
        return after
    return before + after[_overlap(before[-MOST:], after[:MOST]) :]


def _begins_anew(before: str, after: str) -> bool:
    if after.startswith(before[:LEAST]) and len(before) >= LEAST and "\n" not in before:
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
        return alike >= ALIKE * len(before)
    return len(before) >= LEAST and after.startswith(before)


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
