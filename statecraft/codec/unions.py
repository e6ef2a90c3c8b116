"""Unions. Of several attrs classes each is written with its name under the key `is`, which no field can be called.

Everything else in a union is told apart by what JSON itself tells apart: null, true and false, numbers, texts, lists,
objects. A union of two things that look alike in JSON (text and an enum, two kinds of list) is refused when the hooks
are made. One class alone, beside null or scalars, stands without a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.fns import identity

from .classes import is_class
from .closed import is_enum
from .collections import is_list, is_map, is_set
from .hooks import REAL, TAG, Reader, Writer, reader_of, writer_of
from .problems import BadData, Problem, bad, nearest, one_of, said, shown
from .scalars import is_number_object

_SHAPES: dict[Any, tuple[type[Any], ...]] = {
    str: (str,),
    bytes: (str,),
    int: (int,),
    float: (float,),
    bool: (bool,),
    NoneType: (NoneType,),
}


@attrs.frozen(eq=False)
class Tagged:
    """Values of some attrs classes, each with the name of its class. `write` gives plain data, `read` takes it."""

    classes: tuple[type[Any], ...]
    _readers: Mapping[str, tuple[Reader, type[Any]]]
    _writers: Mapping[type[Any], tuple[Writer, str]]

    def write(self, value: Any) -> dict[str, Any]:
        """The value's fields and its class's name. Raises `BadData` for a value of any other class."""
        found = self._writers.get(value.__class__)
        if found is None:
            raise bad(value, self.expected)
        hook, name = found
        return {**hook(value), TAG: name}

    def read(self, value: Any) -> Any:
        """The value that such data tells of. Raises `BadData`."""
        if value.__class__ is not dict:
            raise bad(value, f"an object ({self.expected})")
        name = value.get(TAG)
        found = self._readers.get(name) if name.__class__ is str else None
        if found is None:
            expected = nearest(name, self._readers) if isinstance(name, str) else self.expected
            raise BadData([Problem(f"$.{TAG}", shown(name) if TAG in value else "nothing", expected)])
        hook, kind = found
        return hook({key: one for key, one in value.items() if key != TAG}, kind)

    @property
    def expected(self) -> str:
        """The choice in words."""
        return one_of(self._readers)


def tagged(converter: Converter, classes: Iterable[type[Any]]) -> Tagged:
    """The classes as a tagged union. Raises `TypeError` where two have one name, or one is no attrs class."""
    kinds = tuple(classes)
    names = [_bare(kind).__name__ for kind in kinds]
    for kind, name in zip(kinds, names, strict=True):
        if names.count(name) > 1:
            raise TypeError(f"two classes of one union are called {name}, so the name does not tell them apart")
        if not is_class(kind):
            raise TypeError(f"{name} is no attrs class, so it cannot be told apart by its name")
    readers = {name: (reader_of(converter, kind), kind) for kind, name in zip(kinds, names, strict=True)}
    writers = {_bare(kind): (writer_of(converter, kind), name) for kind, name in zip(kinds, names, strict=True)}
    return Tagged(kinds, readers, writers)


def is_union(kind: Any) -> bool:
    """Whether it is written `A | B`, `Union[A, B]` or `Optional[A]`."""
    return get_origin(kind) in (Union, UnionType)


def configure_unions(converter: Converter) -> None:
    """Hooks for unions."""
    converter.register_structure_hook_factory(is_union, _union_reader)
    converter.register_unstructure_hook_factory(is_union, _union_writer)


def _bare(kind: Any) -> type[Any]:
    found: type[Any] = get_origin(kind) or kind
    return REAL.get(found, found)


def _members(kind: Any) -> tuple[list[Any], list[Any]]:
    """The attrs classes that need a name, and everything else."""
    args = get_args(kind)
    classes = [arg for arg in args if is_class(arg)]
    if len(classes) < 2:
        return [], list(args)
    return classes, [arg for arg in args if not is_class(arg)]


def _shapes(kind: Any) -> tuple[type[Any], ...]:
    """What a value of this type can look like in JSON."""
    if is_enum(kind):
        return (str,)
    if get_origin(kind) is Literal:
        return tuple(dict.fromkeys(value.__class__ for value in get_args(kind)))
    if is_list(kind) or is_set(kind):
        return (list,)
    if is_class(kind) or is_map(kind):
        return (dict,)
    found = _SHAPES.get(kind)
    if found is None:
        raise TypeError(f"{said(kind)} in a union cannot be kept as JSON")
    return found


def _union_reader(kind: Any, converter: Converter) -> Reader:
    if Any in get_args(kind):
        return lambda value, _: value
    classes, others = _members(kind)
    readers: dict[type[Any], tuple[Reader, Any]] = {}
    for other in others:
        for shape in _shapes(other):
            if shape in readers:
                raise TypeError(f"{kind}: {said(readers[shape][1])} and {said(other)} look alike in JSON")
            readers[shape] = (reader_of(converter, other), other)
    if classes:
        if dict in readers:
            raise TypeError(f"{kind}: {said(readers[dict][1])} and a class with its name look alike in JSON")
        readers[dict] = (_without_kind(tagged(converter, classes).read), kind)
    numbers = readers.get(float)
    if numbers is not None:
        readers.setdefault(int, numbers)
    expected = " or ".join([*map(said, others), *([one_of(map(said, classes))] if classes else [])])

    def read(value: Any, _: Any) -> Any:
        if numbers is not None and is_number_object(value):
            return numbers[0](value, float)
        found = readers.get(value.__class__)
        if found is None:
            raise bad(value, expected)
        hook, member = found
        return hook(value, member)

    return read


def _without_kind(read: Writer) -> Reader:
    return lambda value, _: read(value)


def _union_writer(kind: Any, converter: Converter) -> Writer:
    args = get_args(kind)
    if Any in args:
        return writer_of(converter, Any)
    if len(args) == 2 and NoneType in args:
        return _optional_writer(writer_of(converter, args[0] if args[1] is NoneType else args[1]))
    classes, others = _members(kind)
    writers: dict[type[Any], Writer] = {}
    loose: list[tuple[type[Any], Writer]] = []
    for other in others:
        if get_origin(other) is Literal:
            writers.update((shape, identity) for shape in _shapes(other))
        else:
            bare = _bare(other)
            writers[bare] = writer_of(converter, other)
            loose.append((bare, writers[bare]))
    if classes:
        named = tagged(converter, classes)
        writers.update((_bare(one), named.write) for one in classes)
    expected = one_of(map(said, args))

    def write(value: Any) -> Any:
        found = writers.get(value.__class__)
        if found is not None:
            return found(value)
        # A value of a narrower class, as a tuple for a sequence or an enum that is text.
        for bare, writer in loose:
            if isinstance(value, bare):
                return writer(value)
        raise bad(value, expected)

    return write


def _optional_writer(write: Writer) -> Writer:
    if write is identity:
        return identity
    return lambda value: None if value is None else write(value)
