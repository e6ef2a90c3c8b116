"""The world around a run, as the search plays it: whatever model, tools, provider, person and clock may do next.

The rules: every kind of event that may come in a state comes, in each form that some guard tells from the others, and
in the same order always. What guards cannot tell apart comes once: a result is one of four digests, or was not seen, or
is an error; a signature is one of two for a tool; of the calls that are open the first is answered first, since the
order inside a turn is nothing. Which tools there are, and which of these forms, is the start's to say: by the tools of
the run and the limits of its policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ..events import (
    Awaited,
    Awaits,
    Begin,
    Call,
    Cancel,
    Chunk,
    Clock,
    Condensed,
    Declared,
    Ended,
    ErrorKind,
    Event,
    Facts,
    GoalMeasured,
    Measured,
    NoReply,
    PlanChanged,
    PlanItem,
    PollState,
    Refusal,
    RefusalKind,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
    TurnEnded,
    Usage,
)
from ..held import APPROVE, DENY
from ..manifest import Kind, Tool
from ..state import ENDINGS, Phase, Run

WORDS: Final = Text("words", 5)
BLANK: Final = Text("blank", 0)
BODY: Final = Text("body", 4)
ITEM: Final = Text("item", 4)

DIGESTS: Final = (b"first", b"second", b"third", b"fourth")
STATES: Final = (b"state one", b"state two")
ERRORS: Final = (ErrorKind.VALIDATION, ErrorKind.TRANSIENT, ErrorKind.OUTCOME_UNKNOWN)
FACTS: Final = (
    None,
    Facts(grounded=True),
    Facts(grounded=True, blockers=True),
    Facts(blockers=True),
    Facts(blockers=True, recovering=True),
    Facts(attempted=True, eligible=2, honest_no_source=True),
    Facts(attempted=True, eligible=0, honest_no_source=True),
    Facts(answer_producing=False),
    Facts(checks_passed=True),
    Facts(checks_passed=False),
)
LEGS: Final = 2
"""Legs of a run: a person speaks finitely often, and what is shown of a leg is shown of each."""

SOON: Final = 1.0
LATE: Final = 40.0
"""Seconds that pass before an event."""


def moves(run: Run) -> Iterator[Event]:
    """Every event that may come next."""
    for at in _times(run):
        yield from _BY_PHASE.get(run.at, _ended)(run, at)
    if run.at not in ENDINGS and run.at is not Phase.READY:
        yield from _anytime(run, run.spent.now + SOON)
    if run.at not in ENDINGS:
        yield Cancel(run.spent.now + SOON, "enough")


def _times(run: Run) -> tuple[float, ...]:
    """When the next event comes: soon, and where time is limited also late."""
    now = run.spent.now
    return (now + SOON,) if run.policy.budget.seconds is None else (now + SOON, now + LATE)


def _ready(run: Run, at: float) -> Iterator[Event]:
    yield Begin(at)
    yield Said(at, WORDS)


def _ended(run: Run, at: float) -> Iterator[Event]:
    """A person may speak to a run that has ended: that is its next leg."""
    if run.leg < LEGS:
        yield Said(at, WORDS)


def _anytime(run: Run, at: float) -> Iterator[Event]:
    """What comes whatever the run is doing: the plan, the goal, a program's word, the answer to a call of before."""
    if run.policy.recovery.unfinished_plan:
        for status in ("pending", "completed"):
            yield PlanChanged(at, (PlanItem(ITEM, status),))
        yield GoalMeasured(at, 1, 2)
    if run.leg < LEGS:
        yield Said(at, WORDS)
    for call in run.unanswered[:1]:
        yield Result(at, call.id, DIGESTS[0])
    yield Said(at, WORDS, synthetic=True)
    if not run.turn.answers:
        yield Ended(at, "ok")


