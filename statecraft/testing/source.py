"""A value as Python source that makes an equal one again: what is pasted into a test.

Classes of attrs and dataclasses are written with the fields that differ from their defaults. What cannot be written (an
open file, a class made inside a function, a field that its class fills itself and somebody changed) becomes `...`, and
`missing` says where and what; nothing is guessed.
"""

from __future__ import annotations

import datetime
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from types import MappingProxyType
from typing import Any
from uuid import UUID

import attrs
from rpds import HashTrieMap, HashTrieSet, List, Queue

from .fields import NOTHING, fields_of, has_fields, same
from .homes import Home, Names, home_of
from .layout import Bracket, Node, bracket, laid_out, on_one_line

PLACEHOLDER = "..."
PERSISTENT = (HashTrieMap, HashTrieSet, List, Queue)
CALLED_BY_REPR = (Decimal, Fraction, UUID, PurePath)  # their repr is a call of the class with plain text or numbers
TIMES = (datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone)
BASES: tuple[type[Any], ...] = (str, bytes, int, float, dict, list, tuple, frozenset, set)


@attrs.frozen
class Source:
    """The expression, the lines that import what it names, and what it lacks, each as `where: what`."""

    text: str
    imports: tuple[str, ...]
    missing: tuple[str, ...] = ()


def written(value: object) -> Source:
    """The value as source."""
    writer = Writer(Names())
    text = "\n".join(laid_out(writer.write(value, "the value")))
    return Source(text, writer.names.imports(), tuple(writer.missing))


