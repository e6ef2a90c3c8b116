"""How a run ends: its outcome, its account, and the effects of the rows that end it.

A stop that was forced is never `completed`; what the agent says then stands beneath the account, unless it is grounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from statecraft.evolve import evolve

from ._run_spending import at_time, charge, charge_summary
from .commands import AnswerCalls, Ask, Command, End
from .events import Call, Cancel, Condensed, Event, NoReply, Refusal, Reply, StopReason
from .manifest import Kind
from .message import Message, grounded, no_facts, was_cut, words
from .outcome import Account, Fact, MessageKind, Outcome, Reason, TerminalStatus
from .state import ENDINGS, Phase, Run

Done = tuple[Run, Sequence[Command]]

MOST_UNANSWERED: Final = 64
"""Calls without an answer that a run remembers for its account; the newest are kept."""

LAST_REPLY_FACTS: Mapping[StopReason, tuple[Fact, ...]] = {
    StopReason.LENGTH: (Fact.TRUNCATED,),
    StopReason.CONTEXT_WINDOW: (Fact.TRUNCATED,),
    StopReason.REFUSAL: (Fact.REFUSED,),
    StopReason.CONTENT_FILTER: (Fact.REFUSED,),
}
"""What stays visible of the last reply, when that went wrong too."""


def finish(status: TerminalStatus) -> Callable[[Run, Reply], Done]:
    """The run ends with the agent's own message."""

    def effect(run: Run, event: Reply) -> Done:
        unverified = run.candidate.at is Message.FINAL_ANSWER and no_facts(run.candidate, event).holds
        facts = with_facts(run.facts, Fact.UNVERIFIED) if unverified else run.facts
        run = evolve(charge(run, event), facts=facts, unfinished=None)
        declared = None if event.kind is None else event.kind.value
        return _end(run, event, status, Reason(run.candidate.at.value, (("declared", declared),)), event, alone=True)

    effect.__name__ = f"finish_{status.value}"
    return effect


def withhold(run: Run, event: Reply) -> Done:
    """The model, or the provider's filter, will not answer."""
    run = evolve(charge(run, event), facts=with_facts(run.facts, Fact.REFUSED))
    return _end(
        run, event, TerminalStatus.BLOCKED, Reason("withheld", (("stop", event.stop.value),)), event, alone=False
    )


def close(status: TerminalStatus) -> Callable[[Run, Reply | NoReply | Refusal], Done]:
    """The last reply has come, or will not: the outcome is the one that the stop allows."""

    def effect(run: Run, event: Reply | NoReply | Refusal) -> Done:
        reason = run.stop or Reason("concluded")
        if isinstance(event, Refusal) and event.status > 0:  # at 0 or less nobody answered
            run = evolve(run, facts=with_facts(run.facts, Fact.REFUSED))
        if not isinstance(event, Reply):
            return _end(at_time(run, event), event, status, reason, None, alone=False)
        run = charge(run, event)
        own = event.agent in (None, run.agent)
        stands = own and words(run.candidate, event).holds and grounded(run.candidate, event).holds
        facts = LAST_REPLY_FACTS.get(event.stop, (Fact.TRUNCATED,) if was_cut(event) else ())
        run = evolve(run, facts=with_facts(run.facts, *facts))
        calls = answered(event, "the run is over: its last reply has no tools")
        run, commands = _end(run, event, status, reason, event if own else None, alone=stands)
        return run, [*calls, *commands]

    effect.__name__ = f"close_{status.value}"
    return effect


def fail(run: Run, event: Refusal) -> Done:
    """The provider's refusal is final, or came once too often."""
    reason = Reason("refused", (("status", event.status), ("allowed", run.policy.recovery.refused)))
    if event.status > 0:  # at 0 or less nobody answered
        run = evolve(run, facts=with_facts(run.facts, Fact.REFUSED))
    return _end(at_time(run, event), event, TerminalStatus.FAILED, reason, None, alone=False)


def fail_overflow(run: Run, event: Refusal | Condensed) -> Done:
    """The request is not taken, and nothing is left to condense: an overflow where the provider says so."""
    run = charge_summary(run, event) if isinstance(event, Condensed) else run
    sent = run.request
    by = "context_overflow" if sent.said else "refused"
    sizes = (("estimated", sent.size), ("window", sent.window))
    reason = Reason(by, (("status", sent.status), ("condensed", run.policy.recovery.condensed), *sizes))
    run = evolve(run, facts=with_facts(run.facts, Fact.REFUSED))
    return _end(at_time(run, event), event, TerminalStatus.FAILED, reason, None, alone=False)


