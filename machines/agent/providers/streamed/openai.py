"""Streams of the OpenAI Chat Completions wire, gathered: deltas of one message.

Servers differ in how they say which call a delta belongs to: by an index, by an id, or by being the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from ....refusals.fields import count, items, mapping, string
from ..exact import pieces
from ..origin import THINKING
from .gathering import Gathered, Piece, joined

_ARGUMENTS: Final = ("choices", None, "delta", "tool_calls", None, "function", "arguments")
_GROWING: Final = ("text", "summary")  # of a reasoning detail


@attrs.define
class _Call:
    """A call that is being made. `index` is None where its server counts none."""

    index: int | None
    id: str = ""
    name: str = ""
    args: list[str] = attrs.Factory(list[str])

    def value(self) -> dict[str, Any]:
        """The call as a whole message has it."""
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": joined(self.args)},
        }


@attrs.define(eq=False)
class OpenAIGathering:
    """Gathers the first choice. A reason to finish makes it whole, and so does the end that the stream says."""

    ended: bool = False
    _about: dict[str, Any] = attrs.field(factory=dict[str, Any], init=False)
    _choice: dict[str, Any] = attrs.field(factory=dict[str, Any], init=False)
    _spoke: bool = attrs.field(default=False, init=False)
    _grown: dict[str, list[str]] = attrs.field(factory=dict[str, list[str]], init=False)
    _details: list[dict[str, Any]] = attrs.field(factory=list[dict[str, Any]], init=False)
    _calls: list[_Call] = attrs.field(factory=list[_Call], init=False)
    _function: _Call | None = attrs.field(default=None, init=False)

    def whole(self, *, broke_off: bool) -> bool:  # noqa: ARG002  # behind a reason to finish stands only what was used
        """As `Gathering.whole`. Not all servers end with `[DONE]`."""
        return self.ended or bool(self._choice.get("finish_reason"))

    def take(self, text: str, event: Mapping[str, Any]) -> Iterator[Piece]:
        """As `Gathering.take`."""
        self._about.update((name, value) for name, value in event.items() if name != "choices" and value is not None)
        for choice in map(mapping, items(event.get("choices"))):
            if count(choice.get("index")) == 0:
                self._choice.update((name, value) for name, value in choice.items() if value not in (None, ""))
                if choice.get("usage"):  # where Moonshot says it
                    self._about["usage"] = choice["usage"]
                yield from self._delta(mapping(choice.get("delta")), text)

    def gathered(self) -> Gathered:
        """As `Gathering.gathered`."""
        message: dict[str, Any] = {"role": "assistant"} if self._spoke else {}
        message |= {name: joined(grown) for name, grown in self._grown.items()}
        if self._details:
            message["reasoning_details"] = [
                {name: joined(value) if name in _GROWING and value else value for name, value in detail.items()}
                for detail in self._details
            ]
        if self._calls:
            message["tool_calls"] = [call.value() for call in self._calls]
        if self._function is not None:
            message["function_call"] = self._function.value()["function"]
        choice = {name: value for name, value in self._choice.items() if name != "delta"}
        return Gathered({**self._about, "choices": [{**choice, "message": message}] if choice else []})

    def _delta(self, delta: Mapping[str, Any], text: str) -> Iterator[Piece]:
        self._spoke = self._spoke or bool(delta)
        thought = next((name for name in THINKING if string(delta.get(name))), None)
        for name in ("reasoning_content", "reasoning", "content", "refusal"):
            # A text, null, or a list of parts, as Mistral answers.
            said = delta.get(name)
            words = (
                said if isinstance(said, str) else "".join(string(mapping(part).get("text")) for part in items(said))
            )
            if words:
                self._grown.setdefault(name, []).append(words)
                if name == thought:
                    yield "thinking", words
                elif name not in THINKING:
                    yield "text", words
        for detail in map(mapping, items(delta.get("reasoning_details"))):
            self._detail(detail)
        for place, call in enumerate(map(mapping, items(delta.get("tool_calls")))):
            function = mapping(call.get("function"))
            given = function.get("arguments")
            if given is not None and not isinstance(given, str):  # some servers send the object itself
                given = pieces(text, _ARGUMENTS)[place]
            made = self._call_of(call.get("index"), string(call.get("id")), string(function.get("name")))
            made.args.append(string(given))
        function = mapping(delta.get("function_call"))
        if function:
            self._function = self._function or _Call(None)
            self._function.name = self._function.name or string(function.get("name"))
            self._function.args.append(string(function.get("arguments")))

    def _call_of(self, index: object, id: str, name: str) -> _Call:
        """The call that a delta belongs to.

        Some servers give every call the index 0, or none, or count on with each delta of one call; others repeat the
        name or the id. So a name with another id begins a call, and what has neither belongs to one that is there.
        """
        place = index if isinstance(index, int) else None
        among = [call for call in self._calls if call.index == place] if place is not None else self._calls
        if id and name:
            found = next((call for call in reversed(among) if call.id in ("", id)), None)
        elif name and place is None:
            found = None
        else:
            found = next(reversed(among or ([] if name else self._calls)), None)
        if found is None:
            found = _Call(place)
            self._calls.append(found)
        found.id, found.name = found.id or id, found.name or name
        return found

    def _detail(self, detail: Mapping[str, Any]) -> None:
        """Add a piece of a structured thought: to the last one, where it is of the same kind and place."""
        last: dict[str, Any] = self._details[-1] if self._details else {}
        if not last or any(last.get(name) != detail.get(name) for name in ("type", "index")):
            last = {}
            self._details.append(last)
        for name, value in detail.items():
            if name in _GROWING and isinstance(value, str):
                grown: list[str] = last.get(name) or []
                grown.append(value)
                last[name] = grown
            elif value is not None or name not in last:
                last[name] = value
