"""Streams of the Gemini wire, gathered: each event is a reply of its own, with the next parts of one candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import attrs

from ....refusals.fields import count, items, mapping
from ..exact import pieces, written
from .gathering import Gathered, Piece, joined
from .partial_args import put

_ARGS: Final = ("candidates", None, "content", "parts", None, "functionCall", "args")
_PLAIN: Final = frozenset({"text", "thought"})
_NEXT: Final = frozenset({"partialArgs", "willContinue"})


@attrs.define
class _Part:
    """A part, the pieces of its text where more of it may come, and its arguments: as received, or as they grow."""

    said: dict[str, Any]
    grown: list[str] | None = None
    args: str | None = None
    growing: dict[str, Any] | None = None

    def value(self) -> dict[str, Any]:
        """The part as it is now."""
        return self.said if self.grown is None else {**self.said, "text": joined(self.grown)}


@attrs.define(eq=False)
class GeminiGathering:
    """Gathers the first candidate. A reason to finish makes it whole, and so does a prompt that a filter took.

    Texts that stand together are one part, unless one is signed: Gemini wants that one back by itself.
    """

    ended: bool = False
    _about: dict[str, Any] = attrs.field(factory=dict[str, Any], init=False)
    _candidate: dict[str, Any] = attrs.field(factory=dict[str, Any], init=False)
    _parts: list[_Part] = attrs.field(factory=list[_Part], init=False)

    def whole(self, *, broke_off: bool) -> bool:
        """As `Gathering.whole`. Some models say STOP in every event, so that alone does not tell which is the last."""
        feedback = mapping(self._about.get("promptFeedback"))
        blocked = not self._candidate and (feedback.get("blockReason") or feedback.get("blockReasonMessage"))
        return bool(self._candidate.get("finishReason") or blocked) and not broke_off

    def take(self, text: str, event: Mapping[str, Any]) -> Iterator[Piece]:
        """As `Gathering.take`."""
        for name, value in event.items():
            if name == "usageMetadata":
                value = {**mapping(self._about.get(name)), **mapping(value)}
            if name != "candidates":
                self._about[name] = value
        for candidate in map(mapping, items(event.get("candidates"))[:1]):
            if count(candidate.get("index")) == 0:
                self._candidate.update(candidate)
                made = [mapping(part) for part in items(mapping(candidate.get("content")).get("parts"))]
                called = any("functionCall" in part for part in made)
                given = pieces(text, _ARGS) if called else [None] * len(made)
                for part, args in zip(made, given, strict=False):
                    yield from self._part(part, args)

    def gathered(self) -> Gathered:
        """As `Gathering.gathered`."""
        if not self._candidate:
            return Gathered(self._about)
        content = {**mapping(self._candidate.get("content")), "parts": [part.value() for part in self._parts]}
        # A call that was to go on has no end: nothing must take it for a whole one.
        args = [part.args if part.growing is None else written(part.growing)[:-1].decode() for part in self._parts]
        return Gathered({**self._about, "candidates": [{**self._candidate, "content": content}]}, args)

    def _part(self, part: Mapping[str, Any], args: str | None) -> Iterator[Piece]:
        last = self._parts[-1] if self._parts else None
        words, called = part.get("text"), mapping(cast("object", part.get("functionCall")))
        if isinstance(words, str):
            yield "thinking" if part.get("thought") else "text", words
            plain = set(part) <= _PLAIN
            if not (plain and last and last.grown is not None and last.said.get("thought") == part.get("thought")):
                last = _Part(dict(part), [] if plain else None)
                self._parts.append(last)
            if last.grown is not None:
                last.grown.append(words)
        elif last and last.growing is not None and "functionCall" in part and set(called) <= _NEXT:
            self._goes_on(last, called)
        elif part:
            last = _Part(dict(part), None, args, {} if called.get("willContinue") else None)
            self._parts.append(last)
            self._goes_on(last, called)

    def _goes_on(self, part: _Part, called: Mapping[str, Any]) -> None:
        if part.growing is None:
            return
        for given in items(called.get("partialArgs")):
            put(part.growing, mapping(given))
        if not called.get("willContinue"):
            part.args, part.growing = written(part.growing).decode(), None
