"""How hooks find each other, and what may be kept at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Generic, NoReturn, TypeVar, get_args, get_origin

from cattrs import Converter
from rpds import HashTrieMap, HashTrieSet

Reader = Callable[[Any, Any], Any]
Writer = Callable[[Any], Any]

# The key for what a value is. A Python keyword, so that no field has this name.
TAG = "is"

K = TypeVar("K")
V = TypeVar("V")


class PersistentMap(Generic[K, V]):
    """Stands for `HashTrieMap` in annotations that are evaluated: the real one takes no arguments at run time."""


class PersistentSet(Generic[K]):
    """The same for `HashTrieSet`."""


STAND_INS: dict[type[Any], type[Any]] = {HashTrieMap: PersistentMap, HashTrieSet: PersistentSet}
REAL: dict[type[Any], type[Any]] = {stand_in: real for real, stand_in in STAND_INS.items()}


def reader_of(converter: Converter, kind: Any) -> Reader:
    """The hook that reads `kind`; for a type that holds itself, whose hook is still being made, one that asks later."""
    try:
        return converter.get_structure_hook(kind)
    except RecursionError:
        return lambda value, _: converter.structure(value, kind)


def writer_of(converter: Converter, kind: Any) -> Writer:
    """The hook that writes `kind`, found as `reader_of` finds its."""
    try:
        return converter.get_unstructure_hook(kind)
    except RecursionError:
        return lambda value: converter.unstructure(value, unstructure_as=kind)


def configure_hooks(converter: Converter) -> None:
    """Refuse every type that nothing else takes, and see through `Annotated`, `NewType` and aliases.

    To be called first: of two hooks for a type the library takes the one that was registered last.
    """
    converter.register_structure_hook_factory(lambda _: True, _refuse)
    converter.register_unstructure_hook_factory(lambda _: True, _refuse)
    converter.register_structure_hook_factory(lambda t: _beneath(t) is not None, _read_beneath)
    converter.register_unstructure_hook_factory(lambda t: _beneath(t) is not None, _write_beneath)


def _refuse(kind: Any) -> NoReturn:
    raise TypeError(f"{getattr(kind, '__name__', kind)} cannot be kept as JSON")


def _beneath(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return get_args(kind)[0]
    # What `NewType` and the `type` statement of Python 3.12 keep.
    return getattr(kind, "__supertype__", None) or getattr(kind, "__value__", None)


def _read_beneath(kind: Any, converter: Converter) -> Reader:
    beneath = _beneath(kind)
    read = reader_of(converter, beneath)
    return lambda value, _: read(value, beneath)


def _write_beneath(kind: Any, converter: Converter) -> Writer:
    return writer_of(converter, _beneath(kind))
