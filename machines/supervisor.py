"""Events in, commands out: the face that the loop, the audit and every adapter use. Pure; no I/O.

The supervisor adds the little that lies between the world's events and the run's table:

* `TurnEnded`, when the last open call is answered, or when the next reply, a person's message or the recorded end shows
  that the open ones will not be;
* a new leg, when a person speaks to a run that has ended, or that has had a turn since a person last spoke;
* the end of a wait, when a recorded run asks on by itself;
* the outcome `failed`, when the machine itself is at fault.
"""

from __future__ import annotations

import attrs

from statecraft import Answer, Fault, Unhandled

from ._run_endings import failed_by_fault
from .commands import Command, End
from .events import Chunk, Clock, Ended, Event, Refusal, Reply, Said, TurnEnded
from .run import RUN
from .state import ENDINGS, Phase, Run, hand_on


@attrs.frozen
class Moved:
    """One event as it met the table, and what the table answered; a fault where the machine was wrong."""

    event: Event
    answer: Answer[Run, Command] | Fault


@attrs.frozen
class NewLeg:
    """The run was handed on: this is its next leg, before its first event."""

    run: Run


@attrs.frozen
class Fed:
    """What one event of the world did: the run now, all that was stepped on the way, the commands in their order."""

    run: Run
    moves: tuple[Moved | NewLeg, ...]
    commands: tuple[Command, ...]


def feed(run: Run, event: Event) -> Fed:
    """Feed one event to a run. Never raises for what an event may hold; the given run is untouched."""
    fed = settle(run, event)
    if fed.run.at is Phase.WAITING and isinstance(event, Reply | Chunk | Refusal):
        fed = _step(fed, Clock(event.at))
    if isinstance(event, Said) and not event.synthetic and _begins_leg(fed.run):
        leg = hand_on(fed.run)
        fed = attrs.evolve(fed, run=leg, moves=(*fed.moves, NewLeg(leg)))
    fed = _step(fed, event)
    if fed.run.at is Phase.ACTING and not fed.run.turn.open:
        fed = _step(fed, TurnEnded(event.at))
    return fed


def settle(run: Run, event: Event) -> Fed:
    """Only what `event` shows of the turn before it: that this has ended, though calls of it are still open.

    `feed` does it by itself. An audit does it first, since a recorded run's reply is not the one that a stop asks for.
    """
    fed = Fed(run, (), ())
    shown = run.at is Phase.ACTING and _shows_end_of_turn(event)
    return _step(fed, TurnEnded(event.at)) if shown else fed


def ended(run: Run) -> bool:
    """Whether the run has come to one of its endings."""
    return run.at in ENDINGS


def _shows_end_of_turn(event: Event) -> bool:
    if isinstance(event, Said):
        return not event.synthetic
    return isinstance(event, Reply | Chunk | Refusal | Ended)


def _begins_leg(run: Run) -> bool:
    return ended(run) or (run.at is not Phase.READY and run.spent.replies > 0)


def _step(fed: Fed, event: Event) -> Fed:
    try:
        answer = RUN.step(fed.run, event)
    except Fault as fault:
        return _failed(fed, event, fault)
    if isinstance(answer, Unhandled):
        return _failed(fed, event, Fault("run", None, answer.event, "is not an event that a run knows"))
    return Fed(answer.run, (*fed.moves, Moved(event, answer)), (*fed.commands, *answer.commands))


def _failed(fed: Fed, event: Event, fault: Fault) -> Fed:
    run = failed_by_fault(fed.run, getattr(event, "at", fed.run.spent.now), fault.part, fault.problem)
    end: tuple[Command, ...] = () if run.outcome is None else (End(run.outcome),)
    return Fed(run, (*fed.moves, Moved(event, fault)), (*fed.commands, *end))
