"""A run's lifecycle.

The rules: a request is out (`asking`, or `recovering` after one that went wrong), the calls of a reply are out
(`acting`), nothing is to be done before a time or a signal (`waiting`), the history is being condensed (`condensing`),
or the last reply is out (`concluding`).

* A turn is a reply with the results of all its calls. Replies that go wrong are recovered from and use up no turn, and
  so are requests; the machines `reply` and `request` say what is done about them, and how often.
* What judges a turn stands on `TurnEnded`: first what stops, then what waits, then what nudges. Nothing is judged
  before the whole turn is in the run.
* A stop asks for exactly one reply without tools. Whatever comes, or does not come, ends the run.
* The message machine says what a reply's text may be; a checkpoint never ends a run.

* A call may wait for something outside: a person, or a signal. It is held, and its turn with it: the run waits, costs
  nothing, and can be put down. What comes lets the call run, or has it answered.

`inner` machines: MESSAGE says what the reply has become, REPLY and REQUEST what is done about one that went wrong, WAIT
how a declared wait stands, HELD how a held call does, ESCALATION how many nudges there were.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Inner, Level, Row, Rows, Table, ignore, inner, ordered, reaches, refuse
from statecraft.evolve import evolve

from . import _run_effects as do
from . import _run_endings as end
from . import _run_holding as hold
from . import _run_recoveries as mend
from ._run_guards import (
    asking_call,
    because,
    calls,
    heard,
    held,
    held_in_vain,
    late_call,
    limits,
    limits_with_reply,
    message_is,
    nothing_left,
    nudge_due,
    nudged_twice,
    only_polled,
    open_call,
    progressed,
    recovered_from,
    released,
    reply_fills_window,
    reply_is,
    request_is,
    to_be_shrunk,
    troubled,
    unwritten,
    wait_over,
)
from ._run_lenses import (
    the_candidate,
    the_held,
    the_ladder,
    the_mending,
    the_sending,
    the_wait,
    with_candidate,
    with_held,
    with_ladder,
    with_mending,
    with_sending,
    with_wait,
)
from .commands import (
    AnswerCalls,
    Ask,
    Command,
    Condense,
    Discard,
    End,
    RunCalls,
    Show,
    Simplify,
    Tell,
    TellPerson,
    WaitUntil,
    Withdraw,
)
from .detectors.roster import CHANTING, CONDENSING, ROSTER, Detector, unsaid
from .escalation import ESCALATION
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
    Measured,
    NoReply,
    PlanChanged,
    Refusal,
    Reply,
    Result,
    Said,
    Signal,
    TurnEnded,
)
from .held import HELD
from .message import MESSAGE, Message
from .outcome import TerminalStatus
from .reply import REPLY, ReplyState, mending
from .request import REQUEST, RequestState, sending
from .state import ENDINGS, OPEN, SIZES, Cause, Phase, Purse, Run, purse_of
from .wait import WAIT


def _at(run: Run) -> Phase:
    return run.at


def _move(run: Run, state: Phase) -> Run:
    return evolve(run, at=state)


def _pay(run: Run, left: Mapping[Purse, int | None]) -> Run:
    return evolve(run, purse=left)


row = Rows[Run, Phase, Command]()
vain_stop, vain_nudge = reaches(CONDENSING.read, Level.STOP), reaches(CONDENSING.read, Level.NUDGE)
vain_unsaid = unsaid(CONDENSING)
third_vain_nudge = (nudged_twice, vain_nudge, vain_unsaid)


def stops_of(d: Detector[TurnEnded]) -> list[Row[Run, Phase, Command]]:
    """A detector's stop; before it, where it has one, the rescue of a run that has something left to write."""
    acting, stop, asks = Phase.ACTING, reaches(d.read, Level.STOP), [AnswerCalls, TellPerson, Tell, Ask]
    told = do.afresh(do.rescue_by(d))  # what stood still begins anew, and so do the recoveries
    rescue = row(
        acting,
        TurnEnded,
        Phase.ASKING,
        told,
        stop,
        unwritten,
        ~limits,
        asks=asks,
        spends=Purse.RESCUE,
        refills=AFRESH,
    )
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

