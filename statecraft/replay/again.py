"""Deciding again: the same events under another policy, and where the two runs part.

The recorded events are what they are: a model that had been stopped earlier would not have sent them. So after the
parting they are the other run's, and nothing is forecast. They still fit the second run while both stand in the same
state, as then both wait for the same; the first that comes while the states differ is not stepped, nor is any after
it, until the next leg, in which both begin anew. Where that happens, the second run's ending is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import attrs

from ..guards import Finding
from ..journal import Journaled, Store
from ..step import Refused, Step
from .compare import Difference, compared
from .recorded import Advanced, Line, Migrate, advance, lines, next_leg, recorded

R = TypeVar("R")


@attrs.frozen
class Side:
    """What one of the two runs made of an event: `kind` is step, refused, ignored, fault, or ended before it came."""

    kind: str
    source: str
    row: int | None
    row_text: str
    target: str | None
    why: str
    seen: tuple[Finding, ...]
    commands: tuple[str, ...]


@attrs.frozen
class Parting:
    """The first event of which the two runs made different things."""

    seq: int
    event: str
    recorded: Side
    again: Side


@attrs.frozen
class Ending:
    """How a leg of a run ended: the line at which it reached its state; not `final` where it would have gone on.

    Not `fits` where the recorded events stopped being this run's in that state: how it would have ended is not known.
    """

    seq: int
    state: str
    final: bool
    fits: bool = True


@attrs.frozen
class Decided(Generic[R]):
    """The two runs side by side: where they part, and their endings, one a leg.

    `run` is the second one after the last event that fits it. `difference` is set where the table no longer answers as
    recorded; then `recorded` is what it answers now.
    """

    name: str
    machine: str
    parting: Parting | None
    recorded: tuple[Ending, ...]
    again: tuple[Ending, ...]
    run: R
    difference: Difference | None


def decide_again(
    store: Store, of: Journaled[R, Any, Any], change: Callable[[R], R], migrate: Migrate | None = None
) -> Decided[R]:
    """Step the recorded events twice: from the recorded beginning, and from what `change` makes of it.

    A leg begins with `of.hand_on` of what each run came to; without that, `change` is applied to the recorded one.
    """
    head = recorded(store, of, migrate)
    one, two = _Track(of, head.initial), _Track(of, change(head.initial))
    parting: Parting | None = None
    difference: Difference | None = None
    for line in lines(store, of, migrate):
        if line.kind == "leg":
            first = next_leg(store, of, one.run, line)
            one.begin(line.seq, first)
            two.begin(line.seq, change(first) if of.hand_on is None else of.hand_on(two.run))
        if line.event is None:
            continue
        fits = parting is None or two.fits_beside(one)
        here = one.take(line)
        if difference is None:
            difference = _checked(of, line, one)
        if not fits:
            continue
        there = two.take(line)
        if parting is None and _decision(here) != _decision(there):
            parting = Parting(line.seq, type(line.event).__name__, here, there)
    return Decided(head.run, head.machine, parting, one.endings(), two.endings(), two.run, difference)


class _Track(Generic[R]):
    """One of the two runs on its way."""

    def __init__(self, of: Journaled[R, Any, Any], run: R) -> None:
        self.of, self.run = of, run
        self.before = run
        self.fits = True
        self.stepped: Advanced[R] | None = None
        self._seq = 0
        self._over: list[Ending] = []

    def begin(self, seq: int, run: R) -> None:
        """The next leg."""
        self._over.append(self._ending())
        self.run, self._seq, self.fits = run, seq, True

    def fits_beside(self, recorded: _Track[R]) -> bool:
        """Whether the next recorded event can be this run's: it has ended, or both are in one state as it comes."""
        at = self.of.table.at
        self.fits = self.fits and (at(self.run) in self.of.table.final or at(self.run) is at(recorded.run))
        return self.fits

    def take(self, line: Line) -> Side:
        """Step the event; a run that has ended is left alone."""
        table = self.of.table
        state = table.at(self.run)
        self.before = self.run
        self.stepped = advance(self.of, self.run, line.event)
        self.run = self.stepped.after
        if table.at(self.run) is not state:
            self._seq = line.seq
        return _side(self.of, self.stepped, state.name, ended=state in table.final)

    def endings(self) -> tuple[Ending, ...]:
        """The endings of all legs so far."""
        return (*self._over, self._ending())

    def _ending(self) -> Ending:
        state = self.of.table.at(self.run)
        return Ending(self._seq, state.name, state in self.of.table.final, self.fits)


def _side(of: Journaled[Any, Any, Any], stepped: Advanced[Any], state: str, *, ended: bool) -> Side:
    answer, fault = stepped.answer, stepped.fault
    if fault is not None:
        return Side("fault", state, fault.row, "", None, f"{fault.part} {fault.problem}", fault.asked, ())
    if isinstance(answer, Step):
        commands = tuple(type(command).__name__ for command in answer.commands)
        text = str(of.table.rows[answer.row])
        return Side("step", state, answer.row, text, answer.target.name, "", answer.seen, commands)
    if isinstance(answer, Refused):
        return Side("ended" if ended else "refused", state, None, "", None, answer.why, answer.seen, ())
    return Side("ignored", state, None, "", None, getattr(answer, "why", ""), (), ())


def _decision(side: Side) -> tuple[Any, ...]:
    """What has to differ for two runs to have parted: not the numbers behind a decision, but the decision."""
    return side.kind, side.source, side.row, side.target, side.commands


def _checked(of: Journaled[Any, Any, Any], line: Line, track: _Track[Any]) -> Difference | None:
    return compared(of, line, track.before, track.run, track.stepped)
