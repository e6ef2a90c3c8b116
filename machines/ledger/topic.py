"""What a call is about, for tools that declare which arguments say so: its words, and its numbers apart from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .canonical import short_digest, spelling

MOST_WORDS: Final = 16
"""Words of a topic that are kept; the longest say most."""


def topic_of(values: Sequence[object]) -> bytes:
    """Four bytes a word, sorted: words of three letters or more, whatever their case; one with a digit is a figure."""
    words = sorted({w for w in _words(values) if len(w) > 2 and not _has_digit(w)}, key=lambda w: (-len(w), w))
    return b"".join(sorted(short_digest(word.encode("utf-8", "surrogatepass"))[:4] for word in words[:MOST_WORDS]))


def figures_of(values: Sequence[object]) -> bytes:
    """Eight bytes for the numbers, dates and years in it; empty where there are none."""
    figures = sorted({word for word in _words(values) if _has_digit(word)})
    return short_digest(" ".join(figures).encode("utf-8", "surrogatepass")) if figures else b""


def _words(values: Sequence[object]) -> list[str]:
    text = " ".join(v if isinstance(v, str) else spelling(v).decode("utf-8", "surrogatepass") for v in values)
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()


def _has_digit(word: str) -> bool:
    return any(c.isdigit() for c in word)
