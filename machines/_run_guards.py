"""What the rows of a run ask. Each guard is one question, with the values that it looked at."""

from __future__ import annotations

from enum import Enum

from statecraft import Evidence, Guard, Level, guard, seen, used_up, value_is
from statecraft.evolve import evolve

from ._run_spending import charged, with_summary
from .detectors.roster import ROSTER, unsaid
from .escalation import Rung
from .events import Awaits, Clock, Condensed, Event, Refusal, Reply, Result, Signal, TurnEnded, Usage
from .held import HeldState
from .ledger.work import digest8
from .message import Message
from .policy import Budget
from .reply import ReplyCase, ReplyState, chars_of, in_trouble
from .request import RequestCase, RequestState
from .state import Cause, Phase, Purse, Run, Spent, condensings_full, purse_of
from .turn import asked_by
from .wait import told_of


@guard
def troubled(run: Run, event: Reply) -> Evidence:
    """The reply is no message and no turn: what is done about it leads to another request."""
    chars = chars_of(event)
    return seen(
        "troubled", in_trouble(event), stop=event.stop.value, calls=len(event.calls), chars=chars, capped=event.capped
    )


def _reply(run: Run, event: Event) -> Enum:
    return run.reply.at


def _request(run: Run, event: Event) -> Enum:
    return run.request.at


def _cause(run: Run, event: Event) -> Enum:
    return run.cause


def _candidate(run: Run, event: Event) -> Enum:
    return run.candidate.at


def reply_is(state: ReplyState) -> Guard[Run, Event]:
    """What was done about a reply that went wrong."""
    return value_is(f"reply_{state.value}", "reply", _reply, state)


def request_is(state: RequestState) -> Guard[Run, Event]:
    """What was done about a refusal."""
    return value_is(f"request_{state.value}", "request", _request, state)


@guard
def reply_fills_window(run: Run, event: Reply) -> Evidence:
    """The reply was cut where the window was full."""
    case = run.reply.case
    return seen("reply_fills_window", case is ReplyCase.FULL, case=case.value)


@guard
def to_be_shrunk(run: Run, event: Refusal) -> Evidence:
    """The request is to be made shorter."""
    case = run.request.case
    return seen("to_be_shrunk", case is RequestCase.SHRUNK, case=case.value)


@guard
def nothing_left(run: Run, event: Condensed) -> Evidence:
    """Nothing of the history can be made shorter any more."""
    return seen("nothing_left", event.nothing_left, freed=event.freed, steps=",".join(event.steps))


def because(cause: Cause) -> Guard[Run, Condensed]:
    """Why the history was condensed."""
    return value_is(f"because_{cause.value}", "cause", _cause, cause)


@guard
def calls(run: Run, event: Reply) -> Evidence:
    """The reply has calls: they are honoured whatever the stop reason says."""
    return seen("calls", bool(event.calls), calls=len(event.calls))


def message_is(kind: Message) -> Guard[Run, Event]:
    """The candidate has become this kind of message."""
    return value_is(f"is_{kind.value}", "candidate", _candidate, kind)


@guard
def open_call(run: Run, event: Result) -> Evidence:
    """The result answers a call of this turn that is still open."""
    holds = asked_by(run.turn.open, event) is not None
    return seen("open_call", holds, call=event.call, open=len(run.turn.open))


@guard
def asking_call(run: Run, event: Awaits) -> Evidence:
    """What waits for something outside is a call of this turn that is still open."""
    holds = any(call.id == event.call for call in run.turn.open)
    return seen("asking_call", holds, call=event.call, open=len(run.turn.open))


@guard
def held(run: Run, event: Event) -> Evidence:
    """Calls of the turn wait for something outside."""
    calls = run.turn.held
    first = min(calls, key=lambda one: (one.until, one.name)) if calls else None
    seen_of_first = {} if first is None else {"name": first.name, "awaited": first.awaited.value}
    return seen("held", bool(calls), calls=len(calls), **seen_of_first)


@guard
def heard(run: Run, event: Signal) -> Evidence:
    """This signal has come before."""
    holds = event.id != "" and mark_of(event) in run.outside.heard
    return seen("heard", holds, id=event.id or None)


def mark_of(event: Signal) -> bytes:
    """Eight bytes for a signal: its name, and its id, which its sender may use again for another question."""
    return digest8(event.name.encode("utf-8", "surrogatepass"), b"\0", event.id.encode("utf-8", "surrogatepass"))


