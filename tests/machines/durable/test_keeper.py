"""The keeper in this process: which runs it drives, when, and what it leaves alone."""

from __future__ import annotations

import logging
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.agent.agent import Agent
from machines.agent.from_outside import WaitFor, wait_for
from machines.agent.lease import LEASE_SECONDS, new_holder
from machines.agent.tools import tool
from machines.agent.wire import CallPart, Completion, Request, ResultPart
from machines.durable.burst import Stood, burst, enlist
from machines.durable.keeper import Keeper
from machines.durable.virtual import VirtualClock, to_end
from machines.events import StopReason, Usage
from machines.letters import Letter, post
from machines.policy import Budget, Policy
from machines.standing import ENDED, RUNNING, TASK, WAITING, Standing, stand, standing_of
from statecraft.journal import JournalError, MemoryShelf, MemoryStore, Shelf, SqliteShelf, verify

pytestmark = pytest.mark.anyio

HERE = new_holder().split("/")[0]
"""How this machine is called in the name of a holder."""

LONG = Policy(budget=Budget(seconds=1_000_000.0))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops."""
    return str(request.param)


class Waits:
    """A model that waits for its hook once, and is done."""

    name = "in process"

    async def complete(self, request: Request) -> Completion:
        heard = any(isinstance(part, ResultPart) for one in request.messages for part in one.parts)
        name, args = ("finish", '{"kind": "final", "text": "done"}') if heard else ("hook", "{}")
        return Completion(StopReason.TOOL_USE, (CallPart("end" if heard else "c1", name, args),), Usage(10, 5))

    async def aclose(self) -> None:
        """Nothing is open."""


@tool
async def hook() -> WaitFor:
    """Wait for the hook."""
    return wait_for("hook", seconds=600)


class Kept:
    """A shelf with its keeper, on a virtual clock."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf, self.clock = shelf, VirtualClock()
        self.agent = Agent(Waits(), [hook], policy=LONG, journal=shelf.store, clock=self.clock)
        self.heard: list[Stood] = []

    def enlist(self, *runs: str) -> None:
        for run in runs:
            assert enlist(self.shelf.store(run), run, "go", self.clock())

    def keeper(self) -> Keeper:
        return Keeper(self.shelf, lambda run: self.agent, clock=self.clock, heard=self.heard.append)

    async def once(self) -> list[tuple[str, str]]:
        """What a keeper of a new process does that drives what is due now."""
        self.heard.clear()
        await self.keeper().serve(once=True)
        return sorted((one.run, one.state) for one in self.heard)

    def signal(self, run: str, name: str = "hook", id: str = "letter") -> None:
        post(self.shelf.store(run), id, Letter(name, self.clock()))


