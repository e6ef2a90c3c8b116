"""A table of facts, looked at whole: one event is one decision, so every run with every event is every way it can go.

For a machine that decides once (what a message is, say) nothing has to be searched: the owner lists the runs and the
events, with every value that some guard tells from the others, and each pair is stepped once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Generic, TypeVar

import attrs

from ..heard import AnyTable
from ..step import Fault, Step, Unhandled
from .asking import CannotAsk, asked, short, told_apart
from .laws import NO_FAULT, Law, Taken

R = TypeVar("R")
E = TypeVar("E")
T = TypeVar("T")


@attrs.frozen(eq=False)
class Facts(Generic[R, E]):
    """A table with all runs and all events that it may decide on, and what must hold of each decision."""

    table: AnyTable
    runs: Callable[[], Iterable[R]]
    events: Callable[[], Iterable[E]]
    laws: Sequence[Law[Taken[R, E]]] = ()


@attrs.frozen
class Decided:
    """All decisions of a table of facts: how many, by which rows, and of each law that is broken the first that is."""

    table: str
    laws: tuple[Law[Taken[Any, Any]], ...]
    cases: int
    rows: frozenset[int]
    seconds: float
    broken: tuple[tuple[Law[Taken[Any, Any]], str, Taken[Any, Any]], ...]

    @property
    def ok(self) -> bool:
        """No law was broken."""
        return not self.broken


def decide(facts: Facts[R, E], *, clock: Callable[[], float] = time.monotonic) -> Decided:
    """Step every run with every event. Laws that remember are asked with what they remember at first.

    Raises `CannotAsk` where one of the functions raises.
    """
    began = clock()
    laws = (NO_FAULT, *facts.laws)
    where = f"the facts of {facts.table.name}"
    told_apart(where, laws)
    found: dict[str, tuple[Law[Taken[Any, Any]], str, Taken[Any, Any]]] = {}
    rows: set[int] = set()
    cases = 0
    events = asked(f"{where}: events", lambda: list(facts.events()))
    for run in asked(f"{where}: runs", lambda: list(facts.runs())):
        for event in events:
            cases += 1
            step = _decided(facts.table, run, event)
            if isinstance(step.answer, Step):
                rows.add(step.answer.row)
            for law in laws:
                if law.name in found:
                    continue
                try:
                    problem = law.broken(step, law.start)
                except Exception as error:
                    said = f"{short(run)} and {short(event)}, raised {type(error).__name__}: {error}"
                    raise CannotAsk(f"{where}: broken of the law {law.name!r}, asked of {said}") from error
                if problem:
                    found[law.name] = law, str(problem), step
    if not cases:
        raise CannotAsk(f"the facts of {facts.table.name}: found no run or no event, expected one of each at least")
    return Decided(facts.table.name, laws, cases, frozenset(rows), clock() - began, tuple(found.values()))


def each(kind: Callable[..., T], values: Mapping[str, Iterable[Any]]) -> Iterator[T]:
    """Every value that `kind` makes of these, one of each: the fields not named keep their defaults."""
    for chosen in product(*(tuple(some) for some in values.values())):
        yield kind(**dict(zip(values, chosen, strict=True)))


def _decided(table: AnyTable, run: Any, event: Any) -> Taken[Any, Any]:
    try:
        answer = table.step(run, event)
    except Fault as fault:
        return Taken(run, event, fault, run)
    if isinstance(answer, Unhandled):
        known = ", ".join(kind.__name__ for kind in table.events)
        raise CannotAsk(f"the facts of {table.name}: events answers {short(event)}, expected one of {known}")
    return Taken(run, event, answer, answer.run)
