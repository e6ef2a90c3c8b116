"""What a candidate message may become: Checkpoint, PartialAnswer, FinalAnswer or FailureReport. By facts.

The rules, in the order of the rows:

* No words (empty, cut, a call, or no reply at all; only a forced candidate comes here without words): what the run has
  decides, eligible sources or changes make it partial, nothing makes it a failure.
* What the agent does not declare, or declares a checkpoint, is a checkpoint, unless the run is forced to end.
* Work that builds or edits is judged by its artifacts, where anything is known of them.
* A blocker, with no recovery under way, blocks; a grounded answer beside it is partial.
* A grounded answer completes. Forced, or claimed as less than final, it is partial: a forced stop is never `completed`.
  So is any answer that leaves items of the plan open.
* No source after an honest search: partial with eligible sources, else a failure.
* An agent may always say that it failed.
* Where the host gives no facts at all, a declared final completes unverified, unless the policy requires facts.
* Anything else is a checkpoint; forced, what the run has decides.

No rule reads the words. A fact that is not known never completes anything. The agent's claim can lower an ending and
never raise it.
"""

from __future__ import annotations

from enum import Enum

import attrs

from statecraft import Evidence, Rows, Table, guard, keep, ordered, seen, value_is
from statecraft.evolve import evolve

from .commands import Command
from .events import Declared, Facts, NoReply, Refusal, Reply, StopReason
from .manifest import Work


class Message(Enum):
    """The states of a candidate: itself, and the four kinds of message."""

    CANDIDATE = "candidate"
    CHECKPOINT = "checkpoint"
    PARTIAL_ANSWER = "partial_answer"
    FINAL_ANSWER = "final_answer"
    FAILURE_REPORT = "failure_report"


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Candidate:
    """A reply that may be a message, with what the run knows of its own work.

    `changes`: how many changes the run made. `unwritten`: how many required targets are not written yet (None: none
    was required). `forced`: the run ends with this reply, whatever it says. `open_items`: of the plan. `unfinished`:
    the agent was in the midst of something when it was cut off or stopped.
    """

    at: Message = Message.CANDIDATE
    work: Work = Work.OTHER
    forced: bool = False
    changes: int = 0
    unwritten: int | None = None
    require_facts: bool = False
    open_items: int = 0
    unfinished: bool = False


CUT = frozenset({StopReason.LENGTH, StopReason.CONTEXT_WINDOW})
"""Stop reasons of a reply that was cut off."""

WITHHELD = frozenset({StopReason.REFUSAL, StopReason.CONTENT_FILTER})
UNREAD = WITHHELD | {StopReason.MALFORMED_CALL}
"""Stop reasons of a reply whose text is not the whole of what the model meant to say."""

NONE = Facts()


def was_cut(event: Reply) -> bool:
    """Whether the reply was cut off, as the provider says, or whatever it says.

    It used up its budget, or the arguments of a call end in the middle: providers call such a reply whole, too.
    """
    return event.stop in CUT or event.capped or any(call.cut for call in event.calls)


def facts_of(event: Reply) -> Facts:
    """What the host knows; nothing where it gave no facts."""
    return event.facts or NONE


@guard
def words(run: Candidate, event: Reply) -> Evidence:
    """The reply has a text that may be a message: whole, not withheld, and without a call."""
    chars = event.text.chars if event.text else 0
    whole = not was_cut(event) and event.stop not in UNREAD
    holds = chars > 0 and not event.calls and whole
    return seen("words", holds, chars=chars, calls=len(event.calls), stop=event.stop.value, capped=event.capped)


@guard
def forced(run: Candidate, event: Reply) -> Evidence:
    """The run ends with this reply, whatever it says."""
    return seen("forced", run.forced, forced=run.forced)


def _kind(run: Candidate, event: Reply) -> Declared | None:
    return event.kind


undeclared = value_is("undeclared", "kind", _kind, None, Declared.CHECKPOINT)
"""The agent does not declare the message to be more than a checkpoint."""
declares_failure = value_is("declares_failure", "kind", _kind, Declared.FAILURE)
declares_final = value_is("declares_final", "kind", _kind, Declared.FINAL)
declares_partial = value_is("declares_partial", "kind", _kind, Declared.PARTIAL)


@guard
def artifacts(run: Candidate, event: Reply) -> Evidence:
    """The run builds or edits, and something is known of what it leaves behind."""
    checks = facts_of(event).checks_passed
    known = run.unwritten is not None or checks is not None
    holds = run.work in (Work.BUILD, Work.EDIT) and known
    return seen("artifacts", holds, work=run.work.value, unwritten=run.unwritten, checks_passed=checks)


@guard
def made(run: Candidate, event: Reply) -> Evidence:
    """Every required target is written, and no check of the host's failed.

    Checks that are not known fail nothing where targets are required; without targets they have to have passed.
    """
    checks = facts_of(event).checks_passed
    holds = (run.unwritten == 0 and checks is not False) if run.unwritten is not None else checks is True
    return seen("made", holds, unwritten=run.unwritten, checks_passed=checks)


@guard
def blocked(run: Candidate, event: Reply) -> Evidence:
    """A blocker is unresolved, and no recovery is under way."""
    facts = facts_of(event)
    holds = facts.blockers is True and facts.recovering is not True
    return seen("blocked", holds, blockers=facts.blockers, recovering=facts.recovering)


