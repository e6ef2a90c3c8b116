"""A concrete cycle in a part from which nothing can be peeled: the shortest that gives back all that it takes.

Not every cycle of such a part can be walked for ever: where two budgets refill each other, the shortest cycle may
spend one of them and refill the other. What is looked for is a closed walk that refills every bounded budget that it
spends. There always is one: the walk over all edges of the part, since for each of them that spends a bounded budget
another refills it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

import attrs

from .edges import Edge, Payable
from .graph import shortest_way

MOST_LOOKED_AT = 50_000
"""Places looked at from one state before the walk over all edges has to do: some tenths of a second."""

UNTOUCHED, SPENT, REFILLED = range(3)


@attrs.frozen(eq=False)
class Cycle:
    """A closed walk, a way to it from where a run starts, and whether the purse pays for both, round after round."""

    way: tuple[Edge, ...]
    round: tuple[Edge, ...]
    payable: bool


Size = Callable[[Payable, Sequence[Edge]], int | None]
Place = tuple[Enum, tuple[int, ...]]
"""A state, and for each bounded budget what has happened to it since the start of the walk."""


def find_cycle(part: Sequence[Edge], everything: Sequence[Edge], starts: Sequence[Enum], size: Size) -> Cycle:
    """The shortest closed walk of the part that gives back what it takes; one that the purse can pay goes first."""
    used = {what: [e for e in everything if what in e.spends] for e in everything for what in e.spends}
    sizes = {what: full for what, edges in used.items() if (full := size(what, edges)) is not None}
    out: dict[Enum, list[tuple[Edge, Enum]]] = {}
    for edge in part:
        out.setdefault(edge.source, []).append((edge, edge.target))
    bounded = [what for what in sizes if any(what in e.spends for e in part)]
    rounds = [found for state in out if (found := _round(state, out, bounded)) is not None] or [_over_all(part, out)]
    cycles = [_led_to(found, everything, starts, sizes) for found in rounds]
    return min(cycles, key=lambda one: (not one.payable, len(one.round), len(one.way)))


def _round(
    start: Enum, out: Mapping[Enum, Sequence[tuple[Edge, Enum]]], bounded: Sequence[Payable]
) -> list[Edge] | None:
    """The shortest closed walk from `start` after which nothing bounded is spent and not refilled."""
    at: Place = (start, (UNTOUCHED,) * len(bounded))
    came: dict[Place, tuple[Edge, Place]] = {}
    todo = deque([at])
    while todo and len(came) < MOST_LOOKED_AT:
        at = todo.popleft()
        for edge, target in out.get(at[0], ()):
            marks = tuple(_mark(edge, what, mark) for what, mark in zip(bounded, at[1], strict=True))
            if target is start and SPENT not in marks:
                walk = [edge]
                while at in came:
                    edge, at = came[at]
                    walk.append(edge)
                return walk[::-1]
            place = (target, marks)
            if place not in came:
                came[place] = (edge, at)
                todo.append(place)
    return None


def _mark(edge: Edge, what: Payable, mark: int) -> int:
    if what in edge.refills or mark == REFILLED:
        return REFILLED
    return SPENT if what in edge.spends else mark


def _over_all(part: Sequence[Edge], out: Mapping[Enum, Sequence[tuple[Edge, Enum]]]) -> list[Edge]:
    walk: list[Edge] = []
    for edge in part:
        if walk:
            walk += shortest_way(walk[-1].target, edge.source, out) or ()
        walk.append(edge)
    return [*walk, *(shortest_way(walk[-1].target, walk[0].source, out) or ())]


def _led_to(
    walk: Sequence[Edge], everything: Sequence[Edge], starts: Sequence[Enum], sizes: Mapping[Payable, int]
) -> Cycle:
    """The round begun where it is reached soonest, with the way there."""
    out: dict[Enum, list[tuple[Edge, Enum]]] = {}
    for edge in everything:
        out.setdefault(edge.source, []).append((edge, edge.target))
    ways = [
        (len(way), n, way)
        for n, edge in enumerate(walk)
        for start in starts
        if (way := shortest_way(start, edge.source, out)) is not None
    ]
    _, n, way = min(ways, key=lambda one: one[:2])
    found = (*walk[n:], *walk[:n])
    return Cycle(tuple(way), found, _paid((*way, *found, *found), sizes))


def _paid(walk: Sequence[Edge], sizes: Mapping[Payable, int]) -> bool:
    """Whether a full purse pays for the walk.

    One that pays for a round twice pays for it always: what is left of a budget after the first round is left of it
    after the second, as the last refill in the round decides it.
    """
    left = dict(sizes)
    for edge in walk:
        for what in edge.spends:
            if what in left:
                if left[what] == 0:
                    return False
                left[what] -= 1
        for what in left:
            if what in edge.refills:
                left[what] = sizes[what]
    return True
