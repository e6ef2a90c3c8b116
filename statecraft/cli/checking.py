"""`check`: the proofs of the tables that are named; what a user's own functions raise on the way is bad input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..proofs import Facts, Progress, Report, Search, prove
from .asking import asking, expect, walking
from .loading import AnyTable, load
from .running import BadInput
from .searching import Tell, Walked, Walks, walked
from .side_by_side import apart


def found(target: str, states: int, jobs: int = 1) -> Walks:
    """What the walks through MODULE or MODULE:NAME find; how far a search has come is shown in a terminal.

    With more than one of `jobs` so many processes search. Raises `BadInput`.
    """
    with asking(target), walking() as show:
        machines = load(target)
        expect(target, "SEARCHES", machines.searches, Search)
        expect(target, "FACTS", machines.facts, Facts)

        def tell(now: Progress) -> None:
            rate = now.states / now.seconds if now.seconds else 0.0
            show(
                f"from {now.start}: {now.states:,} runs, {now.waiting:,} to be looked at, {now.depth} events deep, "
                f"{rate:,.0f} a second"
            )

        def elsewhere(searches: Sequence[Search[Any, Any]], states: int, tell: Tell | None) -> Iterable[Walked]:
            return apart(target, searches, states, jobs, tell)

        other = elsewhere if jobs > 1 else None
        return walked(machines.tables, machines.searches, machines.facts, states=states, tell=tell, apart=other)


def proved(
    target: str, policy: Path | None = None, changes: Mapping[str, Callable[[Path, Any], Any]] | None = None
) -> Report:
    """What is proved of MODULE or MODULE:NAME. Raises `BadInput`.

    With a `policy`, that of each sample run is changed by the file; `changes` says by the table's name how.
    """
    with asking(target):
        return _proved(target, policy, changes or {})


def _proved(target: str, policy: Path | None, changes: Mapping[str, Callable[[Path, Any], Any]]) -> Report:
    machines = load(target)
    samples = dict(machines.samples)
    if policy is not None:
        named = {name: change for name, change in changes.items() if name in samples}
        tables = [table.name for table in machines.tables]
        if not any(name in tables for name in named):
            raise BadInput(f"--policy: {', '.join(tables)}: no table with a policy that a file could change")
        samples |= {name: change(policy, samples[name]) for name, change in named.items()}
    for table in machines.tables:
        _asked(target, table, samples.get(table.name))
    return prove(machines.tables, samples, machines.assumed, machines.worlds)


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
