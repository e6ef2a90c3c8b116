"""Collections: lists for what has an order, sorted lists for sets, objects for mappings.

Anything that can be walked in more than one order is written in one: a set by what its members are as JSON, a mapping
by its keys. The persistent map and set of rpds are read back as such.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSequence, Sequence, Set
from typing import Any, get_args, get_origin

from cattrs import Converter
from cattrs.fns import identity
from rpds import HashTrieMap, HashTrieSet

from .closed import enum_writer, is_enum, members
from .hooks import PersistentMap, PersistentSet, reader_of, writer_of
from .problems import BadData, Problem, bad, nearest, shown, step_to
from .text import dump

_LISTS: dict[Any, Callable[[list[Any]], Any]] = {
    list: list,
    MutableSequence: list,
    tuple: tuple,
    Sequence: tuple,
}
_SETS: dict[Any, Callable[[list[Any]], Any]] = {
    frozenset: frozenset,
    Set: frozenset,
    set: set,
    HashTrieSet: HashTrieSet,
    PersistentSet: HashTrieSet,
}
_MAPS: dict[Any, Callable[[dict[Any, Any]], Any]] = {
    dict: dict,
    Mapping: dict,
    MutableMapping: dict,
    HashTrieMap: HashTrieMap,
    PersistentMap: HashTrieMap,
}
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def _within(kinds: Mapping[Any, Any]) -> Callable[[Any], bool]:
    def is_one(kind: Any) -> bool:
        try:
            return (get_origin(kind) or kind) in kinds
        except TypeError:  # a type that cannot be hashed
            return False

    return is_one


is_list, is_set, is_map = _within(_LISTS), _within(_SETS), _within(_MAPS)


def read_each(value: Any, readers: Iterable[Callable[[Any, Any], Any]], kinds: Iterable[Any]) -> list[Any]:
    """The items of a list, each read by its own reader; the problems of all items are raised together."""
    made: list[Any] = []
    problems: list[Problem] = []
    for index, (item, read, kind) in enumerate(zip(value, readers, kinds, strict=False)):
        try:
            made.append(read(item, kind))
        except BadData as error:
            problems.extend(error.under(step_to(index)))
    if problems:
        raise BadData(problems)
    return made


def _item_kind(kind: Any) -> Any:
    args = get_args(kind)
    return args[0] if args else Any


def _lengths(kind: Any) -> tuple[Any, ...] | None:
    """The kinds of a tuple of fixed length; None for every other list."""
    args = get_args(kind)
    fixed = (get_origin(kind) or kind) is tuple and args and Ellipsis not in args
    return args if fixed else None


def _list_reader(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    if (kinds := _lengths(kind)) is not None:
        return _fixed_reader(kinds, converter)
    make = {**_LISTS, **_SETS}[get_origin(kind) or kind]
    item = _item_kind(kind)
    read_item = reader_of(converter, item)

    def read(value: Any, _: Any) -> Any:
        if value.__class__ is not list:
            raise bad(value, "a list")
        try:
            return make([read_item(one, item) for one in value])
        except BadData:
            size = len(value)
            return read_each(value, [read_item] * size, [item] * size)  # raises, with the path to each item

    return read


def _fixed_reader(kinds: tuple[Any, ...], converter: Converter) -> Callable[[Any, Any], Any]:
    readers = [reader_of(converter, kind) for kind in kinds]

    def read(value: Any, _: Any) -> Any:
        if value.__class__ is not list:
            raise bad(value, f"a list of {len(kinds)}")
        if len(value) != len(kinds):
            raise BadData([Problem("$", f"a list of {len(value)}", f"a list of {len(kinds)}")])
        return tuple(read_each(value, readers, kinds))

    return read


def _list_writer(kind: Any, converter: Converter) -> Callable[[Any], Any]:
    if (kinds := _lengths(kind)) is not None:
        writers = [writer_of(converter, one) for one in kinds]
        return lambda value: [write(one) for write, one in zip(writers, value, strict=True)]
    write_item = writer_of(converter, _item_kind(kind))
    if write_item is identity:
        return list
    return lambda value: [write_item(one) for one in value]


def _set_writer(kind: Any, converter: Converter) -> Callable[[Any], Any]:
    item = _item_kind(kind)
    write_item = writer_of(converter, item)
    # Text and numbers have an order of their own, which a reader expects; anything else is ordered by its JSON.
    by = None if item in (str, int, bytes) or is_enum(item) else dump
    return lambda value: sorted((write_item(one) for one in value), key=by)


def _map_reader(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    make = _MAPS[get_origin(kind) or kind]
    key_kind, item = get_args(kind) or (str, Any)
    read_key = _key_reader(key_kind)
    read_item = reader_of(converter, item)

    def read(value: Any, _: Any) -> Any:
        if value.__class__ is not dict:
            raise bad(value, "an object")
        made: dict[Any, Any] = {}
        problems: list[Problem] = []
        for key, one in value.items():
            try:
                made[read_key(key)] = read_item(one, item)
            except BadData as error:
                problems.extend(error.under(step_to(key)))
        if problems:
            raise BadData(problems)
        return make(made)

    return read


def _map_writer(kind: Any, converter: Converter) -> Callable[[Any], Any]:
    key_kind, item = get_args(kind) or (str, Any)
    write_key = _key_writer(key_kind)
    write_item = writer_of(converter, item)
    if write_key is identity:
        return lambda value: {key: write_item(one) for key, one in value.items()}
    return lambda value: {write_key(key): write_item(one) for key, one in value.items()}


def _key_writer(kind: Any) -> Callable[[Any], str]:
    if kind is str:
        return identity
    if kind is int:
        return str
    if kind is bytes:
        return bytes.hex
    if is_enum(kind):
        return enum_writer(kind)
    raise _no_key(kind)


def _key_reader(kind: Any) -> Callable[[str], Any]:
    if kind is str:
        return identity
    if kind is int:
        return _integer_key
    if kind is bytes:
        return _bytes_key
    if not is_enum(kind):
        raise _no_key(kind)
    known = members(kind)

    def read(key: str) -> Any:
        if (found := known.get(key)) is None:
            raise BadData([Problem("$", f"the key {key}", nearest(key, known))])
        return found

    return read


def _no_key(kind: Any) -> TypeError:
    return TypeError(f"a mapping with keys of {kind} cannot be kept as JSON: keys are text, integers, bytes or an enum")


def _integer_key(key: str) -> int:
    if _INTEGER.fullmatch(key):
        return int(key)
    raise BadData([Problem("$", f"the key {shown(key)}", "an integer as key")])


def _bytes_key(key: str) -> bytes:
    try:
        return bytes.fromhex(key)
    except ValueError:
        raise BadData([Problem("$", f"the key {shown(key)}", "bytes in hex as key")]) from None


def configure_collections(converter: Converter) -> None:
    """Hooks for lists, tuples, sets and mappings, persistent ones too."""
    converter.register_structure_hook_factory(is_list, _list_reader)
    converter.register_unstructure_hook_factory(is_list, _list_writer)
    converter.register_structure_hook_factory(is_set, _list_reader)
    converter.register_unstructure_hook_factory(is_set, _set_writer)
    converter.register_structure_hook_factory(is_map, _map_reader)
    converter.register_unstructure_hook_factory(is_map, _map_writer)
