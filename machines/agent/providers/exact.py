"""JSON of the wires: read exactly, found again as it was received, and written so that a provider takes it.

What is read keeps whole numbers of any size and lone surrogates. What is written never holds a lone surrogate:
Anthropic's own parser refuses the whole request for one ("no low surrogate in string"), and since the transcript is
sent again each time, every later request too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

import orjson

# Python refuses to read a whole number of more than 4300 digits. Such a one is kept as text.
_DIGITS: Final = 4000
_LEVELS: Final = 254  # as deep as orjson writes; the standard library's limit differs from one Python to the next
_SPACE: Final = re.compile(r"[ \t\n\r]*")


class NotJson(ValueError):
    """The text is no JSON; the message is a phrase that says what was found."""


def read(data: bytes) -> tuple[str, object]:
    """The text of a body and the value in it. NotJson where there is none.

    Raw control characters inside strings are taken for what they are: models write them and servers pass them on.
    """
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise NotJson(f"bytes that are not UTF-8, at byte {error.start + 1}") from None
    return text, read_text(text)


def read_text(text: str) -> object:
    """The value in `text`, as `read`."""
    try:
        return cast(object, _decode(text))
    except RecursionError:
        raise NotJson("JSON that is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"no JSON at line {error.lineno}, column {error.colno}") from None


def written(value: object) -> bytes:
    """The JSON of a value, compact, keys in their order, lone surrogates replaced by U+FFFD.

    TypeError where the value is none that JSON has, NotJson where it is nested too deeply.
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # a whole number beyond 64 bits, a lone surrogate, 255 levels, another mapping than a dict
        return json.dumps(_clean(value, _LEVELS), ensure_ascii=False, separators=(",", ":")).encode()


def fragment(value: object) -> orjson.Fragment:
    """`written`, ready to be put into a larger value."""
    return orjson.Fragment(written(value))


def object_text(text: str) -> bytes | None:
    """The JSON of the object in `text`: byte for byte where a strict parser takes it. None where it is no object."""
    try:
        return text.encode() if isinstance(orjson.loads(text), dict) else None
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    try:
        value = read_text(text)
        return written(cast(object, value)) if isinstance(value, dict) else None
    except NotJson:
        return None


def pieces(text: str, path: tuple[str | None, ...]) -> list[str | None]:
    """The text of each value at `path` as it stands in `text`, which is known to be JSON.

    A name steps into that member of an object (of a name given twice the last one holds, as for every reader here),
    None into each element of a list. Where an element has no such member, None holds its place.
    """
    try:
        return list(_pieces(text, _skip(text, 0), path))
    except RecursionError:  # a few levels deeper than where it was read first
        raise NotJson("JSON that is nested too deeply") from None


def _pieces(text: str, at: int, path: tuple[str | None, ...]) -> Iterator[str | None]:
    if not path:
        yield text[at : _end(text, at)]
    elif path[0] is None:
        if text[at] == "[":
            for start in _elements(text, at):
                yield from _pieces(text, start, path[1:])
    else:
        found = None
        if text[at] == "{":
            for key, start in _members(text, at):
                found = start if key == path[0] else found
        if found is not None:
            yield from _pieces(text, found, path[1:])
        elif None not in path:
            yield None


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = cast("tuple[str, int]", _scan(text, at))
        at = _skip(text, _skip(text, at) + 1)
        yield key, at
        at = _next(text, _end(text, at))


def _elements(text: str, at: int) -> Iterator[int]:
    at = _skip(text, at + 1)
    while text[at] != "]":
        yield at
        at = _next(text, _end(text, at))


def _next(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    return cast("re.Match[str]", _SPACE.match(text, at)).end()


def _end(text: str, at: int) -> int:
    return _scan(text, at)[1]


def _whole(literal: str) -> int | str:
    return int(literal) if len(literal) <= _DIGITS else literal


_DECODER: Final = json.JSONDecoder(strict=False, parse_int=cast("Callable[[str], int]", _whole))
_decode: Final[Callable[[str], Any]] = _DECODER.decode
_scan: Final[Callable[[str, int], tuple[Any, int]]] = _DECODER.raw_decode


def _clean(value: object, levels: int) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list | tuple | Mapping) and not levels:
        raise NotJson("JSON that is nested too deeply")
    if isinstance(value, list | tuple):
        return [_clean(item, levels - 1) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value).items()
        return {_clean(key, levels - 1): _clean(item, levels - 1) for key, item in members}
    return None if isinstance(value, float) and not math.isfinite(value) else value  # as orjson does
