"""A machine as one literal value.

The rules, which a `Table` checks when it is built (`BadTable` names the row and the reason):

* All rows stand in one list, in the order in which they are tried; the first whose guards hold is taken.
* Every state that is not final has, for every event of the alphabet, a row, or says on purpose that it ignores or
  refuses the event. Final states have no rows; they refuse everything.
* Two rows of one cell may both hold only if the later one is the plain rest of the earlier (its guards are some of the
  earlier's), or if the cell is marked `ordered`, with the reason.
* A row declares the commands that its effect may ask for, the budget or inner machine that it spends, and what it
  refills. The table pays, not the effect, and adds the guard that paying needs.

An inner machine lives inside the run of an outer one. While the outer is in one of the states `during`, an event for
which the inner has a row goes to the inner first; then the outer's row is chosen, and its guards see the inner after
its step. If the outer takes no row, neither step happened. A row that spends the inner machine fires while that is
still open after its step; so an outer machine goes round at most as often as the inner can.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Generic, TypeVar

import attrs

from ._checks import BadTable, check
from ._engine import Asked, Engine, Wire
from .guards import Question, name_of
from .step import Answer, Fault, Ignored, Refused, Step, Unhandled

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")
B = TypeVar("B", bound=Enum)
S = TypeVar("S", bound=Enum)
IR = TypeVar("IR")
IE = TypeVar("IE")
IS = TypeVar("IS", bound=Enum)

__all__ = ["BadTable", "Entry", "Inner", "Mark", "Row", "Rows", "Table", "ignore", "inner", "ordered", "refuse"]


@attrs.frozen(eq=False)
class Row(Generic[R, S, C]):
    """One allowed transition. Made by `Rows`, which knows the machine's types."""

    sources: tuple[S, ...]
    event: type[Any]
    target: S
    effect: Callable[[R, Any], tuple[R, Sequence[C]]]
    guards: tuple[Question[R, Any], ...]
    asks: frozenset[type[Any]]
    spends: Payable[R, S, C] | None
    refills: frozenset[Payable[R, S, C]]

    def __str__(self) -> str:
        sources = "|".join(s.name for s in self.sources)
        return f"{sources} {self.event.__name__} -> {self.target.name}"


class Rows(Generic[R, S, C]):
    """What all rows of one machine share, bound once: only the event is left to infer.

    (A free function would let a type checker take another machine's state as a target.)
    """

    def __call__(
        self,
        source: S | Iterable[S],
        event: type[E],
        target: S,
        effect: Callable[[R, E], tuple[R, Sequence[C]]],
        *guards: Question[R, E],
        asks: Iterable[type[C]] = (),
        spends: Payable[R, S, C] | None = None,
        refills: Iterable[Payable[R, S, C]] = (),
    ) -> Row[R, S, C]:
        """A row: from `source` (one state or several), on `event`, to `target`, where every guard holds."""
        sources = (source,) if isinstance(source, Enum) else tuple(source)
        return Row(sources, event, target, effect, guards, frozenset(asks), spends, frozenset(refills))

    def stay(
        self,
        states: Iterable[S],
        event: type[E],
        effect: Callable[[R, E], tuple[R, Sequence[C]]],
        *guards: Question[R, E],
        asks: Iterable[type[C]] = (),
    ) -> tuple[Row[R, S, C], ...]:
        """One row for each of `states`, that leaves the machine where it is."""
        return tuple(self(state, event, state, effect, *guards, asks=asks) for state in states)


@attrs.frozen
class Mark(Generic[S]):
    """Something said of cells on purpose: `ignore`, `refuse` or `ordered`, and why."""

    how: str
    states: tuple[S, ...]
    events: tuple[type[Any], ...]
    why: str


def ignore(states: Iterable[S], events: Iterable[type[Any]], why: str) -> Mark[S]:
    """In these states these events mean nothing, and that is meant."""
    return Mark("ignore", tuple(states), tuple(events), why)


