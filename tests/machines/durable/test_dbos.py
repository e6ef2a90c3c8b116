"""Runs on DBOS: what is its own, besides the contract of all engines."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest

from machines.agent.taking_up import HOST
from machines.durable.burst import enlist
from machines.journaled import AGENT_RUN, RunJournal
from machines.letters import Letter, post
from machines.policy import Policy
from machines.standing import ENDED, RUNNING, WAITING, Standing, stand
from machines.state import new_run
from statecraft.journal import Shelf, shelf_at

from .fleet import FINISH, Yard, does, older

pytest.importorskip("dbos", reason="the package dbos is not installed")

from machines.agent import Agent
from machines.durable.dbos import Dbos, wake
from machines.durable.dbos.driver import MOST_AGAIN, Driver
from machines.durable.dbos.leases import Leases
from machines.durable.dbos.rows import Rows, queue_of
from machines.durable.dbos.sweep import Sweep

TABLE = AGENT_RUN.table.digest

on_postgres = pytest.mark.parametrize("yard", ["dbos-postgres"], indirect=True)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with closing(shelf_at(tmp_path / "runs.db")) as shelf:
        yield shelf


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        address: str = request.getfixturevalue("postgres")
        return address
    return f"sqlite:///{tmp_path / 'dbos.db'}"


@pytest.fixture
def rows(url: str) -> Iterator[Rows]:
    with closing(Rows(url)) as rows:
        yield rows


@pytest.fixture
def leases(url: str) -> Iterator[Leases]:
    with closing(Leases(url)) as leases:
        yield leases


def no_agent(run: str) -> Agent:
    raise OSError(f"there is no model for {run}")


# A wake.


def test_a_wake_is_repeated_in_rows_of_their_own() -> None:
    first = wake.of_lines(12)
    again = wake.again(wake.again(first))
    assert (first, again, wake.once(again), wake.times(first), wake.times(again)) == ("12", "12.2", "12", 0, 2)
    letter = wake.of_letter("any text.7:\ud800")
    assert wake.of_letter("any text.7:\ud800") == letter != wake.of_letter("any text.8")
    assert wake.again(letter) == f"{letter}.1"


# Rows.


def test_the_same_wake_is_one_row_and_a_run_may_have_any_name(rows: Rows) -> None:
    for run, name in (("a:b", "0"), ("a:b", "0"), ("a:b", "1"), ("c", "0.1")):
        rows.put(TABLE, run, name)
    rows.put(TABLE, "later", "0", 3_600.0)
    assert rows.runs() == {"a:b", "c", "later"}
    assert rows.runs(["ENQUEUED"]) == {"a:b", "c"}
    assert rows.forget(time.time() + 60.0) == 0


# Leases.


def test_who_gives_no_sign_of_life_for_the_time_of_a_lease_does_not_live(leases: Leases) -> None:
    leases.take("elsewhere/1/long", 60.0)
    leases.take("elsewhere/2/short", -0.001)
    assert leases.living() >= {"elsewhere/1/long"}
    assert "elsewhere/2/short" not in leases.living()
    leases.take("elsewhere/2/short", 60.0)
    assert "elsewhere/2/short" in leases.living()
    leases.give_up("elsewhere/2/short")
    assert "elsewhere/2/short" not in leases.living()


def test_one_at_a_time_looks_after_the_others(leases: Leases) -> None:
    assert leases.sweeps(60.0)
    assert not leases.sweeps(60.0)
    leases.take("#sweeper", -0.001)
    assert leases.sweeps(60.0)


# A wake that is lost.


def test_a_run_that_is_to_be_driven_and_has_no_row_gets_one(rows: Rows, leases: Leases, shelf: Shelf) -> None:
    enlist(shelf.store("lost"), "lost", "do it", time.time())
    sweep = Sweep("elsewhere/1/x", leases, rows, shelf, 0.0, 3_600.0)
    assert rows.runs() == set()
    sweep.once(60.0)
    assert rows.runs() == {"lost"}
    sweep.once(60.0)  # somebody looks already
    sweep.look_over(time.time())
    assert rows.runs() == {"lost"}


@on_postgres
def test_a_wake_that_was_lost_is_found_by_a_worker(yard: Yard) -> None:
    yard.scripts["one"] = [does(("event", {"name": "go"})), FINISH]
    enlist(yard.shelf.store("one"), "one", "one", time.time())
    worker = yard.start()
    yard.waits("one")
    yard.kill(worker)
    post(yard.shelf.store("one"), "id", Letter("go", time.time(), text="come"))
    yard.start()
    yard.ended("one")
    yard.outcome("one")


# What cannot be driven.


@pytest.mark.anyio
async def test_a_run_that_cannot_be_driven_is_tried_again_and_after_a_while_given_up(shelf: Shelf) -> None:
    enlist(shelf.store("one"), "one", "do it", time.time())
    driver = Driver(shelf, no_agent, 1.0)
    name, waited = "0", 0.0
    for _ in range(MOST_AGAIN):
        done = await driver.carry_out("one", name)
        assert (done.row["state"], done.row["why"]) == ("failed", "OSError: there is no model for one")
        assert done.wake is not None
        name, waited = done.wake, waited + done.seconds
    assert (await driver.carry_out("one", name)).wake is None
    assert waited > 30.0  # longer than a dead worker's lease of a run


@pytest.mark.anyio
async def test_a_row_for_a_run_that_rests_does_not_drive_it(shelf: Shelf) -> None:
    until = time.time() + 100.0
    stand(shelf.store("waits"), Standing("waits", WAITING, 0.0, until, signals=("go",)))
    stand(shelf.store("over"), Standing("over", ENDED, 0.0, status="completed"))
    post(shelf.store("waits"), "id", Letter("something else", 0.0))
    driver = Driver(shelf, no_agent, 1.0)
    for name, following in (("0", "0.1"), ("0.1", "0.2"), ("7", "0"), ("letter-x", "0")):
        done = await driver.carry_out("waits", name)
        assert (done.row["state"], done.wake) == ("waiting", following)
        assert 98.0 < done.seconds <= 100.0
    done = await driver.carry_out("over", "0")
    assert (done.row["state"], done.wake) == ("ended", None)


@pytest.mark.anyio
async def test_a_run_of_another_table_is_refused_once_and_has_no_wake(shelf: Shelf) -> None:
    run = new_run("one", Policy())
    RunJournal.begin(shelf.store("one"), run, host=HOST, started=0.0).close(None)
    stand(shelf.store("one"), Standing("one", RUNNING, 0.0))
    older(shelf, "one", "old")
    lines = list(shelf.store("old").lines())
    async with Agent("http://127.0.0.1:1/v1/chat/completions#none", journal=shelf.store) as agent:
        done = await Driver(shelf, lambda run: agent, 1.0).carry_out("old", "1")
    assert (done.row["state"], done.wake) == ("refused", None)
    assert "the table" in str(done.row["why"])
    assert list(shelf.store("old").lines()) == lines


def test_rows_of_another_table_wait_in_a_queue_of_their_own() -> None:
    assert queue_of("0" * 64) != queue_of(TABLE)


# The package.


def test_where_dbos_is_not_installed_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("machines.durable.dbos")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dbos", None)
    with pytest.raises(ImportError, match=r"pip install 'statecraft-machines\[dbos\]'"):
        import_module("machines.durable.dbos")


def test_a_name_that_no_run_can_have_is_refused_when_it_is_enlisted(shelf: Shelf, tmp_path: Path) -> None:
    with Dbos(f"sqlite:///{tmp_path / 'dbos.db'}", shelf) as dbos:
        with pytest.raises(ValueError, match="found the run's name 'a b'"):
            dbos.enlist("a b", "do it")
        with pytest.raises(ValueError, match="the task is empty"):
            dbos.enlist("a", " ")
        assert dbos.enlist("a", "do it")
        assert not dbos.enlist("a", "do it again")


# Machines.


@pytest.mark.deep
@on_postgres
def test_the_runs_of_a_machine_that_is_gone_move_when_its_leases_have_run_out(yard: Yard) -> None:
    runs = [f"run-{number}" for number in range(4)]
    for run in runs:
        yard.enlist(run, does(("pay_once", {"what": run, "hold": True})), FINISH)
    gone = yard.start(machine="elsewhere")
    yard.did_so_often(len(runs))
    dead = yard.kill(gone)
    yard.open_gate()
    yard.start()
    yard.ended(*runs, seconds=60.0)
    took = [effect.at - dead for effect in yard.effects()[len(runs) :]]
    print(f"\nthe runs of a machine that was gone moved after {min(took):.1f} to {max(took):.1f} s")
    assert max(took) < 33.0
    assert yard.did() == sorted([*runs, *runs])