@pytest.fixture(params=["memory", "sqlite"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return Kept(MemoryShelf() if request.param == "memory" else SqliteShelf(tmp_path / "runs.db"))


async def test_a_run_is_driven_when_it_was_enlisted_when_a_letter_came_and_when_its_time_did(kept: Kept) -> None:
    kept.enlist("a", "b")
    assert await kept.once() == [("a", WAITING), ("b", WAITING)]
    assert await kept.once() == []
    kept.signal("a")
    assert await kept.once() == [("a", ENDED)]
    kept.clock.advance(599)
    assert await kept.once() == []
    kept.clock.advance(2)
    assert await kept.once() == [("b", ENDED)]
    assert await kept.once() == []
    for run in ("a", "b"):
        assert verify(kept.shelf.store(run)).verdict == "whole"
        stood = standing_of(kept.shelf.store(run))
        assert stood is not None
        assert (stood.state, stood.status) == (ENDED, "completed")


async def test_a_letter_for_something_else_lies_there_and_wakes_nobody(kept: Kept) -> None:
    kept.enlist("a")
    await kept.once()
    lines = len([*kept.shelf.store("a").lines()])
    kept.signal("a", "other", "one")
    assert await kept.once() == []
    assert len([*kept.shelf.store("a").lines()]) == lines
    kept.signal("a", "hook", "two")
    assert await kept.once() == [("a", ENDED)]


async def test_a_run_is_enlisted_once(kept: Kept) -> None:
    kept.enlist("a")
    assert not enlist(kept.shelf.store("a"), "a", "something else", kept.clock())
    with pytest.raises(ValueError, match="the task is empty"):
        enlist(kept.shelf.store("b"), "b", " ", kept.clock())


async def test_a_burst_of_a_run_that_has_ended_does_nothing(kept: Kept) -> None:
    kept.enlist("a")
    await burst(kept.agent, "a")
    kept.signal("a")
    over = await burst(kept.agent, "a")
    lines = [*kept.shelf.store("a").lines()]
    assert await burst(kept.agent, "a") == over == Stood("a", ENDED, status="completed")
    assert [*kept.shelf.store("a").lines()] == lines
    with pytest.raises(JournalError, match="there is no such run"):
        await burst(kept.agent, "nobody")


async def test_one_run_that_cannot_be_driven_keeps_no_other_from_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept(SqliteShelf(tmp_path / "runs.db"))
    kept.enlist("a", "b")
    await kept.once()
    kept.shelf.store("a").keep("snapshot", None)
    with closing(sqlite3.connect(tmp_path / "runs.db")) as db, db:
        db.execute("UPDATE lines SET line = replace(line, 'step', 'pets') WHERE run = 'a' AND seq = 2")
    kept.signal("a")
    kept.signal("b")
    with caplog.at_level(logging.ERROR, "machines.durable"):
        assert await kept.once() == [("b", ENDED)]
    assert "run a is left alone" in caplog.text


async def served(kept: Kept, done: Callable[[], bool], during: Callable[[], Any]) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(kept.keeper().serve)
        during()
        with anyio.fail_after(10):
            while not done():
                await anyio.sleep(0.01)
        group.cancel_scope.cancel()


async def test_a_keeper_that_serves_hears_of_runs_and_letters_of_other_processes() -> None:
    kept = Kept(MemoryShelf())
    await served(kept, lambda: len(kept.heard) == 1, lambda: kept.enlist("late"))
    kept.heard.clear()
    await served(kept, lambda: [one.state for one in kept.heard] == [ENDED], lambda: kept.signal("late"))


async def test_a_wait_without_an_end_that_nobody_answers_is_an_error_of_the_test() -> None:
    @tool
    async def hook() -> WaitFor:
        """Wait for ever."""
        return wait_for("hook")

    shelf, clock = MemoryShelf(), VirtualClock()
    for seconds in (None, 1_000.0):
        policy = Policy(budget=Budget(seconds=seconds))
        agent = Agent(Waits(), [hook], policy=policy, journal=shelf.store, clock=clock)
        if seconds is None:
            with pytest.raises(RuntimeError, match="waits without an end"):
                await to_end(agent, "go", clock, run="endless")
        else:
            assert (await to_end(agent, "go", clock, run="short")).ok


async def test_a_run_that_another_process_got_first_is_due_when_that_one_has_gone(tmp_path: Path) -> None:
    with closing(SqliteShelf(tmp_path / "runs.db")) as shelf:
        kept = Kept(shelf)
        kept.enlist("a")
        other = await anyio.open_process([sys.executable, "-c", "input()"])
        by = f"{HERE}/{other.pid}/x"

        def agent_for(run: str) -> Agent:
            if other.returncode is None:  # it takes the run just now
                shelf.store(run).lease(by, LEASE_SECONDS, kept.clock())
                stand(shelf.store(run), Standing(run, RUNNING, kept.clock(), by=by))
            return kept.agent

        keeper = Keeper(shelf, agent_for, clock=kept.clock, heard=kept.heard.append)
        await keeper.serve(once=True)
        await keeper.serve(once=True)
        assert kept.heard == []
        other.kill()
        await other.aclose()
        await keeper.serve(once=True)
        assert [one.run for one in kept.heard] == ["a"]


async def test_a_run_of_a_process_that_has_gone_is_due_and_one_of_another_machine_when_its_lease_is_over() -> None:
    kept = Kept(MemoryShelf())
    kept.enlist("here", "there")
    await kept.once()
    for run, by in (("here", f"{HERE}/999999999/a"), ("there", "another-machine/1/b")):
        stand(kept.shelf.store(run), Standing(run, RUNNING, kept.clock(), by=by))
        kept.signal(run)
    keeper = kept.keeper()
    kept.heard.clear()
    await keeper.serve(once=True)
    assert [one.run for one in kept.heard] == ["here"]
    kept.clock.advance(LEASE_SECONDS - 1)
    await keeper.serve(once=True)
    assert [one.run for one in kept.heard] == ["here"]
    kept.clock.advance(1)
    await keeper.serve(once=True)
    assert [one.run for one in kept.heard] == ["here", "there"]


async def test_a_run_whose_enlisting_was_broken_off_is_enlisted_again_with_its_first_task(kept: Kept) -> None:
    store = kept.shelf.store("a")
    store.keep(TASK, b"the first task")
    assert enlist(store, "a", "the second", kept.clock())
    assert store.kept(TASK) == b"the first task"
    assert not enlist(store, "a", "the third", kept.clock())
    assert await kept.once() == [("a", WAITING)]


@pytest.mark.parametrize("name", ["", ".a", "a/b", "a" * 201])
async def test_a_run_that_could_have_no_journal_is_not_enlisted(name: str) -> None:
    with pytest.raises(ValueError, match="found the run's name"):
        enlist(MemoryStore(), name, "go", 0.0)


async def test_a_run_that_fails_in_any_way_ends_no_other_and_is_tried_again_after_longer_each_time() -> None:
    kept = Kept(MemoryShelf())
    kept.enlist("a", "b")
    tried: list[float] = []

    def agent_for(run: str) -> Agent:
        if run == "a":
            tried.append(kept.clock())
            raise KeyError(run)
        return kept.agent

    keeper = Keeper(kept.shelf, agent_for, clock=kept.clock, heard=kept.heard.append)
    for _ in range(20):
        kept.signal("a", id=str(kept.clock()))
        await keeper.serve(once=True)
        kept.clock.advance(1.0)
    assert [one.run for one in kept.heard] == ["b"]
    pauses = [late - early for early, late in pairwise(tried)]
    assert pauses == [1.0, 2.0, 4.0, 8.0]