def _asked(run: Run, at: float) -> Iterator[Event]:
    usage = _usage(run)
    yield from (Reply(at, StopReason.TOOL_USE, calls, usage=usage) for calls in _calls(run))
    for kind in (None, *Declared):
        yield Reply(at, StopReason.END_TURN, text=WORDS, usage=usage, kind=kind)
    for facts in FACTS[1:]:
        yield Reply(at, StopReason.END_TURN, text=WORDS, usage=usage, kind=Declared.FINAL, facts=facts)
    call = _call(run, next(iter(run.tools), "read"), 0, "a")
    yield Reply(at, StopReason.END_TURN, usage=usage)
    yield Reply(at, StopReason.PAUSE, usage=usage)
    yield Reply(at, StopReason.MALFORMED_CALL, usage=usage)
    yield Reply(at, StopReason.REFUSAL, text=WORDS, usage=usage)
    yield Reply(at, StopReason.CONTENT_FILTER, usage=usage)
    yield Reply(at, StopReason.PAUSE, (call,), usage=usage)
    yield Reply(at, StopReason.END_TURN, text=WORDS, usage=usage, kind=Declared.FINAL, agent="another")
    yield Reply(at, StopReason.END_TURN, text=WORDS, usage=usage, kind=Declared.FINAL, capped=True)
    if usage.input:  # one that costs more than all that there is
        yield Reply(at, StopReason.TOOL_USE, (call,), usage=Usage(9 * usage.input, 9 * usage.output, 0, 9 * usage.usd))
    yield Reply(at, StopReason.LENGTH, text=WORDS, usage=usage, kind=Declared.FINAL)
    yield Reply(at, StopReason.LENGTH, (call,), usage=usage)
    yield Reply(at, StopReason.LENGTH, text=BLANK, usage=usage)
    yield Reply(at, StopReason.CONTEXT_WINDOW, text=WORDS, usage=usage)
    yield from _refused(at)
    yield Measured(at, 900, 1_000)
    yield Measured(at, 1_100, 1_000)
    yield Chunk(at, "text", WORDS)
    yield Chunk(at, "text", WORDS, laps=run.policy.detectors.chanting.stop or 1, period=3)
    yield NoReply(at, "gone")
    yield from _condensed_between(run, at)


def _refused(at: float) -> Iterator[Event]:
    yield Refusal(at, 401, BODY, kind=RefusalKind.AUTHENTICATION)
    yield Refusal(at, 529, BODY, after=3.0)
    yield Refusal(at, 413, BODY, too_long=True)
    yield Refusal(at, 400, BODY, kind=RefusalKind.PROMPT_TOO_LONG, estimate=10, window=1_000)
    yield Refusal(at, 400, BODY, kind=RefusalKind.TRANSCRIPT)
    yield Refusal(at, 400, BODY, kind=RefusalKind.BAD_CALL)
    yield Refusal(at, 400, BODY, kind=RefusalKind.REPLY_BUDGET, budget=32_000)
    yield Refusal(at, 422, BODY)


def _condensed_between(run: Run, at: float) -> Iterator[Event]:
    """Condensings that no refusal called for: they may come between any two events, and are shown where they count."""
    if run.policy.detectors.vain_condensing.enabled:
        yield from _condensed(at)


def _condensed(at: float) -> Iterator[Event]:
    yield Condensed(at, 100_000)
    yield Condensed(at, 0)


def _calls(run: Run) -> Iterator[tuple[Call, ...]]:
    """The calls of one reply: one of each kind, two at once, the same twice, one that nobody can run."""
    names = list(run.tools)
    for name in names:
        yield (_call(run, name, 0, "a"),)
    for name in names[:1]:
        yield (_call(run, name, 1, "a"),)
        yield (_call(run, name, 0, "a"), _call(run, name, 0, "b"))
        yield (_call(run, name, 0, "a"), _call(run, name, 1, "b", parsed=False))
    for one, other in pairwise(names):
        yield (_call(run, one, 0, "a"), _call(run, other, 0, "b"))
    yield (_call(run, "unheard of", 0, "a"),)
    yield (_call(run, "read", 0, "a", parsed=False),)
    yield (_call(run, "read", 0, "a", parsed=False, cut=True),)
    yield (_call(run, "", 0, "a"),)


def _call(run: Run, tool: str, number: int, id: str, *, parsed: bool = True, cut: bool = False) -> Call:
    rule = run.tools.get(tool, Tool())
    signature = f"{tool} {number}".encode()
    target = "a.txt" if rule.kind is Kind.WRITE else None
    empty = rule.kind is Kind.THINK
    problem = "" if parsed else "expected an object"
    return Call(id, tool, signature, BODY, parsed, target, topic=b"abcd", empty=empty, cut=cut, problem=problem)


