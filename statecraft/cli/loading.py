"""What the words of a command line name (see `statecraft.named`); a user's own modules lie where it is given."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..heard import AnyTable
from ..named import Machines, NotNamed, machines, value
from .running import BadInput

__all__ = ["AnyTable", "Machines", "load", "load_value"]


def load(target: str) -> Machines:
    """The machines that MODULE or MODULE:NAME names. Raises `BadInput`."""
    with _here():
        return machines(target)


def load_value(target: str, fits: Callable[[object], bool], what: str) -> Any:
    """The value that MODULE:NAME names. Raises `BadInput` where there is none, or it is not `what`."""
    with _here():
        return value(target, fits, what)


@contextmanager
def _here() -> Generator[None]:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        yield
    except NotNamed as error:
        raise BadInput(str(error)) from error