class Writer:
    """Writes several values of one script, which share their imports; `missing` gathers what could not be written."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.missing: list[str] = []
        self._within: list[int] = []

    def write(self, value: Any, where: str) -> Node:
        """The value as an expression; `where` is what it is called in `missing`."""
        if id(value) in self._within:
            return self._lacks(where, f"a {_kind(value)} that contains itself")
        self._within.append(id(value))
        try:
            found = self._plain(value, where) or self._known(value, where)
        finally:
            self._within.pop()
        return self._other(value, where) if found is None else found

    def named(self, value: object, where: str) -> str:
        """The name of what can be imported."""
        home = home_of(value)
        return self.names.take(home) if home else self._lacks(where, f"{value!r}, which no module holds by a name")

    def _lacks(self, where: str, what: str) -> str:
        self.missing.append(f"{where}: {what}")
        return PLACEHOLDER

    def _plain(self, value: Any, where: str) -> Node | None:
        """Python's own types, and these alone: a subclass of one is something else."""
        kind: type[Any] = value.__class__
        if value is None or value is ... or kind in (bool, int, complex, range):
            return repr(value)
        if kind in (str, bytes, bytearray):
            return _quoted(value)
        if kind is float:
            return self._float(value)
        if kind is tuple:
            return self._items("(", value, ")", where)
        if kind is list:
            return self._items("[", value, "]", where)
        if kind is dict:
            return self._mapping(value, where)
        if kind in (set, frozenset):
            items = self._sorted("{", value, "}", where) if value else ""
            return items if kind is set and items else bracket(f"{kind.__name__}(", [items] if items else [], ")")
        return None

    def _known(self, value: Any, where: str) -> Node | None:
        """Types that have a way of their own to be written."""
        kind: type[Any] = value.__class__
        one: object = value  # what is narrowed; a narrowed Any is half unknown to pyright
        if isinstance(one, Enum):
            return self._member(one, where)
        if has_fields(kind):
            return self._fields(value, where)
        if isinstance(one, MappingProxyType):
            return bracket(f"{self.names.take(Home('types', 'MappingProxyType'))}(", [self._mapping(value, where)], ")")
        if isinstance(one, PERSISTENT):
            return self._persistent(value, where)
        if isinstance(one, partial):
            return self._partial(value, where)
        if isinstance(one, tuple) and hasattr(kind, "_fields"):
            return self._call(kind, zip(kind._fields, value, strict=True), where)
        if isinstance(one, CALLED_BY_REPR):
            text = repr(value)
            return self.named(kind, where) + text[text.index("(") :]
        if kind in TIMES:
            return self._time(value, where)
        return self._subclass(value, where) if isinstance(one, BASES) else None

    def _other(self, value: object, where: str) -> str:
        """Whatever a module holds: a function, a class, a table."""
        home = home_of(value)
        return self.names.take(home) if home else self._lacks(where, _described(value))

    def _float(self, value: float) -> str:
        if math.isfinite(value):
            return repr(value)
        return ("-" if value < 0 else "") + self.names.take(Home("math", "nan" if math.isnan(value) else "inf"))

    def _member(self, value: Enum, where: str) -> Node:
        kind = self.named(type(value), where)
        if value.name not in type(value).__members__:  # several flags at once
            return bracket(f"{kind}(", [repr(value.value)], ")")
        return f"{kind}.{value.name}" if value.name.isidentifier() else f"{kind}[{value.name!r}]"

    def _items(self, start: str, values: Iterable[Any], end: str, where: str) -> Bracket:
        return bracket(start, (self.write(one, f"{where}[{at}]") for at, one in enumerate(values)), end)

    def _sorted(self, start: str, values: Iterable[Any], end: str, where: str) -> Bracket:
        """A set has no order of its own; by its text it has the same one every time."""
        return bracket(start, sorted((self.write(one, f"one of {where}") for one in values), key=on_one_line), end)

    def _mapping(self, value: Mapping[Any, Any], where: str) -> Bracket:
        keys = [on_one_line(self.write(key, f"a key of {where}")) for key in value]
        items = [self.write(one, f"{where}[{key!r}]") for key, one in value.items()]
        return Bracket("{", tuple((f"{key}: ", item) for key, item in zip(keys, items, strict=True)), "}")

    def _persistent(self, value: Any, where: str) -> Node:
        name = self.names.take(Home("rpds", type(value).__name__))
        if not list(value):
            return f"{name}()"
        if value.__class__ is HashTrieMap:  # walked in an order that another process does not repeat
            found = self._mapping(dict(value.items()), where)
            return bracket(f"{name}(", [attrs.evolve(found, items=tuple(sorted(found.items, key=_first)))], ")")
        items = self._sorted if value.__class__ is HashTrieSet else self._items
        return bracket(f"{name}(", [items("[", value, "]", where)], ")")

    def _partial(self, value: partial[Any], where: str) -> Node:
        given = [("", self.write(one, where)) for one in (value.func, *value.args)]
        named = [(f"{name}=", self.write(one, f"{where}.{name}")) for name, one in value.keywords.items()]
        return Bracket(f"{self.names.take(Home('functools', 'partial'))}(", (*given, *named), ")")

    def _time(self, value: Any, where: str) -> Node:
        if isinstance(value, datetime.timezone):
            return (
                f"{self.names.take(Home('datetime', 'UTC'))}"
                if value is datetime.UTC
                else self._lacks(where, repr(value))
            )
        zone = getattr(value, "tzinfo", None)
        if zone not in (None, datetime.UTC):
            return self._lacks(where, repr(value))
        text = repr(value)
        said = text[text.index("(") :]
        if zone is not None:
            said = said.replace("datetime.timezone.utc", self.names.take(Home("datetime", "UTC")))
        return self.names.take(Home("datetime", type(value).__name__)) + said

    def _fields(self, value: Any, where: str) -> Node:
        """A call with what differs from the defaults. It is made at once, to see whether that gives the same."""
        kind: type[Any] = value.__class__
        fields = tuple(fields_of(kind))
        held = {one.name: getattr(value, one.name, NOTHING) for one in fields}
        given = [(one.alias, held[one.name]) for one in fields if one.init and not same(one.default(), held[one.name])]
        again: Any = None
        with suppress(Exception):  # whatever a user's class does as it is made
            again = kind(**dict(given))
        if again is None:
            return self._lacks(where, f"{_described(value)} that its own class does not make of its fields")
        for name, one in held.items():
            if not same(getattr(again, name, NOTHING), one):
                self._lacks(f"{where}.{name}", f"{one!r}, which the class does not make of it")
        return self._call(kind, given, where)

    def _call(self, kind: type[Any], given: Iterable[tuple[str, Any]], where: str) -> Bracket:
        items = tuple((f"{alias}=", self.write(one, f"{where}.{alias}")) for alias, one in given)
        return Bracket(f"{self.named(kind, where)}(", items, ")")

    def _subclass(self, value: Any, where: str) -> Node:
        """The plain value in a call of the class; alone where the class is private and the two are equal."""
        kind: Any = value.__class__
        base = next(one for one in BASES if isinstance(value, one))
        plain: Any = str.__str__(value) if base is str else base(value)
        inside = [self.write(plain, where)]
        if defaultdict in kind.__mro__:
            return bracket(f"{self.named(kind, where)}(", [self.write(value.default_factory, where), *inside], ")")
        home = home_of(kind)
        with suppress(Exception):  # whatever a user's class does as it is made
            if home is not None and not home.name.startswith("_") and same(kind(plain), value):
                return bracket(f"{self.names.take(home)}(", inside, ")")
        return inside[0] if plain == value else self._lacks(where, _described(value))


def _quoted(text: object) -> str:
    """The text or bytes as Python writes them, in double quotes where that needs no escapes."""
    shown = repr(text)
    return shown.replace("'", '"') if '"' not in shown and shown.count("'") == 2 else shown


def _first(item: tuple[str, Node]) -> str:
    return item[0]


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _described(value: object) -> str:
    return f"{repr(value)[:80]}, a {_kind(value)}"
