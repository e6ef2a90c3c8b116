"""A burst on every kind of shelf, and what a process that ends at the wrong moment leaves to the next one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import aclosing, closing
from pathlib import Path

import attrs
import pytest

from machines.agent import Agent, provider_for, wait_for
from machines.agent.scripted import Move, Received, ScriptedServer
from machines.agent.taking_up import HOST
from machines.agent.tools import tool
from machines.durable.burst import Stood, burst, enlist
from machines.journaled import RunJournal
from machines.letters import Letter, post
from machines.standing import ENDED, RUNNING, WAITING, stand, standing_of
from machines.state import new_run
from statecraft.journal import Shelf, shelf_at, verify

from .fleet import FINISH, does, run_of, script_of

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["runs", "runs.db"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    with closing(shelf_at(tmp_path / str(request.param))) as shelf:
        yield shelf


@tool
async def event(name: str) -> object:
    """Wait for an event from outside."""
    return wait_for(name)


async def test_a_run_is_enlisted_put_down_at_its_wait_and_ends_when_its_letter_came(shelf: Shelf) -> None:
    script = script_of({"one": [does(("event", {"name": "go"})), FINISH]})
    with ScriptedServer(script, run_of=run_of) as server:
        async with aclosing(provider_for(server.model("any"))) as provider:
            agent = Agent(provider, [event], journal=shelf.store)
            assert enlist(shelf.store("one"), "one", "one", time.time())
            stood = await burst(agent, "one")
            assert (stood.state, stood.signals) == (WAITING, ("go",))
            assert await burst(agent, "one") == stood  # nothing has come
            assert post(shelf.store("one"), "id", Letter("go", time.time(), text="come"))
            assert await burst(agent, "one") == Stood("one", ENDED, status="completed")
            assert await burst(agent, "one") == Stood("one", ENDED, status="completed")
    assert verify(shelf.store("one")).verdict == "whole"


async def test_a_run_whose_process_ended_between_its_first_two_lines_is_begun_all_the_same(shelf: Shelf) -> None:
    with ScriptedServer(script_of({"one": [FINISH]}), run_of=run_of) as server:
        async with aclosing(provider_for(server.model("any"))) as provider:
            agent = Agent(provider, [event], journal=shelf.store)
            enlist(shelf.store("one"), "one", "one", time.time())
            run = new_run("one", agent.policy)
            RunJournal.begin(shelf.store("one"), run, host=HOST, started=time.time()).close(None)  # and killed here
            assert await burst(agent, "one") == Stood("one", ENDED, status="completed")
    assert verify(shelf.store("one")).verdict == "whole"


async def test_a_run_whose_process_ended_just_after_its_last_line_is_said_to_have_ended(shelf: Shelf) -> None:
    with ScriptedServer(script_of({"one": [FINISH]}), run_of=run_of) as server:
        async with aclosing(provider_for(server.model("any"))) as provider:
            agent = Agent(provider, [event], journal=shelf.store)
            enlist(shelf.store("one"), "one", "one", time.time())
            await burst(agent, "one")
            stood = standing_of(shelf.store("one"))
            assert stood is not None
            stand(shelf.store("one"), attrs.evolve(stood, state=RUNNING, status=None))  # and killed here
            assert await burst(agent, "one") == Stood("one", ENDED, status="completed")
    again = standing_of(shelf.store("one"))
    assert again is not None
    assert (again.state, again.status, again.by) == (ENDED, "completed", "")
    assert stood.at - 1.0 < again.at <= stood.at


async def test_while_a_run_goes_on_after_a_wait_it_stands_as_running_and_asks_nobody(shelf: Shelf) -> None:
    moves = script_of({"one": [does(("event", {"name": "go"})), FINISH]})
    seen: list[tuple[str, tuple[str, ...]]] = []

    def script(received: Received) -> Move:
        with closing(shelf.store("one")) as store:
            stood = standing_of(store)
        assert stood is not None
        seen.append((stood.state, stood.signals))
        return moves(received)

    with ScriptedServer(script, run_of=run_of) as server:
        async with aclosing(provider_for(server.model("any"))) as provider:
            agent = Agent(provider, [event], journal=shelf.store)
            enlist(shelf.store("one"), "one", "one", time.time())
            await burst(agent, "one")
            post(shelf.store("one"), "id", Letter("go", time.time(), text="come"))
            await burst(agent, "one")
    assert seen == [(RUNNING, ()), (RUNNING, ())]
