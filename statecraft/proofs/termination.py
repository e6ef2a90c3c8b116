"""Every run ends: the proof, and the number of steps or requests that it proves.

The claim. Take a run that starts in the table's initial state with no budget above its full size, and let it take any
rows that its purse pays for, whatever the guards say, but for those that ask whether a budget is used up (`used_up`):
those say what the purse says. `ends` answers with a `Bound` only if every such run ends, and then none takes more steps
(or more rows that ask a given command) than the bound says. Otherwise it answers with a `FreeCycle`: rows that lead
from where they start back to it and give back all that they take.

Why it holds. Every step is one edge of the graph (edges.py), a walk cannot come back to a strongly connected part that
it has left, and inside a part it is cut by the edges that spend what nothing there gives back (peel.py). The argument
is an induction over the edges: peeling takes at least one away, and a part without edges holds no step. For an inner
machine that rows spend, the induction runs over the nesting as well: such a row needs a step of the inner machine that
leaves it open, and the inner machine, by its own bound, has only so many.

Assumed, since no table can show it:

* every command is answered, so a run waits for the world only so long;
* events that no command asked for (a person's messages above all) are finite in number, and so are the events that one
  command brings (the calls of one turn): quiet rows answer nothing else, and are not counted;
* a purse never holds more than the full size of a budget, and full sizes do not change during a run;
* an inner machine that rows spend begins only in rows that refill it, with full budgets, in its initial state or that
  of its `fresh` run, and at most `most` of it live at once. The table faults an effect that begins the inner run which
  its event is for in any other row; of other inner runs it does not see it.

What the proof does not see. It takes no account of guards and of the order of rows (but that a row below one that
spends an inner machine finds it ended, and that what needs a budget does not follow its last unit), so a cycle that
these forbid is a free cycle all the same. It looks at the size of a budget only to count: a `FreeCycle` that is
`payable` and spends no inner machine can be walked for ever wherever guards allow its rows, while one that is not
payable may be impossible. The tables for which the proof answers so and yet every run ends are those in which a refill,
or the cycle itself, is reached only on ways that spend more units of a budget than its full size. With larger sizes
such a table runs for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

import attrs

from .cycle import find_cycle
from .edges import AnyInner, AnyTable, Case, Edge, NeedsRun, Payable, called, case_of, edges_of
from .graph import reached
from .peel import Longest, Part, Search, Stuck

__all__ = ["Bound", "FreeCycle", "Hop", "NeedsRun", "ends", "most_spent"]


@attrs.frozen
class Bound:
    """The run ends: within `number` steps, or rows that ask `asking` (empty: steps). `lines` says by which reasons."""

    table: str
    number: int
    asking: str
    lines: tuple[str, ...]


@attrs.frozen
class Hop:
    """One row on a walk: its number, where it leads from and to, and what it spends and refills."""

    row: int
    source: str
    event: str
    target: str
    spends: tuple[str, ...]
    refills: tuple[str, ...]

    def __str__(self) -> str:
        spends = f", spends {' and '.join(self.spends)}" if self.spends else ""
        refills = f", refills {' and '.join(self.refills)}" if self.refills else ""
        return f"row {self.row}: {self.source} {self.event} -> {self.target}{spends}{refills}"


@attrs.frozen
class FreeCycle:
    """Nothing bounds the run: `hops` can be taken round and round, after `way` has led there.

    `payable`: a full purse pays for the way and for every round. `unlimited` names budgets spent on the cycle that are
    without limit, `inside` holds the free cycles of inner machines spent on it.
    """

    table: str
    hops: tuple[Hop, ...]
    way: tuple[Hop, ...]
    payable: bool
    unlimited: tuple[str, ...]
    inside: tuple[FreeCycle, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """The numbers of the rows, in the order in which they are taken."""
        return tuple(hop.row for hop in self.hops)

    @property
    def lines(self) -> tuple[str, ...]:
        """The cycle row by row, for people."""
        return tuple(_cycle_lines(self))


def ends(
    table: AnyTable, run: Any = None, asking: type[Any] | None = None, *, within: bool = False
) -> Bound | FreeCycle:
    """Whether every run of the table ends, and within how many steps, or rows that ask `asking`.

    `run` supplies sizes that depend on it (`NeedsRun` is raised where one is needed and missing). `within` proves the
    table as the inner machine of another that spends it: quiet rows count, and `run` is one as it begins.
    """
    proof = _Proof(case_of(table, run, within=within))
    edges, starts = proof.walkable(asking)
    found = proof.longest(asking, None)
    if isinstance(found, Stuck):
        return proof.free_cycle(found, edges, starts)
    start = max(starts, key=lambda state: found.best[state])
    name = "" if asking is None else asking.__name__
    return Bound(table.name, found.best[start], name, tuple(_way_lines(found, start)))


def most_spent(table: AnyTable, run: Any, budget: Enum) -> int | None:
    """How many rows that spend the budget a run could take at most, were it without limit; None if without end.

    For a budget that bounds something: a size beyond this is never used up.
    """
    case = case_of(table, run)
    proof = _Proof(attrs.evolve(case, sizes={**case.sizes, budget: None}))
    rows = frozenset(number for number, row in enumerate(table.rows) if row.spends is budget)
    found = proof.longest(None, rows)
    return None if isinstance(found, Stuck) else max(found.best[start] for start in case.starts)


class _Proof:
    """One table under one run: the answers found so far, for it and for the inner machines that it spends."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._kids = {held: _Proof(kid) for held, kid in case.kids.items()}
        self._known: dict[tuple[type[Any] | None, frozenset[int] | None], Longest | Stuck] = {}

    def walkable(
        self, asking: type[Any] | None, counted: frozenset[int] | None = None
    ) -> tuple[list[Edge], list[Enum]]:
        """The edges that a walk can come to, and the states that it can start from."""
        edges = edges_of(self.case, asking, counted)
        starts = list(self.case.starts)
        after: dict[Enum, list[Enum]] = {}
        for edge in edges:
            after.setdefault(edge.source, []).append(edge.target)
        inside = reached(starts, after)
        return [edge for edge in edges if edge.source in inside], starts

    def longest(self, asking: type[Any] | None, counted: frozenset[int] | None) -> Longest | Stuck:
        key = (asking, counted)
        if key not in self._known:

            def asked(held: AnyInner, edges: Sequence[Edge]) -> int | None:
                return self._units(held, edges, asking)

            edges, _ = self.walkable(asking, counted)
            self._known[key] = Search(edges, self.size, asked).longest(self.case.table.states)
        return self._known[key]

    def size(self, what: Payable, edges: Sequence[Edge]) -> int | None:
        """The units of a budget, or the steps of an inner machine that can stand on the edges; None without limit."""
        return self.case.sizes[what] if isinstance(what, Enum) else self._units(what, edges, None)

    def _units(self, held: AnyInner, edges: Sequence[Edge], asking: type[Any] | None) -> int | None:
        rows = frozenset(row for edge in edges for row in edge.rides[held])
        found = self._kids[held].longest(asking, rows)
        if isinstance(found, Stuck):
            return None
        return self.case.most[held] * max(found.best[start] for start in self.case.kids[held].starts)

    def free_cycle(self, stuck: Stuck, edges: Sequence[Edge], starts: Sequence[Enum]) -> FreeCycle:
        cycle = find_cycle(stuck.edges, edges, starts, self.size)
        spent = list(dict.fromkeys(what for edge in cycle.round for what in edge.spends))
        unlimited = [what for what in spent if self.size(what, [e for e in edges if what in e.spends]) is None]
        inside = [self._kids[held].own_cycle() for held in unlimited if not isinstance(held, Enum)]
        return FreeCycle(
            self.case.table.name,
            tuple(self._hop(edge) for edge in cycle.round),
            tuple(self._hop(edge) for edge in cycle.way),
            cycle.payable,
            tuple(called(what) for what in unlimited if isinstance(what, Enum)),
            tuple(inside),
        )

    def own_cycle(self) -> FreeCycle:
        edges, starts = self.walkable(None)
        found = self.longest(None, None)
        assert isinstance(found, Stuck)
        return self.free_cycle(found, edges, starts)

    def _hop(self, edge: Edge) -> Hop:
        row = self.case.table.rows[edge.row]
        spends, refills = (tuple(called(what) for what in some) for some in (edge.spends, edge.refills))
        return Hop(edge.row, edge.source.name, row.event.__name__, edge.target.name, spends, tuple(sorted(refills)))


