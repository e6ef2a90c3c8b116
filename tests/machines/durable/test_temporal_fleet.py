"""Many runs on Temporal, and a worker of theirs that is killed. Prints what it measured."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from machines.agent.scripted import Move, ScriptedServer
from machines.letters import Letter
from machines.outcome import TerminalStatus
from machines.pending import UNKNOWN
from statecraft.journal import shelf_at

from .fleet import FINISH, Yard, does, run_of, script_of
from .temporal_server import DevServer

RUNS = [f"run-{number}" for number in range(100)]
HELD = RUNS[::5]


@pytest.fixture
def yard(temporal: DevServer, tmp_path: Path) -> Iterator[Yard]:
    from .temporal_fleet import TemporalFleet

    fleet = TemporalFleet(str(tmp_path / "runs.db"), temporal.address, tmp_path.name)
    scripts: dict[str, Sequence[Move]] = {}
    with ScriptedServer(script_of(scripts), run_of=run_of) as server:
        yard = Yard(fleet, server, tmp_path, scripts, shelf_at(fleet.place))
        try:
            yield yard
        finally:
            yard.close()


def test_a_burst_whose_worker_is_killed_begins_again_and_what_it_had_done_is_not_done_twice(yard: Yard) -> None:
    yard.enlist("one", does(("pay", {"what": "first"})), does(("pay", {"what": "second", "hold": True})), FINISH)
    worker = yard.start()
    yard.until(lambda: yard.did() == ["first", "second"], "the second effect")
    yard.start()
    yard.kill(worker)
    yard.ended("one", seconds=15.0)
    assert yard.did() == ["first", "second"]
    assert yard.told("one") == ["did first", UNKNOWN]
    assert yard.outcome("one").status is TerminalStatus.COMPLETED


@pytest.mark.deep
def test_a_hundred_runs_end_on_two_workers_of_which_one_is_killed(yard: Yard) -> None:
    began = time.monotonic()
    for run in RUNS:
        holds = run in HELD
        once = [does(("pay_once", {"what": f"{run}/{number}", "hold": holds and number == 0})) for number in range(3)]
        yard.enlist(run, once[0], does(("event", {"name": "go"})), *once[1:], FINISH)
    enlisted = time.monotonic() - began
    workers = [yard.start(at_once=25), yard.start(at_once=25)]
    yard.until(lambda: len(yard.effects()) == len(RUNS), "every run at work, or waiting")
    killed = yard.kill(workers[0])
    under_way = sum(effect.process == workers[0].pid and effect.what[:-2] in HELD for effect in yard.effects())
    yard.open_gate()
    for run in RUNS:
        assert yard.fleet.deliver(run, Letter("go", time.time(), text="now"), "id")
    delivered = time.monotonic() - began
    yard.ended(*RUNS, seconds=120.0)
    print(f"\n100 runs: enlisted in {enlisted:.1f} s, letters out after {delivered:.1f} s")
    print(f"all ended {time.time() - killed:.1f} s after the kill, {time.monotonic() - began:.1f} s in all")
    assert {yard.outcome(run).status for run in RUNS} == {TerminalStatus.COMPLETED}
    sent = Counter(effect.key for effect in yard.effects())
    assert len(sent) == 3 * len(RUNS)  # each once under its key, and none left out
    assert sum(count - 1 for count in sent.values()) == under_way > 0
    print(f"{under_way} effects were under way, and were sent again under their keys")
