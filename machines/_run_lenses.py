"""What the machines inside a run are lent of it, and where their next value is kept."""

from __future__ import annotations

from math import inf

from statecraft.evolve import evolve

from ._run_guards import heard
from .escalation import Ladder
from .events import Clock, Measured, NoReply, Refusal, Reply, Result, Signal, TurnEnded
from .held import Held
from .manifest import Tool
from .message import WITHHELD, Candidate, Message
from .outcome import Fact
from .reply import Mending, concerns, in_trouble
from .request import Sending
from .state import Phase, Run
from .turn import asked_by
from .wait import OneWait, WaitState, urgency


def the_candidate(run: Run, event: Reply | NoReply | Refusal) -> Candidate | None:
    """A reply that may be a message: its text alone, or, when the run is to end with it, whatever it is."""
    forced = run.at is Phase.CONCLUDING
    if isinstance(event, Reply) and event.agent not in (None, run.agent):
        return None  # another agent's message is no message of this run
    if not forced and not isinstance(event, Reply):
        return None
    if not forced and isinstance(event, Reply) and (event.calls or in_trouble(event) or event.stop in WITHHELD):
        return None
    unwritten = len(run.unwritten) if run.requires else None
    return Candidate(
        Message.CANDIDATE,
        run.work,
        forced,
        run.ledger.changes_in_all,
        unwritten,
        run.policy.messages.require_facts,
        run.open_items,
        run.unfinished is not None or Fact.TRUNCATED in run.facts,
    )


def with_candidate(run: Run, event: Reply | NoReply | Refusal, candidate: Candidate) -> Run:
    """The run with its candidate."""
    return evolve(run, candidate=candidate)


def the_ladder(run: Run, event: Reply | TurnEnded) -> Ladder | None:
    """The nudges that stand. A reply moves it only if the model was told something before it."""
    if isinstance(event, Reply) and not run.told:
        return None
    within, moved = run.policy.escalation.within, bool(run.turn.signal)
    return evolve(run.ladder, turn=run.turn.number, progressed=moved, within=within)


def with_ladder(run: Run, event: Reply | TurnEnded, ladder: Ladder) -> Run:
    """The run with its ladder; a reply is what makes a nudge count."""
    return evolve(run, ladder=ladder, told=run.told and not isinstance(event, Reply))


def the_mending(run: Run, event: Reply) -> Mending | None:
    """What was done so far about replies that went wrong; a reply of another agent is no answer to this run's plan."""
    open_items = run.open_items if event.agent in (None, run.agent) else 0
    reply = evolve(run.reply, open_items=open_items) if open_items else run.reply
    return reply if concerns(reply, event) else None


def with_mending(run: Run, event: Reply, reply: Mending) -> Run:
    """The run with it."""
    return evolve(run, reply=evolve(reply, open_items=0) if reply.open_items else reply)


def the_sending(run: Run, event: Refusal | Measured) -> Sending:
    """What was done so far about the request that is out."""
    return run.request


def with_sending(run: Run, event: Refusal | Measured, request: Sending) -> Run:
    """The run with it."""
    return evolve(run, request=request)


def the_wait(run: Run, event: Result) -> OneWait | None:
    """The wait that the answer is a look at: one that goes on, or a new one. Its time is a slice of the run's."""
    call = asked_by(run.turn.open, event)
    if call is None or event.poll is None or not run.policy.waiting.enabled or call.signature in run.waits.over:
        return None
    rule = run.tool(call.tool).wait
    if rule is None:
        return None
    now = max(event.at, run.spent.now)  # a clock that was put back makes no wait longer
    wait = run.waits.open.get(call.signature) or OneWait(tool=call.tool, since=now)
    longest = inf if rule.max_wait_seconds is None else rule.max_wait_seconds
    return evolve(wait, until=min(wait.since + longest, now + run.time_left(now)), now=now)


def with_wait(run: Run, event: Result, wait: OneWait) -> Run:
    """The run with its wait; one that is over is no longer held, and the turn knows of it."""
    call, waits = asked_by(run.turn.open, event), run.waits
    assert call is not None
    if wait.at is WaitState.WAITING:
        own = min(wait.now + _interval(run.tool(call.tool)), wait.until)
        next_at = min(own, waits.next_at) if run.turn.polls else own  # of several looks, the one that is due first
        held = waits.open.insert(call.signature, evolve(wait, until=0.0, now=0.0))
        return evolve(run, waits=evolve(waits, open=held, next_at=next_at))
    waits = evolve(waits, open=waits.open.discard(call.signature), over=waits.over.insert(call.signature))
    if wait.at is WaitState.SETTLED:
        return evolve(run, waits=waits)
    over = sorted((*run.turn.waits_over, wait), key=urgency)  # whatever the order of the answers
    return evolve(run, waits=waits, turn=evolve(run.turn, waits_over=tuple(over)))


def the_held(run: Run, event: Signal | Clock) -> Held | None:
    """The held call that the signal names, or the one whose time is over first."""
    calls = run.turn.held
    if isinstance(event, Signal):
        return None if heard(run, event).holds else next((one for one in calls if one.name == event.name), None)
    return min(calls, key=lambda one: (one.until, one.name), default=None)


def with_held(run: Run, event: Signal | Clock, held: Held) -> Run:
    """The run with its held call."""
    calls = tuple(held if one.call is held.call else one for one in run.turn.held)
    return evolve(run, turn=evolve(run.turn, held=calls))


def _interval(tool: Tool) -> float:
    return (tool.wait.min_interval_seconds if tool.wait else None) or 0.0