JUDGE: Inner[Run, Phase, Command] = inner(MESSAGE, during=_ASKED, get=the_candidate, put=with_candidate)
LADDER: Inner[Run, Phase, Command] = inner(ESCALATION, during=_TURNING, get=the_ladder, put=with_ladder)
WAITS: Inner[Run, Phase, Command] = inner(WAIT, during=[Phase.ACTING], get=the_wait, put=with_wait)
HOLDS: Inner[Run, Phase, Command] = inner(HELD, during=[Phase.WAITING], get=the_held, put=with_held)
MENDS: Inner[Run, Phase, Command] = inner(
    REPLY,
    during=_ALIVE,
    get=the_mending,
    put=with_mending,
    fresh=lambda run: mending(run.policy.recovery),
    held=lambda run: run.reply,
)
SENDS: Inner[Run, Phase, Command] = inner(
    REQUEST,
    during=_ALIVE,
    get=the_sending,
    put=with_sending,
    fresh=lambda run: sending(run.policy.recovery),
    held=lambda run: run.request,
)

P, B, R, Q = Phase, Purse, ReplyState, RequestState
LAST, LAST_CALLS = [AnswerCalls, TellPerson, Ask], [AnswerCalls, Ask]
NUDGE, OVER = [AnswerCalls, Tell, Ask], [AnswerCalls, TellPerson, Tell, Ask]
CALLING = [RunCalls, AnswerCalls]
AFRESH: list[Purse | Inner[Run, Phase, Command]] = [B.CONDENSED, MENDS]
AGAIN, FULL = [AnswerCalls, Discard, Tell, Ask], [AnswerCalls, Discard, Tell, Condense]
DONE, PART, BLOCK = TerminalStatus.COMPLETED, TerminalStatus.PARTIAL, TerminalStatus.BLOCKED

