"""`check`: the proofs of the tables that are named; what a user's own functions raise on the way is bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..proofs import NeedsRun, Report, prove
from .loading import AnyTable, load
from .running import BadInput


def proved(target: str) -> Report:
    """What is proved of MODULE or MODULE:NAME. Raises `BadInput`."""
    machines = load(target)
    for table in machines.tables:
        _asked(target, table, machines.samples.get(table.name))
    try:
        return prove(machines.tables, machines.samples, machines.assumed)
    except NeedsRun as error:
        raise BadInput(f"{target}: {error}") from error


def _asked(target: str, table: AnyTable, run: Any) -> None:
    """Ask once for every size that depends on the sample run, so that a function that cannot give it is named."""
    if run is None:
        return
    where = f"{target}: table {table.name}"
    _answer(f"{where}: at", table.at, run)
    for budget, size in table.budgets.items():
        if callable(size):
            full = _answer(f"{where}: the size of {budget.value}", size, run)
            if full is not None and not isinstance(full, int):
                raise BadInput(f"{where}: the size of {budget.value}: found {full!r}, expected a whole number or None")
    for held in table.inners:
        if callable(held.most):
            _answer(f"{where}: most of {held.name}", held.most, run)
        if held.fresh is not None:
            _asked(target, held.table, _answer(f"{where}: fresh of {held.name}", held.fresh, run))


def _answer(what: str, ask: Callable[[Any], Any], run: Any) -> Any:
    try:
        return ask(run)
    except Exception as error:
        raise BadInput(f"{what} raised {type(error).__name__}: {error} on the sample run") from error
