"""What an ending says of itself: its reason, its facts, and whether the agent's words may stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from machines.commands import (
    AnswerCalls,
    Command,
)
from machines.events import (
    Call,
    Declared,
    Event,
    Facts,
    Reply,
    StopReason,
    Text,
    Usage,
)
from machines.outcome import Fact, Reason
from machines.policy import Budget, Policy
from machines.run import RUN
from machines.state import Phase, Purse, Run, Spent, Turn, Waits, new_run

POLICY = Policy(budget=Budget(turns=10, seconds=1_000.0, tokens=100_000, usd=None, reply_tokens=1_000))
NEW = new_run("run", POLICY)
TEXT = Text("words", 12)
READ, OTHER = Call("1", "read", b"sign-one", TEXT), Call("2", "read", b"sign-two", TEXT)
SAME = b"the-same"
"""The digest of a turn's only kind of call and its outcome."""

THIRD = Turn(3)
SPENT_UP = Spent(usage=Usage(90_000, 0))
"""No further request fits the tokens."""


def at(phase: Phase, **changes: Any) -> Run:
    """A run in this state, as nothing led to it."""
    return attrs.evolve(NEW, at=phase, **changes)


def left(**budgets: int) -> dict[Purse, int | None]:
    """A full purse, but for the budgets named."""
    return {**NEW.purse, **{Purse[name]: number for name, number in budgets.items()}}


def reply(stop: StopReason = StopReason.END_TURN, *calls: Call, text: Text | None = None, **more: Any) -> Reply:
    return Reply(5.0, stop, calls, text, **more)


def acting(turn: Turn = THIRD, **changes: Any) -> Run:
    """A run whose turn is in hand; by default its third, with nothing in it."""
    return at(Phase.ACTING, turn=turn, **changes)


def concluding(**changes: Any) -> Run:
    return at(Phase.CONCLUDING, stop=Reason("turns"), **changes)


ASKING = at(Phase.ASKING)
# What an ending says of itself.


@pytest.mark.parametrize(("name", "run", "event", "target", "commands"), LAST, ids=[case[0] for case in LAST])
def test_a_forced_ending_keeps_the_reason_of_the_stop(
    name: str, run: Run, event: Event, target: Phase, commands: Sequence[Command | type[Command]]
) -> None:
    outcome = RUN.step(run, event).run.outcome
    assert outcome is not None
    assert outcome.reason == Reason("turns")
    assert outcome.status is (STATUS.PARTIAL if target is Phase.PARTIAL else STATUS.BLOCKED)
    assert outcome.stands_alone is False


def test_forced_grounded_words_stand_alone_and_others_are_a_claim() -> None:
    for grounded, alone in ((True, True), (False, False), (None, False)):
        outcome = RUN.step(concluding(), reply(text=TEXT, facts=Facts(grounded=grounded))).run.outcome
        assert outcome is not None
        assert outcome.stands_alone is alone
        assert outcome.message == TEXT


@pytest.mark.xfail(
    strict=True,
    reason="A last reply that is cut, withheld or calls a tool has no words of its own, so the account is the message; "
    "but where the host calls it grounded, its text stands alone all the same.",
)
@pytest.mark.parametrize("stop", [StopReason.LENGTH, StopReason.REFUSAL, StopReason.TOOL_USE])
def test_a_last_reply_that_went_wrong_never_stands_alone(stop: StopReason) -> None:
    calls = (READ,) if stop is StopReason.TOOL_USE else ()
    outcome = RUN.step(concluding(), reply(stop, *calls, text=TEXT, facts=Facts(grounded=True))).run.outcome
    assert outcome is not None
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
    outcome = RUN.step(concluding(facts=(Fact.LIMIT_REACHED,)), reply(stop, text=TEXT)).run.outcome
    assert outcome is not None
    assert outcome.facts == (Fact.LIMIT_REACHED, fact)


def completed(facts: Facts | None) -> tuple[Fact, ...]:
    outcome = RUN.step(ASKING, reply(text=TEXT, kind=Declared.FINAL, facts=facts)).run.outcome
    assert outcome is not None
    assert outcome.status is STATUS.COMPLETED
    return outcome.facts


def test_a_final_answer_without_any_facts_is_unverified() -> None:
    assert completed(None) == (Fact.UNVERIFIED,)
    assert completed(Facts(grounded=True)) == ()


@pytest.mark.xfail(
    strict=True,
    reason="Facts of which none is known complete a declared final as no facts at all do, but the outcome does not say "
    "that it is unverified.",
)
def test_a_final_answer_of_which_no_fact_is_known_is_unverified() -> None:
    assert completed(Facts()) == (Fact.UNVERIFIED,)


@pytest.mark.xfail(
    strict=True,
    reason="A turn that looked at a wait, and in which another call was never answered, goes on to wait without "
    "answering that call.",
)
def test_a_turn_that_only_polled_answers_the_call_that_got_no_answer() -> None:
    answer = RUN.step(acting(Turn(3, open=(OTHER,), polls=1), waits=Waits(next_at=9.0)), TURN_ENDED)
    assert AnswerCalls(("2",), LATE.why) in answer.commands
