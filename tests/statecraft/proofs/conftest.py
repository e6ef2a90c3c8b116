"""Small machines written as lines of text, and an exhaustive walk over their real steps.

A line is `A|B Go -> C; spends oil; refills tea; asks Call; always`. Each row has a guard of its own, which holds where
the event picks the row (`always`: it has none), so a test decides which row of a cell is free to fire. `while oil` adds
the guard that some is left; `once oil` is a row that has one guard alone, that none is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import product
from typing import Any, Protocol

import attrs
import pytest

from statecraft import Evidence, Inner, Row, Rows, Step, Table, inner, ordered, refuse, seen, used_up

AnyTable = Table[Any, Any, Any, Any]
AnyInner = Inner[Any, Any, Any]
Size = int | Callable[[Any], int | None]


@attrs.frozen
class Go:
    picks: tuple[int, ...]  # the row that may fire: of the outer machine, of its inner ones, of theirs


@attrs.frozen
class Tick(Go):
    pass


@attrs.frozen
class Call:
    pass


@attrs.frozen
class Tell:
    pass


EVENTS: dict[str, type[Go]] = {"Go": Go, "Tick": Tick}
COMMANDS: dict[str, type[Any]] = {"Call": Call, "Tell": Tell}


@attrs.frozen
class Run:
    at: Enum
    purse: tuple[tuple[Enum, int | None], ...] = ()
    kids: tuple[tuple[str, Run], ...] = ()


class Hold(Protocol):
    def __call__(
        self,
        table: AnyTable,
        during: str,
        most: int | Callable[[Any], int] = 1,
        fresh: Callable[[Any], Any] | None = None,
    ) -> Callable[[Any], AnyInner]:
        """The table as an inner machine. One lives at a time where `most` is 1; else one for each kind of event."""
        ...


class Walk(Protocol):
    def __call__(self, table: AnyTable, asking: type[Any] | None = None, limit: int = 3000) -> int | None: ...


@attrs.frozen
class Line:
    sources: tuple[str, ...]
    event: str
    target: str
    spends: str
    refills: tuple[str, ...]
    asks: tuple[str, ...]
    always: bool
    lasts: tuple[str, ...]
    once: tuple[str, ...]


class Build(Protocol):
    def __call__(
        self,
        *lines: str,
        name: str = "machine",
        final: str = "",
        depth: int = 0,
        budgets: Mapping[str, Size] | None = None,
        inners: Mapping[str, Callable[[Any], AnyInner]] | None = None,
    ) -> AnyTable:
        """The machine; the first state named is where it starts. `depth`: 1 for an inner machine, 2 for one in it."""
        ...


def parse(text: str) -> Line:
    head, *rest = [part.strip() for part in text.split(";")]
    left, target = head.split("->")
    sources, event = left.split()
    said: dict[str, tuple[str, ...]] = {}
    for part in rest:
        verb, *names = part.split()
        said[verb] = tuple(names)
    spends = "".join(said.get("spends", ()))
    refills, asks, lasts, once = (said.get(one, ()) for one in ("refills", "asks", "while", "once"))
    return Line(tuple(sources.split("|")), event, target.strip(), spends, refills, asks, "always" in said, lasts, once)


def build_table(
    *lines: str,
    name: str = "machine",
    final: str = "",
    depth: int = 0,
    budgets: Mapping[str, Size] | None = None,
    inners: Mapping[str, Callable[[Any], AnyInner]] | None = None,
) -> AnyTable:
    parsed = [parse(line) for line in lines]
    names = list(dict.fromkeys(one for line in parsed for one in (*line.sources, line.target)))
    names += [one for one in final.split() if one not in names]
    states, purse = _members("states", names), _members("purse", list(budgets or {}))
    held: dict[str, AnyInner] = {one: made(states) for one, made in (inners or {}).items()}
    payable: dict[str, Any] = {**{one.value: one for one in purse}, **held}
    row = Rows[Run, Any, Any]()
    rows: list[Row[Run, Any, Any]] = []
    for number, line in enumerate(parsed):
        asks = [COMMANDS[one] for one in line.asks]
        again = {one: held[one] for one in line.refills if one in held}
        guards: list[Any] = [] if line.always or line.once else [_picked(depth, number)]
        guards += [~used_up(payable[one], left_of) for one in line.lasts]
        guards += [used_up(payable[one], left_of) for one in line.once]
        spends = payable[line.spends] if line.spends else None
        refills = [payable[one] for one in line.refills]
        effect = _effect(asks, again)
        sources = [states[one] for one in line.sources]
        event = EVENTS[line.event]
        rows.append(
            row(sources, event, states[line.target], effect, *guards, asks=asks, spends=spends, refills=refills)
        )
    ends = [states[one] for one in final.split()]
    events = [EVENTS[one] for one in sorted({line.event for line in parsed})]
    return Table(
        name,
        [*rows, *_marks(rows, list(states), ends, events)],
        events=events,
        initial=states[names[0]],
        final=ends,
        at=lambda run: run.at,
        move=lambda run, at: attrs.evolve(run, at=at),
        budgets={purse[one]: size for one, size in (budgets or {}).items()},
        purse=left_of,
        pay=lambda run, left: attrs.evolve(run, purse=tuple(left.items())),
        inners=held.values(),
    )


def left_of(run: Run) -> dict[Enum, int | None]:
    return dict(run.purse)


def _members(name: str, values: list[str]) -> Any:
    make: Any = Enum  # the checkers read a literal list of members only
    return make(name, {one: one for one in values})


def _picked(depth: int, number: int) -> Callable[[Run, Go], Evidence]:
    def picked(run: Run, event: Go) -> Evidence:
        return seen("picked", event.picks[depth] == number, pick=event.picks[depth], row=number)

    return picked


def _effect(asks: Sequence[Any], again: Mapping[str, AnyInner]) -> Callable[[Run, Any], tuple[Run, list[Any]]]:
    def effect(run: Run, event: Any) -> tuple[Run, list[Any]]:
        for name, held in again.items():
            begun = begin(held.table)
            kids = tuple((n, begun if n.split(":")[0] == name else kid) for n, kid in run.kids)
            run = attrs.evolve(run, kids=kids)
        return run, [ask() for ask in asks]

    return effect


def _marks(rows: list[Row[Run, Any, Any]], states: list[Any], ends: list[Any], events: list[Any]) -> Iterator[Any]:
    for state in states:
        for event in events:
            cell = [one for one in rows if one.event is event and state in one.sources]
            asked = [{*one.guards, *([one.spends] if one.spends is not None else [])} for one in cell]
            if not cell and state not in ends:
                yield refuse([state], [event], "nothing is said of it")
            if any(not later <= earlier for n, later in enumerate(asked) for earlier in asked[:n]):
                yield ordered([state], [event], "the test picks")


def hold_table(
    table: AnyTable,
    during: str,
    most: int | Callable[[Any], int] = 1,
    fresh: Callable[[Any], Any] | None = None,
) -> Callable[[Any], AnyInner]:
    def get(run: Run, event: Go) -> Run | None:
        return dict(run.kids).get(_key(table, most, type(event)))

    def put(run: Run, event: Go, kid: Run) -> Run:
        key = _key(table, most, type(event))
        return attrs.evolve(run, kids=tuple((n, kid if n == key else one) for n, one in run.kids))

    def made(states: Any) -> AnyInner:
        return inner(table, during=[states[one] for one in during.split()], get=get, put=put, most=most, fresh=fresh)

    return made


def _key(table: AnyTable, most: object, event: type[Go]) -> str:
    return table.name if most == 1 else f"{table.name}:{event.__name__}"


def begin(table: AnyTable) -> Run:
    """A run of the table with full budgets and each inner machine at its own beginning."""
    keys = [
        (held, list(dict.fromkeys(_key(held.table, held.most, one) for one in EVENTS.values())))
        for held in table.inners
    ]
    kids = tuple((key, begin(held.table)) for held, some in keys for key in some)
    return Run(table.initial, tuple(table.full(None).items()), kids)


def walk_all(table: AnyTable, asking: type[Any] | None = None, limit: int = 3000) -> int | None:
    """The most steps (or commands `asking`) of any run, by real steps from the table's beginning; None: one never ends.

    Any one row of a cell is free to fire. A step counts unless it stays, spends, refills and asks nothing.
    `OverflowError` where there are more than `limit` places.
    """
    places: dict[Run, dict[Run, tuple[bool, int]]] = {}
    todo = [begin(table)]
    while todo:
        run = todo.pop()
        if run in places:
            continue
        if len(places) >= limit:
            raise OverflowError(f"more than {limit} places to walk to")
        out = places[run] = {}
        for event in _events(table, run):
            answer = table.step(run, event)
            if isinstance(answer, Step):
                row = table.rows[answer.row]
                moves = answer.target is not answer.source or row.spends is not None or bool(row.refills)
                counts = moves or bool(answer.commands)
                weight = int(counts) if asking is None else sum(type(one) is asking for one in answer.commands)
                before = out.get(answer.run, (False, 0))
                out[answer.run] = (before[0] or counts, max(before[1], weight))
                todo.append(answer.run)
    return _dearest(begin(table), places)


def _events(table: AnyTable, run: Run) -> Iterator[Go]:
    numbers = [range(len(table.rows))]
    level = [table]
    while level := [held.table for one in level for held in one.inners]:
        numbers.append(range(max(len(one.rows) for one in level) + 1))  # one more: none of them may fire
    for kind in table.events:
        for picks in product(*numbers):
            if picks[0] in table.cell(run.at, kind):
                yield kind(picks)


def _dearest(start: Run, places: Mapping[Run, Mapping[Run, tuple[bool, int]]]) -> int | None:
    """The dearest walk: components by two searches (Kosaraju's way), then from the last component back."""
    finished: list[Run] = []
    entered = {start}
    work = [(start, iter(places[start]))]
    while work:
        place, rest = work[-1]
        other = next((one for one in rest if one not in entered), None)
        if other is None:
            finished.append(place)
            work.pop()
        else:
            entered.add(other)
            work.append((other, iter(places[other])))
    before: dict[Run, list[Run]] = {}
    for place, out in places.items():
        for other in out:
            before.setdefault(other, []).append(place)
    component: dict[Run, int] = {}
    for number, root in enumerate(reversed(finished)):
        todo = [root]
        while todo:
            if (place := todo.pop()) not in component:
                component[place] = number
                todo.extend(before.get(place, ()))
    best: dict[int, int] = {}
    for place in sorted(finished, key=lambda one: -component[one]):
        here = component[place]
        best.setdefault(here, 0)
        for other, (counts, weight) in places[place].items():
            if component[other] != here:
                best[here] = max(best[here], weight + best[component[other]])
            elif counts:
                return None
    return best[component[start]]


@pytest.fixture(scope="session")
def build() -> Build:
    return build_table


@pytest.fixture(scope="session")
def hold() -> Hold:
    return hold_table


@pytest.fixture(scope="session")
def begin_run() -> Callable[[AnyTable], Run]:
    return begin


@pytest.fixture(scope="session")
def walk() -> Walk:
    return walk_all
