"""Hypothesis strategies for events and runs, made from the annotations of their classes.

What is drawn for a field can be said by type or by name: `events(TABLE, {Text: texts, "Reply.at": times}, at=times)`. A
type's strategy holds wherever the type stands, one under `Class.field` before one under `field`, and both before the
type's. A value that is no strategy is always taken. A field with a default is often left at it.

Numbers that are not finite are drawn for no field: they equal nothing, themselves included, or stop every comparison.
"""

from __future__ import annotations

import sys
import types
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
    Set,
)
from enum import Enum
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NewType,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from hypothesis import strategies as st
from rpds import HashTrieMap, HashTrieSet, List, Queue

from ..table import Table
from .fields import NOTHING, Field, fields_of, has_fields

R = TypeVar("R")
E = TypeVar("E")

AnyStrategy = st.SearchStrategy[Any]
Overrides = Mapping[Any, Any]  # by type, by "field" or by "Class.field"
MANY = 3  # the most items of a collection that nobody says anything of

K = TypeVar("K")
V = TypeVar("V")


class _Map(Generic[K, V]):
    """Stands for a map of rpds while annotations are read: none of its classes takes a subscript."""


class _Set(Generic[K]):
    """Stands for a set of rpds."""


class _List(Generic[K]):
    """Stands for a list of rpds."""


class _Queue(Generic[K]):
    """Stands for a queue of rpds."""


STAND_INS = ((HashTrieMap, _Map), (HashTrieSet, _Set), (List, _List), (Queue, _Queue))

PLAIN: Mapping[Any, AnyStrategy] = {
    type(None): st.none(),
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: st.text(max_size=12),
    bytes: st.binary(max_size=12),
}
ROWS: Mapping[Any, Callable[[Iterable[Any]], Any]] = {
    **dict.fromkeys([list, Sequence, MutableSequence, Iterable, Collection, Iterator], list),
    _List: List,
    _Queue: Queue,
}
SETS: Mapping[Any, Callable[[Iterable[Any]], Any]] = {
    set: set,
    **dict.fromkeys([frozenset, Set], frozenset),
    _Set: HashTrieSet,
}
MAPPINGS: Mapping[Any, Callable[[Mapping[Any, Any]], Any]] = {
    **dict.fromkeys([dict, Mapping, MutableMapping], dict),
    _Map: HashTrieMap,
}


class NoStrategy(TypeError):
    """A field for whose type no strategy can be made; the message says how to pass one."""


def events(table: Table[Any, Any, E, Any], overrides: Overrides | None = None, **fields: Any) -> st.SearchStrategy[E]:
    """Any event of the table's alphabet, each kind as often as another."""
    return st.one_of(*events_by_type(table, overrides, **fields).values())


def events_by_type(
    table: Table[Any, Any, E, Any], overrides: Overrides | None = None, **fields: Any
) -> dict[type[E], st.SearchStrategy[E]]:
    """A strategy for each kind of event of the table. Raises `NoStrategy`."""
    made = _Made({**(overrides or {}), **fields})
    return {kind: made.of(kind, kind.__name__) for kind in table.events}


def runs(kind: type[R], overrides: Overrides | None = None, **fields: Any) -> st.SearchStrategy[R]:
    """Any run of the class: also one that no event leads to, unless its fields are held together. See `events`."""
    return _Made({**(overrides or {}), **fields}).of(kind, kind.__name__)


def is_strategy(value: object) -> TypeGuard[AnyStrategy]:
    """Whether the value is a strategy, of whatever."""
    return isinstance(value, st.SearchStrategy)


def _strategy(value: Any) -> AnyStrategy:
    return value if is_strategy(value) else st.just(value)


