"""Fields of a JSON value from a server: of the type that is asked for, or as good as absent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast


def mapping(value: object) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The list, or an empty one."""
    return list(cast("Iterable[Any]", value)) if isinstance(value, list) else []


def string(value: object) -> str:
    """The text, or an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """The number of something, or 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
