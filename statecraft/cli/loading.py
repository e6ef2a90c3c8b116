"""What the words of a command line name (see `statecraft.named`); a user's own modules lie where it is given."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

from ..heard import AnyTable
from ..named import Machines, NotNamed, machines, value
from .running import BadInput

__all__ = ["AnyTable", "Machines", "load", "load_value"]


def load(target: str) -> Machines:
    """The machines that MODULE or MODULE:NAME names. Raises `BadInput`."""
    with _here(target):
        return machines(target)


def load_value(target: str, fits: Callable[[object], bool], what: str) -> Any:
    """The value that MODULE:NAME names. Raises `BadInput` where there is none, or it is not `what`."""
    with _here(target):
        return value(target, fits, what)


@contextmanager
def _here(target: str) -> Generator[None]:
    if hint := _of_path(target):
        raise BadInput(f"{target}: found a path, expected MODULE or MODULE:NAME{hint}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        yield
    except NotNamed as error:
        raise BadInput(str(error)) from error
    except SystemExit as error:
        raise BadInput(f"{target}: its module ends the program as it is imported; expected one that can be") from error


def _of_path(target: str) -> str:
    """What to say of a target that is a path: the module that the path may have meant. Empty where it is none."""
    path, colon, name = target.partition(":")
    if "/" not in path and not path.endswith(".py"):
        return ""
    parts = PurePath(path.removesuffix(".py")).parts
    if not parts or not all(part.isidentifier() for part in parts):
        return " of a module that Python finds from here"
    return f", for example {'.'.join(parts)}{colon}{name}"
