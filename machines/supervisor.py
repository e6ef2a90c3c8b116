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
from statecraft.evolve import evolve

from ._run_endings import failed_by_fault
from .commands import AnswerCalls, Ask, Command, End, TellPerson, WaitUntil
from .events import (
    NO_LAST_REPLY,
    Chunk,
    Clock,
    Condensed,
    Ended,
    Event,
    GoalMeasured,
    NoReply,
    PlanChanged,
    Refusal,
    Reply,
    Said,
    Signal,
    TurnEnded,
)
from .held import HELD_CALL
from .run import RUN
from .state import ENDINGS, Phase, Run, hand_on

# A union written in the call is made anew at each call.
_ANSWERED = (Reply, Chunk, Refusal)
_END_OF_TURN = (Reply, Chunk, Refusal, Ended)
_STILL_OF_TURN = (PlanChanged, GoalMeasured)


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


def feed(run: Run, event: Event, *, then: Event | None = None) -> Fed:
    """Feed one event to a run. Never raises for what an event may hold; the given run is untouched.

    `then` is the event that is known to come next, if one is: what the plan or the goal says right after the last
    answer still belongs to the turn.
    """
    fed = settle(run, event)
    if isinstance(event, Said) and not event.synthetic and _begins_leg(fed.run):
        leg = hand_on(fed.run)
        # What the last turn would have asked for is asked by the new leg instead; only open calls get their answer.
        answers = tuple(c for c in fed.commands if isinstance(c, AnswerCalls))
        fed = Fed(leg, (*fed.moves, NewLeg(leg)), answers)
    fed = _step(_without_last_reply(fed, event), event)
    if fed.run.at is Phase.ACTING and not fed.run.turn.open and not isinstance(then, _STILL_OF_TURN):
        fed = _step(fed, TurnEnded(event.at))
    return _without_last_reply(fed, event)


def settle(run: Run, event: Event) -> Fed:
    """Only what `event` shows of what was before it.

    A turn has ended though calls of it are still open, or held; a wait is over, since a recorded run asked on by
    itself; the history was condensed, since a recorded run's request went through. `feed` does this by itself; an audit
    does it first, since a recorded run's reply is not the one that a stop asks for.
    """
    fed = Fed(run, (), ())
    if run.at is Phase.ACTING and _shows_end_of_turn(event):
        fed = _step(fed, TurnEnded(event.at))
    if fed.run.at is Phase.WAITING and _shows_end_of_turn(event):
        fed = _withdraw(fed, event)
    if isinstance(event, _ANSWERED):
        if fed.run.at is Phase.WAITING:
            fed = _step(fed, Clock(event.at))
        if fed.run.at is Phase.CONDENSING:
            fed = _step(fed, Condensed(event.at, 0, counted=False))
    return fed


def _withdraw(fed: Fed, event: Event) -> Fed:
    """Whatever held calls wait for is withdrawn: the run goes on without it, and nobody is asked any more."""
    while fed.run.at is Phase.WAITING and fed.run.turn.held:
        fed = _step(fed, Signal(event.at, fed.run.turn.held[0].name, withdrawn=True))
        if fed.run.at is Phase.ACTING:
            fed = _step(fed, TurnEnded(event.at))
    return evolve(fed, commands=tuple(c for c in fed.commands if not _is_of_wait(c)))


def _is_of_wait(command: Command) -> bool:
    return isinstance(command, WaitUntil) or (isinstance(command, TellPerson) and command.by == HELD_CALL)


def _without_last_reply(fed: Fed, event: Event) -> Fed:
    """The last reply that a stop asks for is not asked for where the policy has it switched off."""
    kept = tuple(c for c in fed.commands if not (isinstance(c, Ask) and c.final))
    if fed.run.at is not Phase.CONCLUDING or fed.run.policy.budget.final_reply or kept == fed.commands:
        return fed
    return _step(evolve(fed, commands=kept), NoReply(event.at, NO_LAST_REPLY))


def ended(run: Run) -> bool:
    """Whether the run has come to one of its endings."""
    return run.at in ENDINGS


def _shows_end_of_turn(event: Event) -> bool:
    if isinstance(event, Said):
        return not event.synthetic
    return isinstance(event, _END_OF_TURN)


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
    if ended(fed.run):
        return evolve(fed, moves=(*fed.moves, Moved(event, fault)))
    run = failed_by_fault(fed.run, getattr(event, "at", fed.run.spent.now), fault.part, fault.problem)
    end: tuple[Command, ...] = () if run.outcome is None else (End(run.outcome),)
    return Fed(run, (*fed.moves, Moved(event, fault)), (*fed.commands, *end))
