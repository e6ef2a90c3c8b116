"""The options of guard mutation. Every pytest session loads this, so it imports nothing until one of them is used."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..heard import AnyTable

OPTION = "--statecraft-mutate"
SAMPLE, SEED, SECONDS, LIMIT = (f"{OPTION}-{what}" for what in ("sample", "seed", "seconds", "fail-under"))
MOST_SECONDS, FIRST_SEED = 2.0, 0
MADE = (
    "a row removed, two rows in the other order, a guard negated or dropped, a limit moved by one, "
    "the size of a refilled budget"
)
NOT_MADE = "targets, effects, what is spent"


def add_options(parser: pytest.Parser, percentage: Callable[[str], float]) -> None:
    """Add the options."""
    group = parser.getgroup("statecraft-mutation", "guard mutation of state machines")
    group.addoption(
        OPTION,
        action="append",
        nargs="?",
        const="",
        metavar="MODULE[:TABLE]",
        help="when all tests have passed, run them again on each small mistake in the named tables and their inner "
        f"machines, or in all that were stepped, and report what they do not notice; may be given several times. "
        f"Mistakes that are made: {MADE}; in these none: {NOT_MADE}",
    )
    group.addoption(SAMPLE, type=_count, metavar="N", help="try only N mutants, drawn at random")
    group.addoption(SEED, type=int, metavar="S", help=f"from which the sample is drawn ({FIRST_SEED})")
    group.addoption(
        SECONDS,
        type=_seconds,
        metavar="SECONDS",
        help=f"what the tests of one mutant may take ({MOST_SECONDS:g}); the most telling one is run however long",
    )
    group.addoption(LIMIT, type=percentage, metavar="PCT", help="fail if fewer than PCT percent of them were noticed")


def configure(config: pytest.Config, importable: Callable[[Iterable[str]], AbstractContextManager[None]]) -> None:
    """Set the session up for mutation, if asked to. `importable` lets modules be found in folders for a block."""
    named: list[str] | None = config.getoption(OPTION)
    if named is None:
        for option in (SAMPLE, SEED, SECONDS, LIMIT):
            if config.getoption(option) is not None:
                raise pytest.UsageError(f"{option} needs {OPTION}")
        return
    if hasattr(config, "workerinput") or config.getoption("dist", "no") != "no":
        raise pytest.UsageError(f"{OPTION} runs tests in this process: leave out -n and --dist of pytest-xdist")
    names = [name for text in named for name in text.split(",") if name]
    folders = (str(config.invocation_params.dir), str(config.rootpath))

    def look_up() -> tuple[AnyTable, ...]:
        from ..named import NotNamed, machines

        try:
            with importable(folders):
                return tuple(table for name in names for table in machines(name).tables)
        except NotNamed as error:
            raise pytest.UsageError(f"{OPTION}={error}") from error

    from .mutating import configure as begin

    begin(config, names, look_up)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"expected a number from 1, found {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"expected seconds above 0, found {text!r}")
    return number
