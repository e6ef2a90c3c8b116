"""The cells of a description as rows that can be read: sources that do the same share one, and what must be said is.

Rows of one cell keep their order, whatever they are grouped with: only whole cells that are alike share rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import attrs

from .described import Literal, Move, Ported


@attrs.frozen
class Entry:
    """One entry of the table's list. `target` is None where each source stays as it is."""

    sources: tuple[str, ...]
    trigger: str
    target: str | None
    asks: tuple[Literal, ...]
    internal: bool


@attrs.frozen
class Said:
    """Cells of which the table says something: `how` is ignore, refuse or ordered."""

    how: str
    states: tuple[str, ...]
    triggers: tuple[str, ...]


def entries(machine: Ported) -> Iterator[Entry]:
    """The rows, by trigger, each cell's in the order in which they are tried."""
    for trigger in machine.triggers:
        cells = {state: machine.cells.get((trigger, state), ()) for state in machine.states}
        for sources, moves in _alike(cells):
            for place, move in enumerate(moves):
                stay = len(sources) > 1 and all(cells[one][place].target == one for one in sources)
                target = None if stay else move.target
                yield Entry(sources, trigger, target, move.asks, move.internal)


def said(machine: Ported) -> Iterator[Said]:
    """What is ordered, ignored and refused, cells that are said alike together."""
    open_states = [state for state in machine.states if state not in machine.final]
    for how in ("ordered", "ignore", "refuse"):
        by_states: dict[tuple[str, ...], list[str]] = {}
        for trigger in machine.triggers:
            states = tuple(state for state in open_states if _how(machine, trigger, state) == how)
            if states:
                by_states.setdefault(states, []).append(trigger)
        for states, triggers in by_states.items():
            yield Said(how, states, tuple(triggers))


def _how(machine: Ported, trigger: str, state: str) -> str:
    moves = machine.cells.get((trigger, state), ())
    if moves:
        return "ordered" if any(_overlap(one, other) for one, other in combinations(moves, 2)) else ""
    return "ignore" if (trigger, state) in machine.ignored else "refuse"


def _overlap(one: Move, other: Move) -> bool:
    """Whether a table asks for their order to be marked: they are not apart, nor is the later the earlier's rest."""
    apart = any((number, not answer) in other.asks for number, answer in one.asks)
    return not apart and not set(other.asks) <= set(one.asks)


def _alike(cells: Mapping[str, Sequence[Move]]) -> Iterable[tuple[tuple[str, ...], Sequence[Move]]]:
    """Sources with the same moves; those that are alone with theirs, again by whether they stay."""
    exact = _grouped({state: tuple(moves) for state, moves in cells.items() if moves})
    alone = {state: _as_seen(state, moves) for (state, *others), moves in exact if not others}
    together = {first: (first, *others) for (first, *others), _ in _grouped(alone)}
    for (first, *others), moves in exact:
        if others:
            yield (first, *others), moves
        elif first in together:
            yield together[first], moves


def _grouped(cells: Mapping[str, tuple[Move, ...]]) -> list[tuple[tuple[str, ...], tuple[Move, ...]]]:
    groups: dict[tuple[Move, ...], list[str]] = {}
    for state, moves in cells.items():
        groups.setdefault(moves, []).append(state)
    return [(tuple(states), moves) for moves, states in groups.items()]


def _as_seen(state: str, moves: Sequence[Move]) -> tuple[Move, ...]:
    """The moves with an empty target where they lead back to the state."""
    return tuple(attrs.evolve(move, target="") if move.target == state else move for move in moves)
