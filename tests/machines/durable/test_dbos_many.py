"""A thousand runs on two workers, one of which is killed in the middle: every effect of every run is there once."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from machines.outcome import Fact, TerminalStatus

from .fleet import FINISH, Yard, does

RUNS = 1_000
TURNS = 3


def is_of(yard: Yard, run: str, process: int) -> bool:
    """Whether the run is driven by this process."""
    stood = yard.stands(run)
    return stood is not None and stood.by.split("/")[1:2] == [str(process)]


@pytest.mark.deep
@pytest.mark.parametrize("yard", ["dbos-postgres"], indirect=True)
def test_a_thousand_runs_on_two_workers_do_everything_once_though_one_is_killed(yard: Yard) -> None:
    pytest.importorskip("dbos", reason="the package dbos is not installed")
    runs = [f"run-{number}" for number in range(RUNS)]
    began = time.monotonic()
    for run in runs:
        yard.enlist(run, *(does(("pay", {"what": f"{run}/{turn}", "seconds": 0.05})) for turn in range(TURNS)), FINISH)
    enlisted = time.monotonic() - began
    workers = [yard.start(at_once=32), yard.start(at_once=32)]
    first = yard.until(lambda: len(yard.effects()) > 0, "the first effect")
    yard.until(lambda: len(yard.effects()) >= RUNS * TURNS * 4 // 10, "two fifths of the work", 300.0)
    assert yard.processes() == {worker.pid for worker in workers}
    dead = yard.kill(workers[0])
    broken = {run for run in runs if yard.state(run) == "running" and is_of(yard, run, workers[0].pid)}
    yard.ended(*runs, seconds=600.0)
    effects = yard.effects()
    whole = time.monotonic() - began - enlisted - first
    first_after: dict[str, float] = {}
    for effect in effects:
        run = effect.what.split("/")[0]
        if effect.at > dead and run in broken:
            first_after.setdefault(run, effect.at - dead)
    moved = [*first_after.values()]
    outcomes = [yard.outcome(run) for run in runs]
    unknown = sum(Fact.SIDE_EFFECTS_UNCONFIRMED in outcome.facts for outcome in outcomes)
    print(
        f"\n{RUNS} runs of {TURNS + 1} turns: enlisted in {enlisted:.1f} s, first effect {first:.1f} s after the start,"
        f" all ended {whole:.1f} s later; {len(broken)} were under way in the killed one, and moved after"
        f" {min(moved):.1f} to {max(moved):.1f} s; {unknown} calls were in flight, and are reported as unknown"
    )
    times = Counter(effect.what for effect in effects)
    assert [what for what, count in times.items() if count > 1] == []
    # A call that was in flight may have been broken off before it did anything: it is reported, and never sent again.
    assert RUNS * TURNS - unknown <= len(times) <= RUNS * TURNS
    assert 0 < unknown <= 32
    assert max(moved) < 30.0
    assert {outcome.status for outcome in outcomes} == {TerminalStatus.COMPLETED}


@pytest.mark.deep
@pytest.mark.parametrize("yard", ["dbos-postgres"], indirect=True)
def test_runs_outlive_that_every_connection_to_the_database_is_dropped_again_and_again(yard: Yard) -> None:
    psycopg = pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    runs = [f"run-{number}" for number in range(40)]
    for run in runs:
        yard.enlist(
            run, *(does(("pay_once", {"what": f"{run}/{turn}", "seconds": 0.3})) for turn in range(TURNS)), FINISH
        )
    for _ in range(2):
        yard.start(at_once=4)
    for done in (20, 50, 80):
        yard.did_so_often(done)
        with psycopg.connect(yard.fleet.place, autocommit=True) as db:
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'yard'"
            )
    yard.ended(*runs, seconds=120.0)
    for run in runs:
        assert yard.outcome(run).status is TerminalStatus.COMPLETED
    times = Counter(effect.what for effect in yard.effects())
    print(f"\n{sum(count - 1 for count in times.values())} calls were sent a second time")
    assert sorted(times) == sorted(f"{run}/{turn}" for run in runs for turn in range(TURNS))
    assert max(times.values()) <= 2
