"""What a test calls a law, and the two functions of it.

A function of the law goes by its own name where a module holds it. A lambda, or a function made inside another, has
none: it is then reached through the law, where a module holds that by a name (`LAW.broken`), or in a list or tuple
(`LAWS[2].broken`), or in the laws of a search (`SEARCH.laws[0].broken`). Where none does, no test can ask the law; it
ends with a failure that says so, because a test that asserts nothing would pass.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import attrs

from ..proofs import Law, Search
from .homes import Home, Names, home_of
from .layout import bracket, laid_out, on_one_line
from .source import Writer


@attrs.frozen
class Named:
    """The expressions for `broken` and `remember` of a law; the second is empty where it remembers nothing."""

    broken: str
    remember: str


def named(writer: Writer, law: Law[Any], search: Search[Any, Any] | None = None) -> Named | None:
    """What a test calls the law's functions; None where nothing that can be imported leads to one of them."""
    broken = broken_name(writer, law, search)
    remember = "" if law.remember is None else _function(writer, law, "remember", search)
    return None if broken is None or remember is None else Named(broken, remember)


def broken_name(writer: Writer, law: Law[Any], search: Search[Any, Any] | None = None) -> str | None:
    """What a test calls the law's `broken`; None where nothing that can be imported leads to it."""
    return _function(writer, law, "broken", search)


def put_in(writer: Writer, law: Law[Any], depth: int = 1) -> list[str]:
    """The lines that end a test whose law cannot be named."""
    fail = writer.names.take(Home("pytest", "fail"))
    return laid_out(bracket(f"{fail}(", [writer.write(f"put in the law: {law.name}", "")], ")"), depth=depth)


def _function(writer: Writer, law: Law[Any], name: str, search: Search[Any, Any] | None) -> str | None:
    value = getattr(law, name)
    tried = Writer(Names())
    tried.write(value, name)
    if not tried.missing:  # also a `partial` of what a module holds
        return on_one_line(writer.write(value, name))
    held = _law(writer.names, law, search)
    return None if held is None else f"{held}.{name}"


def _law(names: Names, law: Law[Any], search: Search[Any, Any] | None) -> str | None:
    found = _named(names, law)
    if found is None and search is not None and (held := _named(names, search)) is not None:
        places = [number for number, one in enumerate(search.laws) if one is law]
        return f"{held}.laws[{places[0]}]" if places else None
    return found


def _named(names: Names, value: object) -> str | None:
    """The name of the value, or its place in a list or tuple that has one."""
    home = home_of(value)
    if home is not None:
        return names.take(home)
    for several, number in _places(value):
        home = home_of(several)
        if home is not None:
            return f"{names.take(home)}[{number}]"
    return None


def _places(value: object) -> Iterator[tuple[object, int]]:
    """The lists and tuples of modules that hold this very value, and where."""
    for module in list(sys.modules.values()):
        for held in list(getattr(module, "__dict__", {}).values()):  # some put other things there
            if held.__class__ in (list, tuple):
                yield from ((held, number) for number, one in enumerate(held) if one is value)
