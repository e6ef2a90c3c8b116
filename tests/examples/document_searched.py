"""What never happens to a document, whatever its author, its reviewers, a stranger and the calendar do.

`document_approval` offers this search to `statecraft check`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Final

from statecraft.proofs import Crossing, Law, Search, Taken

from .document_approval import (
    DOCUMENT,
    Approve,
    AskChanges,
    AskReviewers,
    Clock,
    Document,
    Event,
    Print,
    Publish,
    Reject,
    Stage,
    Submit,
    Withdraw,
)

Taking = Taken[Document, Event]

STARTS: Final[Mapping[str, Document]] = {
    "two of three": Document(rounds=2),
    "all of two": Document(rounds=1, reviewers=frozenset({"bea", "cid"})),
    "its author among the reviewers": Document(rounds=1, reviewers=frozenset({"ann", "bea", "cid"})),
    "too few reviewers": Document(rounds=1, reviewers=frozenset({"ann", "bea"})),
    "one of one, no changes": Document(rounds=0, needed=1, reviewers=frozenset({"bea"})),
}
STRANGER: Final = "eve"


def moves(run: Document) -> Iterator[Event]:
    """Anybody does anything, on the last day that is in time, or on the next."""
    for by in (run.author, *sorted(run.reviewers - {run.author}), STRANGER):
        yield from (Approve(by, run.due), AskChanges(by, run.due), Reject(by), Withdraw(by))
    yield from (Submit(run.due), Publish(), Clock(run.due), Clock(run.due + 1))


def key(run: Document) -> Hashable:
    """All but the calendar and the number of the version: an approval is of this version, or of one so far back."""
    approved = frozenset((by, run.version - version) for by, version in run.approved.items())
    return run.at, run.version > 0, approved, *run.left.values()


def approvals_after(approvals: frozenset[str], step: Taking) -> frozenset[str]:
    """Who has approved what was last submitted."""
    if not step.stepped:
        return approvals
    if isinstance(step.event, Submit):
        return frozenset()
    return approvals | {step.event.by} if isinstance(step.event, Approve) else approvals


def published_too_soon(step: Taking, approvals: frozenset[str]) -> str:
    """Says whose approvals a document is published with, where these are not enough."""
    run = step.before
    valid = approvals & run.reviewers - {run.author}
    printed = any(isinstance(one, Print) for one in step.commands)
    if not printed or len(valid) >= run.needed:
        return ""
    return f"version {run.version} is approved by {', '.join(sorted(valid)) or 'nobody'}, and needs {run.needed}"


def prints_another(step: Taking, _: object) -> str:
    """Says which version is published, where it is not the last one."""
    printed = [one.version for one in step.commands if isinstance(one, Print)]
    return "" if printed in ([], [step.before.version]) else f"published {printed}, submitted {step.before.version}"


def by_the_wrong_one(step: Taking, _: object) -> str:
    """Says who did what is for reviewers alone, or for the author alone."""
    run, event = step.before, step.event
    if not step.stepped or not isinstance(event, Approve | AskChanges | Reject | Withdraw):
        return ""
    may = {run.author} if isinstance(event, Withdraw) else run.reviewers - {run.author}
    return "" if event.by in may else f"{type(event).__name__} by {event.by}"


def keeps_its_author(step: Taking, _: object) -> str:
    """Says where an author cannot withdraw a document that has not come to its end."""
    run, event = step.before, step.event
    mine = isinstance(event, Withdraw) and event.by == run.author and run.at not in DOCUMENT.final
    return f"cannot withdraw in {run.at.name}" if mine and not step.stepped else ""


APPROVED: Final = "what is published was approved as often as needed"
WHY_APPROVED: Final = "an approval is of what its reviewer has read, and nobody approves their own"

LAWS: Final = (
    Law(APPROVED, WHY_APPROVED, published_too_soon, frozenset[str](), approvals_after),
    Law("the last version is published", "it is the one that was approved", prints_another),
    Law("reviewers alone review, the author alone withdraws", "each has a say of their own", by_the_wrong_one),
    Law("an author can withdraw", "until it is published it is theirs", keeps_its_author),
)


def approved_after(approved: bool, row: Crossing) -> bool:
    """Whether it was approved since it was last submitted."""
    return row.target is Stage.APPROVED or (approved and row.event is not Submit)


def prints_unapproved(row: Crossing, approved: bool) -> str:
    """Says where a row publishes what was not approved since it was submitted."""
    return f"{row.source.name} publishes" if Print in row.asks and not approved else ""


def asks_unsubmitted(row: Crossing, submitted: bool) -> str:
    """Says where a row asks reviewers about what nobody has given them."""
    return f"{row.source.name} asks reviewers" if AskReviewers in row.asks and not after_submit(submitted, row) else ""


def after_submit(submitted: bool, row: Crossing) -> bool:
    """Whether it lies with its reviewers."""
    return row.event is Submit or (submitted and row.event is not AskChanges)


SHAPE: Final = (
    Law("what is published was approved", WHY_APPROVED, prints_unapproved, False, approved_after),
    Law(
        "reviewers are asked of what they were given",
        "they can read nothing else",
        asks_unsubmitted,
        False,
        after_submit,
    ),
)
SEARCH: Final = Search(DOCUMENT, STARTS, moves, key, LAWS, SHAPE)
