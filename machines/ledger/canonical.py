"""One spelling for each JSON value, as bytes, and the short digest of bytes.

Two texts have one spelling where they say the same: key order, white space, escapes and the form of a number (`1`,
`1.0`, `1e0`; `-0.0` and `0`) do not matter; of a key given twice the last one holds. Whole numbers are exact at any
size, others are doubles. Lone surrogates survive, and strings are compared as they are: no Unicode normalisation.

orjson reads and writes nearly everything. It takes whole numbers beyond 64 bits for doubles, refuses lone surrogates
and writes no deeper than 254 levels: what it cannot do faithfully is read by the standard library and written here, to
the same bytes. So are raw control characters inside strings, which models write and JSON forbids: a literal newline in
the body of a file says what its escape says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from typing import cast

import orjson

from .. import _re2

# Digits of the longest whole number that is read as one; Python itself refuses 4300.
_DIGITS = 4000
_EXPONENT = 308  # as large as a double's may be: a few bytes must not become thousands of digits
_WIDE = 2**64
# As orjson writes a double that is whole, or so large that it may have been a whole number of more than 64 bits.
_WHOLE_DOUBLE = _re2.pattern(r"(?:^|[:,\[])-?[0-9]+(?:\.0(?:[,\]}]|$)|(?:\.[0-9]+)?e\+)")
_LONG = _re2.pattern("[0-9]{19}")


def short_digest(data: bytes) -> bytes:
    """The 8-byte BLAKE2b digest of `data`."""
    return blake2b(data, digest_size=8).digest()


def loads(text: str) -> object:
    """The JSON value in `text`, ints of any size exact.

    ValueError where it is no JSON, nests beyond what Python recurses, or holds a whole number of more than 4000 digits
    or an exponent beyond 308.
    """
    data = text.encode("utf-8", "surrogatepass")
    if not _re2.found(_LONG, data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass
    return _read_exactly(text)


def spelling(value: object) -> bytes:
    """The one spelling of a JSON value; TypeError where it is none."""
    try:
        written = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return _write(value)
    return _write(value) if _re2.found(_WHOLE_DOUBLE, written) else written


def spelling_of_text(text: str) -> bytes:
    """The one spelling of the JSON value in `text`; ValueError as `loads`."""
    try:
        written = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
        if not _re2.found(_WHOLE_DOUBLE, written):
            return written
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        pass
    return _write(_read_exactly(text))


def _read_exactly(text: str) -> object:
    try:
        return json.loads(text, strict=False, parse_int=_whole, parse_float=_number, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _whole(literal: str) -> int:
    if len(literal) > _DIGITS:
        raise ValueError(f"a number of {len(literal)} digits")
    return int(literal)


def _number(literal: str) -> int | float:
    if len(literal) > _DIGITS:
        raise ValueError(f"a number of {len(literal)} digits")
    try:
        exact = Decimal(literal)
    except InvalidOperation:
        raise ValueError(f"exponent out of range: {literal}") from None
    if not exact:
        return 0
    if exact.adjusted() > max(_EXPONENT, len(literal)):
        raise ValueError(f"an exponent of {exact.adjusted()}")
    return int(exact) if exact == exact.to_integral_value() else float(literal)


def _write(value: object) -> bytes:
    """As orjson writes it, sorted; by a stack of its own, so that depth is no limit."""
    pieces: list[bytes] = []
    todo: list[object] = [value]  # bytes are pieces already written: no JSON value is bytes
    while todo:
        item = todo.pop()
        if isinstance(item, bytes):
            pieces.append(item)
        elif isinstance(item, str):
            pieces.append(_string(item))
        elif isinstance(item, float):
            pieces.append(_whole_number(int(item)) if item.is_integer() else orjson.dumps(item))
        elif isinstance(item, int) and not isinstance(item, bool):
            pieces.append(_whole_number(item))
        elif isinstance(item, dict):
            todo.append(b"}")
            before = b""
            inside: list[object] = [b"{"]
            for key in sorted(cast("Mapping[str, object]", item)):
                inside += (before + _string(key) + b":", cast("Mapping[str, object]", item)[key])
                before = b","
            todo += reversed(inside)
        elif isinstance(item, list | tuple):
            todo.append(b"]")
            between: list[object] = [b"["]
            for number, child in enumerate(cast("list[object]", item)):
                between += (b"," if number else b"", child)
            todo += reversed(between)
        elif item is None or isinstance(item, bool):
            pieces.append(orjson.dumps(item))
        else:
            raise TypeError(f"{type(item).__name__} is not a JSON value")
    return b"".join(pieces)


def _string(text: str) -> bytes:
    try:
        return orjson.dumps(text)
    except (
        orjson.JSONEncodeError
    ):  # a lone surrogate: an escape that orjson never writes, so no other string looks like it
        return json.dumps(text).encode("ascii")


def _whole_number(value: int) -> bytes:
    # hexadecimal beyond 64 bits: linear in the length, and without Python's limit on decimal digits
    return b"%d" % value if -_WIDE < value < _WIDE else hex(value).encode("ascii")
