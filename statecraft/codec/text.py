"""JSON text, exactly: what was written is what is read.

orjson writes and reads everything that it can hold without loss. It refuses lone surrogates and integers beyond 64 bits
when it writes, and makes floats of such integers when it reads; those few texts go through the standard library:

* a lone surrogate stands as its escape (`\\ud83d`), as in any JSON;
* where a high surrogate is followed by a low one as two separate characters (two pieces of a stream joined after they
  were decoded), the escapes would be read as one character; there the UTF-8 bytes of each stand as they are
  (`surrogatepass`), and the line is no longer strict UTF-8;
* an integer stands in full, up to the 4,300 digits that Python reads.

A float that is not finite has no JSON; the converter's hooks write it as `{"is": "nan"}` (`inf`, `-inf`). A number that
is JSON and too large to be read (`1e999`, an integer of more digits) is refused, and never read as infinite.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, NoReturn

import attrs
import orjson

from .problems import BadData, Problem, step_to

_SORTED = orjson.OPT_SORT_KEYS
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONG_NUMBER = re.compile(rb"(?:^|[:,\[\s])-?[0-9]{19}")
_MAY_BE_LARGE = re.compile(rb"[0-9][eE]\+?[0-9]{3}|[0-9]{300}")
_SHOWN = 24  # characters of a number in a message


def dump(plain: Any) -> bytes:
    """JSON with sorted keys and no white space. Raises `BadData` for what is not made of JSON's own types."""
    try:
        return orjson.dumps(plain, option=_SORTED)
    except TypeError:
        return _dump_exactly(plain)


def _dump_exactly(plain: Any) -> bytes:
    try:
        _check_keys(plain)
        text = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadData([Problem("$", f"what cannot be written as JSON ({error})", "JSON's own types")]) from None
    return text.encode("utf-8", "surrogatepass" if _SPLIT_PAIR.search(text) else "backslashreplace")


def _check_keys(plain: Any) -> None:
    """The standard library makes texts of other keys, which nothing could undo."""
    kind = plain.__class__
    if kind is dict:
        for key, value in plain.items():
            if not isinstance(key, str):
                raise TypeError(f"a key is a {key.__class__.__name__}")
            _check_keys(value)
    elif kind is list or kind is tuple:
        for value in plain:
            _check_keys(value)


@attrs.frozen
class _TooLarge:
    """A number that cannot be read, in its place until the whole text is read."""

    text: str


def load(data: bytes | str) -> Any:
    """What the JSON text says. Raises `BadData` where it is none, or holds a number too large to be read."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    problem = ""
    if _LONG_NUMBER.search(raw) is None:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            problem = str(error)
    large: list[_TooLarge] = []
    hooks: dict[str, Any] = {}
    if _MAY_BE_LARGE.search(raw):
        hooks = {"parse_float": partial(_number, float, large), "parse_int": partial(_number, int, large)}
    try:
        found = json.loads(raw.decode("utf-8", "surrogatepass"), parse_constant=_no_constant, **hooks)
    except (ValueError, RecursionError) as error:
        raise BadData([Problem("$", f"what is no JSON ({error if large else problem or error})", "JSON")]) from None
    if large:
        # A key that stands twice hides its first value.
        raise BadData(list(_too_large(found)) or [_no_number("$", one) for one in large])
    return found


def _number(kind: type[int] | type[float], large: list[_TooLarge], text: str) -> Any:
    try:
        number = kind(text)
    except ValueError:  # more digits than Python reads
        number = math.inf
    if number not in (math.inf, -math.inf):
        return number
    large.append(_TooLarge(text))
    return large[-1]


def _too_large(found: Any) -> Iterator[Problem]:
    todo: list[tuple[str, Any]] = [("$", found)]
    while todo:
        path, value = todo.pop()
        kind = value.__class__
        if kind is _TooLarge:
            yield _no_number(path, value)
        elif kind is dict or kind is list:
            below = value.items() if kind is dict else enumerate(value)
            todo.extend(reversed([(path + step_to(key), one) for key, one in below]))


def _no_number(path: str, large: _TooLarge) -> Problem:
    text = large.text if len(large.text) <= _SHOWN else f"{large.text[:_SHOWN]}..., of {len(large.text)} characters"
    return Problem(path, f"the number {text}", "a number that is not too large to be read")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