@guard
def grounded(run: Candidate, event: Reply) -> Evidence:
    """The host found the answer grounded in what the run collected."""
    value = facts_of(event).grounded
    return seen("grounded", value is True, grounded=value)


@guard
def honest_without_source(run: Candidate, event: Reply) -> Evidence:
    """A search was attempted, and the answer honestly says that it has no source."""
    facts = facts_of(event)
    holds = facts.attempted is True and facts.honest_no_source is True
    return seen("honest_without_source", holds, attempted=facts.attempted, honest_no_source=facts.honest_no_source)


@guard
def eligible(run: Candidate, event: Reply) -> Evidence:
    """At least one source is eligible."""
    count = facts_of(event).eligible
    return seen("eligible", (count or 0) > 0, eligible=count)


@guard
def not_answering(run: Candidate, event: Reply) -> Evidence:
    """The host says that this run owes no answer, so the rule of evidence has nothing to judge."""
    value = facts_of(event).answer_producing
    return seen("not_answering", value is False, answer_producing=value)


@guard
def no_facts(run: Candidate, event: Reply) -> Evidence:
    """The host gave no facts at all."""
    return seen("no_facts", event.facts is None or event.facts == NONE, facts=event.facts is not None)


@guard
def facts_required(run: Candidate, event: Reply) -> Evidence:
    """The policy lets nothing complete without facts."""
    return seen("facts_required", run.require_facts, require_facts=run.require_facts)


@guard
def plan_left(run: Candidate, event: Reply) -> Evidence:
    """Items of the plan are open, so that no answer is the whole of what was planned."""
    return seen("plan_left", run.open_items > 0, open_items=run.open_items)


@guard
def something(run: Candidate, event: Reply) -> Evidence:
    """The run has something to hand over: eligible sources, changes that it made, or the beginning of an answer."""
    count = facts_of(event).eligible
    holds = (count or 0) > 0 or run.changes > 0 or run.unfinished
    return seen("something", holds, eligible=count, changes=run.changes, unfinished=run.unfinished)


def changed(run: Candidate, event: NoReply | Refusal) -> Evidence:
    """The run changed something, or has the beginning of an answer."""
    holds = run.changes > 0 or run.unfinished
    return seen("changed", holds, changes=run.changes, unfinished=run.unfinished)


def at(run: Candidate) -> Message:
    """The state of a candidate."""
    return run.at


def move(run: Candidate, state: Message) -> Candidate:
    """The candidate in another state."""
    return evolve(run, at=state)


may_be_partial = (no_facts | eligible).called("may_be_partial")
may_complete = (not_answering | no_facts).called("may_complete")

_C, _CHECK, _PART, _WHOLE, _FAIL = tuple(Message)
row = Rows[Candidate, Message, Command]()

MESSAGE = Table[Candidate, Message, Reply | NoReply | Refusal, Command](
    "message",
    [
        row(_C, Reply, _PART, keep, ~words, something),
        row(_C, Reply, _FAIL, keep, ~words),
        row(_C, Reply, _CHECK, keep, undeclared, ~forced),
        row(_C, Reply, _WHOLE, keep, artifacts, made, declares_final, ~plan_left, ~forced),
        row(_C, Reply, _PART, keep, artifacts, made),
        row(_C, Reply, _FAIL, keep, artifacts, declares_failure),
        row(_C, Reply, _CHECK, keep, artifacts, ~forced),
        row(_C, Reply, _PART, keep, artifacts, something),
        row(_C, Reply, _FAIL, keep, artifacts),
        row(_C, Reply, _PART, keep, blocked, grounded),
        row(_C, Reply, _FAIL, keep, blocked),
        row(_C, Reply, _WHOLE, keep, grounded, declares_final, ~plan_left, ~forced),
        row(_C, Reply, _PART, keep, grounded),
        row(_C, Reply, _PART, keep, honest_without_source, eligible),
        row(_C, Reply, _FAIL, keep, honest_without_source),
        row(_C, Reply, _FAIL, keep, declares_failure),
        row(_C, Reply, _PART, keep, may_complete, declares_final, plan_left, ~forced),
        row(_C, Reply, _WHOLE, keep, not_answering, declares_final, ~forced),
        row(_C, Reply, _PART, keep, no_facts, declares_final, facts_required, ~forced),
        row(_C, Reply, _WHOLE, keep, no_facts, declares_final, ~forced),
        row(_C, Reply, _PART, keep, may_be_partial, declares_partial, ~forced),
        row(_C, Reply, _CHECK, keep, ~forced),
        row(_C, Reply, _PART, keep, something),
        row(_C, Reply, _FAIL, keep),
        row(_C, NoReply, _PART, keep, changed),
        row(_C, NoReply, _FAIL, keep),
        row(_C, Refusal, _PART, keep, changed),
        row(_C, Refusal, _FAIL, keep),
        ordered([_C], [Reply], "the first rule that applies decides; each stands above what is weaker than it"),
    ],
    events=[Reply, NoReply, Refusal],
    initial=_C,
    final=[_CHECK, _PART, _WHOLE, _FAIL],
    at=at,
    move=move,
)
