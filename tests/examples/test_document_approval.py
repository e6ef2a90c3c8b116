"""The document: each transition alone, what must hold of any story, what is proved, and faults that the checks find."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import BadTable, Evidence, Refused, Row, Step, Table
from statecraft.proofs import Bound, FreeCycle, NeedsRun, ends, prove
from statecraft.testing import covered, step_one

from .document_approval import (
    DAYS,
    DOCUMENT,
    REMINDERS,
    SAMPLES,
    Approve,
    AskChanges,
    AskReviewers,
    Clock,
    Command,
    Document,
    Event,
    Left,
    Print,
    Publish,
    Reject,
    Stage,
    Submit,
    TellAuthor,
    Withdraw,
    at,
    move,
    pay,
    purse,
    rounds,
)

AnyTable = Table[Any, Any, Any, Any]
S = Stage
NONE_LEFT = {"rounds": 0, "reminders": 0}
QUIET = (2, 8, 10, 11)  # rows that stay and ask for nothing
PEOPLE = ("ann", "bea", "cid", "eve")  # the author, two reviewers, and somebody else

EVENTS: list[Event] = [
    Submit(1),
    *(Approve(by, 1) for by in PEOPLE),
    *(AskChanges(by, 1) for by in PEOPLE),
    *(Reject(by) for by in PEOPLE),
    *(Withdraw(by) for by in PEOPLE),
    Publish(),
    *(Clock(day) for day in (0, 1, DAYS, DAYS + 1, DAYS + 2)),
]


def in_state(at: Stage, *approved: str, **left: int) -> Document:
    """The first version in this state, due on the seventh day, with what is left of its budgets, or full ones."""
    document = Document(at=at, version=1, approved=dict.fromkeys(approved, 1), due=DAYS)
    return pay(document, {one: left.get(one.value, document.left[one]) for one in Left})


@pytest.mark.parametrize(
    ("run", "event", "row", "target", "commands"),
    [
        (Document(), Submit(0), 0, S.REVIEW, [AskReviewers(1)]),
        (in_state(S.CHANGES_REQUESTED), Submit(0), 0, S.REVIEW, [AskReviewers(2)]),
        (in_state(S.REVIEW, "bea"), Approve("cid", 1), 1, S.APPROVED, [TellAuthor]),
        (in_state(S.REVIEW), Approve("cid", 1), 2, S.REVIEW, []),
        (in_state(S.REVIEW, "bea"), Approve("bea", 1), 2, S.REVIEW, []),
        (in_state(S.REVIEW, "bea"), AskChanges("cid", 1), 3, S.CHANGES_REQUESTED, [TellAuthor]),
        (in_state(S.APPROVED, "bea", "cid"), AskChanges("cid", 1), 3, S.CHANGES_REQUESTED, [TellAuthor]),
        (in_state(S.REVIEW, rounds=0), AskChanges("cid", 1), 4, S.REJECTED, [TellAuthor]),
        (in_state(S.REVIEW), Reject("cid"), 5, S.REJECTED, [TellAuthor]),
        (in_state(S.REVIEW), Clock(DAYS + 1), 6, S.REJECTED, [TellAuthor]),
        (in_state(S.REVIEW), Clock(DAYS), 7, S.REVIEW, [AskReviewers(1)]),
        (in_state(S.REVIEW, reminders=0), Clock(DAYS), 8, S.REVIEW, []),
        (in_state(S.CHANGES_REQUESTED), Clock(DAYS + 1), 9, S.WITHDRAWN, [TellAuthor]),
        (in_state(S.CHANGES_REQUESTED), Clock(DAYS), 10, S.CHANGES_REQUESTED, []),
        (in_state(S.APPROVED, "bea", "cid"), Clock(DAYS + 1), 9, S.WITHDRAWN, [TellAuthor]),
        (in_state(S.APPROVED, "bea", "cid"), Publish(), 12, S.PUBLISHED, [Print(1)]),
        (in_state(S.APPROVED, "bea", "cid"), Withdraw("ann"), 13, S.WITHDRAWN, []),
    ],
)
def test_a_document_takes_this_row(
    run: Document, event: Event, row: int, target: Stage, commands: list[Command | type[Command]]
) -> None:
    step_one(DOCUMENT, run, event, row=row, target=target, commands=commands)


@pytest.mark.parametrize("by", ["ann", "eve"])
@pytest.mark.parametrize("kind", [Approve, AskChanges, Reject])
def test_neither_its_author_nor_a_stranger_reviews_it(kind: Any, by: str) -> None:
    event = Reject(by) if kind is Reject else kind(by, 1)
    answer = DOCUMENT.step(attrs.evolve(in_state(S.REVIEW, "bea"), reviewers=frozenset({"ann", "bea"})), event)
    assert isinstance(answer, Refused)
    assert answer.seen[-1] == Evidence("by_reviewer", False, {"by": by, "author": "ann"})


@pytest.mark.parametrize(("needed", "row"), [(3, 0), (4, None)])
def test_it_is_not_submitted_where_too_few_could_approve_it(needed: int, row: int | None) -> None:
    assert DOCUMENT.step(Document(needed=needed), Submit(0)).row == row


def test_changes_take_all_approvals_with_them_and_a_new_round_brings_new_reminders() -> None:
    back = step_one(DOCUMENT, in_state(S.REVIEW, "bea", reminders=0), AskChanges("cid", 3), row=3).run
    assert (dict(back.approved), back.due, back.left) == ({}, 3 + DAYS, {Left.ROUND: 2, Left.REMINDER: 0})
    again = step_one(DOCUMENT, back, Submit(5), row=0).run
    assert (again.version, again.due, again.left[Left.REMINDER]) == (2, 5 + DAYS, REMINDERS)


def test_every_row_is_taken_and_every_guard_heard_both_ways() -> None:
    runs = [in_state(state, *approved, **left) for state, approved, left in product(S, ((), ("bea",)), ({}, NONE_LEFT))]
    runs.append(Document(needed=4))
    coverage = covered(DOCUMENT, [(event, DOCUMENT.step(run, event)) for run, event in product(runs, EVENTS)])
    assert coverage.rows == (len(DOCUMENT.rows), len(DOCUMENT.rows))
    assert coverage.whole, [(one.name, ways) for machine in coverage.machines for one, ways in machine.never_seen]


@given(st.lists(st.sampled_from(EVENTS), max_size=60), st.integers(0, 3), st.integers(1, 2))
def test_nothing_is_published_without_enough_approvals_by_reviewers_of_that_version(
    story: list[Event], allowed: int, needed: int
) -> None:
    run, steps = Document(rounds=allowed, needed=needed), 0
    for event in story:
        answer = DOCUMENT.step(run, event)
        changed = isinstance(answer, Step) and answer.row not in QUIET
        run, steps = answer.run, steps + changed
        assert run.author not in run.approved
        assert set(run.approved.values()) <= {run.version}
    assert run.at is not S.PUBLISHED or len(run.approved.keys() & run.reviewers) >= needed
    bound = ends(DOCUMENT, Document(rounds=allowed))
    assert isinstance(bound, Bound)
    assert steps <= bound.number


def test_a_document_ends_and_its_bound_grows_with_the_rounds_that_it_is_allowed() -> None:
    report = prove([DOCUMENT], SAMPLES)
    assert report.ok
    (proved,) = report.tables
    assert proved.quiet == QUIET
    assert isinstance(proved.steps, Bound)
    assert proved.steps.number == 20
    fewer = ends(DOCUMENT, Document(rounds=1))
    assert isinstance(fewer, Bound)
    assert fewer.number == 10
    with pytest.raises(NeedsRun, match="the size of rounds depends on the run"):
        ends(DOCUMENT)


def test_changes_that_give_their_own_round_back_are_found_to_go_round_for_ever() -> None:
    found = ends(with_rounds_that_never_end(), Document())
    assert isinstance(found, FreeCycle)
    assert found.payable
    assert found.lines == (
        "document can go round for ever:",
        "  row 3: REVIEW AskChanges -> CHANGES_REQUESTED, spends rounds, refills rounds",
        "  row 0: CHANGES_REQUESTED Submit -> REVIEW, refills reminders",
        "reached by:",
        "  row 0: DRAFT Submit -> REVIEW, refills reminders",
    )
    assert not prove([with_rounds_that_never_end()], SAMPLES).ok


def test_so_are_changes_that_nobody_counts() -> None:
    rows = [attrs.evolve(row, spends=None) if row.spends is Left.ROUND else row for row in DOCUMENT.rows]
    with pytest.raises(BadTable, match=r"row 4 .* is shadowed: row 3 before it asks nothing that it does not ask"):
        document_of(rows)
    assert isinstance(ends(document_of([*rows[:4], *rows[5:]]), Document()), FreeCycle)


def test_an_approval_that_nobody_uses_must_lapse_or_say_why_not() -> None:
    rows = [row for row in DOCUMENT.rows if not (row.event is Clock and S.APPROVED in row.sources)]
    with pytest.raises(BadTable, match="cell APPROVED on Clock is blank"):
        document_of(rows)


def with_rounds_that_never_end() -> AnyTable:
    """A fault: who asks for changes gives the author as many rounds as at first."""
    return document_of(
        attrs.evolve(row, refills=frozenset({Left.ROUND})) if row.spends is Left.ROUND else row for row in DOCUMENT.rows
    )


def document_of(rows: Iterable[Row[Document, Stage, Command]]) -> AnyTable:
    """The same machine with other rows."""
    return Table[Document, Stage, Event, Command](
        "document",
        [*rows, *DOCUMENT.marks],
        events=DOCUMENT.events,
        initial=S.DRAFT,
        final=DOCUMENT.final,
        at=at,
        move=move,
        budgets={Left.ROUND: rounds, Left.REMINDER: REMINDERS},
        purse=purse,
        pay=pay,
    )
