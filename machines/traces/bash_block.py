"""The fenced blocks of shell that mini-swe-agent 1 reads out of a reply."""

from __future__ import annotations

from typing import Final

_OPEN: Final = "```bash"
_CLOSE: Final = "\n```"


def blocks(text: str) -> list[str]:
    """The text of each block, in order.

    A block is what mini-swe-agent takes for one: an opening fence, white space with a line break in it, as little
    text as can be, and a line that begins with a closing fence. Found in linear time, hostile text too.
    """
    found: list[str] = []
    final = text.rfind(_CLOSE)
    here = text.find(_OPEN)
    while 0 <= here < final:
        fence = here + len(_OPEN)
        span = _span(text, fence, final)
        if span is not None:
            found.append(text[span[0] : span[1]])
        here = text.find(_OPEN, fence if span is None else span[1] + len(_CLOSE))
    return found


def _span(text: str, fence: int, final: int) -> tuple[int, int] | None:
    """Where the block of the fence that ends at `fence` begins and ends; `final` is the last closing fence."""
    end = fence
    while end < len(text) and text[end].isspace():
        end += 1
    last = text.rfind("\n", fence, end)
    if last < 0:
        return None
    if last < final:
        return last + 1, text.find(_CLOSE, last + 1)
    # Nothing closes it after its white space: then its last line break is the closing fence's own.
    before = text.rfind("\n", fence, last)
    return (before + 1, last) if before >= 0 and last == final else None
