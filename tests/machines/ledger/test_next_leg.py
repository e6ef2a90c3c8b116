"""What of a ledger is handed on to the next leg: what was done and learned, and none of what is asked afresh."""

from __future__ import annotations

import attrs

from machines.events import Call, ErrorKind, GoalMeasured, PlanChanged, PlanItem, Result, Text
from machines.ledger.work import Ledger, learn_goal, learn_plan, learn_result, next_leg
from machines.manifest import Kind, Tool

TEXT = Text("text", 4)
EDIT = Call("1", "edit", b"sign-edit", TEXT, target="a.txt")
WROTE = Result(1.0, "1", b"saved", TEXT, state=b"state", wrote=True)
BLIND = attrs.evolve(WROTE, state=None)
LATE = attrs.evolve(BLIND, error=ErrorKind.TIMEOUT, wrote=False)
OPENED, CLOSED = (PlanChanged(1.0, (PlanItem(TEXT, status),)) for status in ("pending", "completed"))
HALF = GoalMeasured(1.0, 1, 2)


def learn(ledger: Ledger, result: Result) -> tuple[Ledger, str]:
    learned = learn_result(ledger, EDIT, result, Tool(Kind.WRITE), 8)
    return learned.ledger, learned.signal


def worked() -> Ledger:
    """A ledger with something in each of its fields."""
    ledger = Ledger()
    for result in (WROTE, BLIND, LATE):
        ledger, _ = learn(ledger, result)
    for plan in (OPENED, CLOSED):
        ledger, _ = learn_plan(ledger, plan)
    ledger, _ = learn_goal(ledger, HALF)
    return ledger


FRESH = ("recent", "seen", "closed", "most_closed", "best")


def test_each_field_is_handed_on_or_begins_afresh() -> None:
    ledger, empty = worked(), Ledger()
    handed = next_leg(ledger)
    for field in attrs.fields(Ledger):
        before, after = getattr(ledger, field.name), getattr(handed, field.name)
        assert before != getattr(empty, field.name), field.name
        assert after == (getattr(empty, field.name) if field.name in FRESH else before), field.name


def test_what_was_news_is_news_again_in_the_next_leg_and_only_there() -> None:
    ledger = worked()
    for leg, news in ((ledger, ("", "", "", "")), (next_leg(ledger), ("state", "state", "plan", "goal"))):
        opened, _ = learn_plan(leg, OPENED)
        assert (
            learn(leg, WROTE)[1],
            learn(leg, BLIND)[1],
            learn_plan(opened, CLOSED)[1],
            learn_goal(leg, HALF)[1],
        ) == news


def test_what_is_done_again_in_the_next_leg_is_not_counted_again_as_work() -> None:
    ledger = worked()
    again, _ = learn(next_leg(ledger), WROTE)
    assert again.work == ledger.work
    assert len(again.seen) == 1
    other, _ = learn(next_leg(ledger), attrs.evolve(WROTE, state=b"another state"))
    assert other.work.size == ledger.work.size + 1
