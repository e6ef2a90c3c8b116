"""The dearest walk over edges that spend and refill: budgets are peeled off the parts that can go round.

A part is strongly connected, so a walk that has left it never comes back. In a part, take a set of budgets that its
edges spend and none of its edges refills. While the walk is in the part, each edge that spends one of them uses up a
unit that does not come back, so there are at most as many such edges as the budgets have units. Between two of them,
before the first and after the last the walk uses the other edges only, and for those the same is asked again. Hence,
for a walk that enters the part at `v`, with R(u) the dearest walk over the other edges from `u`, at most

    R(v) + for each budget taken: size x the largest of (cost of an edge that spends it + R(where that edge leads))

and then the dearest edge out with what follows it. This is never above size x dearest edge + (size + 1) x dearest rest.

An edge may need a budget without spending it (needed.py): then it is never taken after the last unit, so what follows
the last edge that spends it is the dearest walk over the others that do not need it.

The same holds of all that can be walked from a part on, for budgets that no edge there refills. That is worth more
where a budget is spent in several parts, each of which would otherwise count all of it.

Which budgets are taken does not matter for whether the walk ends: what can be peeled off a part can still be peeled
off any smaller one, as that has only fewer edges that could refill it. It does matter for the number. Taken together,
sizes add up; taken one after the other, they multiply; and a budget that need not be taken at all should not be, as the
rest may bound its edges better. So all sets of up to `FEW` budgets are tried, and of more the smallest one, the two
smallest, and so on, which keeps the work within the square of their number. The set with the smallest bound is kept,
the first one of equals.

An inner machine is a budget as large as how many live at once times the most steps one can take that could stand on
the edges peeled. What it asks in its steps counts with the edges that it rides on; or, in a part that does not refill
it, once for the whole stay, as much as it can ask there all in all. The smaller bound of the two is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import combinations

import attrs

from .edges import AnyInner, Edge, Payable
from .graph import strong_parts

FEW = 3

Size = Callable[[Payable, Sequence[Edge]], int | None]
"""The units of a budget that these edges can use up, None without limit."""
Asked = Callable[[AnyInner, Sequence[Edge]], int | None]
"""The most that an inner machine can ask on these edges before it begins again, None without limit."""


@attrs.frozen(eq=False)
class Stuck:
    """A part that can go round, from which nothing can be peeled."""

    edges: tuple[Edge, ...]


@attrs.frozen(eq=False)
class Taken:
    """A budget peeled off a part: at most `size` edges, each counting `each` together with what follows it.

    The last of them counts `last`, as what needs the budget cannot follow it.
    """

    what: Payable
    size: int
    dearest: Edge
    each: int
    last: int

    @property
    def total(self) -> int:
        """What all its edges count at most."""
        return (self.size - 1) * self.each + self.last if self.size else 0


@attrs.frozen(eq=False)
class Part:
    """A strongly connected part: what was peeled off it, what is left, and the dearest edge out with what that counts.

    Or the part with all that can be walked from it on: then no edge leads out, and `states` are those of all.
    `apart`: what inner machines ask during the stay, where that is counted once and not with the edges.
    """

    states: tuple[Enum, ...]
    taken: tuple[Taken, ...]
    apart: Mapping[AnyInner, int]
    rest: Longest | None
    leaves: tuple[Edge, int] | None

    def inside(self, state: Enum) -> int:
        """The most that a walk counts from `state` until it leaves the part."""
        before = 0 if self.rest is None else self.rest.best[state]
        return before + sum(taken.total for taken in self.taken) + sum(self.apart.values())


@attrs.frozen(eq=False)
class Longest:
    """The most that a walk from each state can count, and the part that each state lies in."""

    best: Mapping[Enum, int]
    part: Mapping[Enum, Part]


Peeled = tuple[tuple[Taken, ...], Mapping[AnyInner, int], Longest]
Inners = frozenset[AnyInner]


class Search:
    """One question about one set of edges; holds what was found for sets of edges on the way."""

    def __init__(self, edges: Sequence[Edge], size: Size, asked: Asked) -> None:
        self._edges, self._size, self._asked = edges, size, asked
        self._known: dict[tuple[tuple[Enum, ...], tuple[int, ...], Inners], Longest | Stuck] = {}

    def longest(self, states: Sequence[Enum]) -> Longest | Stuck:
        """The dearest walk from each state, or a part from which nothing can be peeled."""
        return self._longest(tuple(states), tuple(range(len(self._edges))), frozenset())

    def _longest(self, states: tuple[Enum, ...], chosen: tuple[int, ...], apart: Inners) -> Longest | Stuck:
        """The same over the chosen edges; what inner machines in `apart` ask is counted elsewhere."""
        key = (states, chosen, apart)
        if key not in self._known:
            self._known[key] = self._part_by_part(states, chosen, apart)
        return self._known[key]

    def _part_by_part(self, states: tuple[Enum, ...], chosen: tuple[int, ...], apart: Inners) -> Longest | Stuck:
        after: dict[Enum, list[Enum]] = {}
        leaving: dict[Enum, list[int]] = {}
        for n in chosen:
            edge = self._edges[n]
            after.setdefault(edge.source, []).append(edge.target)
            leaving.setdefault(edge.source, []).append(n)
        best: dict[Enum, int] = {}
        part_of: dict[Enum, Part] = {}
        follows: dict[Enum, frozenset[int]] = {}
        place: dict[Enum, int] = {}
        for number, here in enumerate(strong_parts(states, after)):
            place.update(dict.fromkeys(here, number))
            numbers = [n for state in here for n in leaving.get(state, ())]
            own = tuple(sorted(n for n in numbers if place.get(self._edges[n].target) == number))
            over = [n for n in numbers if place[self._edges[n].target] != number]
            part = self._narrow(here, own, [self._edges[n] for n in over], best, apart)
            if isinstance(part, Stuck):
                return part
            onward = 0 if part.leaves is None else part.leaves[1] + best[part.leaves[0].target]
            beyond = frozenset(numbers).union(*(follows[self._edges[n].target] for n in over))
            wide = self._wide(here, tuple(sorted(beyond)), place, apart) if over else None
            if wide is not None and max(map(wide.inside, here)) < max(map(part.inside, here)) + onward:
                part, onward = wide, 0
            for state in here:
                best[state] = part.inside(state) + onward
                part_of[state] = part
                follows[state] = beyond
        return Longest(best, part_of)

    def _narrow(
        self,
        here: tuple[Enum, ...],
        own: tuple[int, ...],
        over: Sequence[Edge],
        best: Mapping[Enum, int],
        apart: Inners,
    ) -> Part | Stuck:
        """The part by itself, and the dearest edge out of it."""
        leaves = max(((e, _cost(e, apart)) for e in over), key=lambda one: one[1] + best[one[0].target], default=None)
        if not own:
            return Part(here, (), {}, None, leaves)
        edges = [self._edges[n] for n in own]
        sizes = self._sizes(edges)
        peeled = self._peeled(here, own, sizes, here, apart) if sizes else Stuck(tuple(edges))
        return peeled if isinstance(peeled, Stuck) else Part(here, *peeled, leaves)

    def _wide(
        self, here: tuple[Enum, ...], beyond: tuple[int, ...], place: Mapping[Enum, int], apart: Inners
    ) -> Part | None:
        """The part with all that can be walked from it on, for budgets that are spent in more than one place there."""
        edges = [self._edges[n] for n in beyond]
        spent: dict[Payable, set[object]] = {}
        for edge in edges:
            where = place[edge.source] if place[edge.source] == place[edge.target] else edge
            for what in edge.spends:
                spent.setdefault(what, set()).add(where)
        sizes = {what: size for what, size in self._sizes(edges).items() if len(spent[what]) > 1}
        if not sizes:
            return None
        states = tuple(dict.fromkeys((*here, *(state for edge in edges for state in (edge.source, edge.target)))))
        peeled = self._peeled(states, beyond, sizes, here, apart)
        return None if isinstance(peeled, Stuck) else Part(states, *peeled, None)

    def _sizes(self, edges: Sequence[Edge]) -> dict[Payable, int]:
        """The bounded budgets that the edges spend and that none of them refills, in the order of the edges."""
        found: dict[Payable, int] = {}
        for what in dict.fromkeys(what for edge in edges for what in edge.spends):
            if not any(what in edge.refills for edge in edges):
                size = self._size(what, [edge for edge in edges if what in edge.spends])
                if size is not None:
                    found[what] = size
        return found

    def _peeled(
        self,
        states: tuple[Enum, ...],
        own: tuple[int, ...],
        sizes: Mapping[Payable, int],
        entered: Sequence[Enum],
        apart: Inners,
    ) -> Peeled | Stuck:
        """The set of budgets that bounds walks from where the part is entered best, and what is left without it."""
        edges = [self._edges[n] for n in own]
        once = self._counted_once(edges, apart)
        least: tuple[int, Peeled] | None = None
        for chosen in _choices(sizes):
            others = tuple(n for n in own if not any(what in chosen for what in self._edges[n].spends))
            for asked in [once, {}] if once else [{}]:
                now_apart = apart | frozenset(asked)
                rest = self._longest(states, others, now_apart)
                if isinstance(rest, Stuck):
                    return rest
                taken = tuple(self._taken(what, sizes[what], own, others, states, rest, now_apart) for what in chosen)
                most = max(map(Part(states, taken, asked, rest, None).inside, entered))
                if least is None or most < least[0]:
                    least = (most, (taken, asked, rest))
        assert least is not None
        return least[1]

    def _taken(
        self,
        what: Payable,
        size: int,
        own: tuple[int, ...],
        others: tuple[int, ...],
        states: tuple[Enum, ...],
        rest: Longest,
        apart: Inners,
    ) -> Taken:
        spenders = [edge for n in own if what in (edge := self._edges[n]).spends]
        dearest, each = _dearest(spenders, rest, apart)
        after = tuple(n for n in others if what not in self._edges[n].needs)
        last = each
        if after != others:
            without = self._longest(states, after, apart)
            assert isinstance(without, Longest), "fewer edges can be peeled wherever more can"
            _, last = _dearest(spenders, without, apart)
        return Taken(what, size, dearest, each, last)

    def _counted_once(self, edges: Sequence[Edge], apart: Inners) -> dict[AnyInner, int]:
        """What inner machines can ask on these edges in all, where no edge lets them begin again."""
        found: dict[AnyInner, int] = {}
        for held in dict.fromkeys(held for edge in edges for held, adds in edge.added.items() if adds):
            if held not in apart and not any(held in edge.refills for edge in edges):
                asked = self._asked(held, [edge for edge in edges if held in edge.rides])
                if asked is not None:
                    found[held] = asked
        return found


def _cost(edge: Edge, apart: Inners) -> int:
    return edge.cost + sum(adds for held, adds in edge.added.items() if held not in apart)


def _dearest(edges: Sequence[Edge], rest: Longest, apart: Inners) -> tuple[Edge, int]:
    """The edge that counts most together with what follows it over the rest, and how much that is."""
    dearest = max(edges, key=lambda edge: _cost(edge, apart) + rest.best[edge.target])
    return dearest, _cost(dearest, apart) + rest.best[dearest.target]


def _choices(sizes: Mapping[Payable, int]) -> Iterator[tuple[Payable, ...]]:
    if len(sizes) <= FEW:
        return (chosen for number in range(1, len(sizes) + 1) for chosen in combinations(sizes, number))
    rising = sorted(sizes, key=lambda what: sizes[what])
    return (tuple(rising[:number]) for number in range(1, len(rising) + 1))
