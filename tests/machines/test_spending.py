"""What an event costs a run: its time, a reply's tokens and money, and the dearest price that was seen."""

from __future__ import annotations

import attrs
import pytest

from machines._run_guards import seconds, usd
from machines._run_spending import charge
from machines.events import Begin, Declared, Event, Refusal, Reply, Said, StopReason, Text, TurnEnded, Usage
from machines.policy import Budget, Policy
from machines.state import Phase, Run, Spent, hand_on, new_run
from machines.supervisor import feed

TEXT = Text("text", 4)
NEW = new_run("run", Policy(budget=Budget(turns=9, seconds=100.0, tokens=None, usd=1.0, reply_tokens=None)))
"""90 seconds and 0.9 dollars, and a tenth of each held back."""


def costing(input: int, output: int, usd: float) -> Reply:
    return Reply(1.0, StopReason.PAUSE, usage=Usage(input, output, 0, usd))


# Money.


def test_the_dearest_price_of_a_token_is_kept_and_no_cheaper_one_lowers_it() -> None:
    run = charge(NEW, costing(60, 40, 0.25))
    assert run.spent.dearest == 0.0025
    assert charge(run, costing(100, 0, 0.125)).spent.dearest == 0.0025
    assert charge(run, costing(100, 0, 0.5)).spent.dearest == 0.005


def test_a_reply_of_which_no_token_is_known_has_no_price() -> None:
    run = charge(NEW, costing(0, 0, 0.25))
    assert (run.spent.dearest, run.spent.usage) == (0.0, Usage(0, 1, 0, 0.25))


@pytest.mark.parametrize(("spent", "holds"), [(0.65, False), (0.66, True)])
def test_the_next_request_is_reckoned_at_the_dearest_price(spent: float, holds: bool) -> None:
    # The last reply had 125 tokens for next to nothing; an earlier one cost 0.002 for each of its tokens.
    last = Usage(100, 25, 0, 0.001)
    run = attrs.evolve(NEW, spent=Spent(usage=Usage(usd=spent), last=last, dearest=0.002))
    assert usd(run, TurnEnded(1.0)).holds is holds
    assert not usd(attrs.evolve(run, spent=attrs.evolve(run.spent, dearest=0.0)), TurnEnded(1.0)).holds


@pytest.mark.parametrize(("spent", "holds"), [(0.39, False), (0.41, True)])
def test_the_next_request_costs_no_less_than_the_last(spent: float, holds: bool) -> None:
    run = attrs.evolve(NEW, spent=Spent(usage=Usage(usd=spent), last=Usage(1, 0, 0, 0.5), dearest=0.002))
    assert usd(run, TurnEnded(1.0)).holds is holds


# Time.


@pytest.mark.parametrize("begins", [Begin(1e6), Said(1e6, TEXT)], ids=["Begin", "Said"])
def test_no_time_runs_before_a_leg_begins(begins: Event) -> None:
    assert not seconds(NEW, begins).holds
    assert seconds(attrs.evolve(NEW, at=Phase.ASKING), begins).holds
    assert feed(NEW, begins).run.spent.seconds(1e6) == 0.0


@pytest.mark.parametrize(("took", "at"), [(89.5, Phase.ASKING), (90.0, Phase.CONCLUDING)])
def test_a_leg_that_begins_has_the_time_that_earlier_legs_left(took: float, at: Phase) -> None:
    final = Reply(took, StopReason.END_TURN, text=TEXT, kind=Declared.FINAL)
    run = feed(feed(NEW, Begin(0.0)).run, final).run
    assert feed(run, Said(1e6, TEXT)).run.at is at


@pytest.mark.parametrize(("after", "holds"), [(None, False), (39.5, False), (40.0, True)])
def test_the_time_that_a_refusal_asks_to_wait_is_spent(after: float | None, holds: bool) -> None:
    run = attrs.evolve(NEW, at=Phase.ASKING)
    assert seconds(run, Refusal(50.0, 529, TEXT, after=after)).holds is holds


# What goes on from leg to leg.


def test_replies_are_counted_by_leg_and_what_they_cost_by_run() -> None:
    run: Run = charge(charge(NEW, costing(60, 40, 0.25)), costing(10, 10, 0.0))
    assert run.spent.replies == 2
    leg = hand_on(run)
    assert leg.spent.replies == 0
    assert (leg.spent.usage, leg.spent.dearest) == (Usage(70, 50, 0, 0.25), 0.0025)
    assert charge(leg, costing(1, 1, 0.0)).spent.replies == 1


def test_a_person_before_the_first_reply_of_a_leg_begins_none() -> None:
    replied = charge(attrs.evolve(NEW, at=Phase.ASKING), costing(1, 1, 0.0))
    said: Run = feed(replied, Said(2.0, TEXT)).run
    assert (said.leg, said.spent.replies) == (2, 0)
    assert feed(said, Said(3.0, TEXT)).run.leg == 2
