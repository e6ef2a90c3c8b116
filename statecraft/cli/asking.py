"""While a user's own functions are asked: what they print, raise, or end is told as what it is, and how far it is.

What they print is no part of a report. What cannot be asked is bad input, and so is a function that ends the program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rich.console import Console

from ..proofs import CannotAsk, NeedsRun
from .running import BadInput


@contextmanager
def asking(target: str) -> Generator[None]:
    """While the block runs, functions of the target are asked. Raises `BadInput`, which names the target."""
    with redirect_stdout(sys.stderr):
        try:
            yield
        except (CannotAsk, NeedsRun) as error:
            raise BadInput(f"{target}: {error}") from error
        except SystemExit as error:
            raise BadInput(f"{target}: one of its functions ends the program; expected one that answers") from error


@contextmanager
def walking() -> Generator[Callable[[str], None]]:
    """While the block runs, the text that is told last is shown, in a terminal alone."""
    shown = Console(stderr=True)
    if not shown.is_terminal:
        yield lambda text: None
        return
    with shown.status("walking") as status:
        yield status.update


def expect(target: str, name: str, offered: tuple[Any, ...], kind: type[Any]) -> None:
    """Refuse what a module offers under the wrong name. Raises `BadInput`."""
    for one in offered:
        if not isinstance(one, kind):
            raise BadInput(f"{target}: {name}: found {type(one).__name__}, expected a list of {kind.__name__}")
