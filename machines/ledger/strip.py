"""A tool's answer without its volatile parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import cast

from attrs import frozen

from .. import _re2
from .canonical import loads, spelling
from .volatile import MARK, text_pattern, values_of

_MARK = MARK.encode()
_VALUE = 8
"""A JSON string of at most so many characters is a value and no text: nothing volatile is shorter, and a `09:00:00` alone
is when a shop opens."""
_DEEPEST = 100
"""Levels. What lies deeper stays as it is: no tool nests so far on purpose, and the walk recurses."""


@frozen
class _Path:
    """What is left of a declared path below a value; it ends here where `end` is true."""

    end: bool
    below: Mapping[str, _Path]


_Paths = tuple[_Path, ...]


@frozen
class _Plan:
    """What a tool declares, made ready for the walk."""

    names: frozenset[str]
    text: _re2.Pattern
    drop: _Paths
    keep: _Paths


def strip(value: object, volatile: Sequence[str] = (), keep: Sequence[str] = ()) -> object:
    """`value`, any JSON value, without what the table calls volatile and what is declared `volatile`; stripping twice is as once.

    A text that is a JSON object or array is read and treated as one. A volatile field is left out, with its name; a volatile
    part of a text, or of a string in JSON, becomes `MARK`. `volatile` holds names of fields, at any depth and in running text
    too, and dotted paths from the top with `*` for every item. `keep` holds dotted paths to what is left untouched before all
    else; `*` alone is the whole value.
    """
    plan = _plan(tuple(volatile), tuple(keep))
    whole = _ends(plan.keep)
    if isinstance(value, str):
        inside = _inside(value)
        if inside is None:
            return value if whole else _text(value, plan.text)
        value = inside
    return value if whole else _walk(value, plan, plan.drop, plan.keep, _DEEPEST)


def volatile_candidates(a: object, b: object) -> list[str]:
    """The dotted paths, sorted, of the fields in which two otherwise equal results differ once they are stripped.

    Otherwise equal: the same fields and lengths throughout, each with a value of the same kind, and at least one value the
    same. Empty where they are not, and where nothing differs. `*` stands for an item of a list.
    """
    same: list[str] = []
    differs: set[str] = set()
    alike = _compare(strip(a), strip(b), "", same, differs, _DEEPEST)
    return sorted(differs) if alike and same and "" not in differs else []


def _walk(value: object, plan: _Plan, drop: _Paths, keep: _Paths, left: int) -> object:
    if isinstance(value, str):
        if len(value) <= _VALUE or value.isalpha():
            return value
        inside = _inside(value)
        if inside is None:
            return _text(value, plan.text)
        value = inside
    if not left:
        return value
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return dict(_kept(fields.items(), plan, drop, keep, left - 1))
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        if drop or keep:
            numbered = ((str(number), item) for number, item in enumerate(items))
            return [item for _, item in _kept(numbered, plan, drop, keep, left - 1, named=False)]
        return [_walk(item, plan, (), (), left - 1) for item in items]
    return value


def _kept(
    fields: Iterable[tuple[str, object]], plan: _Plan, drop: _Paths, keep: _Paths, left: int, *, named: bool = True
) -> Iterable[tuple[str, object]]:
    for name, item in fields:
        keep_below = _below(keep, name) if keep else ()
        if keep_below and _ends(keep_below):
            yield name, item
            continue
        drop_below = _below(drop, name) if drop else ()
        if (drop_below and _ends(drop_below)) or (named and (name in plan.names or _is_volatile(name, item))):
            if keep_below and isinstance(item, dict | list):
                yield name, _only(cast("object", item), keep_below)
        elif item is None or isinstance(item, int | float):
            yield name, item
        else:
            yield name, _walk(item, plan, drop_below, keep_below, left)


def _is_volatile(name: str, item: object) -> bool:
    patterns = values_of(name)
    if not patterns or isinstance(item, bool) or not isinstance(item, str | int | float):
        return False
    data = item.encode("utf-8", "surrogatepass") if isinstance(item, str) else spelling(item)
    return any(_re2.whole(pattern, data) for pattern in patterns)


def _only(value: object, keep: _Paths) -> object:
    """The part of a volatile value that must be kept."""
    if _ends(keep):
        return value
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return {name: _only(item, below) for name, item in fields.items() if (below := _below(keep, name))}
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [_only(item, below) for number, item in enumerate(items) if (below := _below(keep, str(number)))]
    return None


def _text(text: str, pattern: _re2.Pattern) -> str:
    data = text.encode("utf-8", "surrogatepass")
    stripped = _re2.replace(pattern, data, _MARK)
    return text if stripped is data else stripped.decode("utf-8", "surrogatepass")


def _inside(text: str) -> object | None:
    """The JSON object or array that the text is, or None."""
    bare = text.strip()
    if bare[:1] + bare[-1:] not in ("{}", "[]"):
        return None
    try:
        return loads(bare)
    except ValueError:
        return None


def _compare(a: object, b: object, path: str, same: list[str], differs: set[str], left: int) -> bool:
    """Whether the two have one shape; where each value is the same or differs is added to the two collections."""
    if isinstance(a, dict) and isinstance(b, dict):
        first, second = cast("dict[str, object]", a), cast("dict[str, object]", b)
        pairs = [(name, item, second.get(name)) for name, item in first.items()]
        alike = first.keys() == second.keys()
    elif isinstance(a, list) and isinstance(b, list):
        ones, others = cast("list[object]", a), cast("list[object]", b)
        pairs = [("*", *pair) for pair in zip(ones, others, strict=False)]
        alike = len(ones) == len(others)
    else:
        if a == b:
            same.append(path)
        else:
            differs.add(path)
        return a == b or type(a) is type(b) or (_is_number(a) and _is_number(b))
    if not left:
        return a == b
    return alike and all(
        _compare(one, other, f"{path}.{name}" if path else name, same, differs, left - 1) for name, one, other in pairs
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@lru_cache(maxsize=256)
def _plan(volatile: tuple[str, ...], keep: tuple[str, ...]) -> _Plan:
    words = tuple(sorted({name for name in volatile if name and "." not in name and "*" not in name}))
    drop = _tree(path.split(".") for path in volatile if "." in path or path == "*")
    kept = (_Path(True, {}),) if "*" in keep else _tree(path.split(".") for path in keep if path)
    return _Plan(frozenset(volatile), text_pattern(words), drop, kept)


def _tree(paths: Iterable[Sequence[str]]) -> _Paths:
    """The paths by their first step; none for no paths."""
    steps = [path for path in paths if path]
    if not steps:
        return ()
    return (_branch(steps),)


def _branch(paths: Sequence[Sequence[str]]) -> _Path:
    firsts = sorted({path[0] for path in paths if path})
    below = {first: _branch([path[1:] for path in paths if path and path[0] == first]) for first in firsts}
    return _Path(any(not path for path in paths), below)


def _below(paths: _Paths, name: str) -> _Paths:
    return tuple(found for path in paths for found in (path.below.get(name), path.below.get("*")) if found is not None)


def _ends(paths: _Paths) -> bool:
    return any(path.end for path in paths)
