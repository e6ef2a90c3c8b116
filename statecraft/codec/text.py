"""JSON text, exactly: what was written is what is read.

orjson writes and reads everything that it can hold without loss. It refuses lone surrogates and integers beyond 64 bits
when it writes, and makes floats of such integers when it reads; those few texts go through the standard library:

* a lone surrogate stands as its escape (`\\ud83d`), as in any JSON;
* where a high surrogate is followed by a low one as two separate characters (two pieces of a stream joined after they
  were decoded), the escapes would be read as one character; there the UTF-8 bytes of each stand as they are
  (`surrogatepass`), and the line is no longer strict UTF-8;
* an integer stands in full, up to the 4,300 digits that Python reads.

A float that is not finite has no JSON; the converter's hooks write it as `{"is": "nan"}` (`inf`, `-inf`).
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import orjson

from .problems import BadData, Problem

_SORTED = orjson.OPT_SORT_KEYS
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONG_NUMBER = re.compile(rb"(?:^|[:,\[\s])-?[0-9]{19}")


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


def load(data: bytes | str) -> Any:
    """What the JSON text says. Raises `BadData` where it is none."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    problem = ""
    if _LONG_NUMBER.search(raw) is None:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            problem = str(error)
    try:
        return json.loads(raw.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadData([Problem("$", f"what is no JSON ({problem or error})", "JSON")]) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
