"""What a candidate may become, against the rules written once more in plain Python, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

import attrs
import pytest

from machines.events import Call, Declared, Facts, NoReply, Refusal, Reply, StopReason, Text
from machines.manifest import Work
from machines.message import MESSAGE, Candidate, Message, forced
from statecraft import Step
from statecraft.guards import as_guard

UNKNOWN: tuple[bool | None, ...] = (None, True, False)
COUNTS: tuple[int | None, ...] = (None, 0, 1)
KINDS = (None, *Declared)
WHOLE, PART, FAILURE, CHECKPOINT = (
    Message.FINAL_ANSWER,
    Message.PARTIAL_ANSWER,
    Message.FAILURE_REPORT,
    Message.CHECKPOINT,
)
RANK = {FAILURE: 1, PART: 2, WHOLE: 3}

EVERY = 53
"""One cell in so many is looked at by default, every cell under `deep`. It has no factor in common with the number of
values of any fact, so each value is met together with each other value, and with each pair of others."""


@attrs.frozen
class Cell:
    """All that a candidate is judged by."""

    kind: Declared | None
    forced: bool
    work: Work
    words: bool
    facts: Facts = Facts()
    unwritten: int | None = None
    changes: int = 0
    require_facts: bool = False


def cells(kind: Declared | None, forced: bool, work: Work, words: bool, every: int) -> Iterator[Cell]:
    """The cells of all facts beside the four given, each one in `every`."""
    flags = product(UNKNOWN, repeat=7)
    every_one = product(flags, COUNTS, COUNTS, (0, 1), (False, True))
    for known, eligible, unwritten, changes, require in islice(every_one, 0, None, every):
        grounded, attempted, honest, blockers, recovering, answering, checks = known
        facts = Facts(answering, attempted, eligible, grounded, honest, blockers, recovering, checks)
        yield Cell(kind, forced, work, words, facts, unwritten, changes, require)


def becomes(cell: Cell, facts: Facts | None) -> Message:
    """What the table makes of the cell, in one step."""
    run = Candidate(
        work=cell.work,
        forced=cell.forced,
        changes=cell.changes,
        unwritten=cell.unwritten,
        require_facts=cell.require_facts,
    )
    text = Text("words", 12) if cell.words else None
    answer = MESSAGE.step(run, Reply(1.0, StopReason.END_TURN, text=text, kind=cell.kind, facts=facts))
    assert isinstance(answer, Step)
    assert answer.commands == ()
    return answer.run.at


def by_the_rules(cell: Cell) -> Message:
    """The rules of eligibility. Facts decide; what the agent claims may lower the answer and never raise it."""
    has_sources = bool(cell.facts.eligible)
    what_there_is = PART if has_sources or cell.changes else FAILURE
    if not cell.words:
        return what_there_is
    if not cell.forced and cell.kind in (None, Declared.CHECKPOINT):
        return CHECKPOINT
    whole = WHOLE if cell.kind is Declared.FINAL and not cell.forced else PART
    otherwise = what_there_is if cell.forced else CHECKPOINT
    says_it_failed = cell.kind is Declared.FAILURE

    if cell.work is Work.BUILD and not (cell.unwritten is None and cell.facts.checks_passed is None):
        targets_written = cell.unwritten == 0 and cell.facts.checks_passed is not False
        only_checked = cell.unwritten is None and cell.facts.checks_passed is True
        return whole if targets_written or only_checked else FAILURE if says_it_failed else otherwise
    if cell.facts.blockers and not cell.facts.recovering:
        return PART if cell.facts.grounded else FAILURE
    if cell.facts.grounded:
        return whole
    if cell.facts.attempted and cell.facts.honest_no_source:
        return PART if has_sources else FAILURE
    if says_it_failed:
        return FAILURE
    if cell.forced:
        return what_there_is

    nothing_known = cell.facts == Facts()
    if cell.kind is Declared.PARTIAL:
        return PART if nothing_known or has_sources else CHECKPOINT
    if cell.facts.answer_producing is False:
        return WHOLE
    if nothing_known:
        return PART if cell.require_facts else WHOLE
    return CHECKPOINT


# Without words only a forced candidate comes here.
GIVEN = [
    pytest.param(kind, forced, work, words, id="-".join((str(kind and kind.value), *names)))
    for kind in KINDS
    for forced, work, words in product((False, True), (Work.ANSWER, Work.BUILD), (True, False))
    if words or forced
    for names in [(["free", "forced"][forced], work.value, ["silent", "words"][words])]
]


def table_and_rules_agree(
    kind: Declared | None, forced: bool, work: Work, words: bool, every: int
) -> dict[Message, int]:
    found: dict[Message, int] = {}
    for cell in cells(kind, forced, work, words, every):
        answer = becomes(cell, cell.facts)
        assert answer is by_the_rules(cell), cell
        found[answer] = found.get(answer, 0) + 1
    return found


@pytest.mark.parametrize(("kind", "forced", "work", "words"), GIVEN)
def test_the_table_follows_the_rules(kind: Declared | None, forced: bool, work: Work, words: bool) -> None:
    found = table_and_rules_agree(kind, forced, work, words, EVERY)
    assert sum(found.values()) > 1000
    if forced:
        assert not {WHOLE, CHECKPOINT} & set(found)
        assert {PART, FAILURE} == set(found)
    elif kind in (None, Declared.CHECKPOINT):
        assert set(found) == {CHECKPOINT}
    else:
        assert (WHOLE in found) == (kind is Declared.FINAL)


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "forced", "work", "words"), GIVEN)
def test_the_table_follows_the_rules_in_every_cell(
    kind: Declared | None, forced: bool, work: Work, words: bool
) -> None:
    assert sum(table_and_rules_agree(kind, forced, work, words, 1).values()) == 3**9 * 4


def test_a_host_that_gives_no_facts_is_judged_like_one_that_knows_none() -> None:
    for kind, forced_now, work in product(KINDS, (False, True), (Work.ANSWER, Work.BUILD)):
        for unwritten, changes, require in product((None, 0, 1), (0, 1), (False, True)):
            cell = Cell(kind, forced_now, work, True, unwritten=unwritten, changes=changes, require_facts=require)
            assert becomes(cell, None) is becomes(cell, Facts()) is by_the_rules(cell), cell


def test_edits_are_judged_like_builds_and_all_other_work_like_answers() -> None:
    for unwritten, checks, kind in product((None, 0, 1), UNKNOWN, KINDS):
        cell = Cell(kind, False, Work.BUILD, True, unwritten=unwritten, facts=Facts(checks_passed=checks))
        assert becomes(attrs.evolve(cell, work=Work.EDIT), cell.facts) is becomes(cell, cell.facts)
        answer = attrs.evolve(cell, work=Work.ANSWER)
        assert becomes(attrs.evolve(cell, work=Work.OTHER), cell.facts) is becomes(answer, cell.facts)


@pytest.mark.parametrize("work", [Work.ANSWER, Work.BUILD])
def test_an_unknown_fact_completes_nothing(work: Work) -> None:
    completed = 0
    for cell in cells(Declared.FINAL, False, work, True, EVERY):
        if becomes(cell, cell.facts) is not WHOLE:
            continue
        completed += 1
        made = work is Work.BUILD and (
            cell.unwritten == 0 or (cell.unwritten is None and cell.facts.checks_passed is True)
        )
        known = cell.facts.grounded is True or cell.facts.answer_producing is False or made
        assert known or cell.facts == Facts(), cell
    assert completed


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (None, Declared.CHECKPOINT)])
@pytest.mark.parametrize("forced_now", [False, True])
def test_a_grounded_answer_without_blockers_is_never_a_failure_report(kind: Declared, forced_now: bool) -> None:
    for cell in cells(kind, forced_now, Work.ANSWER, True, EVERY):
        if cell.facts.grounded is True and cell.facts.blockers is not True:
            assert becomes(cell, cell.facts) in (WHOLE, PART), cell


@pytest.mark.parametrize("work", [Work.ANSWER, Work.BUILD])
@pytest.mark.parametrize("forced_now", [False, True])
@pytest.mark.parametrize("lower", [Declared.PARTIAL, Declared.FAILURE])
def test_a_claim_can_lower_the_answer_and_never_raise_it(work: Work, forced_now: bool, lower: Declared) -> None:
    lowered = 0
    for cell in cells(lower, forced_now, work, True, 3 * EVERY):
        claimed = becomes(cell, cell.facts)
        most = becomes(attrs.evolve(cell, kind=Declared.FINAL), cell.facts)
        assert claimed is not WHOLE
        if claimed in RANK and most in RANK:  # a checkpoint is no answer, and below none
            assert RANK[claimed] <= RANK[most], cell
            lowered += RANK[claimed] < RANK[most]
    assert lowered or (forced_now and lower is Declared.PARTIAL)


@pytest.mark.parametrize("stop", list(StopReason))
def test_a_cut_or_withheld_reply_has_no_words_whatever_its_text(stop: StopReason) -> None:
    speechless = {
        StopReason.LENGTH,
        StopReason.CONTEXT_WINDOW,
        StopReason.MALFORMED_CALL,
        StopReason.REFUSAL,
        StopReason.CONTENT_FILTER,
    }
    # Grounded, and nothing else to hand over: with words a partial answer, without them a failure.
    answer = MESSAGE.step(Candidate(forced=True), Reply(1.0, stop, text=Text("words", 12), facts=Facts(grounded=True)))
    assert answer.run.at is (FAILURE if stop in speechless else PART)


def test_a_last_reply_that_calls_a_tool_has_no_words() -> None:
    call = Call("1", "search", b"signature", Text("{}", 2))
    reply = Reply(1.0, StopReason.TOOL_USE, (call,), text=Text("words", 12), facts=Facts(grounded=True))
    assert MESSAGE.step(Candidate(forced=True), reply).run.at is FAILURE
    assert MESSAGE.step(Candidate(forced=True), attrs.evolve(reply, calls=())).run.at is PART


def test_thinking_alone_is_no_words() -> None:
    reply = Reply(1.0, StopReason.END_TURN, thinking=Text("thought", 40), facts=Facts(grounded=True))
    assert MESSAGE.step(Candidate(forced=True), reply).run.at is FAILURE


@pytest.mark.parametrize(
    "event",
    [NoReply(1.0, "the host is gone"), Refusal(1.0, 500, Text("body", 4)), Refusal(1.0, 401, Text("body", 4))],
    ids=["no reply", "refused", "refused for good"],
)
@pytest.mark.parametrize(("changes", "answer"), [(0, FAILURE), (1, PART)])
def test_without_a_reply_only_the_changes_of_the_run_count(
    event: NoReply | Refusal, changes: int, answer: Message
) -> None:
    assert MESSAGE.step(Candidate(forced=True, changes=changes), event).run.at is answer


def test_by_the_table_alone_a_forced_candidate_is_no_final_answer_and_no_checkpoint() -> None:
    for row in MESSAGE.rows:
        if row.target in (WHOLE, CHECKPOINT):
            guards = [as_guard(one) for one in row.guards]
            assert any(one is not None and one.how == "not" and one.parts == (forced,) for one in guards), str(row)


def test_by_the_table_alone_only_a_declared_final_becomes_a_final_answer() -> None:
    for row in MESSAGE.rows:
        if row.target is WHOLE:
            names = {one.name for one in map(as_guard, row.guards) if one is not None}
            assert "declares_final" in names, str(row)


# An open plan: no answer is the whole of what was planned.

STOP, WORDS, PLANNED = StopReason.END_TURN, Text("words", 12), Candidate(open_items=1)
GROUND, NO_ANSWER_OWED = Facts(grounded=True), Facts(answer_producing=False)


@pytest.mark.parametrize(
    ("run", "event", "message"),
    [
        (Candidate(work=Work.BUILD, unwritten=0), Reply(0.0, STOP, text=WORDS, kind=Declared.FINAL), WHOLE),
        (Candidate(), Reply(0.0, STOP, text=WORDS, kind=Declared.FINAL, facts=GROUND), WHOLE),
        (Candidate(), Reply(0.0, STOP, text=WORDS, kind=Declared.FINAL, facts=NO_ANSWER_OWED), WHOLE),
        (Candidate(), Reply(0.0, STOP, text=WORDS, kind=Declared.FINAL), WHOLE),
    ],
    ids=["built", "grounded", "no answer owed", "no facts"],
)
def test_a_final_answer_beside_an_open_plan_is_partial(run: Candidate, event: Reply, message: Message) -> None:
    assert MESSAGE.step(run, event).run.at is message
    assert MESSAGE.step(attrs.evolve(run, open_items=1), event).run.at is PART


@pytest.mark.parametrize(
    ("run", "event", "message"),
    [
        (PLANNED, Reply(0.0, STOP, text=WORDS, kind=Declared.FINAL, facts=Facts(grounded=False)), CHECKPOINT),
        (PLANNED, Reply(0.0, STOP, text=WORDS, kind=Declared.PARTIAL, facts=NO_ANSWER_OWED), CHECKPOINT),
        (attrs.evolve(PLANNED, forced=True), Reply(0.0, STOP, text=WORDS, kind=Declared.FINAL), FAILURE),
        (Candidate(), Reply(0.0, STOP), FAILURE),
    ],
    ids=["without ground", "declared partial", "forced with nothing", "no words and no claim"],
)
def test_an_open_plan_makes_nothing_partial_that_is_less(run: Candidate, event: Reply, message: Message) -> None:
    assert MESSAGE.step(run, event).run.at is message
