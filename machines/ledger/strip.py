"""A tool's answer without its volatile parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

import orjson
from attrs import frozen

from .. import _re2
from .canonical import loads, spelling
from .volatile import MARK, text_pattern, values_of

DEEPEST = 100
"""Levels. What lies deeper stays as it is: no tool nests so far on purpose, and the walk recurses."""

_MARK = MARK.encode()
_EXACT = 2**53  # beyond it a double may stand for several whole numbers

# A string in JSON of at most so many characters is a value and no text: nothing that must go is shorter, and a
# `09:00:00` alone may be when a shop opens.
_VALUE = 8
_NAME = 64  # characters of the longest key that is looked up as a field's name; what was looked up is remembered
_OPENS = frozenset("{[ \t\r\n")  # what the text of an object or an array can start with

_Container: TypeAlias = "dict[Any, object] | list[object]"
_Strings: TypeAlias = "list[tuple[_Container, Any, str]]"


def strip(value: object, volatile: Sequence[str] = (), keep: Sequence[str] = ()) -> object:
    """`value`, any JSON value, without what the table or the tool calls volatile; stripping twice is as once.

    A text that is a JSON object or array is read and treated as one. A volatile field is left out, with its name; a
    volatile item of a list becomes None; a volatile part of a text, or of a string in JSON, becomes `MARK`. `volatile`
    holds names of fields, at any depth and in running text too, and dotted paths from the top, with `*` for every item.
    `keep` holds dotted paths to what is left untouched before all else; `*` alone is the whole value.
    """
    plan = _plan(tuple(volatile), tuple(keep))
    if isinstance(value, str):
        inside = _inside(value)
        if inside is None:
            return value if _ends(plan.keep) else _strip_text(value, plan.text)
        value = inside
    if _ends(plan.keep) or not isinstance(value, (dict, list)):
        return value
    strings: _Strings = []
    stripped = _walk(cast(_Container, value), plan, plan.drop, plan.keep, DEEPEST, strings)
    _strip_strings(strings, plan.text)
    return stripped


@frozen
class _Path:
    """What is left of declared paths below a value; one ends here where `end` is true."""

    end: bool
    below: Mapping[str, _Path]


_Paths = tuple[_Path, ...]


@frozen
class _Plan:
    """What a tool declares, made ready for the walk; `plain` where it declares nothing."""

    plain: bool
    names: frozenset[str]
    text: _re2.Pattern
    drop: _Paths
    keep: _Paths


def _walk(value: _Container, plan: _Plan, drop: _Paths, keep: _Paths, left: int, strings: _Strings) -> _Container:
    """A copy without volatile fields; strings that may hold volatile parts are put by, with their places in it."""
    if not left:
        return value
    plain, listed = plan.plain, isinstance(value, list)
    below_drop, below_keep = drop, keep
    copy: Any = [None] * len(value) if listed else {}
    for name, item in _pairs(value):
        if not plain:
            below_drop, below_keep = _below(drop, str(name)), _below(keep, str(name))
            if _ends(below_keep):
                copy[name] = item
                continue
            if _ends(below_drop) or name in plan.names:
                if below_keep and isinstance(item, (dict, list)):
                    copy[name] = _only(cast(_Container, item), below_keep)
                continue
        if not listed and len(name) <= _NAME and (patterns := values_of(name)) and _is_volatile(item, patterns):
            continue
        if isinstance(item, str):
            if len(item) > _VALUE:
                inside = _inside(item)
                if inside is None:
                    strings.append((copy, name, item))
                else:
                    item = _walk(inside, plan, below_drop, below_keep, left - 1, strings)
        elif isinstance(item, (dict, list)):
            item = _walk(cast(_Container, item), plan, below_drop, below_keep, left - 1, strings)
        elif isinstance(item, float) and item.is_integer() and -_EXACT < item < _EXACT:
            item = int(item)
        copy[name] = item
    return cast(_Container, copy)


def _pairs(value: _Container) -> Iterable[tuple[Any, object]]:
    return enumerate(value) if isinstance(value, list) else value.items()


def _is_volatile(item: object, patterns: tuple[_re2.Pattern, ...]) -> bool:
    if isinstance(item, str):
        data = item.encode("utf-8", "surrogatepass")
    elif isinstance(item, (int, float)) and not isinstance(item, bool):
        data = orjson.dumps(item) if -_EXACT < item < _EXACT else spelling(item)
    else:
        return False
    return any(_re2.whole(pattern, data) for pattern in patterns)


def _only(value: _Container, keep: _Paths) -> _Container:
    """The part of a volatile value that must be kept."""
    kept: dict[Any, object] = {}
    for name, item in _pairs(value):
        below = _below(keep, str(name))
        if _ends(below):
            kept[name] = item
        elif below and isinstance(item, (dict, list)):
            kept[name] = _only(cast(_Container, item), below)
    return list(kept.values()) if isinstance(value, list) else kept


def _strip_strings(strings: _Strings, pattern: _re2.Pattern) -> None:
    """Strip all strings in one pass, since most answers have no match: to every pattern a NUL is the end of a text."""
    joined = "\0".join([text for _, _, text in strings])
    stripped = _strip_text(joined, pattern)
    if stripped is joined:
        return
    parts = stripped.split("\0")
    if len(parts) != len(strings):  # one of them holds a NUL itself
        parts = [_strip_text(text, pattern) for _, _, text in strings]
    for (copy, name, _), part in zip(strings, parts, strict=True):
        copy[name] = part


def _strip_text(text: str, pattern: _re2.Pattern) -> str:
    # The NUL before it makes the beginning of a text look as it does where several stand in one.
    data = b"\0" + text.encode("utf-8", "surrogatepass")
    stripped = _re2.replace(pattern, data, _MARK)
    return text if stripped is data else stripped[1:].decode("utf-8", "surrogatepass")


def _inside(text: str) -> _Container | None:
    """The JSON object or array that the text is, or None."""
    if text[:1] not in _OPENS:
        return None
    bare = text.strip()
    if bare[:1] + bare[-1:] not in ("{}", "[]"):
        return None
    try:
        return cast(_Container, loads(bare))
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _plan(volatile: tuple[str, ...], keep: tuple[str, ...]) -> _Plan:
    words = tuple(sorted({name for name in volatile if name and not {".", "*"} & set(name)}))
    drop = _tree([path.split(".") for path in volatile if path == "*" or "." in path])
    kept = (_Path(True, {}),) if "*" in keep else _tree([path.split(".") for path in keep if path])
    return _Plan(not (volatile or keep), frozenset(volatile), text_pattern(words), drop, kept)


def _tree(paths: Sequence[Sequence[str]]) -> _Paths:
    return (_branch(paths),) if paths else ()


def _branch(paths: Sequence[Sequence[str]]) -> _Path:
    firsts = sorted({path[0] for path in paths if path})
    below = {first: _branch([path[1:] for path in paths if path[:1] == [first]]) for first in firsts}
    return _Path(any(not path for path in paths), below)


def _below(paths: _Paths, name: str) -> _Paths:
    return tuple(found for path in paths for found in (path.below.get(name), path.below.get("*")) if found is not None)


def _ends(paths: Iterable[_Path]) -> bool:
    return any(path.end for path in paths)
