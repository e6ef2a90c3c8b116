"""A run's lifecycle.

The rules: a request is out (`asking`, or `recovering` after one that went wrong), the calls of a reply are out
(`acting`), nothing is to be done before a time or a signal (`waiting`), the history is being condensed (`condensing`),
or the last reply is out (`concluding`).

* A turn is a reply with the results of all its calls. Replies that are cut, paused or empty are recovered from and use
  up no turn; each such incident has its own budget, and progress makes all of them full again.
* What judges a turn stands on `TurnEnded`: first what stops, then what waits, then what nudges. Nothing is judged
  before the whole turn is in the run.
* A stop asks for exactly one reply without tools. Whatever comes, or does not come, ends the run.
* The message machine says what a reply's text may be; a checkpoint never ends a run.

* A call may wait for something outside: a person, or a signal. It is held, and its turn with it: the run waits, costs
  nothing, and can be put down. What comes lets the call run, or has it answered.

`inner` machines: MESSAGE says what the reply has become, WAIT how a declared wait stands, HELD how a held call does,
ESCALATION how many nudges there were.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from statecraft import Inner, Level, Row, Rows, Table, ignore, inner, ordered, reaches, refuse
from statecraft.evolve import evolve

from . import _run_effects as do
from . import _run_endings as end
from . import _run_holding as hold
from ._run_guards import (
    asking_call,
    calls,
    cut,
    empty,
    final_refusal,
    heard,
    held,
    held_in_vain,
    late_call,
    limits,
    limits_with_reply,
    message_is,
    nudge_due,
    nudged_twice,
    only_polled,
    open_call,
    passing,
    paused,
    progressed,
    released,
    too_long,
    unwritten,
    wait_over,
    withheld,
)
from .commands import AnswerCalls, Ask, Command, Condense, End, RunCalls, Show, Tell, TellPerson, WaitUntil, Withdraw
from .detectors.roster import CHANTING, CONDENSING, ROSTER, Detector, unsaid
from .escalation import ESCALATION, Ladder
from .events import (
    Awaits,
    Begin,
    Cancel,
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
    Result,
    Said,
    Signal,
    TurnEnded,
)
from .held import HELD, Held
from .manifest import Tool
from .message import MESSAGE, Candidate, Message
from .outcome import TerminalStatus
from .state import ENDINGS, OPEN, RECOVERIES, SIZES, Phase, Purse, Run
from .turn import asked_by
from .wait import WAIT, OneWait, WaitState, urgency


def _at(run: Run) -> Phase:
    return run.at


def _move(run: Run, state: Phase) -> Run:
    return evolve(run, at=state)


def _purse(run: Run) -> Mapping[Purse, int | None]:
    return run.purse


def _pay(run: Run, left: Mapping[Purse, int | None]) -> Run:
    return evolve(run, purse=left)


def the_candidate(run: Run, event: Reply | NoReply | Refusal) -> Candidate | None:
    """A reply that may be a message: its text alone, or, when the run is to end with it, whatever it is."""
    forced = run.at is Phase.CONCLUDING
    if isinstance(event, Reply) and event.agent not in (None, run.agent):
        return None  # another agent's message is no message of this run
    if not forced and not isinstance(event, Reply):
        return None
    if (
        not forced
        and isinstance(event, Reply)
        and (event.calls or unusable(run, event).holds or withheld(run, event).holds)
    ):
        return None
    unwritten = len(run.unwritten) if run.requires else None
    return Candidate(
        Message.CANDIDATE,
        run.work,
        forced,
        run.ledger.changes_in_all,
        unwritten,
        run.policy.messages.require_facts,
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


row = Rows[Run, Phase, Command]()
vain_stop, vain_nudge = reaches(CONDENSING.read, Level.STOP), reaches(CONDENSING.read, Level.NUDGE)
vain_unsaid = unsaid(CONDENSING)
third_vain_nudge = (nudged_twice, vain_nudge, vain_unsaid)


def stops_of(d: Detector[TurnEnded]) -> list[Row[Run, Phase, Command]]:
    """A detector's stop; before it, where it has one, the rescue of a run that has something left to write."""
    acting, stop, asks = Phase.ACTING, reaches(d.read, Level.STOP), [AnswerCalls, TellPerson, Tell, Ask]
    rescue = row(acting, TurnEnded, Phase.ASKING, do.rescue_by(d), stop, unwritten, asks=asks, spends=Purse.RESCUE)
    ends = row(acting, TurnEnded, Phase.CONCLUDING, do.stop_by(d), stop, asks=[AnswerCalls, TellPerson, Ask])
    return [rescue, ends] if d.rescued else [ends]


