"""The transitions library as the engine: the only module that knows it.

One shared core `Machine` per table. What it moves is a throw-away `Asked`, made for one event and dropped with it, so
no model is ever registered. `transition_cls`, the library's documented hook, asks our guards before the library's own
callbacks run. Its conditions are not used, because it takes a guard's answer only if it equals True, and says nothing
of the values behind it.

The rule of this module: each question is asked once an event, whatever number of rows stand on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import attrs
from transitions import EventData, Machine
from transitions.core import Transition

from ._answers import is_evidence, is_reading, wrong
from .guards import Evidence, Finding, Guard, Level, Question, Reading, name_of
from .step import Fault

Asker = Callable[["Asked"], bool]
AnyQuestion = Question[Any, Any]
AnyGuard = Guard[Any, Any]


_NOTHING_YET = object()


class Asked:
    """One event on its way through a cell: what is asked, what was answered, and the row that was taken (-1: none)."""

    __slots__ = ("_at", "answers", "event", "left", "opened", "row", "run")

    def __init__(self, state: str, run: object, event: object, opened: frozenset[int], left: Mapping[Any, Any]) -> None:
        self._at, self.run, self.event, self.opened, self.left = state, run, event, opened, left
        self.row = -1
        self.answers: dict[Any, Finding] = {}


@attrs.frozen
class Wire:
    """What the engine needs to know of one row in one of its source states."""

    number: int
    source: str
    event: str
    target: str
    guards: tuple[AnyQuestion, ...]
    spends: Any = None


class _Gate(Transition):
    """Neighbouring rows of a cell that lead to one state: taken by the first of them whose askers all say yes."""

    rows: tuple[tuple[int, tuple[Asker, ...]], ...] = ()

    def execute(self, event_data: EventData) -> bool:
        asked: Asked = event_data.model  # type: ignore[assignment]  # the library calls it object
        for number, askers in self.rows:
            for asker in askers:
                if not asker(asked):
                    break
            else:
                asked.row = number
                return bool(Transition.execute(self, event_data))  # super() would cost 1 % of a step
        return False

    def _change_state(self, event_data: EventData) -> None:
        """Nobody listens here to states being left and entered, so the carrier is moved and nothing else is done."""
        asked: Asked = event_data.model  # type: ignore[assignment]  # the library calls it object
        asked._at = self.dest or self.source  # pyright: ignore[reportPrivateUsage]


class _Core(Machine):
    transition_cls = _Gate


class Engine:
    """The cells of one table: in which order the rows are tried, and the first whose guards all hold."""

    def __init__(self, machine: str, states: Sequence[str], initial: str, wires: Sequence[Wire]) -> None:
        core = core_machine(states, initial)
        last: dict[tuple[str, str], _Gate] = {}
        for wire in wires:
            gate = last.get((wire.event, wire.source))
            if gate is None or gate.dest != wire.target:
                core.add_transition(wire.event, wire.source, wire.target)
                gate = core.events[wire.event].transitions[wire.source][-1]
                last[wire.event, wire.source] = gate
            spends = () if wire.spends is None else (_payable(machine, wire.number, wire.spends),)
            askers = (*spends, *(_asker(machine, wire.number, guard) for guard in wire.guards))
            gate.rows = (*gate.rows, (wire.number, askers))
        self._triggers: dict[str, Callable[[Asked], object]] = {name: core.events[name].trigger for name in core.events}

    def ask(self, event_name: str, asked: Asked) -> None:
        """Try the rows of the cell; afterwards `asked` holds the row taken and every answer."""
        self._triggers[event_name](asked)


def core_machine(states: Sequence[str], initial: str) -> Any:
    """The library's machine, set up as this module uses it."""
    return _Core(
        None,
        list(states),
        initial=initial,
        auto_transitions=False,
        send_event=True,
        queued=False,
        model_attribute="_at",  # an event may be called as it likes, but not as this attribute
    )


def _asker(machine: str, row: int, question: AnyQuestion) -> Asker:
    """The guard as the gate asks it: through the answers already heard, with a raise turned into a fault."""
    if not isinstance(question, Guard):
        return _single(machine, row, name_of(question), question, None)
    composite: AnyGuard = question
    how, name = composite.how, composite.name
    if composite.function is not None:
        return _single(machine, row, name, composite.function, composite.level if how == "reaches" else None)
    parts = tuple(_asker(machine, row, part) for part in composite.parts)

    def combined(asked: Asked) -> bool:
        heard = [part(asked) for part in parts]  # all of them, so that both sides are on record
        holds = not heard[0] if how == "not" else all(heard) if how == "all" else any(heard)
        asked.answers[composite] = Evidence(name, holds)
        return holds

    return combined


def _single(machine: str, row: int, name: str, function: Any, level: Level | None) -> Asker:
    """One question; what it answers is looked at once, since the same value often comes again (a reading at rest)."""
    fits, wanted = (is_evidence, Evidence) if level is None else (is_reading, Reading)
    passed: Any = _NOTHING_YET

    def ask(asked: Asked) -> Any:
        nonlocal passed
        try:
            found = function(asked.run, asked.event)
            problem = "" if found is passed or fits(found) else wrong(found, wanted)
        except Exception as error:
            problem = f"raised {type(error).__name__}: {error}"
            raise Fault(machine, row, name, problem, _heard(asked)) from error
        if problem:
            raise Fault(machine, row, name, problem, _heard(asked))
        passed = asked.answers[function] = found
        return found

    def other_kind(asked: Asked, found: Any) -> Fault:
        return Fault(machine, row, name, wrong(found, wanted), _heard(asked))

    def evident(asked: Asked) -> bool:
        found: Any = asked.answers.get(function)
        if found is None:
            found = ask(asked)
        elif found.__class__ is not Evidence:
            raise other_kind(asked, found)
        holds: bool = found.holds
        return holds

    def stops(asked: Asked) -> bool:
        found: Any = asked.answers.get(function)
        if found is None:
            found = ask(asked)
        elif found.__class__ is not Reading:
            raise other_kind(asked, found)
        return bool(found.now >= found.stop)

    def nudges(asked: Asked) -> bool:
        found: Any = asked.answers.get(function)
        if found is None:
            found = ask(asked)
        elif found.__class__ is not Reading:
            raise other_kind(asked, found)
        return bool(found.now >= found.nudge or found.now >= found.stop)

    if level is None:
        return evident
    return stops if level is Level.STOP else nudges


def _heard(asked: Asked) -> tuple[Finding, ...]:
    """The answers so far, in the order of asking."""
    return tuple(asked.answers.values())


def _payable(machine: str, row: int, spends: Any) -> Asker:
    """The guard that spending brings with it, with its numbers, so that a declaration cannot be wrong."""
    if isinstance(spends, Enum):
        name = f"{spends.value}_left"

        def payable(asked: Asked) -> bool:
            found = asked.answers.get(spends)
            if found is None:
                if spends not in asked.left:
                    raise Fault(
                        machine, row, name, "cannot be told: the purse does not hold this budget", _heard(asked)
                    )
                left = asked.left[spends]
                found = asked.answers[spends] = Evidence(name, left is None or left > 0, {"left": left})
            return bool(getattr(found, "holds", False))

        return payable
    key, name = id(spends), f"{spends.name}_goes_on"

    def still_open(asked: Asked) -> bool:
        found = asked.answers.get(spends)
        if found is None:
            found = asked.answers[spends] = Evidence(name, key in asked.opened)
        return bool(getattr(found, "holds", False))

    return still_open