def refuse(states: Iterable[S], events: Iterable[type[Any]], why: str) -> Mark[S]:
    """In these states these events are not allowed, and whoever sends one is told why."""
    return Mark("refuse", tuple(states), tuple(events), why)


def ordered(states: Iterable[S], events: Iterable[type[Any]], why: str) -> Mark[S]:
    """In these cells several rows may hold at once; their order is the rule, for the reason given."""
    return Mark("ordered", tuple(states), tuple(events), why)


Entry = Row[R, S, C] | Mark[S] | Iterable[Row[R, S, C]]


@attrs.frozen(eq=False)
class Inner(Generic[R, S, C]):
    """A machine inside a machine; made by `inner`."""

    table: Table[Any, Any, Any, C]
    during: frozenset[S]
    get: Callable[[R, Any], Any]
    put: Callable[[R, Any, Any], R]
    most: int | Callable[[R], int]
    fresh: Callable[[R], Any] | None

    @property
    def name(self) -> str:
        """The name of its table."""
        return self.table.name


Payable = Enum | Inner[R, S, C]


def inner(
    table: Table[IR, IS, IE, C],
    *,
    during: Iterable[S],
    get: Callable[[R, IE], IR | None],
    put: Callable[[R, IE, IR], R],
    most: int | Callable[[R], int] = 1,
    fresh: Callable[[R], IR] | None = None,
) -> Inner[R, S, C]:
    """The table as an inner machine of another.

    `get` finds the inner run that the event is for (None: there is none), `put` stores it after its step. `most` is how
    many live at once, `fresh` one as it begins: the proofs need it where the inner machine's budgets depend on its run.
    """
    return Inner(table, frozenset(during), get, put, most, fresh)


_NONE: frozenset[int] = frozenset()
_EMPTY: Mapping[Any, Any] = {}


