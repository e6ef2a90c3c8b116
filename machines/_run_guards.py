"""What the rows of a run ask. Each guard is one question, with the values that it looked at."""

from __future__ import annotations

from statecraft import Evidence, Guard, Level, guard, seen
from statecraft.evolve import evolve

from ._run_spending import charged
from .detectors.roster import ROSTER, unsaid
from .escalation import Rung
from .events import Awaits, Clock, Condensed, Event, Refusal, RefusalKind, Reply, Result, Signal, StopReason, TurnEnded
from .held import HeldState
from .ledger.work import digest8
from .message import WITHHELD, Message, was_cut
from .policy import Budget
from .state import Phase, Purse, Run, Spent
from .turn import asked_by
from .wait import told_of

FINAL_REFUSALS = frozenset({401, 402, 403, 404})
"""HTTP statuses after which asking again cannot help: no key, no money, not allowed, no such model."""

SIZE_REFUSALS = frozenset({400, 413})
"""HTTP statuses that say, or may say, that the request is too large."""

PASSING_REFUSALS = frozenset({0, 408, 409, 425, 429})
"""HTTP statuses (0: no connection) that a later request may not meet again; so may every status from 500 on."""


FINAL_KINDS = frozenset({RefusalKind.BILLING, RefusalKind.AUTHENTICATION})
SIZE_KINDS = frozenset(
    {RefusalKind.PROMPT_TOO_LONG, RefusalKind.TOGETHER_TOO_LONG, RefusalKind.OVER_QUOTA, RefusalKind.REPLY_BUDGET}
)
PASSING_KINDS = frozenset({RefusalKind.RATE_LIMIT, RefusalKind.OVERLOADED, RefusalKind.BAD_CALL})
"""What a refusal is for, where that can be told: it says more than the status, which servers use as they like.

A request that alone is over a quota, or over a model's limit with its reply, may pass when it is shorter. A bad call of
the model's own, reported as a bad request, may be better the next time.
"""


@guard
def cut(run: Run, event: Reply) -> Evidence:
    """The reply was cut off. Even a call in it that looks whole is not run: nobody knows what was still to come."""
    ends = sum(call.cut for call in event.calls)
    stop, calls = event.stop.value, len(event.calls)
    return seen("cut", was_cut(event), stop=stop, calls=calls, capped=event.capped, cut_calls=ends)


@guard
def paused(run: Run, event: Reply) -> Evidence:
    """The provider paused a long turn; sent back as it stands, it goes on."""
    return seen("paused", event.stop is StopReason.PAUSE and not event.calls, stop=event.stop.value)


@guard
def empty(run: Run, event: Reply) -> Evidence:
    """No text and no call; thinking alone is empty too."""
    chars = event.text.chars if event.text else 0
    holds = chars == 0 and not event.calls and event.stop not in WITHHELD
    return seen("empty", holds, chars=chars, calls=len(event.calls), thinking=event.thinking is not None)


@guard
def withheld(run: Run, event: Reply) -> Evidence:
    """The model, or the provider's filter, refuses to answer."""
    return seen("withheld", event.stop in WITHHELD and not event.calls, stop=event.stop.value)


@guard
def calls(run: Run, event: Reply) -> Evidence:
    """The reply has calls: they are honoured whatever the stop reason says."""
    return seen("calls", bool(event.calls), calls=len(event.calls))


def message_is(kind: Message) -> Guard[Run, Event]:
    """The candidate has become this kind of message."""
    name = f"is_{kind.value}"

    def ask(run: Run, event: Event) -> Evidence:
        return seen(name, run.candidate.at is kind, candidate=run.candidate.at.value)

    ask.__name__ = name
    return guard(ask)


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
    """Some detector would nudge now; not for a turn that only waits. Asked only while two nudges stand."""
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


@guard
def final_refusal(run: Run, event: Refusal) -> Evidence:
    """Asking again cannot help."""
    holds = event.kind in FINAL_KINDS or (event.kind is RefusalKind.OTHER and event.status in FINAL_REFUSALS)
    return seen("final_refusal", holds, status=event.status, kind=event.kind.value)


