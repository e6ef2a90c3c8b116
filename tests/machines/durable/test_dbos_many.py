"""A thousand runs on two workers, one of which is killed in the middle: every effect of every run is there once."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from machines.outcome import Fact, TerminalStatus

from .fleet import FINISH, Yard, does

RUNS = 1_000
TURNS = 3


@pytest.mark.deep
@pytest.mark.parametrize("yard", ["dbos-postgres"], indirect=True)
def test_a_thousand_runs_on_two_workers_do_everything_once_though_one_is_killed(yard: Yard) -> None:
    pytest.importorskip("dbos", reason="the package dbos is not installed")
    runs = [f"run-{number}" for number in range(RUNS)]
    began = time.monotonic()
    for run in runs:
        yard.enlist(run, *(does(("pay", {"what": f"{run}/{turn}"})) for turn in range(TURNS)), FINISH)
    enlisted = time.monotonic() - began
    workers = [yard.start(at_once=32), yard.start(at_once=32)]
    first = yard.until(lambda: len(yard.effects()) > 0, "the first effect")
    yard.until(lambda: len(yard.effects()) >= RUNS * TURNS * 4 // 10, "two fifths of the work", 300.0)
    assert yard.processes() == {worker.pid for worker in workers}
    dead = yard.kill(workers[0])
    broken = {run for run in runs if (stood := yard.stands(run)) is not None and stood.state == "running"}
    yard.ended(*runs, seconds=600.0)
    effects = yard.effects()
    whole = time.monotonic() - began - enlisted - first
    moved = [effect.at - dead for effect in effects if effect.at > dead and effect.what.split("/")[0] in broken]
    outcomes = [yard.outcome(run) for run in runs]
    unknown = sum(Fact.SIDE_EFFECTS_UNCONFIRMED in outcome.facts for outcome in outcomes)
    print(
        f"\n{RUNS} runs of {TURNS + 1} turns: enlisted in {enlisted:.1f} s, first effect {first:.1f} s after the start,"
        f" all ended {whole:.1f} s later; {len(broken)} were under way at the kill, and moved after {min(moved):.1f} to"
        f" {max(moved):.1f} s; {unknown} calls were in flight, and are reported as unknown"
    )
    times = Counter(effect.what for effect in effects)
    # A call that was in flight may have been broken off before it did anything: it is reported, and never sent again.
    assert [what for what, count in times.items() if count > 1] == []
    assert len(times) >= RUNS * TURNS - unknown
    assert unknown <= 32
    assert {outcome.status for outcome in outcomes} == {TerminalStatus.COMPLETED}