def _acting(run: Run, at: float) -> Iterator[Event]:
    turn = run.turn
    if not turn.open:
        yield TurnEnded(at)
        return
    call = turn.open[0]
    rule = run.tool(call.tool)
    yield Result(at, call.id, None)
    yield from (Result(at, call.id, b"error", error=error, failure=b"failure") for error in _errors(rule))
    if rule.wait is not None:
        yield Result(at, call.id, DIGESTS[0], poll=PollState.WAITING, poll_value="queued")
        yield Result(at, call.id, DIGESTS[1], poll=PollState.TERMINAL, poll_value="done")
        yield Result(at, call.id, DIGESTS[2], poll=PollState.UNRECOGNISED, poll_value="lost")
    elif rule.kind is Kind.WRITE:
        yield from (Result(at, call.id, DIGESTS[0], state=state, wrote=True) for state in (None, *STATES))
    else:
        yield from (Result(at, call.id, digest, fruitless=fruitless) for digest, fruitless in _found(run, rule))
    if rule.consent is not None:
        yield Awaits(at, call.id, Awaited.ANSWER, "question", until=at + LATE, choices=("yes", "no"))
        yield Awaits(at, call.id, Awaited.SIGNAL, "signal")
    yield from _condensed_between(run, at)
    if len(turn.open) == 1 and not turn.answers:
        yield Reply(at, StopReason.END_TURN, text=WORDS, usage=_usage(run), kind=Declared.FINAL)


def _errors(rule: Tool) -> tuple[ErrorKind, ...]:
    return ERRORS if rule.kind is Kind.WRITE else ERRORS[:2]


def _found(run: Run, rule: Tool) -> Iterator[tuple[bytes, bool]]:
    """What a look finds: digests that were met before, and the next of those that were not."""
    met = {digest for last in run.ledger.recent.values() for digest in last}
    fresh = next((digest for digest in DIGESTS if digest not in met), None)
    for digest in DIGESTS:
        if digest in met or digest == fresh:
            yield digest, False
    if rule.kind is Kind.SEARCH:
        yield DIGESTS[0], True


def _waiting(run: Run, at: float) -> Iterator[Event]:
    yield Clock(max(at, run.waits.next_at))
    for one in run.turn.held[:1]:
        yield Clock(max(at, one.until))
        for answer in (APPROVE, DENY) if one.awaited is Awaited.CONSENT else ("yes",):
            yield Signal(at, one.name, answer=answer, by="person", id=f"{answer} {run.turn.number}")
        yield Signal(at, one.name, withdrawn=True)
        yield Signal(at, one.name, answer=APPROVE, consents_to="another call")
        if one.lasts is not None and run.policy.budget.seconds is None:  # nobody took the approval up in time
            yield Signal(at + one.lasts + SOON, one.name, answer=APPROVE, when=at)
    yield Signal(at, "other")
    if run.outside.heard:
        yield Signal(at, "question", answer="yes", by="person", id="yes 1")
    yield from _condensed_between(run, at)
    yield Reply(at, StopReason.END_TURN, text=WORDS, usage=_usage(run), kind=Declared.FINAL)


def _condensing(run: Run, at: float) -> Iterator[Event]:
    yield from _condensed(at)
    yield Condensed(at, 0, nothing_left=True)
    yield NoReply(at, "gone")


def _concluding(run: Run, at: float) -> Iterator[Event]:
    usage = _usage(run)
    yield Reply(at, StopReason.END_TURN, text=WORDS, usage=usage, kind=Declared.FINAL)
    yield Reply(at, StopReason.END_TURN, text=WORDS, usage=usage, kind=Declared.FINAL, facts=Facts(grounded=True))
    yield Reply(at, StopReason.END_TURN, usage=usage)
    yield Reply(at, StopReason.LENGTH, text=WORDS, usage=usage)
    yield Reply(at, StopReason.TOOL_USE, (_call(run, "read", 0, "a"),), usage=usage)
    yield NoReply(at, "gone")
    yield Refusal(at, 529, BODY)
    yield Condensed(at, 0)
    yield Chunk(at, "text", WORDS, laps=99, period=3)


_BY_PHASE: Final = {
    Phase.READY: _ready,
    Phase.ASKING: _asked,
    Phase.RECOVERING: _asked,
    Phase.ACTING: _acting,
    Phase.WAITING: _waiting,
    Phase.CONDENSING: _condensing,
    Phase.CONCLUDING: _concluding,
}


def _usage(run: Run) -> Usage:
    """What a reply costs: nothing where nothing is limited, else a quarter of what there is."""
    budget = run.policy.budget
    tokens = 0 if budget.tokens is None else budget.tokens // 4
    return Usage(tokens // 2, tokens - tokens // 2, 0, 0.0 if budget.usd is None else budget.usd / 4)
