"""The dearest walk over edges that spend and refill: budgets are peeled off the parts that can go round.

A part is strongly connected, so a walk that has left it never comes back. In a part, take a set of budgets that its
edges spend and none of its edges refills. While the walk is in the part, each edge that spends one of them uses up a
unit that does not come back, so there are at most as many such edges as the budgets have units. Between two of them,
before the first and after the last the walk uses the other edges only, and for those the same is asked again. Hence,
for a walk that enters the part at `v`, with R(u) the dearest walk over the other edges from `u`, at most

    R(v) + for each budget taken: size x the largest of (cost of an edge that spends it + R(where that edge leads))

and then the dearest edge out with what follows it. This is never above size x dearest edge + (size + 1) x dearest rest.

Which budgets are taken does not matter for whether the walk ends: what can be peeled off a part can still be peeled
off any smaller one, as that has only fewer edges that could refill it. It does matter for the number. Taken together,
sizes add up; taken one after the other, they multiply; and a budget that need not be taken at all should not be, as the
rest may bound its edges better. So all sets of up to `FEW` budgets are tried, and of more the smallest one, the two
smallest, and so on, which keeps the work within the square of their number. The set with the smallest bound is kept,
the first one of equals.

An inner machine is a budget as large as how many live at once times the most steps one can take that could stand on the
edges peeled; what it asks in them is counted once for all of them, or with each edge, whichever is less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import combinations

import attrs

from .edges import Edge, Payable
from .graph import strong_parts

FEW = 4

Size = Callable[[Payable, Sequence[Edge]], int | None]
"""The units of a budget that these edges can use up, None without limit."""
Added = Callable[[Payable, Sequence[Edge]], int]
"""The most that an inner machine can ask on these edges, all in all. Asked only where the size is finite."""


@attrs.frozen(eq=False)
class Stuck:
    """A part that can go round, from which nothing can be peeled."""

    edges: tuple[Edge, ...]


@attrs.frozen(eq=False)
class Taken:
    """A budget peeled off a part: at most `size` edges, each counting `each` with what follows it, `added` in all."""

    what: Payable
    size: int
    dearest: Edge
    each: int
    added: int

    @property
    def total(self) -> int:
        """What all its edges count at most."""
        return self.size * self.each + self.added


@attrs.frozen(eq=False)
class Part:
    """A strongly connected part: what was peeled off it, what was left, and the dearest edge out (None: no edge)."""

    states: tuple[Enum, ...]
    taken: tuple[Taken, ...]
    rest: Longest | None
    leaves: Edge | None

    def inside(self, state: Enum) -> int:
        """The most that a walk counts from `state` until it leaves the part."""
        before = 0 if self.rest is None else self.rest.best[state]
        return before + sum(taken.total for taken in self.taken)


@attrs.frozen(eq=False)
class Longest:
    """The most that a walk from each state can count, and the part that each state lies in."""

    best: Mapping[Enum, int]
    part: Mapping[Enum, Part]


class Search:
    """One question about one set of edges; holds what was found for sets of edges on the way."""

    def __init__(self, edges: Sequence[Edge], size: Size, added: Added) -> None:
        self._edges, self._size, self._added = edges, size, added
        self._known: dict[tuple[tuple[Enum, ...], tuple[int, ...]], Longest | Stuck] = {}

    def longest(self, states: Sequence[Enum], chosen: tuple[int, ...] | None = None) -> Longest | Stuck:
        """The dearest walk over the chosen edges (None: all), or a part from which nothing can be peeled."""
        edges = tuple(range(len(self._edges))) if chosen is None else chosen
        key = (tuple(states), edges)
        if key not in self._known:
            self._known[key] = self._longest(states, edges)
        return self._known[key]

    def _longest(self, states: Sequence[Enum], chosen: tuple[int, ...]) -> Longest | Stuck:
        after: dict[Enum, list[Enum]] = {}
        leaving: dict[Enum, list[int]] = {}
        for n in chosen:
            edge = self._edges[n]
            after.setdefault(edge.source, []).append(edge.target)
            leaving.setdefault(edge.source, []).append(n)
        best: dict[Enum, int] = {}
        part_of: dict[Enum, Part] = {}
        for states_of_part in strong_parts(states, after):
            inside = set(states_of_part)
            own: list[int] = []
            onward = 0
            leaves: Edge | None = None
            for n in (n for state in states_of_part for n in leaving.get(state, ())):
                edge = self._edges[n]
                if edge.target in inside:
                    own.append(n)
                elif leaves is None or edge.dearest + best[edge.target] > onward:
                    onward, leaves = edge.dearest + best[edge.target], edge
            taken: tuple[Taken, ...] = ()
            rest: Longest | None = None
            if own:
                peeled = self._peeled(states_of_part, sorted(own))
                if isinstance(peeled, Stuck):
                    return peeled
                taken, rest = peeled
            part = Part(states_of_part, taken, rest, leaves)
            for state in states_of_part:
                best[state] = part.inside(state) + onward
                part_of[state] = part
        return Longest(best, part_of)

    def _peeled(self, states: tuple[Enum, ...], own: list[int]) -> tuple[tuple[Taken, ...], Longest] | Stuck:
        edges = [self._edges[n] for n in own]
        spenders = {what: [e for e in edges if what in e.spends] for e in edges for what in e.spends}
        sizes: dict[Payable, int] = {}
        for what, users in spenders.items():
            size = None if any(what in e.refills for e in edges) else self._size(what, users)
            if size is not None:
                sizes[what] = size
        if not sizes:
            return Stuck(tuple(edges))
        least: tuple[int, tuple[Taken, ...], Longest] | None = None
        for chosen in _choices(sizes):
            rest = self.longest(states, tuple(n for n in own if not set(self._edges[n].spends) & set(chosen)))
            if isinstance(rest, Stuck):
                return rest
            taken = tuple(self._taken(what, sizes[what], spenders[what], rest) for what in chosen)
            most = max(rest.best[state] for state in states) + sum(one.total for one in taken)
            if least is None or most < least[0]:
                least = (most, taken, rest)
        assert least is not None
        return least[1:]

    def _taken(self, what: Payable, size: int, edges: Sequence[Edge], rest: Longest) -> Taken:
        def with_rest(edge: Edge) -> int:
            return edge.dearest + rest.best[edge.target]

        def without_added(edge: Edge) -> int:
            return with_rest(edge) - (0 if isinstance(what, Enum) else edge.added[what])

        dearest = max(edges, key=with_rest)
        whole = Taken(what, size, dearest, with_rest(dearest), 0)
        if isinstance(what, Enum) or not any(edge.added[what] for edge in edges):
            return whole
        dearest = max(edges, key=without_added)
        apart = Taken(what, size, dearest, without_added(dearest), self._added(what, edges))
        return min(whole, apart, key=lambda one: one.total)


def _choices(sizes: Mapping[Payable, int]) -> Iterator[tuple[Payable, ...]]:
    if len(sizes) <= FEW:
        return (chosen for number in range(1, len(sizes) + 1) for chosen in combinations(sizes, number))
    rising = sorted(sizes, key=lambda what: sizes[what])
    return (tuple(rising[:number]) for number in range(1, len(rising) + 1))
