"""google-re2, typed: patterns that match in linear time, whatever the text.

Patterns run over UTF-8 bytes read as Latin-1, in any case of letters: over text the binding encodes it anew each time
and counts its characters back. RE2 has no look-behind, so a pattern may begin with the one byte that must stand before
what is meant: where that byte is no letter, digit or `_`, it is context and no part of the match.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import re2  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
from attrs import frozen

_lib: Any = re2
_ANYWHERE: Any = _lib._re2.RE2.Anchor.UNANCHORED
_WHOLE: Any = _lib._re2.RE2.Anchor.ANCHOR_BOTH
_IS_CONTEXT = bytes(not (byte < 128 and (chr(byte).isalnum() or chr(byte) == "_")) for byte in range(256))


@frozen
class Pattern:
    """A compiled pattern. `ask` is the library's own match call: its public face costs as much again for each match."""

    source: str
    ask: Callable[[Any, bytes, int, int], list[tuple[int, int]]]


def pattern(source: str) -> Pattern:
    """Compile `source`, in RE2's syntax; ValueError says what RE2 does not take."""
    options = _lib.Options()
    options.encoding = _lib.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.log_errors = False
    try:
        compiled = _lib.compile(source.encode("utf-8", "surrogatepass"), options)
    except _lib.error as bad:
        raise ValueError(f"pattern {source!r}: {bad}") from None
    return Pattern(source, compiled._regexp.Match)


def literal(text: str) -> str:
    """The pattern that matches `text` alone."""
    escaped: bytes = _lib.escape(text.encode("utf-8", "surrogatepass"))
    return escaped.decode("utf-8", "surrogatepass")


def found(what: Pattern, data: bytes) -> bool:
    """Whether `what` matches anywhere in `data`."""
    return what.ask(_ANYWHERE, data, 0, len(data))[0][0] >= 0


def groups(what: Pattern, data: bytes) -> list[bytes | None] | None:
    """The text of each group where `what` matches first in `data`, None for one that took no part; None: no match."""
    spans = what.ask(_ANYWHERE, data, 0, len(data))
    return None if spans[0][0] < 0 else [data[start:stop] if start >= 0 else None for start, stop in spans[1:]]


def whole(what: Pattern, data: bytes) -> bool:
    """Whether `what` matches all of `data`."""
    return what.ask(_WHOLE, data, 0, len(data))[0][0] >= 0


def replace(what: Pattern, data: bytes, mark: bytes) -> bytes:
    """`data` with `mark` in place of each match, leftmost first; the same object where nothing matches."""
    ask, anywhere, is_context, end = what.ask, _ANYWHERE, _IS_CONTEXT, len(data)
    start, stop = ask(anywhere, data, 0, end)[0]
    if start < 0:
        return data
    pieces: list[bytes] = []
    done = 0
    while start >= 0:
        pieces.append(data[done : start + is_context[data[start]]])
        done = stop
        start, stop = ask(anywhere, data, done, end)[0]
    pieces.append(data[done:])
    return mark.join(pieces)
