"""Streams of the Anthropic Messages wire, gathered: blocks that open, grow and close, each under its index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import attrs

from ....refusals.fields import count, items, mapping, string
from ..exact import NotJson, pieces, read_text
from .gathering import Gathered, Piece, joined

_ARGUMENTS: Final = "partial_json"


@attrs.define
class _Block:
    """A block as it was opened; `given` is the text of its input there, `grown` the pieces that came for a field."""

    said: dict[str, Any]
    given: str | None
    grown: dict[str, list[str]] = attrs.Factory(dict[str, list[str]])

    def grow(self, delta: Mapping[str, Any]) -> None:
        """Add a delta: of all kinds that there are, texts grow, a citation is one more, and the rest is replaced."""
        for name, value in delta.items():
            if name == "citation":
                self.said["citations"] = [*items(self.said.get("citations")), value]
            elif isinstance(value, str) and name != "type":
                self.grown.setdefault(name, []).append(value)
            elif name != "type" and value is not None:
                self.said[name] = value

    def args(self) -> str | None:
        """The arguments, if it is a call, whether or not they are whole."""
        return joined(self.grown.get(_ARGUMENTS, ())) or self.given

    def value(self) -> dict[str, Any]:
        """The block as it is now."""
        grown: dict[str, Any] = {
            name: joined([string(self.said.get(name)), *more]) for name, more in self.grown.items()
        }
        made = grown.pop(_ARGUMENTS, "")
        if made and self.said.get("type") != "tool_use":
            with suppress(NotJson):  # what the provider's own tool was to be given, cut: it stays as it was opened
                grown["input"] = read_text(made)
        return self.said | grown


@attrs.define(eq=False)
class AnthropicGathering:
    """Gathers a message. Only `message_stop` makes it whole."""

    ended: bool = False
    _whole: bool = attrs.field(default=False, init=False)
    _message: dict[str, Any] = attrs.field(factory=dict[str, Any], init=False)
    _blocks: dict[int, _Block] = attrs.field(factory=dict[int, _Block], init=False)

    def whole(self, *, broke_off: bool) -> bool:  # noqa: ARG002  # its last event is all that counts
        """As `Gathering.whole`."""
        return self._whole

    def take(self, text: str, event: Mapping[str, Any]) -> Iterator[Piece]:
        """As `Gathering.take`."""
        kind = event.get("type")
        if kind == "message_start":
            self._message.update(mapping(event.get("message")))
        elif kind == "content_block_start":
            block = dict(mapping(event.get("content_block")))
            [given] = pieces(text, ("content_block", "input")) if "input" in block else [None]
            self._blocks[count(event.get("index"))] = _Block(block, given)
            yield from _told(block)
        elif kind == "content_block_delta":
            delta = mapping(event.get("delta"))
            open_block = self._blocks.setdefault(count(event.get("index")), _Block({}, None))
            open_block.grow(delta)
            yield from _told(delta)
        elif kind == "message_delta":
            self._close(event)
        elif kind == "message_stop":
            self.ended = self._whole = True

    def gathered(self) -> Gathered:
        """As `Gathering.gathered`."""
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        content = [block.value() for block in blocks]
        return Gathered({**self._message, "content": content}, [block.args() for block in blocks])

    def _close(self, event: Mapping[str, Any]) -> None:
        """What is said of the whole message. Numbers of `usage` are totals, and one that is missing stands."""
        used = {name: value for name, value in mapping(event.get("usage")).items() if value is not None}
        self._message.update(mapping(event.get("delta")))
        self._message["usage"] = {**mapping(self._message.get("usage")), **used}
        more = {name: value for name, value in event.items() if name not in ("type", "delta", "usage")}
        self._message.update(more)


def _told(said: Mapping[str, Any]) -> Iterator[Piece]:
    if said.get("type") in ("text", "text_delta"):
        yield "text", string(said.get("text"))
    elif said.get("type") in ("thinking", "thinking_delta"):
        yield "thinking", string(said.get("thinking"))