class Table(Generic[R, S, E, C]):
    """All rows of a machine. Immutable once built; `step` is a pure function of its arguments.

    `at` and `move` read and set the state of a run; `purse` and `pay` what is left of its budgets. `budgets` gives each
    budget's full size, a number or a function of the run (None: without limit, which no proof accepts).
    """

    def __init__(
        self,
        name: str,
        rows: Iterable[Entry[R, S, C]],
        *,
        events: Sequence[type[E]],
        initial: S,
        final: Iterable[S],
        at: Callable[[R], S],
        move: Callable[[R, S], R],
        budgets: Mapping[B, int | Callable[[R], int | None]] | None = None,
        purse: Callable[[R], Mapping[B, int | None]] | None = None,
        pay: Callable[[R, Mapping[B, int | None]], R] | None = None,
        inners: Iterable[Inner[R, S, C]] = (),
    ) -> None:
        entries = list(rows)
        self.name = name
        self.rows: tuple[Row[R, S, C], ...] = tuple(_flat(entries))
        self.marks: tuple[Mark[S], ...] = tuple(e for e in entries if isinstance(e, Mark))
        self.events: tuple[type[E], ...] = tuple(events)
        self.initial = initial
        self.states: tuple[S, ...] = tuple(type(initial))
        self.final: frozenset[S] = frozenset(final)
        self.at, self.move = at, move
        # A copy by hand: a mapping of one enum's members is not, to a type checker, a mapping of enum members.
        self.budgets: dict[Enum, int | Callable[[R], int | None]] = {}
        for budget, size in (budgets or {}).items():
            self.budgets[budget] = size
        self._purse: Callable[[R], Mapping[Any, int | None]] | None = purse
        self._pay: Callable[[R, Mapping[Any, int | None]], R] | None = pay
        self.inners: tuple[Inner[R, S, C], ...] = tuple(inners)
        check(self)
        self._cells: dict[type[Any], dict[S, str]] = {}
        for row in self.rows:
            for source in row.sources:
                self._cells.setdefault(row.event, {})[source] = source.name
        # Only what some row spends bounds anything, so only that must not be begun again behind the table's back.
        self._spent = tuple(i for i in self.inners if any(row.spends is i for row in self.rows))
        self._quiet = {
            (m.how, s, e): m.why for m in self.marks if m.how != "ordered" for s in m.states for e in m.events
        }
        self._engine = Engine(name, [s.name for s in self.states], initial.name, list(_wires(self)))
        self._names = {event: event.__name__ for event in self.events}

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self.states)} states, {len(self.rows)} rows>"

    def cell(self, state: S, event: type[Any]) -> tuple[int, ...]:
        """The numbers of the rows for `event` in `state`, in the order in which they are tried."""
        return tuple(n for n, row in enumerate(self.rows) if row.event is event and state in row.sources)

    def knows(self, state: S, event: type[Any]) -> bool:
        """Whether the cell has a row."""
        return state in self._cells.get(event, _EMPTY)

    def full(self, run: R) -> dict[Enum, int | None]:
        """The purse of a run with every budget full."""
        return {b: size(run) if callable(size) else size for b, size in self.budgets.items()}

    def left(self, run: R) -> Mapping[Any, int | None]:
        """What is left of the run's budgets (None: without limit)."""
        return _EMPTY if self._purse is None else self._purse(run)

    @property
    def digest(self) -> str:
        """SHA-256 of all names in the table, in hex: it changes with a row, not with the body of a guard."""
        return hashlib.sha256("\n".join(self.listing).encode()).hexdigest()

    @property
    def listing(self) -> tuple[str, ...]:
        """All names in the table, one line a row, budget, mark and inner machine: what the digest covers."""
        return tuple(_names(self))

    def step(self, run: R, event: E) -> Answer[R, C]:
        """What `event` does to `run`. Raises `Fault` where the machine itself is wrong; `run` is never changed."""
        state = self.at(run)
        kind = type(event)
        cells = self._cells.get(kind)
        if cells is None or state not in cells:
            return self._answer_without_rows(run, state, kind)
        before = run
        run, inside, asked_inside, opened = (
            self._step_inside(run, state, event) if self.inners else (run, (), (), _NONE)
        )
        purse = _EMPTY if self._purse is None else self._purse(run)
        asked = Asked(cells[state], run, event, opened, purse)
        self._engine.ask(self._names[kind], asked)
        answers = tuple(asked.answers.values())
        if asked.row < 0:
            return Refused(before, answers, inside, self.name, state)
        row = self.rows[asked.row]
        after, commands = self._effect(asked.row, row, run, event, answers)
        if row.spends is not None or row.refills:
            after = self._settle(row, after, purse)
        if row.target is not state:
            after = self.move(after, row.target)
        return Step(after, (*asked_inside, *commands), asked.row, answers, inside, self.name, state, row.target)

    def _effect(
        self, number: int, row: Row[R, S, C], run: R, event: E, answers: tuple[Any, ...]
    ) -> tuple[R, tuple[C, ...]]:
        """Run the effect and hold it to what its row declares."""
        try:
            after, listed = row.effect(run, event)
            commands = tuple(listed)
        except Exception as error:
            problem = f"raised {type(error).__name__}: {error}"
            raise Fault(self.name, number, name_of(row.effect), problem, answers) from error
        problem = ""
        for command in commands:
            if type(command) not in row.asks:
                problem = f"asks for {type(command).__name__}, which the row does not declare"
        if after is not run:
            if self.at(after) is not self.at(run):
                problem = "changes the state, which is the row's to change"
            elif self._purse is not None and not _same(self._purse(after), self._purse(run)):
                problem = "changes the purse, which is the table's to pay from"
            else:
                for held in self._spent:
                    if held not in row.refills and not _kept(held, run, after, event):
                        problem = f"changes the inner machine {held.name} without refilling it"
        if problem:
            raise Fault(self.name, number, name_of(row.effect), problem, answers)
        return after, commands

    def _settle(self, row: Row[R, S, C], run: R, purse: Mapping[Any, int | None]) -> R:
        left = dict(purse)
        if isinstance(row.spends, Enum) and (had := left[row.spends]) is not None:
            left[row.spends] = had - 1
        for refilled in row.refills:
            if isinstance(refilled, Enum):
                size = self.budgets[refilled]
                left[refilled] = size(run) if callable(size) else size
        return run if self._pay is None or left == purse else self._pay(run, left)

    def _step_inside(
        self, run: R, state: S, event: E
    ) -> tuple[R, tuple[Answer[Any, C], ...], tuple[C, ...], frozenset[int]]:
        inside: tuple[Answer[Any, C], ...] = ()
        commands: tuple[C, ...] = ()
        opened = _NONE
        for held in self.inners:
            if state not in held.during or type(event) not in held.table.events:
                continue
            kid = held.get(run, event)
            if kid is None or not held.table.knows(held.table.at(kid), type(event)):
                continue
            answer = held.table.step(kid, event)
            inside = (*inside, answer)
            if isinstance(answer, Step):
                commands = (*commands, *answer.commands)
                run = held.put(run, event, answer.run)
                if answer.target not in held.table.final:
                    opened |= {id(held)}
        return run, inside, commands, opened

    def _answer_without_rows(self, run: R, state: S, kind: type[Any]) -> Answer[R, C]:
        if kind not in self._names:
            return Unhandled(run, self.name, state, kind.__name__)
        if state in self.final:
            return Refused(run, (), (), self.name, state, why=f"the run has ended: {state.name}")
        if (why := self._quiet.get(("ignore", state, kind))) is not None:
            return Ignored(run, self.name, state, why)
        return Refused(run, (), (), self.name, state, why=self._quiet[("refuse", state, kind)])