@guard
def released(run: Run, event: Signal) -> Evidence:
    """What a held call waited for has come, and lets it be run."""
    one = next((one for one in run.turn.held if one.at is HeldState.ANSWERED), None)
    if one is None:
        return seen("released", False, name=event.name)
    return seen(
        "released",
        True,
        name=one.name,
        awaited=one.awaited.value,
        signature=one.key,
        answer=one.answer,
        by=one.by,
    )


NOT_RUN = (HeldState.DENIED, HeldState.EXPIRED, HeldState.WITHDRAWN)
"""How a held call may end that is answered instead of being run."""


@guard
def held_in_vain(run: Run, event: Signal | Clock) -> Evidence:
    """A held call was denied, or its time is over, or its question is withdrawn."""
    one = next((one for one in run.turn.held if one.at in NOT_RUN), None)
    if one is None:
        return seen("held_in_vain", False)
    return seen("held_in_vain", True, how=one.at.value, name=one.name, awaited=one.awaited.value, by=one.by)


@guard
def late_call(run: Run, event: Result) -> Evidence:
    """The result answers a call whose turn ended without an answer."""
    holds = asked_by(run.unanswered, event) is not None
    return seen("late_call", holds, call=event.call, unanswered=len(run.unanswered))


@guard
def progressed(run: Run, event: TurnEnded) -> Evidence:
    """The turn brought something new."""
    return seen("progressed", bool(run.turn.signal), signal=run.turn.signal or None)


@guard
def recovered_from(run: Run, event: TurnEnded) -> Evidence:
    """Something went wrong since the last progress, and a recovery of it is spent."""
    told = run.purse[Purse.CONDENSED]
    holds = run.reply.at is not ReplyState.SOUND or told != condensings_full(run)
    return seen("recovered_from", holds, reply=run.reply.at.value, condensings_left=told)


@guard
def only_polled(run: Run, event: TurnEnded) -> Evidence:
    """Every call of the turn was a look at a declared wait that may go on."""
    turn = run.turn
    return seen("only_polled", run.only_polled, polls=turn.polls, others=len(turn.answers) + len(turn.open))


@guard
def wait_over(run: Run, event: TurnEnded) -> Evidence:
    """Declared waits ended in this turn in a way that the run has to be told of; shown is the first."""
    over = run.turn.waits_over
    return seen("wait_over", bool(over), **dict(told_of(over[0]) if over else ()), waits=len(over))


@guard
def nudged_twice(run: Run, event: TurnEnded | Condensed) -> Evidence:
    """Two nudges stand against the run."""
    ladder = run.ladder
    stops = run.policy.escalation.stops
    holds = stops and ladder.at is Rung.NUDGED_TWICE
    return seen("nudged_twice", holds, rung=ladder.at.value, older=ladder.older, newer=ladder.newer, stops=stops)


@guard
def nudge_due(run: Run, event: TurnEnded) -> Evidence:
    """Some detector would nudge now; not for a turn that only waits.

    It asks every detector anew, so it comes after what is cheaper to ask.
    """
    for detector in () if run.only_polled else ROSTER:
        reading = detector.read(run, event)
        if reading.level >= Level.NUDGE and unsaid(detector)(run, event).holds:
            return seen("nudge_due", True, detector=detector.name, now=reading.now, nudge=reading.nudge)
    return seen("nudge_due", False, detector=None)


@guard
def unwritten(run: Run, event: TurnEnded) -> Evidence:
    """Something that the run has to write is not written."""
    left = len(run.unwritten)
    return seen("unwritten", left > 0, unwritten=left, required=len(run.requires))


turns = used_up(Purse.TURN, purse_of)
"""No turn is left."""


@guard
def seconds(run: Run, event: Event) -> Evidence:
    """The run's time is used up, less what is held back for the final reply. Seconds.

    Before a leg begins no time runs, whatever a person took to write; a refusal that asks to wait takes that time too.
    """
    holds, used, held = _seconds(run, run.spent, event)
    asked = {"asked_to_wait": event.after} if isinstance(event, Refusal) and event.after else {}
    return seen("seconds", holds, used=round(used, 3), limit=run.policy.budget.seconds, held_back=held, **asked)


