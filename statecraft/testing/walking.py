"""Any table walked at random by hypothesis, and what has to hold at every step.

At every step what `holding` names holds, and whatever laws the caller has, which are those of the proofs. Where a run
has ended, or no row leads anywhere else, another run begins, so one walk may be of several runs.

A walk that fails is made as short as hypothesis can; then every event is left out without which it fails too, unless a
function of the caller's says which events a run can meet: then none may be left out before another. It is shown as a
script that can be pasted into a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import attrs
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from ..heard import AnyTable
from ..proofs import Law, Taken
from ..step import Answer
from ..table import Table
from .holding import Flaw, asked, checked, remembered
from .scripts import script
from .shortest import without_needless
from .strategies import events_by_type, is_strategy

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")

Sends = st.SearchStrategy[E] | Callable[[R], st.SearchStrategy[E]] | Mapping[Any, Any] | None

LIKELY = 4  # of so many events one may be rare, or any of the alphabet; the others have a row where the run stands


class Broken(AssertionError):
    """Something that has to hold does not; shown with the last step and a script of the walk."""

    def __init__(self, what: str, write: Callable[[], tuple[Flaw, str]]) -> None:
        self.what = what
        self._write, self._shown = write, ""
        super().__init__(what)

    def __str__(self) -> str:  # only what is shown at last is written: many longer walks are tried before
        if not self._shown:
            flaw, text = self._write()
            self._shown = "\n".join([flaw.what, *flaw.lines, "", "As a test:", "", text])
        return self._shown


@attrs.frozen(eq=False)
class _Likely:
    """What `likely` answers: any event may come of it at any run, as a function of a caller's does not promise."""

    table: AnyTable
    by_state: Mapping[Any, st.SearchStrategy[Any]]

    def __call__(self, run: Any) -> st.SearchStrategy[Any]:
        return self.by_state[self.table.at(run)]


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
    return _Likely(table, by_state)


def _mostly(of: int, often: st.SearchStrategy[E], seldom: st.SearchStrategy[E]) -> st.SearchStrategy[E]:
    """The second one once in so many; `one_of` knows no weights, and takes once what it is given several times."""
    return st.integers(1, of).flatmap(lambda number: seldom if number == of else often)


def machine_of(
    table: Table[R, Any, E, C],
    start: R | st.SearchStrategy[R],
    events: Sends[Any, Any] = None,
    laws: Iterable[Law[Taken[R, E]]] = (),
    hear: Callable[[E, Answer[R, C]], None] | None = None,
    began: Callable[[R], None] | None = None,
) -> type[RuleBasedStateMachine]:
    """A hypothesis state machine that walks the table; its `TestCase` is a test.

    `start` is a run or a strategy of runs. `events` is a strategy, a function of the run that gives one, or what is to
    be drawn for types and fields (see `likely`). `hear` is told every event and its answer, `began` every run as its
    first event comes: one walk may begin several.
    """
    starts: Any = start if is_strategy(start) else st.just(start)
    sends = _sends(table, events)
    anywhere = is_strategy(events) or not callable(events) or isinstance(events, _Likely)
    held = tuple(laws)
    leads_on = {source for row in table.rows for source in row.sources if row.target is not source}
    over = {state for state in table.states if state not in leads_on}

    class Walk(RuleBasedStateMachine):
        @initialize(run=starts)
        def begin(self, run: R) -> None:
            self.first = self.now = run
            self.happened: list[E] = []
            self.memory = remembered(held)
            self.over = False

        @rule(data=st.data())
        def step(self, data: st.DataObject) -> None:
            if self.over:
                self.begin(data.draw(starts))
            event = data.draw(sends(self.now))
            if began is not None and not self.happened:
                began(self.now)
            self.happened.append(event)
            answer: Answer[R, C] = self.holds(checked(table, self.now, event))
            if hear is not None:
                hear(event, answer)
            self.memory = self.holds(asked(table, held, self.memory, self.now, event, answer))
            self.now = answer.run
            self.over = table.at(self.now) in over
            if table.at(self.now) in table.final:
                self.happened.append(event)
                self.holds(checked(table, self.now, event))

        def holds(self, found: Any) -> Any:
            """What was found, unless it is a flaw."""
            if isinstance(found, Flaw):
                raise _broken(table, self.first, self.happened, found, anywhere=anywhere) from found.fault
            return found

    Walk.__name__ = Walk.__qualname__ = f"Walk_{table.name}"
    return Walk


def _sends(table: AnyTable, events: Any) -> Callable[[Any], st.SearchStrategy[Any]]:
    if is_strategy(events):
        return lambda run: events
    sends: Any = events if callable(events) else likely(table, events)
    return lambda run: sends(run)


def _broken(table: AnyTable, first: Any, events: Sequence[Any], flaw: Flaw, *, anywhere: bool) -> Broken:
    played = tuple(events)

    def write() -> tuple[Flaw, str]:
        left, then = without_needless(table, first, played, flaw) if anywhere else (played, flaw)
        because = then.what.partition("\n")[0]  # pytest adds to the words of an assert what it has seen of it
        return then, script(table, first, left, name="test_walk", because=because, law=then.law, fails=True)

    return Broken(flaw.what, write)