def _flat(entries: Sequence[Any]) -> Iterable[Any]:
    for entry in entries:
        if isinstance(entry, Row):
            yield entry
        elif not isinstance(entry, Mark):
            yield from entry


def _wires(table: Table[Any, Any, Any, Any]) -> Iterable[Wire]:
    for number, row in enumerate(table.rows):
        for source in row.sources:
            yield Wire(number, source.name, row.event.__name__, row.target.name, row.guards, row.spends)


def _same(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
    return one is other or one == other


def _kept(held: Inner[Any, Any, Any], run: Any, after: Any, event: Any) -> bool:
    """Whether the effect left the inner machine alone. Its lens can be asked only with an event that it knows."""
    if type(event) not in held.table.events:
        return True
    kid = held.get(after, event)
    return kid is None or kid == held.get(run, event)


def _names(table: Table[Any, Any, Any, Any]) -> Iterable[str]:
    yield f"table {table.name}"
    yield f"states {' '.join(s.name for s in table.states)} initial {table.initial.name}"
    yield f"final {' '.join(sorted(s.name for s in table.final))}"
    yield f"events {' '.join(e.__name__ for e in table.events)}"
    for budget, size in table.budgets.items():
        yield f"budget {budget.value} {name_of(size) if callable(size) else size}"
    for row in table.rows:
        guards = ", ".join(name_of(g) for g in row.guards)
        asks = " ".join(sorted(a.__name__ for a in row.asks))
        yield f"row {row} [{guards}] {name_of(row.effect)} / {asks} {_money(row)}"
    for mark in table.marks:
        yield f"{mark.how} {' '.join(s.name for s in mark.states)} on {' '.join(e.__name__ for e in mark.events)}"
    for held in table.inners:
        yield f"inner {held.name} during {' '.join(sorted(s.name for s in held.during))} {held.table.digest}"


def _money(row: Row[Any, Any, Any]) -> str:
    def called(what: Any) -> str:
        return str(what.value if isinstance(what, Enum) else what.name)

    spends = f"spends {called(row.spends)} " if row.spends is not None else ""
    return spends + (f"refills {' '.join(sorted(map(called, row.refills)))}" if row.refills else "")
