"""The fields of a class of attrs or dataclasses, as far as making one again needs them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import attrs

NOTHING = object()


@attrs.frozen
class Field:
    """One field: its name, what the class calls it when it is made, whether it takes it then, and its default."""

    name: str
    alias: str
    init: bool
    default: Callable[[], Any]


def has_fields(kind: type[Any]) -> bool:
    """Whether it is a class of attrs or dataclasses."""
    return attrs.has(kind) or dataclasses.is_dataclass(kind)


def fields_of(kind: type[Any]) -> Iterator[Field]:
    """The fields in their order. A default that only a made value can tell is `NOTHING`."""
    if attrs.has(kind):
        for one in attrs.fields(kind):
            yield Field(one.name, one.alias or one.name, one.init, _default(one.default))
        return
    for field in dataclasses.fields(kind):
        made, plain = field.default_factory, field.default
        if made is not dataclasses.MISSING:
            yield Field(field.name, field.name, field.init, made)
        else:
            yield Field(field.name, field.name, field.init, _always(NOTHING if plain is dataclasses.MISSING else plain))


def same(one: object, other: object) -> bool:
    """Whether two values are equal and of one type, all that they hold too: 1 is not True here, and nan is nan."""
    if one is other:
        return True
    return type(one) is type(other) and (repr(one) == repr(other) or _equal(one, other))


def _equal(one: Any, other: Any) -> bool:
    # Equal containers may hold 1 for True, so plain ones are compared by their text alone, above.
    return not isinstance(one, int | float | tuple | list) and bool(one == other)


def _default(default: Any) -> Callable[[], Any]:
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # typed as a function, it is a class
        factory: Any = default
        return _always(NOTHING) if factory.takes_self else factory.factory
    return _always(NOTHING if default is attrs.NOTHING else default)


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value
