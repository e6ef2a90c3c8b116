"""Streams of the OpenAI Responses wire, gathered.

The last event holds the whole response. Some compatible servers leave its output out there, so the items are gathered
as they come, and those that were never closed as far as they came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from ....refusals.fields import count, items, mapping, string
from .gathering import Gathered, Piece, joined

_LAST: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_WORDS: Final = {"response.output_text.delta": "output_text", "response.refusal.delta": "refusal"}
_THOUGHTS: Final = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_ARGUMENTS: Final = "response.function_call_arguments.delta"


@attrs.define
class _Item:
    """An item of the output, and the pieces that came for its blocks and for its arguments since it was opened."""

    said: dict[str, Any]
    blocks: dict[int, tuple[str, list[str]]] = attrs.Factory(dict[int, tuple[str, list[str]]])
    args: list[str] = attrs.Factory(list[str])

    def value(self) -> dict[str, Any]:
        """The item as it is now."""
        made = dict(self.said)
        if self.blocks:
            made["content"] = [
                {"type": kind, "refusal" if kind == "refusal" else "text": joined(words)}
                for _, (kind, words) in sorted(self.blocks.items())
            ]
        if self.args:
            made["arguments"] = joined(self.args)
        return made


@attrs.define(eq=False)
class ResponsesGathering:
    """Gathers a response. Only the event that says how it ended makes it whole."""

    ended: bool = False
    _whole: bool = attrs.field(default=False, init=False)
    _response: dict[str, Any] = attrs.field(factory=dict[str, Any], init=False)
    _items: dict[int, _Item] = attrs.field(factory=dict[int, _Item], init=False)
    _thought: tuple[int, int] | None = attrs.field(default=None, init=False)

    def whole(self, *, broke_off: bool) -> bool:  # noqa: ARG002  # its last event is all that counts
        """As `Gathering.whole`."""
        return self._whole

    def take(self, _text: str, event: Mapping[str, Any], /) -> Iterator[Piece]:
        """As `Gathering.take`."""
        kind = string(event.get("type"))
        place = count(event.get("output_index"))
        delta = string(event.get("delta"))
        if kind in _LAST:
            self._response = dict(mapping(event.get("response")))
            self.ended = self._whole = True
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._items[place] = _Item(dict(mapping(event.get("item"))))
        elif kind in _WORDS:
            block = _WORDS[kind]
            item = self._items.setdefault(place, _Item({"type": "message", "role": "assistant"}))
            item.blocks.setdefault(count(event.get("content_index")), (block, []))[1].append(delta)
            yield "text", delta
        elif kind == _ARGUMENTS and place in self._items:
            self._items[place].args.append(delta)
        elif kind in _THOUGHTS and delta:
            yield "thinking", self._seam(event, place) + delta

    def gathered(self) -> Gathered:
        """As `Gathering.gathered`."""
        output = items(self._response.get("output")) or [item.value() for _, item in sorted(self._items.items())]
        return Gathered({**self._response, "output": output} if self._response else {})

    def _seam(self, event: Mapping[str, Any], place: int) -> str:
        """What parts two parts of one thought, as in the whole reply."""
        before = self._thought
        self._thought = place, count(event.get("summary_index")) or count(event.get("content_index"))
        return "\n\n" if before is not None and before[0] == place and before != self._thought else ""
