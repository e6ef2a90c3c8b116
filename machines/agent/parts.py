"""The parts of a message: as JSON, and back (a list for each, its kind first), their size, and which are thinking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

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


CHARS_A_TOKEN: Final = 4
"""A rough size: providers count exactly, and scripts other than Latin take more tokens than this says."""

FRAME: Final = 16
"""Characters that stand for the names and the punctuation around one part."""


def size_of(message: Message) -> int:
    """The rough size of a message, in characters: all that is sent of it, ids, names and sealed blocks too."""
    return sum(map(_chars, message.parts))


def tokens_of(messages: Iterable[Message]) -> int:
    """The rough size of messages in tokens, at `CHARS_A_TOKEN`."""
    return sum(map(size_of, messages)) // CHARS_A_TOKEN


def _chars(part: Part) -> int:
    match part:
        case TextPart():
            return FRAME + len(part.text)
        case CallPart():
            return FRAME + len(part.id) + len(part.name) + len(part.args)
        case ResultPart():
            return FRAME + len(part.call) + len(part.content)
        case ThinkingPart():  # without a block of its own it is not sent
            return 0 if part.raw is None else FRAME + len(dump(dict(part.raw)))


SEALED: Final = ("thinking", "redacted_thinking")
"""Anthropic's blocks whose signature holds for what was sent before them, letter by letter, and for nothing else."""

_THOUGHT_KEYS: Final = frozenset({"reasoning_content", "reasoning", "reasoning_details", "thoughtSignature"})


def is_thought(part: Part) -> bool:
    """Whether a part is thinking alone, with which no provider lets a reply end.

    What a provider's own tools left behind is kept in the same kind of part, and is none.
    """
    if not isinstance(part, ThinkingPart):
        return False
    raw = part.raw
    if raw is None:
        return True
    kind = raw.get("type")
    if isinstance(kind, str):
        return kind in SEALED or kind == "reasoning"
    return bool(raw.get("thought")) or _THOUGHT_KEYS.issuperset(raw) or (not raw.get("text") and "text" in raw)


def without_seals(message: Message) -> Message:
    """A message without the thinking that holds only for what stood before it; for what stands behind a change.

    Anthropic's newer models refuse a request in which something before such a block has changed, and say to leave out
    the thinking of the turns that stay.
    """
    kept = tuple(part for part in message.parts if not _is_sealed(part))
    return message if len(kept) == len(message.parts) else Message(message.role, kept)


def _is_sealed(part: Part) -> bool:
    return isinstance(part, ThinkingPart) and part.raw is not None and part.raw.get("type") in SEALED