def _cycle_lines(cycle: FreeCycle, indent: str = "") -> Iterator[str]:
    yield f"{indent}{cycle.table} can go round for ever:"
    yield from (f"{indent}  {hop}" for hop in cycle.hops)
    if cycle.way:
        yield f"{indent}reached by:"
        yield from (f"{indent}  {hop}" for hop in cycle.way)
    yield from (f"{indent}{name} has no limit, so it bounds nothing" for name in cycle.unlimited)
    for inner in cycle.inside:
        yield f"{indent}the inner machine {inner.table} has no bound of its own:"
        yield from _cycle_lines(inner, indent + "  ")
    if not cycle.payable:
        yield f"{indent}a full purse does not pay for it; still, nothing that the proof can use bounds the part"


def _way_lines(longest: Longest, start: Enum, indent: str = "") -> Iterator[str]:
    """The parts along the dearest way from `start`, what was peeled off each, and the row that leads on."""
    state: Enum | None = start
    while state is not None:
        part = longest.part[state]
        if part.rest is not None:
            yield f"{indent}{part.inside(state)} in {', '.join(one.name for one in part.states)}"
            yield from (f"{indent}  {line}" for line in _part_lines(part, part.rest, state))
        state = None
        if part.leaves is not None:
            edge, cost = part.leaves
            if cost or longest.best[edge.target]:
                yield f"{indent}{cost} by row {edge.row}, {edge.source.name} to {edge.target.name}"
                state = edge.target


def _part_lines(part: Part, rest: Longest, state: Enum) -> Iterator[str]:
    for one in part.taken:
        edge, follows = one.dearest, rest.best[one.dearest.target]
        more = f", then up to {follows}" if follows else ""
        dearest = f"row {edge.row}, {edge.source.name} to {edge.target.name}: {one.each - follows}{more}"
        times = f"{one.size} x {one.each}"
        if one.last < one.each:
            before = f"{one.size - 1} x {one.each} and " if one.size > 1 else ""
            times = f"{before}{one.last} with the last, as some rows need it"
        yield f"{called(one.what)}, {one.size}, not refilled here: {times} (the dearest is {dearest})"
    yield from (f"{held.name} itself asks in {number}" for held, number in part.apart.items())
    if any(rest.best.values()):
        entered = max((state, *(one.dearest.target for one in part.taken)), key=rest.best.__getitem__)
        without = ", ".join(called(one.what) for one in part.taken)
        yield f"{rest.best[state]} before the first; without {without}, from {entered.name}:"
        yield from _way_lines(rest, entered, "  ")
