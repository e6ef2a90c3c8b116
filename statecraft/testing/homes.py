"""Where a thing can be imported from, and what a script calls it.

A class or a function says so itself; it is believed only where the module really holds this very object. Anything else
(a table) is looked for among the modules that are loaded, and where several hold it, the one that assigns the name in
its source is its home, and those that import it are not.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import attrs

from .layout import WIDTH, bracket, laid_out


@attrs.frozen
class Home:
    """`from module import name`; what is nested in a class goes by a dotted `name`."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


def home_of(value: object) -> Home | None:
    """Where the value can be imported from, or None."""
    said = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(said[0], str) and isinstance(said[1], str):
        home = Home(_real(said[0]), said[1])
        return home if _held(home) is value else None
    return _searched(value)


def _real(module: str) -> str:
    """`python -m shop` calls the module `shop` so that no other can import it by this name."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    return str(spec.name) if module == "__main__" and spec is not None else module


def _held(home: Home) -> object:
    found: Any = sys.modules.get(home.module)
    for name in home.name.split("."):
        found = getattr(found, name, None)
    return found


def _searched(value: object) -> Home | None:
    found = [
        (module, name)
        for called, module in list(sys.modules.items())
        if called != "__main__"
        for name, held in list(getattr(module, "__dict__", {}).items())  # some put other things there
        if held is value and name.isidentifier() and module.__name__ == called
    ]
    ranked = sorted(found, key=lambda one: (not _assigns(*one), one[1].startswith("_"), one[0].__name__, one[1]))
    return Home(ranked[0][0].__name__, ranked[0][1]) if ranked else None


def _assigns(module: ModuleType, name: str) -> bool:
    """Whether the module's own source gives the name its value."""
    try:
        body = ast.parse(inspect.getsource(module)).body
    except (OSError, TypeError, SyntaxError):
        return False
    for statement in body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return True
    return False


class Names:
    """Hands out what a script calls what it imports: the name itself, where it is still free."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._used = {*reserved, *keyword.kwlist, *vars(builtins)}
        self._names: dict[tuple[str, str], str] = {}

    def take(self, home: Home) -> str:
        """The expression that stands for what lies there."""
        top, dot, rest = home.name.partition(".")
        key = home.module, top
        if key not in self._names:
            self._names[key] = self.local(top)
        return f"{self._names[key]}{dot}{rest}"

    def local(self, name: str) -> str:
        """A name for a value of the script itself: this one, or with a number, where it is still free."""
        free, count = name, 1
        while free in self._used:
            count += 1
            free = f"{name}_{count}"
        self._used.add(free)
        return free

    def imports(self) -> tuple[str, ...]:
        """The lines that import all of it, sorted; a blank one parts the standard library from the rest."""
        modules: dict[str, list[str]] = {}
        for (module, name), called in sorted(self._names.items()):
            modules.setdefault(module, []).append(name if name == called else f"{name} as {called}")
        own = [line for module, names in modules.items() if not _of_python(module) for line in _import(module, names)]
        theirs = [line for module, names in modules.items() if _of_python(module) for line in _import(module, names)]
        return (*theirs, *([""] if theirs and own else []), *own)


def _of_python(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _import(module: str, names: Iterable[str]) -> list[str]:
    names = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))  # as Ruff sorts them
    line = f"from {module} import {', '.join(names)}"
    return [line] if len(line) <= WIDTH else laid_out(bracket("(", names, ")"), f"from {module} import ")
