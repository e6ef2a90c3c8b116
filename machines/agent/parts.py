"""The parts of a message as JSON, and back: a list for each, its kind first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statecraft.codec import dump, load

from .wire import CallPart, Message, Part, ResultPart, TextPart, ThinkingPart


def plain_of(part: Part) -> list[Any]:
    """One part as plain JSON."""
    match part:
        case TextPart():
            return ["text", part.text]
        case ThinkingPart():
            return ["thinking", part.text, None if part.raw is None else dict(part.raw)]
        case CallPart():
            return ["call", part.id, part.name, part.args]
        case ResultPart():
            return ["result", part.call, part.content, part.error]


def part_of(plain: Sequence[Any]) -> Part:
    """A part from plain JSON. Raises `KeyError` or `TypeError` for what is none."""
    kind, *fields = plain
    part: Part = _KINDS[kind](*fields)
    return part


_KINDS: dict[str, Any] = {"text": TextPart, "thinking": ThinkingPart, "call": CallPart, "result": ResultPart}


def parts_written(parts: Sequence[Part]) -> str:
    """Parts as a text that can be kept."""
    return dump([plain_of(part) for part in parts]).decode("utf-8", "surrogatepass")


def parts_read(text: str) -> tuple[Part, ...]:
    """Parts from the text that was kept of them."""
    return tuple(part_of(plain) for plain in load(text.encode("utf-8", "surrogatepass")))


def plain_message(message: Message) -> list[Any]:
    """A message as plain JSON."""
    return [message.role, *(plain_of(part) for part in message.parts)]


def message_of(plain: Sequence[Any]) -> Message:
    """A message from plain JSON."""
    role, *parts = plain
    return Message(role, tuple(map(part_of, parts)))