def fail_no_reply(run: Run, event: NoReply) -> Done:
    """The host cannot get a reply."""
    return _end(
        at_time(run, event), event, TerminalStatus.FAILED, Reason("no_reply", (("why", event.why),)), None, alone=False
    )


def cancel(run: Run, event: Cancel) -> Done:
    """The host cancels; open calls are answered."""
    reason = Reason("cancelled", (("why", event.reason),))
    ended, commands = _end(at_time(run, event), event, TerminalStatus.CANCELLED, reason, None, alone=False)
    return ended, [*unanswered(run), *commands]


def failed_by_fault(run: Run, at: float, part: str, problem: str) -> Run:
    """A run whose machine is at fault: no table moves it, so this does. One that has ended keeps its ending."""
    if run.at in ENDINGS:
        return run
    reason = Reason("fault", (("part", part), ("problem", problem)))
    outcome = _outcome(run, at, TerminalStatus.FAILED, reason, None, alone=False)
    return evolve(run, at=Phase.FAILED, outcome=outcome)


def account_of(run: Run, at: float) -> Account:
    """What the run did, left open and spent, as it stands."""
    ledger = run.ledger
    return Account(
        turns=run.turn.number,
        seconds=run.spent.seconds(at),
        usage=run.spent.usage,
        changes=ledger.changes,
        changes_in_all=ledger.changes_in_all,
        open_items=tuple(item.content for item in ledger.plan if item.status != "completed"),
        unanswered=tuple(call.id for call in (*run.unanswered, *run.turn.open, *_held(run))),
        waiting_for=tuple(sorted([wait.tool for wait in run.waits.open.values()] + [c.tool for c in _held(run)])),
        last_results=ledger.last_results,
        unconfirmed=ledger.unconfirmed,
    )


def conclude(run: Run, first: Sequence[Command], reason: Reason, *facts: Fact) -> Done:
    """The run is stopped for this reason: one last reply is asked for, without tools."""
    run = evolve(run, stop=reason, facts=with_facts(run.facts, *facts))
    return run, [*first, Ask(final=True, reply_tokens=run.reply_tokens)]


def with_facts(facts: tuple[Fact, ...], *more: Fact) -> tuple[Fact, ...]:
    return facts + tuple(fact for fact in more if fact not in facts)


def answered(event: Reply, why: str) -> list[Command]:
    return [AnswerCalls(tuple(call.id for call in event.calls), why)] if event.calls else []


def _held(run: Run) -> list[Call]:
    return [one.call for one in run.turn.held]


def left_open(run: Run) -> Run:
    """The run without its open and held calls, which it answers itself: its account names them."""
    calls = (*run.turn.open, *_held(run))
    if not calls:
        return run
    left = (*run.unanswered, *calls)[-MOST_UNANSWERED:]
    return evolve(run, turn=evolve(run.turn, open=(), held=()), unanswered=left)


def unanswered(run: Run) -> list[Command]:
    calls = tuple(call.id for call in (*run.turn.open, *_held(run)))
    return [AnswerCalls(calls, "no answer came before the turn was over")] if calls else []


def _end(
    run: Run, event: Event, status: TerminalStatus, reason: Reason, reply: Reply | None, *, alone: bool
) -> tuple[Run, list[Command]]:
    outcome = _outcome(run, event.at, status, reason, reply, alone=alone)
    return evolve(run, outcome=outcome), [End(outcome)]


def _outcome(
    run: Run, at: float, status: TerminalStatus, reason: Reason, reply: Reply | None, *, alone: bool
) -> Outcome:
    kinds = {TerminalStatus.COMPLETED: MessageKind.FINAL_ANSWER, TerminalStatus.PARTIAL: MessageKind.PARTIAL_ANSWER}
    unconfirmed = any(
        run.tool(call.tool).kind in (Kind.WRITE, Kind.COMMAND) for call in (*run.unanswered, *run.turn.open)
    )
    unknown = unconfirmed or run.ledger.unconfirmed
    facts = with_facts(run.facts, Fact.SIDE_EFFECTS_UNCONFIRMED) if unknown else run.facts
    text = reply.text if reply is not None and reply.text is not None and reply.text.chars else None
    kind = kinds.get(status, MessageKind.FAILURE_REPORT)
    return Outcome(status, kind, reason, facts, account_of(run, at), text, alone, None if alone else run.unfinished)
