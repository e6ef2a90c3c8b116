"""A `transitions.Machine` read into a description: the only module beside the engine that knows that library.

The rules:

* The order in which transitions are tried is the library's: of one trigger in one state as they were added; where
  states lie in one another, the innermost scope first, and in it the innermost state.
* Where a transition among such states leads is asked of the library itself, since it depends on the state in which the
  machine stands. No function of the user is called for it.
* A machine that stands in several states at once cannot be one table, and is refused.
* Triggers `to_X` that the library added are left out unless they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from .described import Ask, Cell, LeftOut, Move, NotPorted, Ported
from .leaving_out import of_machine, of_states, of_transition, place_of, where_of
from .nested import Nested

Met = tuple[str, list[str], Any]  # a trigger, the states in which a transition was tried, and the transition


@attrs.define
class _Asks:
    """The conditions met so far, in that order."""

    functions: list[Any] = attrs.field(factory=list[Any])

    def number(self, function: Any) -> int:
        if function not in self.functions:
            self.functions.append(function)
        return self.functions.index(function)


def is_machine(value: object) -> bool:
    """Whether the value is a machine of the library."""
    from transitions import Machine

    return isinstance(value, Machine)


def read(machine: Any, name: str, *, auto: bool = False) -> Ported:
    """The machine's description under the name that its table is to have. `auto`: with the triggers `to_X` too.

    Raises `NotPorted`.
    """
    nested = Nested(machine) if hasattr(machine, "get_nested_state_names") else None
    if nested is not None and nested.parallel:
        raise NotPorted(f"{nested.parallel}; expected one state at a time, so each part as a machine of its own")
    if machine.initial is None:
        raise NotPorted("a machine without an initial state, expected one made with initial=...")
    known = _states(machine, nested)
    added = {} if auto else _auto_triggers(machine, [*known, *(nested.names if nested else ())])
    all_triggers = nested.triggers if nested else list(machine.events)
    triggers = tuple(trigger for trigger in all_triggers if trigger not in added)
    if not triggers:
        beside = f", only its automatic {', '.join(added)}" if added else ""
        raise NotPorted(f"a machine without a trigger{beside}, expected one with transitions")
    asks, met = _Asks(), dict[int, Met]()
    cells: dict[Cell, tuple[Move, ...]] = {}
    ignored: set[Cell] = set()
    states = [nested.entered(machine.initial) if nested else machine.initial]
    states += [state for state in known if state not in states]
    for state in states:  # grows: a state with others in it may be entered alone
        for trigger in triggers:
            found = nested.tried(state, trigger) if nested else _tried(machine, state, trigger)
            moves: list[Move] = []
            for one, scope in found or ():
                target = state if one.dest is None else _target(machine, nested, one, scope, state, trigger)
                if target not in states:
                    states.append(target)
                literals = dict.fromkeys((asks.number(ask.func), bool(ask.target)) for ask in one.conditions)
                moves.append(Move(target, tuple(literals), one.dest is None, of=id(one)))
                met.setdefault(id(one), (trigger, [], one))[1].append(state)
            cells[trigger, state] = tuple(moves)
            if found == [] or (found is None and _ignores(machine, state)):
                ignored.add((trigger, state))
    final = tuple(state for state in states if getattr(machine.get_state(state), "final", False))
    order = [*known, *(state for state in states if state not in known)]
    left_out = [
        *of_machine(machine, added),
        *of_states(machine, nested.names if nested else known),
        *(left for trigger, sources, one in _together(met.values()) for left in of_transition(trigger, sources, one)),
        *_never_met(machine, nested, triggers, met),
    ]
    kept = tuple(Ask(_short(function), place_of(function, machine)) for function in asks.functions)
    return Ported(name, tuple(order), states[0], final, triggers, kept, cells, frozenset(ignored), tuple(left_out))


def _states(machine: Any, nested: Nested | None) -> list[str]:
    """The states in which the machine may stand, in the order in which it has them."""
    return list(machine.states) if nested is None else nested.leaves


def _auto_triggers(machine: Any, states: list[str]) -> dict[str, None]:
    """The triggers that the library has added by itself."""
    if not machine.auto_transitions:
        return {}
    attribute = machine.model_attribute
    names = {f"to_{state}": None for state in states}
    if attribute != "state":
        names |= {f"to_{attribute}_{state}": None for state in states}
    return {name: None for name in machine.events if name in names}


def _tried(machine: Any, state: str, trigger: str) -> list[tuple[Any, tuple[str, ...]]] | None:
    """What is tried in the cell, in order; None where the trigger is not valid there."""
    by_source = machine.events[trigger].transitions
    return [(one, ()) for one in by_source[state]] if state in by_source else None


def _target(machine: Any, nested: Nested | None, one: Any, scope: tuple[str, ...], state: str, trigger: str) -> str:
    try:
        found = nested.target(one, scope, state) if nested else machine.get_state(one.dest).name
    except (KeyError, ValueError) as error:
        raise NotPorted(
            f"a transition to a state that there is not ({where_of(trigger, [state], one)}), expected one of "
            f"{', '.join(_states(machine, nested))}"
        ) from error
    if not isinstance(found, str):
        at_once = " and ".join(map(str, found))
        raise NotPorted(
            f"a transition into several states at once ({where_of(trigger, [state], one)}: {at_once}), "
            f"expected one state at a time"
        )
    return found


def _ignores(machine: Any, state: str) -> bool:
    own = machine.get_state(state).ignore_invalid_triggers
    return bool(machine.ignore_invalid_triggers if own is None else own)


def _together(met: Iterable[Met]) -> Iterable[Met]:
    """Transitions that were one in the definition, with all their sources: they call and ask the same."""
    found: dict[tuple[Any, ...], Met] = {}
    for trigger, sources, one in met:
        dest = "=" if one.dest == one.source else one.dest
        parts = [one.prepare, one.before, one.after, [ask.func for ask in one.conditions]]
        called = tuple(tuple(part if isinstance(part, str) else id(part) for part in each) for each in parts)
        found.setdefault((trigger, dest, called), (trigger, [], one))[1].extend(sources)
    return found.values()


def _never_met(
    machine: Any, nested: Nested | None, triggers: tuple[str, ...], met: Mapping[int, Met]
) -> Iterator[LeftOut]:
    everything = nested.transitions() if nested else _flat(machine)
    for trigger, one in everything:
        if trigger in triggers and id(one) not in met:
            why = "transitions never takes it: the machine never stands in its source"
            yield LeftOut("the transition", where_of(trigger, [str(one.source)], one), why)


def _flat(machine: Any) -> Iterator[tuple[str, Any]]:
    for trigger, event in machine.events.items():
        for ones in event.transitions.values():
            yield from ((trigger, one) for one in ones)


def _short(function: Any) -> str:
    if isinstance(function, str):
        return function.rpartition(".")[2]
    inner = getattr(function, "func", function)  # functools.partial
    name = str(getattr(inner, "__name__", type(inner).__name__))
    return "unnamed" if name == "<lambda>" else name