def rows_held(
    event: type[Signal] | type[Clock],
) -> list[Row[Run, Phase, Command] | tuple[Row[Run, Phase, Command], ...]]:
    """A held call that is not to be run is answered; one that nothing has come for goes on waiting."""
    waiting, vain = Phase.WAITING, [AnswerCalls]
    return [
        row(waiting, event, Phase.ACTING, hold.answer_held, held_in_vain, asks=vain, spends=Purse.HELD),
        row(waiting, event, Phase.CONCLUDING, hold.stop_held, held_in_vain, asks=[AnswerCalls, TellPerson, Ask]),
        *row.stay([waiting], event, hold.hear_signal, held),
    ]


_ALIVE: tuple[Phase, ...] = (Phase.ASKING, Phase.RECOVERING)
_ASKED: tuple[Phase, ...] = (*_ALIVE, Phase.CONCLUDING)
_BUSY: tuple[Phase, ...] = (*_ALIVE, Phase.ACTING, Phase.WAITING)
_UNASKED: tuple[Phase, ...] = (Phase.ACTING, Phase.WAITING, Phase.CONDENSING)
_TURNING: tuple[Phase, ...] = (*_ALIVE, Phase.ACTING)
unusable = (cut | paused | empty).called("unusable")

JUDGE: Inner[Run, Phase, Command] = inner(MESSAGE, during=_ASKED, get=the_candidate, put=with_candidate)
LADDER: Inner[Run, Phase, Command] = inner(ESCALATION, during=_TURNING, get=the_ladder, put=with_ladder)
WAITS: Inner[Run, Phase, Command] = inner(WAIT, during=[Phase.ACTING], get=the_wait, put=with_wait)
HOLDS: Inner[Run, Phase, Command] = inner(HELD, during=[Phase.WAITING], get=the_held, put=with_held)

P, B = Phase, Purse
LAST = [AnswerCalls, TellPerson, Ask]
DONE, PART, BLOCK = TerminalStatus.COMPLETED, TerminalStatus.PARTIAL, TerminalStatus.BLOCKED