@guard
def too_long(run: Run, event: Refusal) -> Evidence:
    """The request itself is not taken: too long, or for all that is known it may be. A shorter one may pass."""
    unknown = event.kind is RefusalKind.OTHER and event.status in SIZE_REFUSALS
    holds = event.too_long or event.kind in SIZE_KINDS or unknown
    return seen(
        "too_long",
        holds,
        status=event.status,
        too_long=event.too_long,
        kind=event.kind.value,
        size=event.size,
        limit=event.limit,
    )


@guard
def passing(run: Run, event: Refusal) -> Evidence:
    """A later request may not meet this again."""
    unknown = event.kind is RefusalKind.OTHER and (event.status in PASSING_REFUSALS or event.status >= 500)
    holds = event.kind in PASSING_KINDS or unknown
    return seen("passing", holds, status=event.status, after=event.after, kind=event.kind.value)


@guard
def turns(run: Run, event: Event) -> Evidence:
    """No turn is left."""
    left = run.purse[Purse.TURN]
    return seen("turns", _no_turn(run), left=left)


@guard
def seconds(run: Run, event: Event) -> Evidence:
    """The run's time is used up, less what is held back for the final reply. Seconds.

    Before a leg begins no time runs, whatever a person took to write; a refusal that asks to wait takes that time too.
    """
    holds, used, held = _seconds(run, run.spent, event)
    return seen("seconds", holds, used=round(used, 3), limit=run.policy.budget.seconds, held_back=held)


@guard
def tokens(run: Run, event: Event) -> Evidence:
    """The next request might not fit what is left of the tokens, less what is held back for the final reply."""
    holds, used, next_at_most, held = _tokens(run.policy.budget, run.spent)
    limit = run.policy.budget.tokens
    return seen("tokens", holds, used=used, next_at_most=next_at_most, limit=limit, held_back=held)


@guard
def usd(run: Run, event: Event) -> Evidence:
    """The next request might not fit what is left of the money, less what is held back. US dollars.

    What it will cost at most is taken from the dearest price of a token that was seen so far.
    """
    holds, next_at_most, held = _usd(run.policy.budget, run.spent)
    used, limit = round(run.spent.usage.usd, 6), run.policy.budget.usd
    return seen("usd", holds, used=used, next_at_most=round(next_at_most, 6), held_back=round(held, 6), limit=limit)


limits = (turns | seconds | tokens | usd).called("limits")
LIMITS = (turns, seconds, tokens, usd)


@guard
def limits_with_reply(run: Run, event: Reply) -> Evidence:
    """A budget is used up once this reply is paid, so that the next request cannot be."""
    budget, spent = run.policy.budget, charged(run.spent, event)
    if not (_no_turn(run) or _seconds(run, spent, event)[0] or _tokens(budget, spent)[0] or _usd(budget, spent)[0]):
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


def _tokens(budget: Budget, spent: Spent) -> tuple[bool, int, int, int]:
    """Whether the tokens are used up; what is used, what the next request may cost, and what is held back."""
    used, next_at_most = spent.usage.input + spent.usage.output, _next_tokens(budget, spent)
    held = round(_held(budget, budget.tokens, budget.hold_back_tokens))
    whole = budget.tokens
    holds = whole is not None and (used >= whole - held or used + next_at_most > whole - held)
    return holds, used, next_at_most, held


def _usd(budget: Budget, spent: Spent) -> tuple[bool, float, float]:
    """Whether the money is used up; what the next request may cost, and what is held back."""
    used, next_at_most = spent.usage.usd, max(spent.dearest * _next_tokens(budget, spent), spent.last.usd)
    held = _held(budget, budget.usd, budget.hold_back_usd)
    whole = budget.usd
    return whole is not None and (used >= whole - held or used + next_at_most > whole - held), next_at_most, held


def _held(budget: Budget, whole: float | None, most: float) -> float:
    return 0.0 if whole is None else min(budget.hold_back * whole, most)


def _next_tokens(budget: Budget, spent: Spent) -> int:
    """What the next request costs at most, in tokens: the prompt as it last stood with the reply, and a whole reply.

    Where the size of a reply is not known, only the prompt counts.
    """
    return spent.last.input + spent.last.output + (budget.reply_tokens or 0)
