"""The stronger repair, after a provider has refused a transcript as such: without all that only a provider objects to.

The rules: words, arguments, results and their order stay; thinking and what a provider's own tools left go; ids and
names become such as every known wire takes; no character is left that a parser may trip over.

The ids are those of the strictest wire (Mistral's: nine letters and digits). For Gemini, which refuses a call without a
signature, each reply's first call gets the one that Google documents for calls which its model did not make.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, cast

import attrs
import orjson

from .repair import repaired
from .wire import CallPart, Message, Part, ResultPart, TextPart, ThinkingPart

GO_ON: Final = "(Go on.)"
"""The last word where a reply was the last: some models refuse to go on with one, and nothing sealed is left of it."""

UNSIGNED: Final[Mapping[str, Any]] = {"thoughtSignature": "skip_thought_signature_validator"}
"""What is signed with where no signature is known, on the one wire that asks for any."""

_ID: Final = re.compile(r"[A-Za-z0-9]{9}")
_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARS: Final = 64
# Lone surrogates, and control characters but for tab and the ends of lines.
_ODD: Final = re.compile(r"[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_REPLACEMENT: Final = "\ufffd"


def plainer(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages repaired, and with nothing in them but words, calls and results; the same where they are so."""
    ids = _Ids()
    made = [_plain(message, ids) for message in repaired(messages)]
    found = [*repaired([message for message in made if message.parts])]
    if found and found[-1].role == "assistant":
        found.append(Message("user", (TextPart(GO_ON),)))
    return messages if found == [*messages] else found


class _Ids:
    """Ids that every wire takes, for each id the same one; two different ones stay different."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        if name not in self._found:
            found, number = name, 0
            while not _ID.fullmatch(found) or found in self._taken:
                found = blake2b(f"{number}:{name}".encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()[:9]
                number += 1
            self._found[name] = found
            self._taken.add(found)
        return self._found[name]


def _plain(message: Message, ids: _Ids) -> Message:
    parts: list[Part] = []
    signed = False
    for part in message.parts:
        match part:
            case TextPart():
                parts.append(TextPart(_clean(part.text)))
            case ResultPart():
                parts.append(ResultPart(ids.of(part.call), _clean(part.content), part.error))
            case CallPart():
                if not signed:
                    parts.append(ThinkingPart("", raw=UNSIGNED))
                    signed = True
                parts.append(CallPart(ids.of(part.id), _name(part.name), _args(part.args)))
            case ThinkingPart():
                pass
    return message if tuple(parts) == message.parts else attrs.evolve(message, parts=tuple(parts))


def _name(name: str) -> str:
    return _NOT_IN_NAME.sub("_", name)[:_NAME_CHARS] or "unknown"


def _clean(text: str) -> str:
    return _ODD.sub(_REPLACEMENT, text)


def _args(args: str) -> str:
    """Arguments without odd characters, in escapes neither where they are JSON; what is no JSON stays a text."""
    text = _clean(args)
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    else:
        return text
    try:
        value: object = json.loads(text, strict=False)  # a lone surrogate can hide in an escape
        return json.dumps(_cleaned(value), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return text


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {_clean(key): _cleaned(item) for key, item in cast("dict[str, object]", value).items()}
    return value
