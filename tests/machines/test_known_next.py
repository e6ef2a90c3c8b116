"""What the plan or the goal says right after the last answer belongs to the turn, where it is known to come."""

from __future__ import annotations

import pytest

from machines.commands import Ask
from machines.events import (
    Begin,
    Call,
    Cancel,
    Chunk,
    Ended,
    Event,
    GoalMeasured,
    PlanChanged,
    PlanItem,
    Reply,
    Result,
    Said,
    StopReason,
    Text,
)
from machines.policy import Budget, Policy
from machines.state import Phase, Run, new_run
from machines.supervisor import Fed, Moved, feed

TEXT = Text("text", 4)
ONE, TWO = Call("1", "read", b"sign-one", TEXT), Call("2", "read", b"sign-two", TEXT)
CALLING = Reply(1.0, StopReason.TOOL_USE, (ONE,))
ANSWER = Result(2.0, "1", b"digest")
OPENED, CLOSED = (PlanChanged(2.0, (PlanItem(TEXT, status),)) for status in ("pending", "completed"))
MEASURED = GoalMeasured(2.0, 1, 2)


def after(*events: Event) -> Run:
    run = new_run("run", Policy(budget=Budget(turns=9, seconds=None, tokens=None, usd=None)))
    for event in events:
        run = feed(run, event).run
    return run


def names(fed: Fed) -> list[str]:
    return [type(move.event).__name__ for move in fed.moves if isinstance(move, Moved)]


# The second turn, whose answer is known already.
SECOND = after(Begin(0.0), OPENED, CALLING, ANSWER, CALLING)


@pytest.mark.parametrize("then", [CLOSED, MEASURED], ids=["the plan", "the goal"])
def test_the_turn_is_held_back_while_the_plan_or_the_goal_comes_next(then: PlanChanged | GoalMeasured) -> None:
    held = feed(SECOND, ANSWER, then=then)
    assert (names(held), held.run.at, held.commands) == (["Result"], Phase.ACTING, ())
    ended = feed(held.run, then)
    assert (names(ended), ended.run.at, ended.commands) == ([type(then).__name__, "TurnEnded"], Phase.ASKING, (Ask(),))
    assert (ended.run.streaks.barren, ended.run.streaks.last_signal_turn) == (0, 2)


@pytest.mark.parametrize(
    "then",
    [None, CALLING, ANSWER, Said(2.0, TEXT), Chunk(2.0, "text", TEXT), Cancel(2.0), Ended(2.0, "ok")],
    ids=lambda then: type(then).__name__,
)
def test_nothing_else_that_comes_next_holds_a_turn_back(then: Event | None) -> None:
    fed = feed(SECOND, ANSWER, then=then)
    assert (names(fed), fed.run.at) == (["Result", "TurnEnded"], Phase.ASKING)
    assert fed.run.streaks.barren == 1


def test_what_is_not_known_to_come_is_news_of_the_next_turn() -> None:
    run = feed(feed(SECOND, ANSWER).run, CLOSED).run
    assert (run.streaks.barren, run.turn.signal) == (1, "plan")


def test_a_turn_is_held_back_as_long_as_such_events_come() -> None:
    held = feed(SECOND, ANSWER, then=OPENED).run
    held = feed(held, OPENED, then=MEASURED).run
    assert held.at is Phase.ACTING
    assert names(feed(held, MEASURED, then=CALLING)) == ["GoalMeasured", "TurnEnded"]


def test_a_checkpoint_is_held_back_too() -> None:
    words = Reply(3.0, StopReason.END_TURN, text=TEXT)
    run = after(Begin(0.0))
    assert names(feed(run, words, then=CLOSED)) == ["Reply"]
    assert names(feed(run, words)) == ["Reply", "TurnEnded"]


def test_a_turn_with_open_calls_is_not_ended_by_what_comes_next() -> None:
    run = after(Begin(0.0), Reply(1.0, StopReason.TOOL_USE, (ONE, TWO)))
    for then in (None, CLOSED):
        assert names(feed(run, ANSWER, then=then)) == ["Result"]


def test_a_turn_that_was_held_back_for_nothing_is_ended_by_what_comes() -> None:
    held = feed(SECOND, ANSWER, then=CLOSED).run
    assert names(feed(held, CALLING)) == ["TurnEnded", "Reply"]
    assert feed(held, Cancel(3.0)).run.at is Phase.CANCELLED
