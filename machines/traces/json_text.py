"""JSON in and out: fast where it can be, exact where it must be."""

from __future__ import annotations

import json
import math
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NoReturn, cast

import orjson

from .lines import Json

# orjson reads an integer beyond 64 bits as a float and says nothing, so a text with 19 digits in a row goes the
# slow way (the shortest such integer has 19). Digits inside strings send some texts there that need not.
_DIGITS: Final = bytes.maketrans(b"0123456789", b"0000000000")
_LONG: Final = b"0" * 19


class JsonError(ValueError):
    """The text is no JSON; the message is a phrase that says what was found."""


def read_json(data: bytes) -> Json:
    """The value of one JSON text. Integers of any length and lone surrogates survive. Raises JsonError."""
    try:
        if _LONG not in data.translate(_DIGITS):
            return cast(Json, orjson.loads(data))
    except orjson.JSONDecodeError:
        pass  # orjson also refuses lone surrogates, which the slow way reads; it has the better message too
    return _read_slowly(data)


def read_first(text: str, at: int = 0) -> tuple[Json, int]:
    """The JSON value that begins at a place in a text, and where it ends; strings may hold control characters.

    For what a terminal shows, where other text may follow. Raises JsonError.
    """
    with _said():
        return cast("tuple[Json, int]", _FIRST.raw_decode(text, at))


def write_json(value: Json) -> bytes:
    """The JSON text of a value, compact, keys in their order. Raises JsonError where it is nested too deeply."""
    try:
        return orjson.dumps(value)
    except TypeError:
        pass  # an integer beyond 64 bits, a lone surrogate, or more than 254 levels
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    except RecursionError:
        raise JsonError("JSON that is nested too deeply") from None


def _read_slowly(data: bytes) -> Json:
    with _said():
        text = data.decode("utf-8", "surrogatepass")
        return cast(Json, json.loads(text, parse_constant=_no_constant, parse_float=_finite))


@contextmanager
def _said() -> Generator[None]:
    """Turns what Python's own reader raises into JsonError."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise JsonError(f"bytes that are not UTF-8, at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        where = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise JsonError(f"text that is no JSON at {where}") from None
    except RecursionError:
        raise JsonError("JSON that is nested too deeply") from None
    except JsonError:
        raise
    except ValueError:
        # Python's own limit on the length of an integer, sys.get_int_max_str_digits().
        raise JsonError("an integer of more digits than can be read") from None


def _no_constant(name: str) -> NoReturn:
    raise JsonError(f"{name}, which JSON does not have")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonError("a number too large to be read")
    return value


_FIRST: Final = json.JSONDecoder(strict=False, parse_constant=_no_constant, parse_float=_finite)
