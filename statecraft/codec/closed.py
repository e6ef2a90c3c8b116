"""Closed sets: enums and literals.

An enum all of whose values are texts is written by value, any other by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, Flag
from operator import attrgetter
from typing import Any, Literal, get_args, get_origin

from cattrs import Converter
from cattrs.fns import identity

from .problems import BadData, Problem, bad, nearest, one_of, shown


def is_enum(kind: Any) -> bool:
    """Whether it is an enum class."""
    return isinstance(kind, type) and issubclass(kind, Enum)


def enum_writer(kind: type[Enum]) -> Callable[[Any], str]:
    """From a member to its text."""
    # The plain attributes: `value` and `name` are looked up in Python each time.
    return attrgetter("_value_" if _by_value(kind) else "_name_")


def enum_reader(kind: type[Enum]) -> Callable[[Any], Any]:
    """From a text to its member."""
    return _reader(members(kind))


def members(kind: type[Enum]) -> Mapping[str, Enum]:
    """The members by the text that stands for each."""
    if issubclass(kind, Flag):
        raise TypeError(f"{kind.__name__} cannot be kept as JSON: a combination of flags has no name of its own")
    return {str(m.value): m for m in kind} if _by_value(kind) else dict(kind.__members__)


def _by_value(kind: type[Enum]) -> bool:
    return all(isinstance(member.value, str) for member in kind)


def _reader(known: Mapping[str, Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value.__class__ is not str:
            raise bad(value, one_of(known))
        found = known.get(value)
        if found is None:
            raise BadData([Problem("$", shown(value), nearest(value, known))])
        return found

    return read


def _literal_reader(kind: Any) -> Callable[[Any, Any], Any]:
    allowed = get_args(kind)
    for value in allowed:
        if isinstance(value, Enum) or not isinstance(value, str | int | bool | None):
            raise TypeError(f"{kind} cannot be kept as JSON: a literal is text, an integer, true, false or null")

    def read(value: Any, _: Any) -> Any:
        # With the class: 1 == True, and the two are different literals.
        if not any(value == one and value.__class__ is one.__class__ for one in allowed):
            expected = nearest(value, map(str, allowed)) if isinstance(value, str) else one_of(allowed)
            raise BadData([Problem("$", shown(value), expected)])
        return value

    return read


def configure_closed(converter: Converter) -> None:
    """Hooks for enums and `Literal`."""
    converter.register_structure_hook_factory(is_enum, _enum_hook)
    converter.register_unstructure_hook_factory(is_enum, enum_writer)
    converter.register_structure_hook_factory(_is_literal, _literal_reader)
    converter.register_unstructure_hook_factory(_is_literal, _literal_writer)


def _is_literal(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _literal_writer(_: Any) -> Callable[[Any], Any]:
    return identity


def _enum_hook(kind: Any) -> Callable[[Any, Any], Any]:
    reader = enum_reader(kind)

    def read(value: Any, _: Any) -> Any:
        return reader(value)

    return read
