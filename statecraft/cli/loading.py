"""Which machines a verb speaks of: named as MODULE (all its tables) or MODULE:NAME (one of them)."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

import attrs

from ..table import Table
from .running import BadInput

AnyTable = Table[Any, Any, Any, Any]


@attrs.frozen
class Machines:
    """Tables to draw or to prove, and for each that needs it a run from which budgets take their size."""

    tables: tuple[AnyTable, ...]
    samples: Mapping[str, Any] = attrs.field(factory=dict[str, Any])


def load(target: str) -> Machines:
    """The machines that `target` names. Raises `BadInput`.

    A module offers its machines as `TABLES`, with `SAMPLES` (a run for each name of a table) where budgets depend on
    the run; of a package, its module `tables` is asked; else every table that the module holds is taken.
    """
    module_name, _, name = target.partition(":")
    if not module_name or (":" in target and not name):
        raise BadInput(f"{target!r} names no machine: expected MODULE or MODULE:TABLE")
    module = _module(module_name)
    samples: Mapping[str, Any] = getattr(module, "SAMPLES", {})
    if name:
        found = getattr(module, name, None)
        if not is_table(found):
            known = ", ".join(sorted(n for n, v in vars(module).items() if is_table(v))) or "no table at all"
            raise BadInput(f"{target}: {module_name} has no table {name}; it has {known}")
        return Machines((found,), samples)
    listed = getattr(module, "TABLES", None)
    tables = tuple(listed) if listed is not None else tuple(v for v in vars(module).values() if is_table(v))
    if not tables:
        raise BadInput(f"{target}: the module holds no table")
    return Machines(tables, samples)


def load_value(target: str, fits: Callable[[object], bool], what: str) -> Any:
    """The value that MODULE:NAME names. Raises `BadInput` where there is none, or it is not `what`."""
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise BadInput(f"{target!r}: expected MODULE:NAME of {what}")
    value = getattr(_module(module_name), name, None)
    if not fits(value):
        raise BadInput(f"{target}: {type(value).__name__} found, expected {what}")
    return value


def is_table(value: object) -> TypeGuard[AnyTable]:
    """Whether the value is a table."""
    return isinstance(value, Table)


def _module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # a user's own modules lie where the command is given
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise BadInput(f"{name}: there is no module {error.name!r} here") from error
    except Exception as error:
        raise BadInput(f"{name}: importing it raised {type(error).__name__}: {error}") from error
    if hasattr(module, "__path__") and not hasattr(module, "TABLES"):
        inside = importlib.util.find_spec(f"{name}.tables")
        if inside is not None:
            return importlib.import_module(f"{name}.tables")
    return module
