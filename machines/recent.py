"""The last texts of a run, so that a message can be shown; bounded, whatever the run's length."""

from __future__ import annotations

from collections import OrderedDict

from .events import Text


class Recent:
    """Texts by digest, the oldest forgotten first."""

    MOST = 128
    LONGEST = 65_536

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()

    def keep(self, text: Text, content: str) -> None:
        """Keep a text, and forget the oldest where there are too many."""
        self._texts[text.digest] = content[: self.LONGEST]
        self._texts.move_to_end(text.digest)
        if len(self._texts) > self.MOST:
            self._texts.popitem(last=False)

    def text_of(self, text: Text) -> str | None:
        """The content of a text, if it is still here."""
        return self._texts.get(text.digest)
