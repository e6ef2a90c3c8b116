"""What a machine never does is taken out of its description, and said: a table would refuse to be built with it.

* a transition that asks a condition and its opposite, or that those before it leave nothing, is never taken;
* a state that no transition leaves or enters is only a name;
* a state that is final, and is left all the same, does not end anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from .described import Ask, LeftOut, Literal, Move, NotPorted, Ported


def settle(found: Ported) -> Ported:
    """The same machine without what never happens in it, which is added to what was left out.

    Raises `NotPorted` where nothing ever happens in it.
    """
    left_out = list(found.left_out)
    cells = {cell: _kept(moves) for cell, moves in found.cells.items()}
    taken = {move.of for moves in cells.values() for move in moves}
    for (trigger, state), moves in found.cells.items():
        for move in moves:
            if move.of not in taken:
                why = f"transitions never takes it: {_hidden(move, found.asks)}"
                left_out.append(LeftOut("the transition", f"{trigger}: {state} -> {move.target}", why))
    if not any(cells.values()):
        raise NotPorted("a machine none of whose transitions can ever be taken, expected one that can be left")
    leaving = {state for (_, state), moves in cells.items() if moves}
    entered = {move.target for moves in cells.values() for move in moves}
    final = tuple(state for state in found.final if state not in leaving)
    why = "transitions leave it, so nothing ends there"
    left_out += [LeftOut("final", f"state {state}", why) for state in found.final if state in leaving]
    used = {found.initial, *final, *leaving, *entered}
    why = "no transition leaves it or leads to it"
    left_out += [LeftOut(f"the state {state}", "", why) for state in found.states if state not in used]
    states = tuple(state for state in found.states if state in used)
    return attrs.evolve(found, states=states, final=final, cells=cells, left_out=tuple(left_out))


def _kept(moves: Iterable[Move]) -> tuple[Move, ...]:
    kept: list[Move] = []
    for move in moves:
        if can_be_taken(move, kept):
            kept.append(move)
    return tuple(kept)


def can_be_taken(move: Move, earlier: Iterable[Move]) -> bool:
    """Whether some answers let `move` be taken, and none of those that are tried before it."""
    asked = frozenset(move.asks)
    return not any(_opposite(one) in asked for one in asked) and _some(asked, [frozenset(one.asks) for one in earlier])


def _some(given: frozenset[Literal], earlier: Sequence[frozenset[Literal]]) -> bool:
    """Whether answers that hold what is given can make every one of the earlier say no somewhere."""
    open_ones = [asks - given for asks in earlier if not any(_opposite(one) in given for one in asks)]
    if not open_ones:
        return True
    shortest = min(open_ones, key=len)
    return any(_some(given | {_opposite(one)}, open_ones) for one in sorted(shortest))


def _opposite(literal: Literal) -> Literal:
    return literal[0], not literal[1]


def _hidden(move: Move, asks: Sequence[Ask]) -> str:
    asked = frozenset(move.asks)
    both = sorted({number for number, _ in asked if (number, True) in asked and (number, False) in asked})
    if both:
        return f"it asks {asks[both[0]].name} and its opposite"
    return "one tried before it always says yes where it would"