RUN = Table[Run, Phase, Event, Command](
    "run",
    [
        row(P.READY, Begin, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.READY, Begin, P.ASKING, do.begin, asks=[Ask]),
        row(P.READY, Said, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.READY, Said, P.ASKING, do.begin, asks=[Ask]),
        # a reply
        row(_ALIVE, Reply, P.BLOCKED, end.withhold, reply_is(R.WITHHELD), asks=[End]),
        row(_ALIVE, Reply, P.CONCLUDING, do.stop_at_limit_in_reply, troubled, limits_with_reply, asks=LAST_CALLS),
        row(_ALIVE, Reply, P.CONDENSING, mend.condense_full, reply_fills_window, asks=FULL, spends=MENDS),
        row(_ALIVE, Reply, P.RECOVERING, mend.recover, ~limits_with_reply, asks=AGAIN, spends=MENDS),
        row(_ALIVE, Reply, P.CONCLUDING, mend.stop_truncated, reply_is(R.TRUNCATED), asks=LAST_CALLS),
        row(_ALIVE, Reply, P.CONCLUDING, mend.stop_malformed, reply_is(R.MALFORMED), asks=[Discard, Ask]),
        row(_ALIVE, Reply, P.CONCLUDING, mend.stop_spent, reply_is(R.SPENT), asks=[Discard, Ask]),
        row(_ALIVE, Reply, P.CONCLUDING, do.stop_at_limit_in_reply, calls, limits_with_reply, asks=[AnswerCalls, Ask]),
        *(
            row(_ALIVE, Reply, P.CONCLUDING, do.stop_before(d), reaches(d.before, Level.STOP), asks=[AnswerCalls, Ask])
            for d in ROSTER
            if d.before is not None
        ),
        row(_ALIVE, Reply, P.ACTING, do.act, calls, asks=CALLING, spends=B.TURN, refills=[B.HELD, SENDS]),
        row(_ALIVE, Reply, P.COMPLETED, end.finish(DONE), message_is(Message.FINAL_ANSWER), asks=[End]),
        row(_ALIVE, Reply, P.PARTIAL, end.finish(PART), message_is(Message.PARTIAL_ANSWER), asks=[End]),
        row(_ALIVE, Reply, P.BLOCKED, end.finish(BLOCK), message_is(Message.FAILURE_REPORT), asks=[End]),
        row(_ALIVE, Reply, P.ACTING, do.checkpoint, asks=[Show], spends=B.TURN, refills=[SENDS]),
        row(_ALIVE, Reply, P.CONCLUDING, do.stop_at_limit_in_reply, asks=[AnswerCalls, Ask]),
        # the turn and what it found
        row(P.ACTING, Result, P.ACTING, do.fold, open_call),
        row.stay(OPEN, Result, do.fold_late, late_call),
        row.stay([P.ACTING], Awaits, hold.hold, asking_call),
        row(P.ACTING, TurnEnded, P.WAITING, hold.wait_outside, held, asks=[TellPerson, WaitUntil]),
        *(made for d in ROSTER for made in stops_of(d)),
        row(P.ACTING, TurnEnded, P.CONCLUDING, do.stop_escalated, nudged_twice, nudge_due, asks=LAST),
        row(P.ACTING, TurnEnded, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.ACTING, TurnEnded, P.ASKING, do.afresh(do.tell_wait), wait_over, progressed, asks=OVER, refills=AFRESH),
        row(P.ACTING, TurnEnded, P.ASKING, do.tell_wait, wait_over, asks=OVER),
        row(
            P.ACTING,
            TurnEnded,
            P.WAITING,
            do.afresh(do.wait),
            only_polled,
            progressed,
            asks=[AnswerCalls, WaitUntil],
            refills=AFRESH,
        ),
        row(P.ACTING, TurnEnded, P.WAITING, do.wait, only_polled, asks=[AnswerCalls, WaitUntil]),
        row(
            P.ACTING,
            TurnEnded,
            P.ASKING,
            do.afresh(do.nudge),
            progressed,
            recovered_from,
            nudge_due,
            asks=NUDGE,
            refills=AFRESH,
        ),
        *(
            row(
                P.ACTING,
                TurnEnded,
                P.ASKING,
                do.nudge_by(d),
                reaches(d.read, Level.NUDGE),
                unsaid(d),
                asks=NUDGE,
            )
            for d in ROSTER
        ),
        row(P.ACTING, TurnEnded, P.ASKING, do.afresh(do.ask), progressed, asks=LAST_CALLS, refills=AFRESH),
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
        row(_ALIVE, Refusal, P.FAILED, end.fail, request_is(Q.REFUSED), asks=[End]),
        row(_ALIVE, Refusal, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(_ALIVE, Refusal, P.CONDENSING, mend.condense, to_be_shrunk, asks=[Condense], spends=SENDS),
        row(_ALIVE, Refusal, P.RECOVERING, mend.retry, asks=[Simplify, Tell, Ask], spends=SENDS),
        row(_ALIVE, Refusal, P.FAILED, end.fail_overflow, request_is(Q.OVERFLOW), asks=[End]),
        row(_ALIVE, Refusal, P.FAILED, end.fail, asks=[End]),
        # a history that outgrows its window
        row(_ALIVE, Measured, P.CONDENSING, mend.condense_ahead, asks=[Withdraw, Condense], spends=SENDS),
        row.stay(_ALIVE, Measured, mend.note_measure),
        row(P.CONDENSING, Condensed, P.FAILED, end.fail_overflow, nothing_left, because(Cause.REFUSED), asks=[End]),
        row(P.CONDENSING, Condensed, P.CONCLUDING, mend.stop_full, nothing_left, because(Cause.FULL), asks=[Ask]),
        row(
            (*_BUSY, P.CONDENSING),
            Condensed,
            P.CONCLUDING,
            mend.stop_condensing,
            vain_stop,
            asks=[AnswerCalls, Withdraw, Ask],
        ),
        row(_ALIVE, Condensed, P.CONCLUDING, mend.stop_third_vain, *third_vain_nudge, asks=[Withdraw, Ask]),
        row(_UNASKED, Condensed, P.CONCLUDING, mend.stop_third_vain, *third_vain_nudge, asks=[AnswerCalls, Ask]),
        row(P.CONDENSING, Condensed, P.CONCLUDING, do.stop_at_limit, limits, asks=LAST),
        row(P.CONDENSING, Condensed, P.RECOVERING, mend.tell_condensing, vain_nudge, vain_unsaid, asks=[Tell, Ask]),
        row(P.CONDENSING, Condensed, P.RECOVERING, mend.go_on_condensed, asks=[Ask]),
        row.stay(_BUSY, Condensed, mend.tell_condensing, vain_nudge, vain_unsaid, asks=[Tell], spends=B.CONDENSED),
        row.stay(_BUSY, Condensed, mend.note_condensing),
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
        ignore([P.CONCLUDING], [Measured], "the last request is sent as it stands"),
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
        refuse([P.READY, P.ACTING, P.WAITING, P.CONDENSING], [Measured], "no request is out"),
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
        Measured,
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
    purse=purse_of,
    pay=_pay,
    inners=[JUDGE, MENDS, SENDS, LADDER, WAITS, HOLDS],
)
