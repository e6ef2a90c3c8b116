"""Large results set aside: the model sees how one begins, and reads the rest with the built-in tool `read_result`.

The rules: nothing is lost that was set aside; a piece that is read is itself never set aside; what cannot be read is an
error of one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import attrs

from ..events import ErrorKind
from ..manifest import Kind, Tool
from .tools import AgentTool, ToolError, tool

READ_RESULT: Final = "read_result"
"""The tool that reads on in a result that was set aside."""

SHOWN: Final = 500
"""Characters of a result that stay in the history."""

MOST_READ: Final = 8_000
"""Characters that one call may read: more would fill the room that was made."""

Texts = Callable[[], Mapping[str, str]]
"""The results that are set aside now, each by the id of its call."""


def preview(call: str, content: str) -> str:
    """What stands for a result that was set aside."""
    return (
        f"{content[:SHOWN]}\n[... {len(content)} characters in all, of which these are the first {SHOWN}; to read on, "
        f'call {READ_RESULT} with call="{call}" and start={SHOWN}]'
    )


def piece(texts: Mapping[str, str], call: str, start: int, length: int) -> str:
    """A piece of a result, with a line that says where it stands. Raises `ToolError` for one that is not there."""
    text = texts.get(call)
    if text is None:
        known = ", ".join(list(texts)[-5:]) or "none"
        raise ToolError(ErrorKind.VALIDATION, f"no result of the call {call[:80]!r} was set aside; there are: {known}")
    if not 0 <= start < len(text):
        raise ToolError(ErrorKind.VALIDATION, f"found start {start}, expected 0 to {len(text) - 1}")
    if not 0 < length <= MOST_READ:
        raise ToolError(ErrorKind.VALIDATION, f"found length {length}, expected 1 to {MOST_READ}")
    end = min(start + length, len(text))
    on = f"; go on with start={end}" if end < len(text) else ""
    return f"{text[start:end]}\n[characters {start} to {end} of {len(text)}{on}]"


@tool(manifest=Tool(kind=Kind.READ, required=("call",), identity=("call", "start", "length")))
async def read_result(call: str, start: int = 0, length: int = 2_000) -> str:
    """Read on in a result that was too long to be shown as a whole.

    call: the id of the call that gave the result, as its shortened result names it. start: the first character, from
    0. length: how many characters, at most 8000.
    """
    raise AssertionError("each run has its own")


def spill_tools(texts: Texts) -> tuple[AgentTool, ...]:
    """The tool, for the results of one run."""

    async def read(call: str, start: int = 0, length: int = 2_000) -> str:
        return piece(texts(), call, start, length)

    return (attrs.evolve(read_result, function=read),)


SPILL_MANIFEST: Final[Mapping[str, Tool]] = {read_result.name: read_result.manifest}
"""What the run knows of it."""
