"""Whether a stream says the same again and again: how many laps its end has, as the pieces come.

A stretch of up to `LONGEST` characters that stands `n` times back to back, in whole, is `n` laps. What belongs to a
form that repeats by nature is not counted: code between fences or indented, table rows, quotes, and stretches without
a letter, such as dividers. Each of them also begins a new count; so does each item of a list and each heading, which
count only within themselves.

Linear in the text, and bounded: the last `LONGEST` characters are held, and where each short run of them last stood.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 2_048
"""Characters of the longest stretch that is recognised."""

SEED: Final = 12
"""Characters that have to stand again for a stretch to be looked for."""

SHORTEST: Final = 200
"""Characters that all laps together must have: `ha ha ha` is no chant."""

FENCE: Final = "```"
"""Begins and ends code."""

MOST_OF_LINE: Final = 80
"""Characters of a line's beginning that are looked at."""

_APART: Final = re.compile(r"\s*(?:[>|\u2500-\u257f]|[-=_*~.]{3,}\s*[\r\n]|[-=_*~.]{40})| {4}|\t")
"""How a line begins, or is, that stands apart from running text; `...` alone may be a sentence."""

_ITEM: Final = re.compile(r"\s*(?:[-*+\u2022\u2023\u25e6\u25aa\u00b7\u2013\u2014]|#{1,6}|(?:\d{1,4}|[a-zA-Z])[.)])\s")
"""How an item of a list, or a heading, begins: the next one is no lap of it, but what it says in itself may be one."""

_MARKERS: Final = " \t>-*+.)0123456789"
"""What may stand before a fence at the beginning of its line."""


class Chant:
    """One stream's end, fed as it comes. Changes in place: it belongs to whoever reads the stream."""

    def __init__(self) -> None:
        self._fenced = False
        self._line = ""
        self._held = ""
        self._item = False
        self._forget()

    def _forget(self) -> None:
        self._text: list[str] = []
        self._start = 0  # the number of the first character that is held
        self._seeds: dict[str, int] = {}
        self._period = 0
        self._run = 0  # characters at the end that equal those one period before

    @property
    def laps(self) -> int:
        """How often the end of the stream says the same, back to back; 1 where it does not."""
        if not self._period or self._run < self._period or self._run + self._period < SHORTEST:
            return 1
        lap = self._text[-self._period :]
        return self._run // self._period + 1 if any(c.isalpha() for c in lap) else 1

    @property
    def period(self) -> int:
        """Characters of what is said again; 0 where nothing is."""
        return self._period if self.laps > 1 else 0

    def feed(self, piece: str) -> int:
        """Take the next piece; the most laps that it has anywhere, wherever the pieces end."""
        most = 1
        piece = self._held + piece
        held = (len(piece) - len(piece.rstrip("`"))) % len(FENCE)  # half a fence waits for its other half
        piece, self._held = piece[: len(piece) - held], piece[len(piece) - held :]
        for line in piece.splitlines(keepends=True):
            for number, part in enumerate(line.split(FENCE)):
                most = max(most, self._fence() if number else 1, self._part(part))
            if line[-1] in "\r\n":
                if self._item:
                    self._forget()
                self._line, self._item = "", False
        return most

    def _fence(self) -> int:
        """A fence opens at the beginning of a line, and closes anywhere; elsewhere its signs are words."""
        if not self._fenced and self._line.strip(_MARKERS):
            return self._part(FENCE)
        self._fenced = not self._fenced
        self._line, self._item = FENCE, False
        self._forget()
        return 1

    def _part(self, part: str) -> int:
        self._line = (self._line + part)[:MOST_OF_LINE]
        if self._fenced or _APART.match(self._line):
            self._forget()
            return 1
        if not self._item and _ITEM.match(self._line):
            self._item = True
            self._forget()
        return max(self._take(part), self.laps)

    def _take(self, text: str) -> int:
        most = 1
        for char in text:
            if self._period and self._text[-self._period] == char:
                self._run += 1
            elif self._period:
                most = max(most, self.laps)
                self._period = self._run = 0
            self._text.append(char)
            seed = "".join(self._text[-SEED:])
            end = self._start + len(self._text)
            if not self._period and len(seed) == SEED:
                before = self._seeds.get(seed)
                if before is not None and end - before <= LONGEST:
                    self._period, self._run = end - before, SEED
            self._seeds[seed] = end
            if len(self._text) > 2 * LONGEST:
                self._start += len(self._text) - LONGEST
                del self._text[:-LONGEST]
                self._seeds = {seed: end for seed, end in self._seeds.items() if end > self._start}
        return most
