"""While the history is condensed: what shows that it was, and what ends the run."""

from __future__ import annotations

import attrs
import pytest

from machines.commands import Ask, End
from machines.events import (
    Begin,
    Call,
    Cancel,
    Chunk,
    Clock,
    Condensed,
    Ended,
    Event,
    NoReply,
    PlanChanged,
    Refusal,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
)
from machines.outcome import Fact
from machines.policy import Budget, Policy
from machines.request import Retry
from machines.run import RUN
from machines.state import Phase, Run, new_run
from machines.supervisor import Fed, Moved, feed, settle

TEXT = Text("text", 4)
CALLING = Reply(9.0, StopReason.TOOL_USE, (Call("1", "read", b"signature", TEXT),))
NEW = new_run("run", Policy(budget=Budget(turns=9, seconds=100.0, tokens=None, usd=None)))


def after(*events: Event) -> Run:
    run = NEW
    for event in events:
        run = feed(run, event).run
    return run


def names(fed: Fed) -> list[str]:
    return [type(move.event).__name__ for move in fed.moves if isinstance(move, Moved)]


CONDENSING = after(Begin(0.0), Refusal(1.0, 413, TEXT))


@pytest.mark.parametrize(
    ("event", "then"),
    [
        (CALLING, Phase.ACTING),
        (Chunk(9.0, "text", TEXT), Phase.RECOVERING),
        (Refusal(9.0, 529, TEXT), Phase.RECOVERING),
        (Refusal(9.0, 413, TEXT), Phase.CONDENSING),
    ],
)
def test_a_recorded_run_whose_request_went_out_had_condensed(event: Event, then: Phase) -> None:
    assert CONDENSING.at is Phase.CONDENSING
    fed = feed(CONDENSING, event)
    assert (names(fed), fed.run.at) == (["Condensed", type(event).__name__], then)
    condensed = Condensed(9.0, 0, counted=False)
    assert fed.moves[0] == Moved(condensed, RUN.step(CONDENSING, condensed))
    assert settle(CONDENSING, event) == Fed(feed(CONDENSING, condensed).run, fed.moves[:1], (Ask(),))


@pytest.mark.parametrize(
    "event",
    [
        Said(9.0, TEXT, synthetic=True),
        Said(9.0, TEXT),
        Result(9.0, "1"),
        PlanChanged(9.0, ()),
        Signal(9.0, "approved"),
        Clock(9.0),
        NoReply(9.0, "gone"),
        Cancel(9.0),
        Ended(9.0, "ok"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_nothing_else_shows_that_it_had(event: Event) -> None:
    assert names(feed(CONDENSING, event)) == [type(event).__name__]


@pytest.mark.parametrize(("at", "then"), [(89.5, Phase.RECOVERING), (90.0, Phase.CONCLUDING)])
def test_no_request_follows_a_condensing_that_took_too_long(at: float, then: Phase) -> None:
    for fed in (feed(CONDENSING, Condensed(at, 5)), settle(CONDENSING, attrs.evolve(CALLING, at=at))):
        late = then is Phase.CONCLUDING
        assert (fed.run.at, fed.commands) == (then, (Ask(final=late),))
        assert (fed.run.stop and fed.run.stop.by) == ("seconds" if late else None)


def test_a_host_that_cannot_condense_ends_the_run() -> None:
    fed = feed(CONDENSING, NoReply(2.0, "nothing is left to leave out"))
    outcome = fed.run.outcome
    assert outcome is not None
    assert (fed.run.at, outcome.reason.by, fed.commands) == (Phase.FAILED, "no_reply", (End(outcome),))


# What is said of a request that is not taken.


@pytest.mark.parametrize(
    ("refusal", "by"),
    [
        (Refusal(5.0, 413, TEXT), "context_overflow"),
        (Refusal(5.0, 400, TEXT, too_long=True), "context_overflow"),
        (Refusal(5.0, 422, TEXT, too_long=True), "context_overflow"),
        (Refusal(5.0, 400, TEXT), "refused"),
    ],
)
def test_a_request_overflows_only_where_the_provider_says_so(refusal: Refusal, by: str) -> None:
    nothing = {**NEW.request.left, Retry.SHRUNK: 0}
    spent = attrs.evolve(NEW, at=Phase.ASKING, request=attrs.evolve(NEW.request, left=nothing))
    outcome = feed(spent, refusal).run.outcome
    assert outcome is not None
    assert outcome.reason.by == by
    assert Fact.TRUNCATED not in outcome.facts
    # Either way it may have been too long, so as long as that is left, the history is condensed first.
    left = attrs.evolve(NEW, at=Phase.ASKING)
    assert feed(left, refusal).run.at is Phase.CONDENSING
