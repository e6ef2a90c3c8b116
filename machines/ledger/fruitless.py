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


BESIDE: Final = frozenset({"warnings", "errors", "notices", "suggestions"})
"""Lists that stand beside what was found, and say nothing of it."""

EITHER: Final = frozenset({"notes", "messages", "tags", "labels"})
"""Lists that are what was found where no other list is, and stand beside it otherwise."""


def finds_nothing(value: object, declared: Sequence[object] = ()) -> bool:
    """An empty text, list or object; an object whose count is zero, or whose lists are empty; a declared value.

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
    lists = {name.lower(): cast("list[object]", item) for name, item in fields.items() if isinstance(item, list)}
    found = [item for name, item in lists.items() if name not in BESIDE | EITHER]
    found = found or [item for name, item in lists.items() if name in EITHER]
    return bool(found) and not any(found)


def _is_zero(item: object) -> bool:
    return isinstance(item, (int, float)) and not isinstance(item, bool) and item == 0
