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
from functools import cached_property
from typing import Any, Generic, TypeVar

import attrs

from ._checks import BadTable, check
from ._engine import Engine, Wire
from ._given import COMMAND, EVENT, STATE, TEXT, Kind, Wrong, called, is_list, mapped, one, several
from ._stepping import step
from .guards import Question, name_of
from .step import Answer

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)
B = TypeVar("B", bound=Enum)
S = TypeVar("S", bound=Enum)
IR = TypeVar("IR")
IE = TypeVar("IE")
IS = TypeVar("IS", bound=Enum)

__all__ = ["BadTable", "Entry", "Inner", "Mark", "Row", "Rows", "Table", "ignore", "inner", "ordered", "refuse"]


@attrs.frozen(eq=False)
class Row(Generic[R, S, C_co]):
    """One allowed transition. Made by `Rows`, which knows the machine's types."""

    sources: tuple[S, ...]
    event: type[Any]
    target: S
    effect: Callable[[R, Any], tuple[R, Sequence[C_co]]]
    guards: tuple[Question[R, Any], ...]
    asks: frozenset[type[Any]]
    spends: Payable[R, S, C_co] | None
    refills: frozenset[Payable[R, S, C_co]]
    wrong: Wrong = ()

    def __str__(self) -> str:
        return f"{'|'.join(map(called, self.sources))} {called(self.event)} -> {called(self.target)}"


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
        sources: Any = tuple(source) if is_list(source) else (source,)
        asked, no_asks = several(asks, COMMAND, "asks")
        full, no_refills = several(refills, PAYABLE, "refills")
        no_spends = () if spends is None else one(spends, PAYABLE, "spends")
        paid = None if no_spends else spends
        wrong = (*no_asks, *no_spends, *no_refills)
        return Row(sources, event, target, effect, guards, frozenset(asked), paid, frozenset(full), wrong)

    def stay(
        self,
        states: Iterable[S],
        event: type[E],
        effect: Callable[[R, E], tuple[R, Sequence[C]]],
        *guards: Question[R, E],
        asks: Iterable[type[C]] = (),
        spends: Payable[R, S, C] | None = None,
    ) -> tuple[Row[R, S, C], ...]:
        """One row for each of `states`, that leaves the machine where it is."""
        if not is_list(states):
            _, wrong = several(states, STATE, "states")
            alone: Any = states
            return (attrs.evolve(self(alone, event, alone, effect, *guards, asks=asks, spends=spends), wrong=wrong),)
        return tuple(self(state, event, state, effect, *guards, asks=asks, spends=spends) for state in states)


@attrs.frozen
class Mark(Generic[S]):
    """Something said of cells on purpose: `ignore`, `refuse` or `ordered`, and why."""

    how: str
    states: tuple[S, ...]
    events: tuple[type[Any], ...]
    why: str
    wrong: Wrong = ()


def ignore(states: Iterable[S], events: Iterable[type[Any]], why: str) -> Mark[S]:
    """In these states these events mean nothing, and that is meant."""
    return _mark("ignore", states, events, why)


def refuse(states: Iterable[S], events: Iterable[type[Any]], why: str) -> Mark[S]:
    """In these states these events are not allowed, and whoever sends one is told why."""
    return _mark("refuse", states, events, why)


def ordered(states: Iterable[S], events: Iterable[type[Any]], why: str) -> Mark[S]:
    """In these cells several rows may hold at once; their order is the rule, for the reason given."""
    return _mark("ordered", states, events, why)


def _mark(how: str, states: Iterable[S], events: Iterable[type[Any]], why: str) -> Mark[S]:
    marked, no_states = several(states, STATE, "states")
    kinds, no_events = several(events, EVENT, "events")
    return Mark(how, marked, kinds, why, (*no_states, *no_events, *one(why, TEXT, "why")))


Entry = Row[R, S, C] | Mark[S] | Iterable[Row[R, S, C]]


