"""Every rule of the message table through a run: what the reply becomes, and where it leads the run."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.events import Declared, Event, Facts, NoReply, PlanItem, Refusal, Reply, StopReason, Text
from machines.ledger.work import Ledger
from machines.manifest import Work
from machines.message import MESSAGE, Message
from machines.outcome import MessageKind, Reason
from machines.policy import Messages, Policy
from machines.reply import Mend
from machines.run import RUN
from machines.state import Phase, Run, new_run
from statecraft import Step

TEXT = Text("words", 12)
WHOLE, PART, FAILURE, CHECKPOINT = (
    Message.FINAL_ANSWER,
    Message.PARTIAL_ANSWER,
    Message.FAILURE_REPORT,
    Message.CHECKPOINT,
)
FINAL, PARTIAL, FAILED = Declared.FINAL, Declared.PARTIAL, Declared.FAILURE
NEW = new_run("run", work=Work.ANSWER)
FREE = attrs.evolve(NEW, at=Phase.ASKING)
REMINDED = attrs.evolve(NEW.reply, left={**NEW.reply.left, Mend.PLAN: 0})
PLANNED = attrs.evolve(FREE, ledger=Ledger(plan=(PlanItem(Text("item", 4), "pending"),)), reply=REMINDED)
FORCED = attrs.evolve(NEW, at=Phase.CONCLUDING, stop=Reason("turns"))
CHANGED = Ledger(changes_in_all=1)
FREE_BUILD, FORCED_BUILD = (attrs.evolve(run, work=Work.BUILD, requires=("a.txt",)) for run in (FREE, FORCED))
WRITTEN = Ledger(written=Ledger().written.insert("a.txt"))
STRICT = attrs.evolve(FREE, policy=Policy(messages=Messages(require_facts=True)))
BLOCKED = Facts(blockers=True, recovering=False)
HONEST = Facts(attempted=True, honest_no_source=True)
NOTHING = Facts(grounded=False)
"""Something is known, and none of it speaks for the answer."""


def reply(kind: Declared | None = None, facts: Facts | None = None, **more: Any) -> Reply:
    return attrs.evolve(Reply(5.0, StopReason.END_TURN, text=TEXT, kind=kind, facts=facts), **more)


def with_(run: Run, ledger: Ledger) -> Run:
    return attrs.evolve(run, ledger=ledger)


CUT, GONE, REFUSED = reply(stop=StopReason.LENGTH), NoReply(5.0, "gone"), Refusal(5.0, 500, TEXT)

# In the order of the table: what the rule is, the run, the event, what the candidate becomes.
RULES: list[tuple[str, Run, Event, Message]] = [
    ("no words, but changes", with_(FORCED, CHANGED), CUT, PART),
    ("no words and nothing to hand over", FORCED, CUT, FAILURE),
    ("nothing declared", FREE, reply(None, Facts(grounded=True)), CHECKPOINT),
    ("all required targets written", with_(FREE_BUILD, WRITTEN), reply(FINAL), WHOLE),
    ("all written, but forced", with_(FORCED_BUILD, WRITTEN), reply(FINAL), PART),
    ("not written, and the agent says that it failed", FREE_BUILD, reply(FAILED), FAILURE),
    ("not written yet", FREE_BUILD, reply(FINAL), CHECKPOINT),
    ("not written, but forced after changes", with_(FORCED_BUILD, CHANGED), reply(FINAL), PART),
    ("not written, and forced", FORCED_BUILD, reply(FINAL), FAILURE),
    ("blocked, with ground", FREE, reply(FINAL, attrs.evolve(BLOCKED, grounded=True)), PART),
    ("blocked", FREE, reply(FINAL, BLOCKED), FAILURE),
    ("grounded", FREE, reply(FINAL, Facts(grounded=True)), WHOLE),
    ("grounded, but claimed as less", FREE, reply(PARTIAL, Facts(grounded=True)), PART),
    ("no source, with eligible ones", FREE, reply(FINAL, attrs.evolve(HONEST, eligible=1)), PART),
    ("no source", FREE, reply(FINAL, HONEST), FAILURE),
    ("the agent says that it failed", FREE, reply(FAILED), FAILURE),
    ("final, and the plan is open", PLANNED, reply(FINAL), PART),
    ("no answer is owed", FREE, reply(FINAL, Facts(answer_producing=False)), WHOLE),
    ("no facts where they are required", STRICT, reply(FINAL), PART),
    ("no facts", FREE, reply(FINAL), WHOLE),
    ("a declared part", FREE, reply(PARTIAL), PART),
    ("a declared final that nothing speaks for", FREE, reply(FINAL, NOTHING), CHECKPOINT),
    ("forced after changes", with_(FORCED, CHANGED), reply(FINAL, NOTHING), PART),
    ("forced", FORCED, reply(FINAL, NOTHING), FAILURE),
    ("no reply after changes", with_(FORCED, CHANGED), GONE, PART),
    ("no reply", FORCED, GONE, FAILURE),
    ("refused after changes", with_(FORCED, CHANGED), REFUSED, PART),
    ("refused", FORCED, REFUSED, FAILURE),
]
LEADS = {WHOLE: Phase.COMPLETED, PART: Phase.PARTIAL, FAILURE: Phase.BLOCKED, CHECKPOINT: Phase.ACTING}
KINDS = {
    WHOLE: MessageKind.FINAL_ANSWER,
    PART: MessageKind.PARTIAL_ANSWER,
    FAILURE: MessageKind.FAILURE_REPORT,
    CHECKPOINT: None,
}


@pytest.mark.parametrize(("number", "rule"), list(enumerate(RULES)), ids=[name for name, *_ in RULES])
def test_each_rule_decides_alone_and_leads_the_run(number: int, rule: tuple[str, Run, Event, Message]) -> None:
    _, run, event, becomes = rule
    step = RUN.step(run, event)
    assert isinstance(step, Step)
    inside = step.inside[0]  # beside it, what was done about a reply that was not sound
    assert isinstance(inside, Step)
    assert (inside.machine, inside.row, inside.target) == ("message", number, becomes)
    assert step.target is LEADS[becomes]
    assert (step.run.outcome and step.run.outcome.kind) == KINDS[becomes]


def test_there_is_a_case_for_each_rule() -> None:
    assert len(RULES) == len(MESSAGE.rows)


def test_a_checkpoint_is_never_the_kind_of_an_ending() -> None:
    assert MessageKind.CHECKPOINT not in KINDS.values()


# What a guard of the table answers besides: both sides of each fact.


@pytest.mark.parametrize(
    ("facts", "becomes"),
    [
        (Facts(blockers=True), FAILURE),
        (Facts(blockers=True, recovering=True), CHECKPOINT),
        (Facts(blockers=False, grounded=True), WHOLE),
        (Facts(attempted=True, honest_no_source=False, grounded=False), CHECKPOINT),
        (Facts(attempted=False, honest_no_source=True), CHECKPOINT),
        (Facts(attempted=True, honest_no_source=True, eligible=0), FAILURE),
        (Facts(answer_producing=True), CHECKPOINT),
        (Facts(eligible=3), CHECKPOINT),
    ],
)
def test_one_fact_makes_the_difference(facts: Facts, becomes: Message) -> None:
    assert RUN.step(FREE, reply(FINAL, facts)).run.candidate.at is becomes


def test_a_declared_part_needs_sources_where_the_host_knows_something() -> None:
    assert RUN.step(FREE, reply(PARTIAL, Facts(eligible=1))).run.candidate.at is PART
    assert RUN.step(FREE, reply(PARTIAL, Facts(eligible=0))).run.candidate.at is CHECKPOINT


def test_required_targets_are_counted_by_what_the_ledger_has_written() -> None:
    two = attrs.evolve(FREE_BUILD, requires=("a.txt", "b.txt"), ledger=WRITTEN)
    answer = RUN.step(two, reply(FINAL))
    assert answer.run.candidate.unwritten == 1
    assert answer.run.candidate.at is CHECKPOINT
    assert RUN.step(attrs.evolve(two, requires=()), reply(FINAL)).run.candidate.unwritten is None


@pytest.mark.parametrize(
    ("checks", "becomes"), [(True, WHOLE), (False, CHECKPOINT), (None, WHOLE)], ids=["passed", "failed", "unknown"]
)
def test_a_check_of_the_hosts_that_failed_completes_no_build(checks: bool | None, becomes: Message) -> None:
    run = with_(FREE_BUILD, WRITTEN)
    assert RUN.step(run, reply(FINAL, Facts(checks_passed=checks))).run.candidate.at is becomes


def test_a_reply_that_is_cut_paused_withheld_or_empty_is_no_candidate() -> None:
    for stop in (StopReason.LENGTH, StopReason.PAUSE, StopReason.REFUSAL):
        assert RUN.step(FREE, reply(FINAL, stop=stop)).run.candidate.at is Message.CANDIDATE
    assert RUN.step(FREE, reply(FINAL, text=None)).run.candidate.at is Message.CANDIDATE
