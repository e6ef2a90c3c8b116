"""What an ending says of itself: its reason, its facts, and whether the agent's words may stand alone."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from rpds import HashTrieMap, HashTrieSet

from machines.events import (
    Call,
    Cancel,
    Declared,
    ErrorKind,
    Event,
    Facts,
    PlanItem,
    Refusal,
    Reply,
    StopReason,
    Text,
    TurnEnded,
    Usage,
)
from machines.ledger.work import Ledger
from machines.manifest import Kind, Tool
from machines.outcome import (
    Account,
    Change,
    Fact,
    LastResult,
    MessageKind,
    Outcome,
    Reason,
    TerminalStatus,
    message_of,
)
from machines.request import Retry
from machines.run import RUN
from machines.state import Phase, Purse, Run, Spent, Waits, new_run
from machines.turn import Turn
from machines.wait import OneWait

NEW = new_run("run")
TEXT = Text("words", 12)
CALL = Call("1", "read", b"sign-one", TEXT)


def ending(run: Run, event: Event) -> Outcome:
    """The outcome of a run that ends with this event."""
    outcome = RUN.step(run, event).run.outcome
    assert outcome is not None
    return outcome


def reply(stop: StopReason = StopReason.END_TURN, *calls: Call, **more: Any) -> Reply:
    return Reply(5.0, stop, calls, TEXT, **more)


ASKING, CONCLUDING = attrs.evolve(NEW, at=Phase.ASKING), attrs.evolve(NEW, at=Phase.CONCLUDING, stop=Reason("turns"))


def test_forced_grounded_words_stand_alone_and_others_are_a_claim() -> None:
    for grounded, alone in ((True, True), (False, False), (None, False)):
        outcome = ending(CONCLUDING, reply(facts=Facts(grounded=grounded)))
        assert outcome.stands_alone is alone
        assert outcome.message == TEXT


@pytest.mark.parametrize("stop", [StopReason.LENGTH, StopReason.REFUSAL, StopReason.TOOL_USE])
def test_a_last_reply_that_went_wrong_never_stands_alone(stop: StopReason) -> None:
    calls = (CALL,) if stop is StopReason.TOOL_USE else ()
    outcome = ending(CONCLUDING, reply(stop, *calls, facts=Facts(grounded=True)))
    assert outcome.stands_alone is False


@pytest.mark.parametrize(
    ("stop", "fact"),
    [
        (StopReason.LENGTH, Fact.TRUNCATED),
        (StopReason.CONTEXT_WINDOW, Fact.TRUNCATED),
        (StopReason.REFUSAL, Fact.REFUSED),
        (StopReason.CONTENT_FILTER, Fact.REFUSED),
    ],
)
def test_what_went_wrong_with_the_last_reply_stays_visible(stop: StopReason, fact: Fact) -> None:
    outcome = ending(attrs.evolve(CONCLUDING, facts=(Fact.LIMIT_REACHED,)), reply(stop))
    assert outcome.facts == (Fact.LIMIT_REACHED, fact)


def completed(facts: Facts | None) -> tuple[Fact, ...]:
    outcome = ending(ASKING, reply(kind=Declared.FINAL, facts=facts))
    assert outcome.status is TerminalStatus.COMPLETED
    return outcome.facts


def test_a_final_answer_without_any_facts_is_unverified() -> None:
    assert completed(None) == (Fact.UNVERIFIED,)
    assert completed(Facts(grounded=True)) == ()


def test_a_final_answer_of_which_no_fact_is_known_is_unverified() -> None:
    assert completed(Facts()) == (Fact.UNVERIFIED,)


@pytest.mark.parametrize(
    ("refusal", "by"),
    [
        (Refusal(5.0, 413, TEXT), "context_overflow"),
        (Refusal(5.0, 400, TEXT, too_long=True), "context_overflow"),
        (Refusal(5.0, 400, TEXT), "refused"),
        (Refusal(5.0, 401, TEXT), "refused"),
    ],
)
def test_a_refusal_that_ends_a_run_is_named_for_what_the_provider_says(refusal: Refusal, by: str) -> None:
    nothing = attrs.evolve(NEW.request, left={**NEW.request.left, Retry.SHRUNK: 0})
    outcome = ending(attrs.evolve(ASKING, request=nothing), refusal)
    assert (outcome.status, outcome.reason.by) == (TerminalStatus.FAILED, by)
    assert dict(outcome.reason.values)["status"] == refusal.status


# The account.


def test_the_account_tells_what_was_done_left_open_seen_last_and_spent() -> None:
    changes = (Change("write", "a.txt", b"state"), Change("write", None, None))
    last = (LastResult("read", TEXT, None), LastResult("write", None, ErrorKind.TIMEOUT))
    items = (PlanItem(Text("one", 3), "completed"), PlanItem(Text("two", 3), "in_progress"), PlanItem(TEXT, "pending"))
    waits = {b"1": OneWait(tool="deploy"), b"2": OneWait(tool="build")}
    run = attrs.evolve(
        NEW,
        at=Phase.ACTING,
        spent=Spent(before=10.0, began=100.0, now=130.0, usage=Usage(5, 6, 0, 0.5)),
        ledger=Ledger(plan=items, changes=changes, changes_in_all=12, last_results=last),
        turn=Turn(4, open=(CALL,)),
        waits=Waits(open=HashTrieMap(waits), over=HashTrieSet([b"3"])),
    )
    account = ending(run, Cancel(150.0)).account
    assert account == Account(
        turns=4,
        seconds=60.0,
        usage=Usage(5, 6, 0, 0.5),
        changes=changes,
        changes_in_all=12,
        open_items=(Text("two", 3), TEXT),
        unanswered=("1",),
        waiting_for=("build", "deploy"),
        last_results=last,
    )


@pytest.mark.parametrize("kind", list(Kind))
def test_side_effects_are_unconfirmed_where_a_call_that_may_have_changed_something_was_not_answered(kind: Kind) -> None:
    run = attrs.evolve(NEW, at=Phase.ACTING, tools={"read": Tool(kind)}, turn=Turn(1, open=(CALL,)))
    unconfirmed = kind in (Kind.WRITE, Kind.COMMAND)
    assert (Fact.SIDE_EFFECTS_UNCONFIRMED in ending(run, Cancel(5.0)).facts) == unconfirmed
    assert ending(attrs.evolve(run, turn=Turn(1)), Cancel(5.0)).facts == ()


def test_a_stopped_run_still_knows_the_calls_that_were_never_answered() -> None:
    purse = {**NEW.purse, Purse.TURN: 0}
    run = attrs.evolve(NEW, at=Phase.ACTING, tools={"read": Tool(Kind.WRITE)}, turn=Turn(1, open=(CALL,)), purse=purse)
    outcome = ending(RUN.step(run, TurnEnded(5.0)).run, reply())
    assert outcome.account.unanswered == ("1",)
    assert Fact.SIDE_EFFECTS_UNCONFIRMED in outcome.facts


# What a person is shown.

ACCOUNT = Account(
    turns=3,
    seconds=61.4,
    usage=Usage(1_000, 24, 0, 0.125),
    changes=(Change("write", "a.txt", b"\x01" * 8), Change("run", None, None)),
    changes_in_all=5,
    open_items=(Text("item", 4),),
    unanswered=("call-7",),
    waiting_for=("build",),
    last_results=(LastResult("read", Text("result", 6), None), LastResult("run", None, ErrorKind.TIMEOUT)),
)
TEXTS = {"words": "What I found.", "blank": " \n", "item": "write  the\nreport", "result": "x" * 200}
OUTCOME = Outcome(
    TerminalStatus.PARTIAL,
    MessageKind.PARTIAL_ANSWER,
    Reason("turns", (("left", 0),)),
    (Fact.LIMIT_REACHED, Fact.SIDE_EFFECTS_UNCONFIRMED),
    ACCOUNT,
    Text("words", 13),
    stands_alone=False,
)
BARE = """\
The run ended as partial: turns (left=0).
Facts: limit reached, side effects unconfirmed.
Changed: write on a.txt (now 01010101); run on an undeclared target; and 3 before.
Left open in the plan: write the report
Not answered: call call-7
Still waited for: build
Last result: read: {}
Last result: run failed (timeout): not seen
Spent: 3 turns, 61 s, 1024 tokens, 0.1250 USD.""".format("x" * 159 + "…")


def shown(outcome: Outcome) -> str:
    return message_of(outcome, lambda text: TEXTS.get(text.digest))


def test_words_that_may_stand_alone_are_shown_as_they_are() -> None:
    assert shown(attrs.evolve(OUTCOME, stands_alone=True)) == "What I found."


def test_other_words_stand_beneath_the_account_as_a_claim() -> None:
    assert shown(OUTCOME) == f"{BARE}\n\nWhat the agent says of it (its claim, not checked):\nWhat I found."


@pytest.mark.parametrize("alone", [True, False])
def test_where_there_are_no_words_the_account_speaks(alone: bool) -> None:
    for message in (None, Text("blank", 2)):
        assert shown(attrs.evolve(OUTCOME, message=message, stands_alone=alone)) == BARE


@pytest.mark.parametrize("alone", [True, False])
def test_words_that_are_gone_are_named_as_gone(alone: bool) -> None:
    gone = attrs.evolve(OUTCOME, message=Text("lost", 4), stands_alone=alone)
    assert shown(gone) == f"{BARE}\n\nThe agent's own words are no longer in the content store."


def test_an_account_of_nothing_is_still_an_account() -> None:
    nothing = Account(0, 0.0, Usage(), (), 0, (), (), (), ())
    outcome = Outcome(TerminalStatus.FAILED, MessageKind.FAILURE_REPORT, Reason("fault"), (), nothing)
    assert message_of(outcome, lambda text: None).splitlines() == [
        "The run ended as failed: fault.",
        "Changed: nothing.",
        "Spent: 0 turns, 0 s, 0 tokens.",
    ]
