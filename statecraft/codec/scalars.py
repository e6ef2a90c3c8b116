"""Scalars, read strictly: a text is not made from a number, `true` is not 1.

A float field takes an integer as it stands: a number that was written without a point is read without one.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any

from cattrs import Converter
from cattrs.fns import identity

from .closed import enum_reader
from .hooks import TAG
from .problems import BadData, bad, step_to

Reader = Callable[[Any], Any]


def read_text(value: Any) -> str:
    """A text as it stands."""
    if value.__class__ is str:
        return value
    raise bad(value, "text")


def read_integer(value: Any) -> int:
    """An integer; `true` is none."""
    if value.__class__ is int:
        return value
    raise bad(value, "an integer")


def read_number(value: Any) -> float:
    """A number; an integer stays one."""
    if value.__class__ is float or value.__class__ is int:
        return value
    if is_number_object(value):
        return float(value[TAG])
    raise bad(value, "a number")


def read_bool(value: Any) -> bool:
    """True or false; 1 is neither."""
    if value is True or value is False:
        return value
    raise bad(value, "true or false")


def read_null(value: Any) -> None:
    """Null."""
    if value is not None:
        raise bad(value, "null")


def read_bytes(value: Any) -> bytes:
    """Bytes from hex."""
    if value.__class__ is str:
        try:
            return bytes.fromhex(value)
        except ValueError:
            pass
    raise bad(value, "bytes in hex")


def write_number(value: float) -> Any:
    """A number, or an object where it has no JSON."""
    # A difference, not isfinite(): that overflows on a large integer, which a float field may hold.
    return value if value - value == 0 else {TAG: repr(float(value))}


def is_number_object(value: Any) -> bool:
    """Whether the object stands for a number that is not finite."""
    return value.__class__ is dict and len(value) == 1 and value.get(TAG) in ("nan", "inf", "-inf")


def write_json(value: Any) -> Any:
    """What an untyped field holds, which has to be JSON already."""
    kind: Any = value.__class__
    if value is None or issubclass(kind, str | int):
        return value
    if kind is float and value - value == 0:
        return value
    if kind is dict and all(isinstance(key, str) for key in value):
        return {key: _below(key, write_json, one) for key, one in value.items()}
    if kind is list or kind is tuple:
        return [_below(index, write_json, one) for index, one in enumerate(value)]
    raise bad(value, "JSON's own types")


def _below(step: object, hook: Reader, value: Any) -> Any:
    try:
        return hook(value)
    except BadData as error:
        raise BadData(error.under(step_to(step))) from None


READERS: dict[Any, Reader] = {
    str: read_text,
    int: read_integer,
    float: read_number,
    bool: read_bool,
    NoneType: read_null,
    None: read_null,
    bytes: read_bytes,
    Any: identity,
    object: identity,
}

WRITERS: dict[Any, Reader] = {
    str: identity,
    int: identity,
    float: write_number,
    bool: identity,
    NoneType: identity,
    None: identity,
    bytes: bytes.hex,
    Any: write_json,
    object: write_json,
}


@cache
def _reader(kind: Any) -> Reader:
    if kind in READERS:
        return READERS[kind]
    if issubclass(kind, Enum):
        return enum_reader(kind)
    raise TypeError(f"{kind.__name__} cannot be kept as JSON")


def _read(value: Any, kind: Any) -> Any:
    return _reader(kind)(value)


def configure_scalars(converter: Converter) -> None:
    """Hooks for text, numbers, booleans, null, bytes (in hex) and untyped JSON."""
    # The library finds hooks for these four by subclass, before it asks any predicate, so they serve enums too.
    for kind in (str, int, float, bytes):
        converter.register_structure_hook(kind, _read)
    converter.register_unstructure_hook(bytes, bytes.hex)
    converter.register_structure_hook_factory(_is_scalar, _scalar_reader)
    converter.register_unstructure_hook_factory(_is_scalar, _scalar_writer)


def _is_scalar(kind: Any) -> bool:
    try:
        return kind in READERS
    except TypeError:  # a type that cannot be hashed
        return False


def _scalar_writer(kind: Any) -> Reader:
    return WRITERS[kind]


def _scalar_reader(kind: Any) -> Callable[[Any, Any], Any]:
    reader = READERS[kind]

    def read(value: Any, _: Any) -> Any:
        return reader(value)

    return read
