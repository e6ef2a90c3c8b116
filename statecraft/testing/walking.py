"""Any table walked at random by hypothesis, and what has to hold at every step.

At every step: no `Fault`; the given run is as it was; no budget above full or below nothing; a final state refuses
everything; and whatever laws the caller has, which are those of the proofs. Where a run has ended, or no row leads
anywhere else, another run begins.

A walk that fails is made as short as hypothesis can, and is shown as a script that can be pasted into a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from ..heard import AnyTable
from ..proofs import Law, Taken
from ..step import Answer, Fault, Refused, Step
from ..table import Table
from .scripts import script
from .strategies import events_by_type, is_strategy
from .telling import told, told_fault

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")

Sends = st.SearchStrategy[E] | Callable[[R], st.SearchStrategy[E]] | Mapping[Any, Any] | None

LIKELY = 4  # of so many events one may be rare, or any of the alphabet; the others have a row where the run stands


class Broken(AssertionError):
    """Something that has to hold does not; shown with the last step and a script of the walk."""

    def __init__(self, what: str, lines: Sequence[str], write: Callable[[], str]) -> None:
        self.what = what
        self._lines, self._write = lines, write
        super().__init__(what)

    def __str__(self) -> str:  # only what is shown at last is written: many longer walks are tried before
        return "\n".join([self.what, *self._lines, "", "As a test:", "", self._write()])


def likely(
    table: Table[R, Any, E, Any],
    overrides: Mapping[Any, Any] | None = None,
    *,
    rare: Iterable[type[E]] = (),
    **fields: Any,
) -> Callable[[R], st.SearchStrategy[E]]:
    """Events for a run: mostly of a kind for which there is a row where it stands, and any at any time.

    The kinds `rare` are seldom sent: what ends a run at once, or leaves it as it is, keeps a walk from going far. What
    is drawn for the fields can be said as for `strategies.events`.
    """
    seldom = tuple(rare)
    kinds = events_by_type(table, overrides, **fields)
    anything = st.one_of(*kinds.values())
    by_state: dict[Any, st.SearchStrategy[E]] = {}
    for state in table.states:
        here = [kind for kind in table.events if table.cell(state, kind)]
        often = [kinds[kind] for kind in here if kind not in seldom]
        some = _mostly(2, st.one_of(*(kinds[kind] for kind in here)), anything) if here else anything
        by_state[state] = _mostly(LIKELY, st.one_of(*often), some) if often else some
    return lambda run: by_state[table.at(run)]


def _mostly(of: int, often: st.SearchStrategy[E], seldom: st.SearchStrategy[E]) -> st.SearchStrategy[E]:
    """The second one once in so many; `one_of` knows no weights, and takes once what it is given several times."""
    return st.integers(1, of).flatmap(lambda number: seldom if number == of else often)


def machine_of(
    table: Table[R, Any, E, C],
    start: R | st.SearchStrategy[R],
    events: Sends[Any, Any] = None,
    laws: Iterable[Law[Taken[R, E]]] = (),
    hear: Callable[[E, Answer[R, C]], None] | None = None,
) -> type[RuleBasedStateMachine]:
    """A hypothesis state machine that walks the table; its `TestCase` is a test.

    `start` is a run or a strategy of runs. `events` is a strategy, a function of the run that gives one, or what is to
    be drawn for types and fields (see `likely`). `hear` is told every event and its answer.
    """
    starts: Any = start if is_strategy(start) else st.just(start)
    sends = _sends(table, events)
    held = tuple(laws)
    leads_on = {source for row in table.rows for source in row.sources if row.target is not source}
    over = {state for state in table.states if state not in leads_on}

    class Walk(RuleBasedStateMachine):
        @initialize(run=starts)
        def begin(self, run: R) -> None:
            self.first = self.now = run
            self.happened: list[E] = []
            self.memory: tuple[Any, ...] = tuple(law.start for law in held)
            self.over = False

        @rule(data=st.data())
        def step(self, data: st.DataObject) -> None:
            if self.over:
                self.begin(data.draw(starts))
            event = data.draw(sends(self.now))
            self.happened.append(event)
            answer = _checked(table, self.first, self.now, self.happened)
            if hear is not None:
                hear(event, answer)
            taken = Taken(self.now, event, answer, answer.run)
            for law, memory in zip(held, self.memory, strict=True):
                if problem := law.broken(taken, memory):
                    raise _broken(
                        table, self.first, self.happened, f"{law.name}: {problem}", told(table, event, answer), law
                    )
            self.memory = tuple(
                memory if law.remember is None else law.remember(memory, taken)
                for law, memory in zip(held, self.memory, strict=True)
            )
            self.now = answer.run
            self.over = table.at(self.now) in over
            if table.at(self.now) in table.final:
                _checked(table, self.first, self.now, [*self.happened, event])

    Walk.__name__ = Walk.__qualname__ = f"Walk_{table.name}"
    return Walk


def _sends(table: AnyTable, events: Any) -> Callable[[Any], st.SearchStrategy[Any]]:
    if is_strategy(events):
        return lambda run: events
    sends: Any = events if callable(events) else likely(table, events)
    return lambda run: sends(run)


def _checked(table: AnyTable, first: Any, run: Any, events: Sequence[Any]) -> Answer[Any, Any]:
    """The answer to the last of the events, with what holds of any machine; raises `Broken`."""
    event, before, state = events[-1], repr(run), table.at(run)
    try:
        answer = table.step(run, event)
    except Fault as fault:
        lines = told_fault(table, run, event, fault)
        raise _broken(table, first, events, f"{table.name} is at fault: {fault}", lines) from fault
    what = ""
    if repr(run) != before:
        what = "the given run was changed"
    elif state in table.final and not isinstance(answer, Refused):
        what = f"{state.name} is final, but does not refuse"
    elif not isinstance(answer, Step) and answer.run is not run:
        what = "no row was taken, but the run is another"
    purse: Mapping[Any, int | None] = table.left(answer.run) if table.budgets else {}
    for budget in table.budgets:
        left, full = purse.get(budget), table.size_of(budget, answer.run)
        if left is not None and not 0 <= left <= (left if full is None else full):
            what = what or f"the purse holds {left} of {budget.value}, expected 0 to {full}"
    if what:
        raise _broken(table, first, events, f"{table.name}: {what}", told(table, event, answer))
    return answer


def _broken(
    table: AnyTable,
    first: Any,
    events: Sequence[Any],
    what: str,
    lines: Sequence[str],
    law: Law[Taken[Any, Any]] | None = None,
) -> Broken:
    played = tuple(events)

    def write() -> str:
        because = what.partition("\n")[0]  # pytest adds to the words of an assert what it has seen of it
        return script(table, first, played, name="test_walk", because=because, law=law, fails=True)

    return Broken(what, lines, write)
