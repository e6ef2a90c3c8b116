"""Arguments of a Gemini call that come value by value, each with its place in the object."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from itertools import pairwise
from typing import Any, Final, cast

from ....refusals.fields import items, mapping

# At most four digits: each element before the one that is named is made.
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d{1,4})\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")


def put(args: MutableMapping[str, Any], given: Mapping[str, Any]) -> None:
    """Put one value into the object at its JSON Path, such as `$.files[0].path`; a text goes on behind what is there.

    A path that is not understood, or that leads through what is no object and no list, changes nothing.
    """
    path = _steps(given.get("jsonPath"))
    if not path:
        return
    at: Any = args
    for step, following in pairwise(path):
        if not isinstance(_get(at, step), dict | list) and not _set(at, step, [] if isinstance(following, int) else {}):
            return
        at = _get(at, step)
    value = _value(given)
    before = _get(at, path[-1])
    _set(at, path[-1], before + value if isinstance(before, str) and isinstance(value, str) else value)


def _value(given: Mapping[str, Any]) -> object:
    return next((given[name] for name in ("stringValue", "numberValue", "boolValue") if name in given), None)


def _steps(path: object) -> list[str | int]:
    if not isinstance(path, str) or not path.startswith("$"):
        return []
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            return []
        name, index, single, double = found.groups()
        steps.append(int(index) if index is not None else next(x for x in (name, single, double) if x is not None))
        at = found.end()
    return steps


def _get(at: object, step: str | int) -> object:
    if isinstance(step, str):
        return mapping(at).get(step)
    return next(iter(items(at)[step : step + 1]), None)


def _set(at: object, step: str | int, value: object) -> bool:
    if isinstance(at, list) and isinstance(step, int):
        listed = cast("list[object]", at)
        listed.extend([None] * (step + 1 - len(listed)))
        listed[step] = value
        return True
    if isinstance(at, dict) and isinstance(step, str):
        cast("dict[str, object]", at)[step] = value
        return True
    return False
