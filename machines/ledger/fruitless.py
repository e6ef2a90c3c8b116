"""Whether an answer says that nothing was found: as its tool declares it, or measured; never by wording alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from .canonical import loads, spelling

COUNTS: Final = frozenset(
    {
        "count",
        "total",
        "hits",
        "matches",
        "found",
        "num_results",
        "total_results",
        "total_count",
        "result_count",
    }
)
"""Fields whose zero says that nothing was found."""


BESIDE: Final = frozenset({"warnings", "errors", "notes", "messages", "notices", "tags", "labels", "suggestions"})
"""Lists that stand beside what was found; that they are empty says nothing."""


def finds_nothing(value: object, declared: Sequence[object] = ()) -> bool:
    """An empty text, list or object; an object whose count is zero, or whose lists of findings are; a declared value.

    A text that is JSON is read as such.
    """
    if any(spelling(value) == spelling(one) for one in declared):
        return True
    if isinstance(value, str):
        if not value.strip():
            return True
        if value.lstrip()[:1] not in ("{", "["):
            return False
        try:
            value = loads(value)
        except ValueError:
            return False
        if any(spelling(value) == spelling(one) for one in declared):
            return True
    if value is None or value in ([], {}):
        return True
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, object]", value)
    if any(name.lower() in COUNTS and _is_zero(item) for name, item in fields.items()):
        return True
    lists = [cast("list[object]", item) for name, item in fields.items() if _may_be_found(name, item)]
    return bool(lists) and not any(lists)


def _may_be_found(name: str, item: object) -> bool:
    return isinstance(item, list) and name.lower() not in BESIDE


def _is_zero(item: object) -> bool:
    return isinstance(item, (int, float)) and not isinstance(item, bool) and item == 0
