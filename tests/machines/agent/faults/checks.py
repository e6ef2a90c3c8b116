"""What has to hold of every run, whatever it met. Each check says what is wrong with a record, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, get_args

import attrs

from machines.commands import AnswerCalls, Ask, Command, Condense, Discard, RunCalls, Simplify, WaitUntil
from machines.detectors.roster import ROSTER
from machines.events import Condensed, Reply, Result
from machines.message import was_cut
from machines.outcome import TerminalStatus
from machines.policy import Policy, Recovery
from machines.reply import in_trouble
from machines.run import RUN
from machines.state import new_run
from statecraft.guards import name_of
from statecraft.proofs import Bound, ends

from .moves import ABANDONED
from .policies import Shape, bounded_by
from .record import Read, Record

REASONS: Final = frozenset(
    {
        *("final_answer", "partial_answer", "failure_report", "withheld", "refused", "context_overflow", "no_reply"),
        *("cancelled", "escalation", "turns", "seconds", "tokens", "usd", "recovery_exhausted", "malformed_tool_input"),
        *("held", "truncated", "chanting", "vain_condensing", "consents"),
        *(detector.name for detector in ROSTER),
    }
)
"""The rules by which a run may end. `fault` is none: it is a machine that is wrong."""

ONCE: Final = frozenset({"save", "deploy", "slow"})
"""Tools that change something, so that no call of theirs may run twice."""

SLOW: Final = (Ask, RunCalls, Condense, WaitUntil)
"""The commands that take time: a few proofs are enough for every day, all of them where time is taken."""

Found = str | None
Check = Callable[[Record, Read], Found]


def nothing_raised(record: Record, read: Read) -> Found:
    """Whatever happens is an event or an answer: nothing reaches the application as an exception."""
    return "; ".join(record.raised) or None


def typed_outcome(record: Record, read: Read) -> Found:
    """Whoever started the run can act on how it ended."""
    outcome = read.outcome
    if outcome is None or outcome.status.value != read.run.at.value:
        return f"found {outcome} of a run that is {read.run.at.value}"
    if record.result is not None and record.result.outcome != outcome:
        return f"the run returned {record.result.outcome}, and its journal says {outcome}"
    return None


def known_reason(record: Record, read: Read) -> Found:
    """The reason is a rule that can be looked up."""
    by = None if read.outcome is None else read.outcome.reason.by
    return None if by in REASONS else f"found the reason {by}: {read.outcome and read.outcome.reason.values}"


def whole_journal(record: Record, read: Read) -> Found:
    """The record of a run that has ended is complete, and nobody has changed it."""
    found = read.verified
    return None if found.verdict == "whole" else f"found {found.verdict}: {found}"


def replays(record: Record, read: Read) -> Found:
    """The rules decide the same again, and no rule was at fault."""
    return read.difference or "; ".join(read.faults) or None


def answered_once(record: Record, read: Read) -> Found:
    """Every call has one answer: a provider refuses a transcript in which one has none, or two."""
    if record.open_calls:
        return f"open at the end: {record.open_calls}"
    owed: Counter[str] = Counter()
    for took in read.steps:
        step, event = took.step, took.event
        row = RUN.rows[step.row]
        late = bool(row.guards) and name_of(row.guards[0]) == "late_call"
        dropped = any(isinstance(command, Discard) for command in step.commands)
        if isinstance(event, Reply) and not dropped:
            owed.update(call.id for call in event.calls)
        if isinstance(event, Result) and not late:
            owed.subtract([event.call])
        for command in step.commands:
            if isinstance(command, AnswerCalls) and not dropped:
                owed.subtract(command.calls)
    wrong = {call: count for call, count in owed.items() if count}
    return f"answers that are missing, or (below 0) too many: {wrong}" if wrong else None


def says_something(record: Record, read: Read) -> Found:
    """A run never ends with nothing."""
    return None if record.message.strip() else f"found the message {record.message!r}"


def in_bound(record: Record, read: Read) -> Found:
    """The proof holds of what really happens: of a leg's steps, and of the rows that ask for each command."""
    for run, leg in read.legs:
        rows = [RUN.rows[took.step.row] for took in leg]
        stays = [took.step.source is took.step.target for took in leg]
        counted = [
            not same or bool(row.asks or row.spends or row.refills) for same, row in zip(stays, rows, strict=True)
        ]
        counts: dict[Any, int] = {None: sum(counted)}
        kinds = get_args(Command) if record.deep else SLOW
        counts |= {kind: sum(kind in row.asks for row in rows) for kind in kinds}
        for kind, count in counts.items():
            if count > least(kind) and count > bound(bounded_by(run.policy), kind):
                name = "steps" if kind is None else kind.__name__
                return f"{count} {name}, and the bound is {bound(bounded_by(run.policy), kind)}"
    return None