class _Made:
    """Makes strategies of annotations, each class once."""

    def __init__(self, overrides: Overrides) -> None:
        self._given: dict[Any, AnyStrategy] = {key: _strategy(one) for key, one in overrides.items()}
        self._classes: dict[Any, AnyStrategy] = {}

    def of(self, hint: Any, where: str) -> AnyStrategy:
        """A strategy for what is annotated so; `where` is the class and the field."""
        if isinstance(hint, type) and hint in self._given:
            return self._given[hint]
        if hint in PLAIN or hint is None:
            return PLAIN[type(None) if hint is None else hint]
        found = self._kind(hint) if isinstance(hint, type) and get_origin(hint) is None else None
        if found is None:
            found = self._generic(hint, get_origin(hint) or hint, get_args(hint), where)
        if found is None:
            raise NoStrategy(
                f"{where}: no strategy can be made of {_said(hint)}; "
                f'pass one for the type, or {{"{where}": strategy}} for the field'
            )
        return found

    def _kind(self, kind: Any) -> AnyStrategy | None:
        if issubclass(kind, Enum):
            return st.sampled_from(list(kind))
        if has_fields(kind):
            return self._class(kind)
        if tuple in kind.__mro__ and hasattr(kind, "_fields"):
            hints = _hints(kind)
            return st.builds(kind, **{name: self._field(kind, name, hints[name]) for name in hints})
        known = kind.__module__ in ("datetime", "decimal", "fractions", "uuid", "ipaddress", "pathlib")
        return st.from_type(kind) if known else None

    def _class(self, kind: type[Any]) -> AnyStrategy:
        if kind not in self._classes:
            self._classes[kind] = st.deferred(lambda: made)  # for a class that holds itself
            hints = _hints(kind)
            drawn: dict[str, AnyStrategy] = {}
            for one in fields_of(kind):
                if one.init:
                    drawn[one.alias] = self._field(kind, one.name, hints.get(one.name, object))
                    if self._named(kind, one.name) is None:
                        drawn[one.alias] = _or_default(one, drawn[one.alias])
            made = st.builds(kind, **drawn)
            self._classes[kind] = made
        return self._classes[kind]

    def _field(self, kind: type[Any], name: str, hint: Any) -> AnyStrategy:
        given = self._named(kind, name)
        return self.of(hint, f"{kind.__name__}.{name}") if given is None else given

    def _named(self, kind: type[Any], name: str) -> AnyStrategy | None:
        return self._given.get(f"{kind.__name__}.{name}", self._given.get(name))

    def _generic(self, hint: Any, origin: Any, args: tuple[Any, ...], where: str) -> AnyStrategy | None:
        if isinstance(hint, NewType):
            return self.of(hint.__supertype__, where)
        if origin is Annotated:
            return self.of(args[0], where)
        if origin is Literal:
            return st.sampled_from(args)
        if origin in (Union, types.UnionType):
            return st.one_of(*(self.of(one, where) for one in args))
        if origin is tuple and len(args) == 2 and args[1] is ...:
            return st.lists(self.of(args[0], where), max_size=MANY).map(tuple)
        if origin is tuple and args:
            return st.tuples(*(self.of(one, where) for one in args if one != ()))
        if origin in ROWS and args:
            return st.lists(self.of(args[0], where), max_size=MANY).map(ROWS[origin])
        if origin in SETS and args:
            return st.frozensets(self.of(args[0], where), max_size=MANY).map(SETS[origin])
        if origin in MAPPINGS and len(args) == 2:
            keys, held = (self.of(one, where) for one in args)
            return st.dictionaries(keys, held, max_size=MANY).map(MAPPINGS[origin])
        return None


def _or_default(field: Field, drawn: AnyStrategy) -> AnyStrategy:
    """What is drawn for a field, or its default; that is made anew each time where it could be changed in place."""
    value = field.default()
    if value is NOTHING or value is None or isinstance(value, bool):  # these are drawn often enough
        return drawn
    return (st.builds(field.default) if value.__hash__ is None else st.just(value)) | drawn


def _hints(kind: type[Any]) -> Mapping[str, Any]:
    home = sys.modules.get(kind.__module__)
    held = {} if home is None else vars(home)
    stand_ins = {name: mark for name, one in held.items() for rpds, mark in STAND_INS if one is rpds}
    try:
        return get_type_hints(kind, localns=stand_ins or None, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise NoStrategy(
            f"{kind.__name__}: its annotations cannot be read ({error}): what they name has to be imported, "
            f"and at the top of {getattr(home, '__file__', kind.__module__)}"
        ) from error


def _said(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
