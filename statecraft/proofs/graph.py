"""Directed graphs, as far as the proofs need them: strongly connected parts, what can be reached, and shortest ways.

All answers are in an order that follows from the order of the arguments alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

N = TypeVar("N", bound=Hashable)
L = TypeVar("L")


def strong_parts(nodes: Sequence[N], after: Mapping[N, Sequence[N]]) -> list[tuple[N, ...]]:
    """The strongly connected parts, successors first; the nodes of a part in the order of `nodes`.

    `after` gives the nodes one edge away (none where it has no entry), all of them among `nodes`. Time linear in nodes
    and edges: Tarjan's algorithm ("Depth-first search and linear graph algorithms", 1972), with its own stack in place
    of recursion, so that a long chain of states cannot exhaust Python's.
    """
    place = {node: n for n, node in enumerate(nodes)}
    found: list[tuple[N, ...]] = []
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    done: set[N] = set()
    waiting: list[N] = []
    work: list[tuple[N, Iterator[N]]] = []

    def enter(node: N) -> None:
        index[node] = low[node] = len(index)
        waiting.append(node)
        work.append((node, iter(after.get(node, ()))))

    for root in nodes:
        if root not in index:
            enter(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    enter(other)
                    break
                if other not in done:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    part = [waiting.pop()]
                    while part[-1] != node:
                        part.append(waiting.pop())
                    done.update(part)
                    found.append(tuple(sorted(part, key=place.__getitem__)))
    return found


def reached(starts: Iterable[N], after: Mapping[N, Sequence[N]]) -> set[N]:
    """The starts and all that can be reached from them. For asking what is in it, not for walking."""
    todo = list(starts)
    seen = set(todo)
    while todo:
        for node in after.get(todo.pop(), ()):
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return seen


def shortest_way(start: N, goal: N, out: Mapping[N, Sequence[tuple[L, N]]]) -> list[L] | None:
    """The labels along a shortest way (empty if start is goal; None if there is none). `out`: (label, node) pairs."""
    came: dict[N, tuple[L, N]] = {}
    seen = {start}
    todo = deque([start])
    while todo and goal not in seen:
        node = todo.popleft()
        for label, other in out.get(node, ()):
            if other not in seen:
                seen.add(other)
                came[other] = (label, node)
                todo.append(other)
    if goal not in seen:
        return None
    way: list[L] = []
    while goal != start:
        label, goal = came[goal]
        way.append(label)
    return way[::-1]