RUN = Table[Run, Phase, Event, Command](
    "run",
    [
        row(P.READY, Begin, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.READY, Begin, P.ASKING, do.begin, asks=[Ask]),
        row(P.READY, Said, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.READY, Said, P.ASKING, do.begin, asks=[Ask]),
        # a reply
        row(_ALIVE, Reply, P.BLOCKED, end.withhold, withheld, asks=[End]),
        row(
            _ALIVE, Reply, P.CONCLUDING, do.stop_at_limit_in_reply, unusable, limits_with_reply, asks=[AnswerCalls, Ask]
        ),
        row(_ALIVE, Reply, P.RECOVERING, do.resume_cut, cut, asks=[AnswerCalls, Ask], spends=B.TRUNCATED),
        row(_ALIVE, Reply, P.CONCLUDING, do.stop_truncated, cut, asks=[AnswerCalls, Ask]),
        row(_ALIVE, Reply, P.RECOVERING, do.resume_paused, paused, asks=[Ask], spends=B.PAUSED),
        row(_ALIVE, Reply, P.CONCLUDING, do.stop_paused, paused, asks=[Ask]),
        row(_ALIVE, Reply, P.RECOVERING, do.remind_empty, empty, asks=[Tell, Ask], spends=B.EMPTY),
        row(_ALIVE, Reply, P.CONCLUDING, do.stop_empty, empty, asks=[Ask]),
        row(_ALIVE, Reply, P.CONCLUDING, do.stop_at_limit_in_reply, calls, limits_with_reply, asks=[AnswerCalls, Ask]),
        *(
            row(_ALIVE, Reply, P.CONCLUDING, do.stop_before(d), reaches(d.before, Level.STOP), asks=[AnswerCalls, Ask])
            for d in ROSTER
            if d.before is not None
        ),
        row(_ALIVE, Reply, P.ACTING, do.act, calls, asks=[RunCalls, AnswerCalls], spends=B.TURN, refills=[B.HELD]),
        row(_ALIVE, Reply, P.COMPLETED, end.finish(DONE), message_is(Message.FINAL_ANSWER), asks=[End]),
        row(_ALIVE, Reply, P.PARTIAL, end.finish(PART), message_is(Message.PARTIAL_ANSWER), asks=[End]),
        row(_ALIVE, Reply, P.BLOCKED, end.finish(BLOCK), message_is(Message.FAILURE_REPORT), asks=[End]),
        row(_ALIVE, Reply, P.ACTING, do.checkpoint, asks=[Show], spends=B.TURN),
        row(_ALIVE, Reply, P.CONCLUDING, do.stop_at_limit_in_reply, asks=[AnswerCalls, Ask]),
        # the turn and what it found
        row(P.ACTING, Result, P.ACTING, do.fold, open_call),
        row.stay(OPEN, Result, do.fold_late, late_call),
        row.stay([P.ACTING], Awaits, hold.hold, asking_call),
        row(P.ACTING, TurnEnded, P.WAITING, hold.wait_outside, held, asks=[TellPerson, WaitUntil]),
        *(made for d in ROSTER for made in stops_of(d)),
        row(P.ACTING, TurnEnded, P.CONCLUDING, do.stop_escalated, nudged_twice, nudge_due, asks=LAST),
        row(P.ACTING, TurnEnded, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.ACTING, TurnEnded, P.ASKING, do.tell_wait, wait_over, asks=[AnswerCalls, TellPerson, Tell, Ask]),
        row(
            P.ACTING,
            TurnEnded,
            P.WAITING,
            do.wait,
            only_polled,
            progressed,
            asks=[AnswerCalls, WaitUntil],
            refills=RECOVERIES,
        ),
        row(P.ACTING, TurnEnded, P.WAITING, do.wait, only_polled, asks=[AnswerCalls, WaitUntil]),
        *(
            row(
                P.ACTING,
                TurnEnded,
                P.ASKING,
                do.nudge_by(d),
                reaches(d.read, Level.NUDGE),
                unsaid(d),
                asks=[AnswerCalls, Tell, Ask],
            )
            for d in ROSTER
        ),
        row(P.ACTING, TurnEnded, P.ASKING, do.ask, progressed, asks=[AnswerCalls, Ask], refills=RECOVERIES),
        row(P.ACTING, TurnEnded, P.ASKING, do.ask, asks=[AnswerCalls, Ask]),
        row.stay(OPEN, PlanChanged, do.note_plan),
        row.stay(OPEN, GoalMeasured, do.note_goal),
        row.stay(OPEN, Said, do.hear),
        # waiting
        row.stay([P.WAITING], Signal, hold.hear_signal, heard),
        row(P.WAITING, Signal, P.ACTING, hold.release, released, asks=[RunCalls], spends=B.HELD),
        row(P.WAITING, Signal, P.CONCLUDING, hold.stop_held, released, asks=LAST),
        *(made for event in (Signal, Clock) for made in rows_held(event)),
        row(P.WAITING, Clock, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.WAITING, Clock, P.ASKING, do.ask_again, asks=[Ask]),
        row(P.WAITING, Signal, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.WAITING, Signal, P.ASKING, do.ask_again, asks=[Ask]),
        # a request that was refused
        row(_ALIVE, Refusal, P.FAILED, end.fail, final_refusal, asks=[End]),
        row(_ALIVE, Refusal, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(_ALIVE, Refusal, P.CONDENSING, do.condense, too_long, asks=[Condense], spends=B.CONDENSED),
        row(_ALIVE, Refusal, P.FAILED, end.fail_too_long, too_long, asks=[End]),
        row(_ALIVE, Refusal, P.RECOVERING, do.retry, passing, asks=[Ask], spends=B.REFUSED),
        row(_ALIVE, Refusal, P.FAILED, end.fail, asks=[End]),
        row(
            (*_BUSY, P.CONDENSING),
            Condensed,
            P.CONCLUDING,
            do.stop_condensing,
            vain_stop,
            asks=[AnswerCalls, Withdraw, Ask],
        ),
        row(_ALIVE, Condensed, P.CONCLUDING, do.stop_third_vain, *third_vain_nudge, asks=[Withdraw, Ask]),
        row(_UNASKED, Condensed, P.CONCLUDING, do.stop_third_vain, *third_vain_nudge, asks=[AnswerCalls, Ask]),
        row(P.CONDENSING, Condensed, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.CONDENSING, Condensed, P.RECOVERING, do.tell_condensing, vain_nudge, vain_unsaid, asks=[Tell, Ask]),
        row(P.CONDENSING, Condensed, P.RECOVERING, do.go_on_condensed, asks=[Ask]),
        row.stay(_BUSY, Condensed, do.tell_condensing, vain_nudge, vain_unsaid, asks=[Tell], spends=B.CONDENSED),
        row.stay(_BUSY, Condensed, do.note_condensing),
        # a reply that is still streaming
        row(_ALIVE, Chunk, P.CONCLUDING, do.stop_chanting, reaches(CHANTING.read, Level.STOP), asks=[Withdraw, Ask]),
        row.stay(_ALIVE, Chunk, do.listen),
        # the last reply
        row(
            P.CONCLUDING, Reply, P.PARTIAL, end.close(PART), message_is(Message.PARTIAL_ANSWER), asks=[AnswerCalls, End]
        ),
        row(P.CONCLUDING, Reply, P.BLOCKED, end.close(BLOCK), asks=[AnswerCalls, End]),
        row(P.CONCLUDING, NoReply, P.PARTIAL, end.close(PART), message_is(Message.PARTIAL_ANSWER), asks=[End]),
        row(P.CONCLUDING, NoReply, P.BLOCKED, end.close(BLOCK), asks=[End]),
        row(P.CONCLUDING, Refusal, P.PARTIAL, end.close(PART), message_is(Message.PARTIAL_ANSWER), asks=[End]),
        row(P.CONCLUDING, Refusal, P.BLOCKED, end.close(BLOCK), asks=[End]),
        row((*_ALIVE, P.CONDENSING), NoReply, P.FAILED, end.fail_no_reply, asks=[End]),
        row((P.READY, *OPEN), Cancel, P.CANCELLED, end.cancel, asks=[AnswerCalls, End]),
        # what the cells without a row mean
        ordered(_ALIVE, [Reply], "what is wrong with a reply is decided before what it says"),
        ordered(_ALIVE, [Refusal], "what can never pass is decided before what may"),
        ordered([P.WAITING], [Signal, Clock], "what a held call waits for is decided before the wait for a time"),
        ordered([P.ACTING], [TurnEnded], "a stop before a wait, a wait before a nudge, a nudge before going on"),
        ignore([P.READY, *OPEN], [Ended], "what a recording says of its own end decides nothing"),
        ignore([P.CONCLUDING], [Chunk], "the last reply is judged when it is whole"),
        ignore([P.CONCLUDING], [Condensed], "the run is being ended"),
        ordered([*_BUSY, P.CONDENSING], [Condensed], "a stop before a nudge, a nudge before going on"),
        ignore([*_ASKED, P.ACTING, P.CONDENSING], [Signal, Clock], "nothing waits for it"),
        refuse(
            [P.READY], [Reply, Result, TurnEnded, Chunk, PlanChanged, GoalMeasured, Refusal, Condensed], "not begun"
        ),
        refuse([P.READY, *_ASKED, P.WAITING, P.CONDENSING], [Awaits], "no call is open"),
        refuse([P.READY], [Signal, Clock, NoReply], "not begun"),
        refuse(OPEN, [Begin], "begun already"),
        refuse([*_ASKED, P.WAITING, P.CONDENSING], [TurnEnded], "no call is open"),
        ordered([P.ACTING], [Result], "a call of this turn before one of an earlier turn, should they share an id"),
        refuse([P.ACTING, P.WAITING, P.CONDENSING], [Reply, Refusal], "no request is out"),
        refuse([P.ACTING, P.WAITING], [NoReply], "no request is out"),
        refuse([P.ACTING, P.WAITING, P.CONDENSING], [Chunk], "no request is out"),
    ],
    events=[
        Begin,
        Said,
        Reply,
        Result,
        TurnEnded,
        Chunk,
        PlanChanged,
        GoalMeasured,
        Refusal,
        Condensed,
        Awaits,
        Signal,
        Clock,
        Cancel,
        NoReply,
        Ended,
    ],
    initial=P.READY,
    final=ENDINGS,
    at=_at,
    move=_move,
    budgets=SIZES,
    purse=_purse,
    pay=_pay,
    inners=[JUDGE, LADDER, WAITS, HOLDS],
)
