"""The proved bound of the run's table against the worst that can happen, on four small policies.

Two searches stand against the proof. One goes through all walks of the table, any guard free to hold: the bound is
never below the dearest of them, and for requests at most a tenth above. The other plays a world that does its worst
against the real machine, guards and all: it is never above the bound, and for requests reaches nine tenths of it.
"""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.commands import Ask
from machines.policy import Budget, Detectors, Escalation, Policy, Recovery, only
from machines.run import MENDS, RUN, SENDS
from machines.state import Purse, new_run
from statecraft import Row, Table
from statecraft.proofs import Bound, FreeCycle, ends

from .rebuilt import rebuilt
from .worst_run import play, worst_script
from .worst_walk import GoesRound, Walks

OFF = dict.fromkeys((field.name for field in attrs.fields(Recovery)), 0)
DETECTORS_OFF = only(Detectors())


def small(turns: int, *, detectors: bool = True, final_reply: bool = True, rescues: int = 0, **recovery: int) -> Policy:
    budget = Budget(turns, None, None, None, calls_per_turn=1, final_reply=final_reply)
    on = Detectors() if detectors else DETECTORS_OFF
    return Policy(budget, Recovery(**{**OFF, **recovery}), Escalation(rescues=rescues), on)


SMALL = {
    "one turn": small(1),
    "two turns, detectors": small(2, truncated=1, refused=1, condensed=1),
    "three turns, no detectors": small(3, detectors=False, rescues=1, truncated=2, condensed_ahead=1),
    "two turns, no last reply": small(2, final_reply=False, paused=2, bad_call=1, short_prompt=1),
}
each_policy = pytest.mark.parametrize("policy", SMALL.values(), ids=SMALL)


def bounds(policy: Policy) -> tuple[int, int]:
    """Of steps, and of requests."""
    steps, requests = (ends(RUN, new_run("run", policy), asking) for asking in (None, Ask))
    assert isinstance(steps, Bound)
    assert isinstance(requests, Bound)
    return steps.number, requests.number


def walks(policy: Policy, table: Table[Any, Any, Any, Any] = RUN) -> Walks:
    run = new_run("run", policy)
    held = {MENDS: MENDS.table.full(run.reply), SENDS: SENDS.table.full(run.request)}
    sizes = {budget: size or 0 for budget, size in RUN.full(run).items()}
    return Walks(table, sizes, {one: {b: n or 0 for b, n in full.items()} for one, full in held.items()})


def test_every_inner_machine_that_asks_or_is_spent_is_walked() -> None:
    for held in RUN.inners:
        assert held in (MENDS, SENDS) or not any(row.spends is held for row in RUN.rows)
        assert not any(row.asks for row in held.table.rows)


@each_policy
def test_no_walk_is_dearer_than_the_bound_and_requests_come_within_a_tenth(policy: Policy) -> None:
    steps, requests = walks(policy).dearest(Ask)
    most_steps, most_requests = bounds(policy)
    assert steps <= most_steps
    assert 0.9 * most_requests <= requests <= most_requests


@each_policy
def test_a_world_that_does_its_worst_stays_within_the_bound_and_comes_within_a_tenth(policy: Policy) -> None:
    run = new_run("run", policy)
    found = play(run, worst_script(run, Ask), Ask)
    most_steps, most_requests = bounds(policy)
    assert found.steps <= most_steps
    assert 0.9 * most_requests <= found.asked <= most_requests


def test_a_walk_that_goes_round_is_found_to_go_round() -> None:
    def without_turns(row: Row[Any, Any, Any]) -> Row[Any, Any, Any]:
        return attrs.evolve(row, spends=None) if row.spends is Purse.TURN and row.guards else row

    endless = rebuilt(RUN, without_turns)
    assert isinstance(ends(endless, new_run("run", SMALL["one turn"])), FreeCycle)
    with pytest.raises(GoesRound):
        walks(SMALL["one turn"], endless).dearest(Ask)