@guard
def tokens(run: Run, event: Event) -> Evidence:
    """The next request might not fit what is left of the tokens, less what is held back for the final reply."""
    holds, used, next_at_most, held = _tokens(run, with_summary(run.spent, event))
    limit = run.policy.budget.tokens
    return seen("tokens", holds, used=used, next_at_most=next_at_most, limit=limit, held_back=held)


@guard
def usd(run: Run, event: Event) -> Evidence:
    """The next request might not fit what is left of the money, less what is held back. US dollars.

    What it will cost at most is taken from the dearest price of a token that was seen so far.
    """
    spent = with_summary(run.spent, event)
    holds, next_at_most, held = _usd(run, spent)
    used, limit = round(spent.usage.usd, 6), run.policy.budget.usd
    return seen("usd", holds, used=used, next_at_most=round(next_at_most, 6), held_back=round(held, 6), limit=limit)


limits = (turns | seconds | tokens | usd).called("limits")
LIMITS = (turns, seconds, tokens, usd)


@guard
def limits_with_reply(run: Run, event: Reply) -> Evidence:
    """A budget is used up once this reply is paid, so that the next request cannot be."""
    spent = charged(run.spent, event)
    if not (_no_turn(run) or _seconds(run, spent, event)[0] or _tokens(run, spent)[0] or _usd(run, spent)[0]):
        return _WITHIN
    found = limit_reached(evolve(run, spent=spent), event)
    assert found is not None
    return seen("limits_with_reply", True, budget=found.name, **found.seen)


_WITHIN = seen("limits_with_reply", False)


def limit_reached(run: Run, event: Event) -> Evidence | None:
    """The first budget that is used up."""
    for limit in LIMITS:
        assert limit.function is not None
        found = limit.function(run, event)
        if isinstance(found, Evidence) and found.holds:
            return found
    return None


def affords(run: Run, tokens: int, usage: Usage) -> bool:
    """Whether the run can pay for so many tokens more, beside this usage, without what is held back."""
    budget, spent = run.policy.budget, run.spent
    used = spent.usage.input + spent.usage.output + usage.input + usage.output
    if budget.tokens is not None and used + tokens > budget.tokens - _held(
        budget, budget.tokens, budget.hold_back_tokens
    ):
        return False
    paid = spent.usage.usd + usage.usd + spent.dearest * tokens
    return budget.usd is None or paid <= budget.usd - _held(budget, budget.usd, budget.hold_back_usd)


def _no_turn(run: Run) -> bool:
    left = run.purse[Purse.TURN]
    return left is not None and left <= 0


def _seconds(run: Run, spent: Spent, event: Event) -> tuple[bool, float, float]:
    """Whether the time is used up; what is used, and what is held back."""
    budget = run.policy.budget
    used = spent.seconds(spent.now if run.at is Phase.READY else event.at)
    if isinstance(event, Refusal):
        used += event.after or 0.0
    held = _held(budget, budget.seconds, budget.hold_back_seconds)
    return budget.seconds is not None and used >= budget.seconds - held, used, held


def _tokens(run: Run, spent: Spent) -> tuple[bool, int, int, int]:
    """Whether the tokens are used up; what is used, what the next request may cost, and what is held back."""
    budget = run.policy.budget
    used, next_at_most = spent.usage.input + spent.usage.output, _next_tokens(run, spent)
    held = round(_held(budget, budget.tokens, budget.hold_back_tokens))
    whole = budget.tokens
    holds = whole is not None and (used >= whole - held or used + next_at_most > whole - held)
    return holds, used, next_at_most, held


def _usd(run: Run, spent: Spent) -> tuple[bool, float, float]:
    """Whether the money is used up; what the next request may cost, and what is held back."""
    budget = run.policy.budget
    used, next_at_most = spent.usage.usd, max(spent.dearest * _next_tokens(run, spent), spent.last.usd)
    held = _held(budget, budget.usd, budget.hold_back_usd)
    whole = budget.usd
    return whole is not None and (used >= whole - held or used + next_at_most > whole - held), next_at_most, held


def _held(budget: Budget, whole: float | None, most: float) -> float:
    return 0.0 if whole is None else min(budget.hold_back * whole, most)


def _next_tokens(run: Run, spent: Spent) -> int:
    """What the next request costs at most, in tokens: the prompt as it last stood with the reply, and a whole reply.

    A reply may take what this run's budget was raised to, else what the policy says. Where neither is known, only the
    prompt counts.
    """
    return spent.last.input + spent.last.output + (run.reply_tokens or run.policy.budget.reply_tokens or 0)
