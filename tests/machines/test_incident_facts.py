"""That a reply was cut is a fact of the ending only where the ending came of it."""

from __future__ import annotations

import attrs
import pytest

from machines.events import Begin, Call, Declared, Event, NoReply, Reply, Result, StopReason, Text
from machines.outcome import Fact, Outcome
from machines.policy import Budget, Policy, Recovery
from machines.state import new_run
from machines.supervisor import feed

TEXT = Text("text", 4)
CUT = Reply(1.0, StopReason.LENGTH, text=TEXT)
WHOLE = Reply(1.0, StopReason.END_TURN, text=TEXT, kind=Declared.FINAL)
TURN: list[Event] = [Reply(1.0, StopReason.TOOL_USE, (Call("1", "read", b"sign", TEXT),)), Result(1.0, "1", b"digest")]
GONE = NoReply(1.0, "gone")


def ending(*events: Event, turns: int = 1, cuts: int = 2) -> Outcome:
    budget = Budget(turns=turns, seconds=None, tokens=None, usd=None)
    run = feed(new_run("run", Policy(budget=budget, recovery=Recovery(truncated=cuts))), Begin(0.0)).run
    for event in events:
        run = feed(run, event).run
    assert run.outcome is not None
    return run.outcome


def test_the_ending_of_a_run_that_was_cut_too_often_is_truncated() -> None:
    facts = (Fact.TRUNCATED, Fact.RECOVERY_EXHAUSTED)
    assert ending(CUT, CUT, CUT, GONE).facts == facts
    assert ending(CUT, CUT, CUT, WHOLE).facts == facts
    # One more was allowed: the run went on and answered.
    assert ending(CUT, CUT, CUT, WHOLE, cuts=3).facts == (Fact.UNVERIFIED,)


@pytest.mark.parametrize("stop", [StopReason.LENGTH, StopReason.CONTEXT_WINDOW])
def test_the_ending_is_truncated_whose_last_reply_was_cut(stop: StopReason) -> None:
    assert ending(*TURN, attrs.evolve(CUT, stop=stop)).facts == (Fact.LIMIT_REACHED, Fact.TRUNCATED)
    assert ending(*TURN, WHOLE).facts == (Fact.LIMIT_REACHED,)


def test_a_cut_that_was_recovered_from_is_no_fact_of_a_later_ending() -> None:
    assert ending(CUT, *TURN, WHOLE).facts == (Fact.LIMIT_REACHED,)
    assert ending(CUT, *TURN, GONE).facts == (Fact.LIMIT_REACHED,)
    assert ending(CUT, WHOLE).facts == (Fact.UNVERIFIED,)
    assert ending(CUT, GONE).facts == ()