def keeps_the_rules(record: Record, read: Read) -> Found:
    """No request goes out that a provider would refuse for its form."""
    return "; ".join(record.rules) or None


def ran_whole_calls(record: Record, read: Read) -> Found:
    """What nobody meant in full is not run: a call of a reply that was cut or cannot be read, or without arguments."""
    unfit: set[str] = set()
    for took in read.steps:
        if isinstance(took.event, Reply):
            bad = was_cut(took.event) or in_trouble(took.event)
            unfit |= {call.id for call in took.event.calls if bad or call.cut or not call.parsed or not call.tool}
    wrong = [(call, tool) for call, tool in record.ran if call in unfit]
    return f"ran: {wrong}" if wrong else None


def ran_once(record: Record, read: Read) -> Found:
    """What changes something is not done twice, whatever ended in between."""
    twice = [one for one, count in Counter(record.ran).items() if count > 1 and one[1] in ONCE]
    return f"ran more than once: {twice}" if twice else None


def in_budget(record: Record, read: Read) -> Found:
    """A request that is not the last is asked for only within the budget, so it is passed by one request at most."""
    for took in read.steps:
        asks = any(isinstance(c, Condense) or (isinstance(c, Ask) and not c.final) for c in took.step.commands)
        budget, usage = took.step.run.policy.budget, took.step.run.spent.usage
        tokens = usage.input + usage.output
        if asks and budget.tokens is not None and tokens >= budget.tokens:
            return f"a request was asked for with {tokens} of {budget.tokens} tokens spent, by {took.event}"
        if asks and budget.usd is not None and usage.usd >= budget.usd:
            return f"a request was asked for with {usage.usd} of {budget.usd} USD spent, by {took.event}"
    return None


def stopped_is_not_completed(record: Record, read: Read) -> Found:
    """A run that was stopped did not do what it was to do."""
    completed = read.outcome is not None and read.outcome.status is TerminalStatus.COMPLETED
    return f"completed, and stopped by {read.run.stop}" if completed and read.run.stop is not None else None


def told_again(record: Record, read: Read) -> Found:
    """Taken up anywhere, the model is sent the same."""
    return "; ".join(record.parted) or None


def keeps_what_was_sent(record: Record, read: Read) -> Found:
    """What was sent once stays as it was, or no cache of it holds, until the history is shortened or sent plain."""
    for took in read.steps:
        shorter = isinstance(took.event, Condensed) and bool(took.event.steps)
        if shorter or any(isinstance(command, Simplify) for command in took.step.commands):
            return None
    return "; ".join(record.changed) or None


def shows_nothing_abandoned(record: Record, read: Read) -> Found:
    """What was broken off was never said."""
    return f"found in the message: {record.message[:500]}" if ABANDONED in record.message else None


CHECKS: Final[tuple[Check, ...]] = (
    nothing_raised,
    typed_outcome,
    known_reason,
    whole_journal,
    replays,
    answered_once,
    says_something,
    in_bound,
    keeps_the_rules,
    ran_whole_calls,
    ran_once,
    in_budget,
    stopped_is_not_completed,
    told_again,
    keeps_what_was_sent,
    shows_nothing_abandoned,
)


def wrong_with(record: Record, read: Read) -> Iterator[str]:
    """What is wrong with a run, a line each."""
    for check in CHECKS:
        found = check(record, read)
        if found is not None:
            yield f"{check.__name__}: {found}"


@cache
def bound(shape: Shape, kind: Any) -> int:
    """The computed bound of a leg's steps, or of the rows that ask for this command."""
    policy = Policy()
    budget = attrs.evolve(policy.budget, turns=shape.turns, tokens=shape.tokens, calls_per_turn=shape.calls_per_turn)
    escalation = attrs.evolve(policy.escalation, rescues=shape.rescues)
    run = new_run("bound", attrs.evolve(policy, budget=budget, recovery=shape.recovery, escalation=escalation))
    found = ends(RUN, run, asking=kind)
    assert isinstance(found, Bound)
    return found.number


_OFF: Final = Shape(1, None, 1, Recovery(**{field.name: 0 for field in attrs.fields(Recovery)}), 0)


def least(kind: Any) -> int:
    """The bound under the tightest policy, within which a count is within any: a proof takes a tenth of a second."""
    return bound(_OFF, kind)
