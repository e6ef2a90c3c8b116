"""Finds the tables that a text like `shop.orders:ORDER`, `shop.orders` or `shop` names.

What a name stands for is what it stands for on the command line: a module offers its tables as `TABLES`, a package in
its module `tables`. Where nothing is offered, it is every table that the module, or any module of the package, holds.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import TypeGuard

from ..table import Table
from .heard import AnyTable

OURS = "machines"  # the other package of this distribution; a user's folder of that name hides it


class NoTable(LookupError):
    """The text names no table; the message says what was found instead."""


def tables(text: str) -> tuple[AnyTable, ...]:
    """The one table `MODULE:TABLE`, or all of `MODULE`. Modules are imported for it. NoTable where there is none."""
    module_name, colon, attribute = text.partition(":")
    module = _imported(module_name, text)
    if colon:
        found = getattr(module, attribute, None)
        if _is_table(found):
            return (found,)
        held = ", ".join(name for name, value in vars(module).items() if _is_table(value)) or "none"
        kind = "nothing of that name" if found is None else type(found).__name__
        raise NoTable(f"{text}: expected a table, found {kind}; tables there: {held}{_where(module)}")
    all_found = tuple(dict.fromkeys(table for one in _modules(module, text) for table in _held(one)))
    if not all_found:
        raise NoTable(f"{text}: expected a module that holds tables, found none{_where(module)}")
    return all_found


def _imported(name: str, text: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:  # what a user's module raises as it is imported is for that user to read
        top = sys.modules.get(name.partition(".")[0])
        where = "" if top is None else _where(top)
        problem = f"cannot import {name!r} ({type(error).__name__}: {error})"
        raise NoTable(f"{text}: expected MODULE:TABLE or MODULE, {problem}{where}") from error


def _modules(module: ModuleType, text: str) -> Iterator[ModuleType]:
    yield module
    if _offered(module) is not None:
        return
    if hasattr(module, "__path__") and find_spec(f"{module.__name__}.tables") is not None:
        yield _imported(f"{module.__name__}.tables", text)
        return
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}.", onerror=_ignored):
        if not found.name.endswith(".__main__"):  # importing it would run it
            yield _imported(found.name, text)


def _ignored(name: str) -> None:
    """A package that cannot be imported: `_imported` says so when its turn comes."""


def _held(module: ModuleType) -> Iterator[AnyTable]:
    offered = _offered(module)
    return (value for value in (vars(module).values() if offered is None else offered) if _is_table(value))


def _offered(module: ModuleType) -> Iterable[object] | None:
    return getattr(module, "TABLES", None)


def _is_table(value: object) -> TypeGuard[AnyTable]:
    return isinstance(value, Table)


def _where(module: ModuleType) -> str:
    """Which file was looked at, and whether it hides the package of that name that belongs to this distribution."""
    file = getattr(module, "__file__", None) or ", ".join(getattr(module, "__path__", ()))
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    hides = top.__name__ == OURS and not hasattr(top, "__statecraft__")
    return f"; looked in {file}" + (f", which hides statecraft's own {OURS}" if hides else "")