@attrs.frozen(eq=False)
class Inner(Generic[R, S, C_co]):
    """A machine inside a machine; made by `inner`."""

    table: Table[Any, Any, Any, C_co]
    during: frozenset[S]
    get: Callable[[R, Any], Any]
    put: Callable[[R, Any, Any], R]
    most: int | Callable[[R], int]
    fresh: Callable[[R], Any] | None
    held: Callable[[R], Any] | None = None
    wrong: Wrong = ()

    @property
    def name(self) -> str:
        """The name of its table."""
        return self.table.name


Payable = Enum | Inner[R, S, C]
ROW = Kind(lambda value: isinstance(value, Row), "a row", "rows")
MARK = Kind(lambda value: isinstance(value, Mark), "a mark", "marks")
INNER = Kind(lambda value: isinstance(value, Inner), "an inner machine, made by inner(...)", "inner machines")
PAYABLE = Kind(
    lambda value: isinstance(value, Enum | Inner), "one budget or inner machine", "budgets and inner machines"
)
TABLE = Kind(lambda value: isinstance(value, Table), "a table", "tables")


def inner(
    table: Table[IR, IS, IE, C],
    *,
    during: Iterable[S],
    get: Callable[[R, IE], IR | None],
    put: Callable[[R, IE, IR], R],
    most: int | Callable[[R], int] = 1,
    fresh: Callable[[R], IR] | None = None,
    held: Callable[[R], IR | Mapping[Any, IR] | None] | None = None,
) -> Inner[R, S, C]:
    """The table as an inner machine of another.

    `get` finds the inner run that the event is for (None: there is none), `put` stores it after its step. `most` is how
    many live at once, `fresh` one as it begins: the proofs need it where the inner machine's budgets depend on its run.

    `held` gives the inner run of an outer one, or all of them by name. With it a step sees every effect that begins an
    inner machine again which a row spends; without it only those that the lens of the event shows, and that there are
    no others is an assumption of the proof.
    """
    if no_table := one(table, TABLE, "inner"):
        raise TypeError(*no_table)
    states, wrong = several(during, STATE, "during")
    return Inner(table, frozenset(states), get, put, most, fresh, held, wrong)


def _no_purse(run: object) -> Mapping[Any, int | None]:
    return {}


def _no_pay(run: R, left: Mapping[Any, int | None]) -> R:
    return run


