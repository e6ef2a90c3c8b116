"""Each limit alone ends a run wherever limits are asked for, and is what the stop names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from machines.commands import RunCalls
from machines.escalation import Ladder, Rung
from machines.events import Begin, Clock, Condensed, Event, Refusal, Result, Said, Signal, StopReason, Usage
from machines.policy import Budget
from machines.run import RUN
from machines.state import OPEN, Phase, Purse, Run, Spent
from machines.streaks import Streaks
from statecraft import Refused
from statecraft.testing import step_one

from .runs import ENDED, NEW, OTHER, READ, SAME, SPENT_UP, TEXT, WIDE, at, counting, left, reply

P = Phase
DEAR = attrs.evolve(NEW.policy, budget=attrs.evolve(NEW.policy.budget, usd=1.0))
LIMITS: Mapping[str, dict[str, Any]] = {
    "turns": {"purse": left(TURN=0)},
    "seconds": {"spent": Spent(before=1_000.0)},
    "tokens": {"spent": SPENT_UP},
    "usd": {"spent": Spent(usage=Usage(1, 0, usd=1.0)), "policy": DEAR},
}
ASKED: list[tuple[Phase, Event]] = [
    (P.READY, Begin(0.0)),
    (P.READY, Said(0.0, TEXT)),
    (P.ACTING, ENDED),
    (P.WAITING, Clock(5.0)),
    (P.WAITING, Signal(5.0, "approved")),
    (P.ASKING, Refusal(5.0, 529, TEXT)),
    (P.CONDENSING, Condensed(5.0, 100)),
]


def used_up(run: Run, limit: str) -> Run:
    """The run with nothing left of this, and of this alone."""
    changes = dict(LIMITS[limit])
    if "policy" in changes:
        changes["policy"] = attrs.evolve(run.policy, budget=DEAR.budget)
    return attrs.evolve(run, **changes)


@pytest.mark.parametrize("limit", list(LIMITS))
@pytest.mark.parametrize(("phase", "event"), ASKED, ids=[f"{p.value}-{type(e).__name__}" for p, e in ASKED])
def test_each_limit_alone_stops_a_run(phase: Phase, event: Event, limit: str) -> None:
    assert RUN.step(at(phase), event).run.stop is None
    stop = step_one(RUN, used_up(at(phase), limit), event, target=P.CONCLUDING).run.stop
    assert stop is not None
    assert stop.by == limit


@pytest.mark.parametrize("limit", list(LIMITS))
@pytest.mark.parametrize("name", ["monologue", "no_progress", "stalled_work"])
def test_each_limit_alone_rules_out_a_rescue(name: str, limit: str) -> None:
    run = attrs.evolve(counting(name, WIDE[name][1]), requires=("a.txt",))
    assert step_one(RUN, run, ENDED, target=P.ASKING).run.purse[Purse.RESCUE] == 1
    assert step_one(RUN, used_up(run, limit), ENDED, target=P.CONCLUDING).run.purse[Purse.RESCUE] == 2


@pytest.mark.parametrize("phase", OPEN)
def test_an_answer_that_no_call_waits_for_is_refused_in_every_state(phase: Phase) -> None:
    run = at(phase, unanswered=(OTHER,))
    assert isinstance(RUN.step(run, Result(5.0, "3", SAME)), Refused)


def test_the_calls_of_each_turn_may_be_held_as_often_as_all_of_them_could_need() -> None:
    run = attrs.evolve(at(P.ASKING), purse=left(HELD=0))
    step = step_one(RUN, run, reply(StopReason.TOOL_USE, READ), target=P.ACTING, commands=[RunCalls])
    assert step.run.purse[Purse.HELD] == 2 * Budget().calls_per_turn


TWICE = Ladder(Rung.NUDGED_TWICE, older=1, newer=2)


@pytest.mark.parametrize("phase", [P.ASKING, P.RECOVERING, P.ACTING, P.WAITING, P.CONDENSING])
@pytest.mark.parametrize(
    ("streaks", "freed"),
    [(Streaks(vain=1, nudged=("vain_condensing",)), 0), (Streaks(vain=0), 100_000)],
    ids=["said before", "not in vain"],
)
def test_only_a_nudge_that_is_due_is_a_third_one(phase: Phase, streaks: Streaks, freed: int) -> None:
    assert RUN.step(at(phase, streaks=streaks, ladder=TWICE), Condensed(5.0, freed)).run.stop is None


def test_a_look_that_showed_something_stops_nothing() -> None:
    assert RUN.step(counting("redundant_check", 0, stop=1), ENDED).run.stop is None
