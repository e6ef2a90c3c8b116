"""What a text like `shop.orders:ORDER`, `shop.orders` or `shop` names, on the command line and in the pytest plugin.

`MODULE:NAME` is a value of the module, or, of a package, of its module `tables`. `MODULE` alone is all the tables that
it offers as `TABLES`, a package in its module `tables` too; where nothing is offered, every table that the module, or
any module of the package, holds. Beside its tables a module may offer `SAMPLES`, a run for each name of a table whose
budgets depend on the run, `WORLDS`, what is around a machine by the name of its table, and `ASSUMED`, a list of texts:
what the proofs rest on, in the machines' own words. `SEARCHES` and `FACTS` are lists of the searches and of the tables
of facts that `check` is to look at; one that lies in a module of its own, which imports the table, goes by a text
`MODULE:NAME`.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeGuard

import attrs

from .heard import AnyTable
from .table import Table, with_inner
from .world import World

OURS = "machines"  # the other package of this distribution; a user's folder of that name hides it


class NotNamed(LookupError):
    """The text names nothing of the kind that is asked for; the message says what was found instead."""


@attrs.frozen
class Machines:
    """Tables, for each that needs it a run from which budgets take their size, and what is assumed of them all.

    `worlds`: what is around them, for those of which it is said. `searches` and `facts` are values of the proofs.
    """

    tables: tuple[AnyTable, ...]
    samples: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    assumed: tuple[str, ...] = ()
    worlds: Mapping[str, World] = attrs.field(factory=dict[str, World])
    searches: tuple[Any, ...] = ()
    facts: tuple[Any, ...] = ()


def machines(text: str) -> Machines:
    """The one table `MODULE:NAME`, or all of `MODULE`. Modules are imported for it. NotNamed where there is none."""
    module = _module(text)
    home = _home(module, text)
    if ":" in text:
        return _machines((value(text, _is_table, "a table"),), [home], text)
    places = list(_all(module, text)) if home is module and not hasattr(home, "TABLES") else [home]
    found = tuple(dict.fromkeys(table for place in places for table in _tables(place, text)))
    if not found:
        raise NotNamed(f"{text}: expected a module that holds tables, found none{_where(module)}")
    return _machines(found, places, text)


def _machines(tables: tuple[AnyTable, ...], places: list[ModuleType], text: str) -> Machines:
    inside = with_inner(tables)
    # One table alone is named: what the module says of its others is not meant, and no mistake.
    known = with_inner((*tables, *(held for place in places for held in vars(place).values() if _is_table(held))))
    samples, worlds = _samples(places, text), _worlds(places, text)
    for name, offered in (("SAMPLES", samples), ("WORLDS", worlds)):
        if strange := [one for one in offered if one not in {table.name for table in known}]:
            names = ", ".join(dict.fromkeys(table.name for table in known))
            raise NotNamed(f"{text}: {name}: found {strange[0]!r}, expected the name of a table: {names}")
    searches, facts = _listed(places, "SEARCHES", text), _listed(places, "FACTS", text)
    for name, some in (("SEARCHES", searches), ("FACTS", facts)):
        if others := [one.table.name for one in some if one.table not in known]:
            raise NotNamed(f"{text}: {name}: found one of a table {others[0]!r} that is none of this module's own")
    return Machines(
        tables,
        samples,
        _assumed(places, text),
        worlds,
        tuple(one for one in searches if one.table in inside),
        tuple(one for one in facts if one.table in inside),
    )


def value(text: str, fits: Callable[[object], bool], what: str) -> Any:
    """The value that `MODULE:NAME` names. NotNamed where there is none, or it is not `what`."""
    name = text.partition(":")[2]
    if not name:
        raise NotNamed(f"{text!r}: expected MODULE:NAME of {what}")
    module = _module(text)
    places = dict.fromkeys((_home(module, text), module))
    found = [held for place in places if (held := getattr(place, name, None)) is not None]
    for held in found:
        if fits(held):
            return held
    kind = type(found[0]).__name__ if found else "nothing of that name"
    known = ", ".join(name for place in places for name, held in vars(place).items() if fits(held)) or "none"
    raise NotNamed(f"{text}: expected {what}, found {kind}; it has {known}{_where(next(iter(places)))}")


def _module(text: str) -> ModuleType:
    name, colon, attribute = text.partition(":")
    if not name or name.startswith(".") or (colon and not attribute):
        raise NotNamed(f"{text!r}: expected MODULE or MODULE:NAME")
    return _imported(name, text)


def _imported(name: str, text: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:  # what a user's module raises as it is imported is for that user to read
        top = sys.modules.get(name.partition(".")[0])
        where = "" if top is None else _where(top)
        raise NotNamed(f"{text}: cannot import {name!r} ({type(error).__name__}: {error}){where}") from error


def _home(module: ModuleType, text: str) -> ModuleType:
    """Where a module keeps its tables: a package that offers none itself, in its module `tables`."""
    name = f"{module.__name__}.tables"
    if hasattr(module, "__path__") and not hasattr(module, "TABLES") and find_spec(name) is not None:
        return _imported(name, text)
    return module


def _all(module: ModuleType, text: str) -> Iterator[ModuleType]:
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}.", onerror=_ignored):
        if not found.name.endswith(".__main__"):  # importing it would run it
            yield _imported(found.name, text)


def _ignored(name: str) -> None:
    """A package that cannot be imported: `_imported` says so when its turn comes."""


def _tables(module: ModuleType, text: str) -> Iterator[AnyTable]:
    offered = _offered(module, "TABLES", tuple(vars(module).values()), _is_iterable, "a list of tables", text)
    return (held for held in offered if _is_table(held))


def _is_table(value: object) -> TypeGuard[AnyTable]:
    return isinstance(value, Table)


def _samples(modules: Iterable[ModuleType], text: str) -> Mapping[str, Any]:
    offered = [_offered(module, "SAMPLES", {}, _is_mapping, "runs by the names of tables", text) for module in modules]
    return {name: run for one in offered for name, run in one.items()}


def _worlds(modules: Iterable[ModuleType], text: str) -> Mapping[str, World]:
    offered = [_offered(one, "WORLDS", {}, _are_worlds, "Worlds by the names of tables", text) for one in modules]
    return {name: world for one in offered for name, world in one.items()}


def _assumed(modules: Iterable[ModuleType], text: str) -> tuple[str, ...]:
    offered = [_offered(module, "ASSUMED", (), _are_texts, "a list of texts", text) for module in modules]
    return tuple(dict.fromkeys(line for one in offered for line in one))


def _listed(modules: Iterable[ModuleType], name: str, text: str) -> tuple[Any, ...]:
    """What the modules offer as a list of values about tables."""
    expected = f"a list of {name.lower()}, each with its table or as a text MODULE:NAME"
    offered = [_offered(module, name, (), _are_of_tables, expected, text) for module in modules]
    return tuple(dict.fromkeys(_elsewhere(one, name, text) for some in offered for one in some))


def _elsewhere(one: Any, name: str, text: str) -> Any:
    """The value itself, or the one that a text names."""
    if not isinstance(one, str):
        return one
    try:
        return value(one, _is_of_table, f"one of {name}, with its table")
    except NotNamed as error:
        raise NotNamed(f"{text}: {name}: {error}") from error


def _offered(
    module: ModuleType, name: str, default: Any, fits: Callable[[object], bool], expected: str, text: str
) -> Any:
    """What a module offers under one of the names above, or the default."""
    found: Any = getattr(module, name, default)
    if not fits(found):
        raise NotNamed(f"{text}: {name}: expected {expected}, found {type(found).__name__}{_where(module)}")
    return found


def _is_iterable(value: object) -> bool:
    return isinstance(value, Iterable)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _are_worlds(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, World) for one in value.values())  # pyright: ignore[reportUnknownVariableType]


def _are_of_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) or _is_of_table(one) for one in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _is_of_table(value: object) -> bool:
    return _is_table(getattr(value, "table", None))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(line, str) for line in value)  # pyright: ignore[reportUnknownVariableType]


def _where(module: ModuleType) -> str:
    """Which file was looked at, and whether its package hides the one of that name that belongs to us."""
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    hides = top.__name__ == OURS and not hasattr(top, "__statecraft__")
    looked = f"; looked in {getattr(module, '__file__', None) or _folder(module)}"
    return looked + (f"; the folder {_folder(top)} hides statecraft's own {OURS}" if hides else "")


def _folder(module: ModuleType) -> str:
    """Where a package lies; of a single file, that file."""
    return ", ".join(getattr(module, "__path__", ())) or str(getattr(module, "__file__", "no file"))
