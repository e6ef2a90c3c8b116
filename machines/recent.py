"""The last texts of a run, so that a message can be shown; bounded, whatever the run's length."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from .events import Text


class Recent:
    """Texts by digest, whole, the oldest forgotten first. The newest is kept whatever its size."""

    MOST: Final = 128
    CHARS: Final = 1 << 23
    """Characters of all texts together."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._chars = 0

    def keep(self, text: Text, content: str) -> None:
        """Keep a text, and forget the oldest where there are too many, or too much."""
        self._chars += len(content) - len(self._texts.pop(text.digest, ""))
        self._texts[text.digest] = content
        while len(self._texts) > self.MOST or (self._chars > self.CHARS and len(self._texts) > 1):
            self._chars -= len(self._texts.popitem(last=False)[1])

    def text_of(self, text: Text) -> str | None:
        """The content of a text, if it is still here."""
        return self._texts.get(text.digest)
