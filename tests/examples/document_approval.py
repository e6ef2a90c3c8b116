"""A document on its way from a draft to its publication, past the people who have to approve it.

The rules:

* An author submits a draft to reviewers; the author is never one of them. So many of them have to approve it, each
  counted once; the last of these approvals approves the document.
* A reviewer may ask for changes instead, of what is approved too. Then what was approved is no longer the document: all
  approvals fall, and the author submits the next version. There are so many rounds of this; a document that needs
  another is rejected. A reviewer may also reject it at once.
* Each time it waits for somebody, it waits until a deadline. Reviewers are reminded before that, a few times in each
  round. A review that is late rejects the document; an author who is late, and an approval of which nobody makes use,
  withdraw it.
* The author may withdraw it at any time before it is published.

What must hold beside it: a published document has as many approvals as it needs, by reviewers, none of them its
author's (`approved`, `needed`, `reviewers`, `author`); and all are of the version that is published (`approved` has
the version that each reviewer has approved, `version` is the last that was submitted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import attrs

from statecraft import Evidence, Rows, Table, guard, ignore, keep, refuse, seen


class Stage(Enum):
    """The states; the last three are endings."""

    DRAFT = "draft"
    REVIEW = "review"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    PUBLISHED = "published"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class Left(Enum):
    """What may be done again, and how often."""

    ROUND = "rounds"
    REMINDER = "reminders"


REMINDERS = 2
DAYS = 7


@attrs.frozen
class Submit:
    """The author gives it to the reviewers. Time in days."""

    at: int


@attrs.frozen
class Approve:
    """Somebody approves it. Time in days."""

    by: str
    at: int


@attrs.frozen
class AskChanges:
    """Somebody asks for changes. Time in days."""

    by: str
    at: int


@attrs.frozen
class Reject:
    """Somebody rejects it."""

    by: str


@attrs.frozen
class Withdraw:
    """Somebody withdraws it."""

    by: str


@attrs.frozen
class Publish:
    """Who looks after publications takes it."""


@attrs.frozen
class Clock:
    """A day has passed. Time in days."""

    at: int


@attrs.frozen
class AskReviewers:
    """Ask the reviewers, or remind them."""

    version: int


@attrs.frozen
class TellAuthor:
    """Tell the author what became of it, or what is to be done."""

    what: str


@attrs.frozen
class Print:
    """Publish this version."""

    version: int


Event = Submit | Approve | AskChanges | Reject | Withdraw | Publish | Clock
Command = AskReviewers | TellAuthor | Print


def _full(run: Document) -> Mapping[Left, int | None]:
    return {Left.ROUND: run.rounds, Left.REMINDER: REMINDERS}


@attrs.frozen
class Document:
    """One document. `approved` has the version that each reviewer has approved, `due` the day until which it waits."""

    author: str = "ann"
    reviewers: frozenset[str] = frozenset({"bea", "cid", "dan"})
    needed: int = 2
    rounds: int = 3
    at: Stage = Stage.DRAFT
    version: int = 0
    approved: Mapping[str, int] = attrs.field(factory=dict[str, int])
    due: int = 0
    left: Mapping[Left, int | None] = attrs.field(default=attrs.Factory(_full, takes_self=True))


Next = tuple[Document, Sequence[Command]]


def enough_reviewers(run: Document, event: Submit) -> Evidence:
    others = len(run.reviewers - {run.author})
    return seen("enough_reviewers", others >= run.needed, reviewers=others, needed=run.needed)


def by_reviewer(run: Document, event: Approve | AskChanges | Reject) -> Evidence:
    return seen("by_reviewer", event.by in run.reviewers - {run.author}, by=event.by, author=run.author)


@guard
def last_needed(run: Document, event: Approve) -> Evidence:
    approvals = len(run.approved.keys() | {event.by})
    return seen("last_needed", approvals >= run.needed, approvals=approvals, needed=run.needed)


def by_author(run: Document, event: Withdraw) -> Evidence:
    return seen("by_author", event.by == run.author, by=event.by, author=run.author)


@guard
def overdue(run: Document, event: Clock) -> Evidence:
    return seen("overdue", event.at > run.due, day=event.at, due=run.due)


def submit(run: Document, event: Submit) -> Next:
    version = run.version + 1
    return attrs.evolve(run, version=version, due=event.at + DAYS), [AskReviewers(version)]


def approve(run: Document, event: Approve) -> tuple[Document, tuple[()]]:
    return attrs.evolve(run, approved={**run.approved, event.by: run.version}), ()


def approve_at_last(run: Document, event: Approve) -> Next:
    return attrs.evolve(approve(run, event)[0], due=event.at + DAYS), [TellAuthor("approved")]


def give_back(run: Document, event: AskChanges) -> Next:
    return attrs.evolve(run, approved={}, due=event.at + DAYS), [TellAuthor(f"{event.by} asks for changes")]


def end(run: Document, event: AskChanges | Reject | Clock) -> Next:
    return run, [TellAuthor("it goes no further")]


def remind(run: Document, event: Clock) -> Next:
    return run, [AskReviewers(run.version)]


def publish(run: Document, event: Publish) -> Next:
    return run, [Print(run.version)]


def at(run: Document) -> Stage:
    return run.at


def move(run: Document, state: Stage) -> Document:
    return attrs.evolve(run, at=state)


def rounds(run: Document) -> int:
    return run.rounds


def purse(run: Document) -> Mapping[Left, int | None]:
    return run.left


def pay(run: Document, left: Mapping[Left, int | None]) -> Document:
    return attrs.evolve(run, left=left)


S = Stage
OPEN = [S.DRAFT, S.REVIEW, S.CHANGES_REQUESTED, S.APPROVED]
BACK = [S.REVIEW, S.APPROVED]
WITH_AUTHOR = [S.DRAFT, S.CHANGES_REQUESTED]
row = Rows[Document, Stage, Command]()

DOCUMENT: Table[Document, Stage, Event, Command] = Table(
    "document",
    [
        row(WITH_AUTHOR, Submit, S.REVIEW, submit, enough_reviewers, asks=[AskReviewers], refills=[Left.REMINDER]),
        row(S.REVIEW, Approve, S.APPROVED, approve_at_last, by_reviewer, last_needed, asks=[TellAuthor]),
        row(S.REVIEW, Approve, S.REVIEW, approve, by_reviewer, ~last_needed),
        row(BACK, AskChanges, S.CHANGES_REQUESTED, give_back, by_reviewer, asks=[TellAuthor], spends=Left.ROUND),
        row(BACK, AskChanges, S.REJECTED, end, by_reviewer, asks=[TellAuthor]),
        row(S.REVIEW, Reject, S.REJECTED, end, by_reviewer, asks=[TellAuthor]),
        row(S.REVIEW, Clock, S.REJECTED, end, overdue, asks=[TellAuthor]),
        row(S.REVIEW, Clock, S.REVIEW, remind, ~overdue, asks=[AskReviewers], spends=Left.REMINDER),
        row(S.REVIEW, Clock, S.REVIEW, keep),
        row([S.CHANGES_REQUESTED, S.APPROVED], Clock, S.WITHDRAWN, end, overdue, asks=[TellAuthor]),
        *(row(state, Clock, state, keep) for state in (S.CHANGES_REQUESTED, S.APPROVED)),
        row(S.APPROVED, Publish, S.PUBLISHED, publish, asks=[Print]),
        row(OPEN, Withdraw, S.WITHDRAWN, keep, by_author),
        refuse(BACK, [Submit], "it is with the reviewers, or approved"),
        refuse(WITH_AUTHOR, [Approve, AskChanges, Reject], "it is with its author"),
        refuse([S.APPROVED], [Approve, Reject], "it is approved: ask for changes"),
        refuse([*WITH_AUTHOR, S.REVIEW], [Publish], "it is not approved"),
        ignore([S.DRAFT], [Clock], "a draft has no deadline"),
    ],
    events=[Submit, Approve, AskChanges, Reject, Withdraw, Publish, Clock],
    initial=S.DRAFT,
    final=[S.PUBLISHED, S.REJECTED, S.WITHDRAWN],
    at=at,
    move=move,
    budgets={Left.ROUND: rounds, Left.REMINDER: REMINDERS},
    purse=purse,
    pay=pay,
)
SAMPLES: Mapping[str, Document] = {"document": Document()}
SEARCHES = ("tests.examples.document_searched:SEARCH",)
