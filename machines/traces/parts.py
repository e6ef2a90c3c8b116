"""A JSON document that holds many runs: its parts are found first, and then read one at a time.

In memory are the text of the file and the values of one part. A file that holds a lone surrogate is read whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from .bad_trace import BadTrace
from .fields import shown
from .json_text import JsonError, read_json
from .lines import Json, JsonObject
from .source import content, value_of

T = TypeVar("T")

_LIST = "a list of objects"
_OBJECT = "an object of objects"


def items(path: Path) -> Iterator[tuple[str, JsonObject]]:
    """The objects of the list that a file holds, each with its path, such as `[3]`. Raises BadTrace."""
    data = content(path)
    found: Iterable[Json | msgspec.Raw] | None = _found(data, list[msgspec.Raw])
    if found is None:
        value = value_of(path, data, _LIST)
        if not isinstance(value, list):
            raise BadTrace(path, found=shown(value), expected=_LIST)
        found = value
    for number, part in enumerate(found):
        yield f"[{number}]", _object(path, f"[{number}]", part)


def members(path: Path) -> Iterator[tuple[str, JsonObject]]:
    """The objects that the object that a file holds is made of, each with its key. Raises BadTrace."""
    data = content(path)
    found: Iterable[tuple[str, Json | msgspec.Raw]] | None = None
    raw = _found(data, dict[str, msgspec.Raw])
    if raw is not None:
        found = raw.items()
    else:
        value = value_of(path, data, _OBJECT)
        if not isinstance(value, dict):
            raise BadTrace(path, found=shown(value), expected=_OBJECT)
        found = value.items()
    for key, part in found:
        yield key, _object(path, key, part)


def _found(data: bytes, shape: type[T]) -> T | None:
    """Where the parts are, or None: what is wrong, the project's own reader says better."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.DecodeError, RecursionError):
        return None


def _object(path: Path, at: str, part: Json | msgspec.Raw) -> JsonObject:
    try:
        value = read_json(bytes(part)) if isinstance(part, msgspec.Raw) else part
    except JsonError as error:
        raise BadTrace(path, field=at, found=str(error), expected="an object") from None
    if not isinstance(value, dict):
        raise BadTrace(path, field=at, found=shown(value), expected="an object")
    return value
