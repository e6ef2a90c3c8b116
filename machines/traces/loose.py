"""Reading records of foreign formats, where a part that is absent or of another type counts as empty."""

from __future__ import annotations

import hashlib

from .json_text import write_json
from .lines import Json, JsonObject


def text_of(value: Json) -> str:
    """The string, or the empty one."""
    return value if isinstance(value, str) else ""


def object_of(value: Json) -> JsonObject:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Json]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def count_of(value: Json) -> int | None:
    """The whole number of 0 or more, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


MOST_NUMBER = 1e300
"""The largest number that is taken for a time or a price."""


def number_of(value: Json) -> float | None:
    """The number of 0 or more, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= MOST_NUMBER else None


def content_of(value: Json) -> Json:
    """A message's content as one text where it is text: the string, or its text blocks on lines of their own.

    Content that holds anything else, such as an image, is given back as it is.
    """
    if not isinstance(value, list):
        return value
    texts: list[str] = []
    for block in value:
        text = block.get("text") if isinstance(block, dict) else block
        if not isinstance(text, str):
            return value
        texts.append(text)
    return "\n".join(texts)


def args_text(value: Json) -> str:
    """The JSON text of a call's arguments."""
    return write_json(value).decode()


def digest(text: str) -> str:
    """Which text it is, in 16 hexadecimal digits: the first 8 bytes of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