class Table(Generic[R, S, E, C_co]):
    """All rows of a machine. Immutable once built; `step` is a pure function of its arguments.

    `at` and `move` read and set the state of a run; `purse` and `pay` what is left of its budgets. `budgets` gives each
    budget's full size, a number or a function of the run (None: without limit, which no proof accepts).
    """

    def __init__(
        self,
        name: str,
        rows: Iterable[Entry[R, S, C_co]],
        *,
        events: Sequence[type[E]],
        initial: S,
        final: Iterable[S],
        at: Callable[[R], S],
        move: Callable[[R, S], R],
        budgets: Mapping[B, int | Callable[[R], int | None] | None] | None = None,
        purse: Callable[[R], Mapping[B, int | None]] | None = None,
        pay: Callable[[R, Mapping[B, int | None]], R] | None = None,
        inners: Iterable[Inner[R, S, C_co]] = (),
    ) -> None:
        made, marks, no_rows = _taken(rows)
        kinds, no_events = several(events, EVENT, "events")
        ends, no_ends = several(final, STATE, "final")
        kids, no_kids = several(inners, INNER, "inners")
        sizes, no_sizes = mapped(budgets or {}, "budgets")
        self.name = name
        self.rows: tuple[Row[R, S, C_co], ...] = made
        self.marks: tuple[Mark[S], ...] = marks
        self.events: tuple[type[E], ...] = kinds
        self.initial = initial
        self.states: tuple[S, ...] = tuple(type(initial)) if STATE.fits(initial) else ()
        self.final: frozenset[S] = frozenset(ends)
        self.at, self.move = at, move
        self.budgets: dict[Enum, int | Callable[[R], int | None] | None] = dict(sizes)
        self.left: Callable[[R], Mapping[Any, int | None]] = purse or _no_purse
        self.pay: Callable[[R, Mapping[Any, int | None]], R] = pay or _no_pay
        self.pays = purse is not None and pay is not None
        self.inners: tuple[Inner[R, S, C_co], ...] = kids
        check(self, (*no_rows, *no_events, *no_ends, *no_kids, *no_sizes))
        names = {event: event.__name__ for event in self.events}
        self._cells = {(source, row.event): names[row.event] for row in self.rows for source in row.sources}
        # Only what some row spends bounds anything, so only that must not be begun again behind the table's back.
        self.spent_inners = tuple(i for i in self.inners if any(row.spends is i for row in self.rows))
        self.quiet = {
            (s, e): (m.how, m.why) for m in self.marks if m.how != "ordered" for s in m.states for e in m.events
        }
        self.engine = self.wired()

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self.states)} states, {len(self.rows)} rows>"

    def cell(self, state: S, event: type[Any]) -> tuple[int, ...]:
        """The numbers of the rows for `event` in `state`, in the order in which they are tried."""
        return self.cells.get((state, event), ())

    @cached_property
    def cells(self) -> Mapping[tuple[S, type[Any]], tuple[int, ...]]:
        """The numbers of the rows of each cell that has any, in the order in which they are tried."""
        found: dict[tuple[S, type[Any]], list[int]] = {}
        for number, row in enumerate(self.rows):
            for source in row.sources:
                found.setdefault((source, row.event), []).append(number)
        return {cell: tuple(numbers) for cell, numbers in found.items()}

    def wired(self) -> Engine:
        """The engine for the rows and cells as they stand."""
        return Engine(self.name, [s.name for s in self.states], self.initial.name, list(_wires(self)))

    def cell_of(self, state: S, event: type[Any]) -> str | None:
        """The engine's name for the event where the cell has a row, else None."""
        return self._cells.get((state, event))

    def full(self, run: R) -> dict[Enum, int | None]:
        """The purse of a run with every budget full."""
        return {budget: self.size_of(budget, run) for budget in self.budgets}

    def size_of(self, budget: Enum, run: R) -> int | None:
        """How much of a budget a run has when it is full; None = without limit."""
        size = self.budgets[budget]
        return size(run) if callable(size) else size

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all names in the table, in hex: it changes with a row, not with the body of a guard."""
        return hashlib.sha256("\n".join(self.listing).encode()).hexdigest()

    @cached_property
    def listing(self) -> tuple[str, ...]:
        """All names in the table, one line a row, budget, mark and inner machine: what the digest covers."""
        return tuple(_names(self))

    def step(self, run: R, event: E) -> Answer[R, C_co]:
        """What `event` does to `run`. Raises `Fault` where the machine itself is wrong; `run` is never changed."""
        return step(self, run, event)


def with_inner(tables: tuple[Table[Any, Any, Any, Any], ...]) -> tuple[Table[Any, Any, Any, Any], ...]:
    """The tables, each followed by the inner machines that it holds, however deep; each table once."""
    found: dict[Table[Any, Any, Any, Any], None] = {}
    for table in tables:
        found.update(dict.fromkeys((table, *with_inner(tuple(held.table for held in table.inners)))))
    return tuple(found)


def _taken(rows: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], Wrong]:
    """The rows of the list, with those of lists within it; the marks; and what is neither."""
    if not is_list(rows):
        return (), (), several(rows, ROW, "rows")[1]
    entries = tuple(rows)
    lists = [several((e,) if ROW.fits(e) else e, ROW, "rows") for e in entries if not MARK.fits(e)]
    wrong = tuple(problem for _, problems in lists for problem in problems)
    return tuple(row for made, _ in lists for row in made), tuple(filter(MARK.fits, entries)), wrong


def _wires(table: Table[Any, Any, Any, Any]) -> Iterable[Wire]:
    for (source, event), numbers in table.cells.items():
        for number in numbers:
            row = table.rows[number]
            yield Wire(number, source.name, event.__name__, row.target.name, row.guards, row.spends)


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
