"""Runs on a real Temporal server, which are driven in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import attrs
import pytest

from machines.agent.agent import Agent
from machines.agent.people import ask_person
from machines.agent.scripted import ScriptedServer, Turn, call
from machines.agent.tools import tool
from machines.letters import Letter
from machines.manifest import Kind, Tool
from machines.standing import ENDED, RUNNING, WAITING, Standing, standing_of
from statecraft.journal import JournalError, SqliteShelf, verify

from .temporal_server import DevServer, free_port, served

pytest.importorskip("temporalio", reason="the package temporalio is not installed")
from temporalio.client import Client, WorkflowFailureError

from machines.durable.temporal import Temporal
from machines.durable.temporal.flow import BEYOND_HELP

pytestmark = pytest.mark.anyio

WORD = "marzipan"
"""A word of the task, of the model and of a person, which is to be found in the journal alone."""

DONE = Turn(calls=(call("finish", {"kind": "final", "text": f"{WORD} done"}),))
ASK = Turn(calls=(call("ask_person", {"question": f"{WORD}?"}),))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops."""
    return str(request.param)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[SqliteShelf]:
    shelf = SqliteShelf(tmp_path / "runs.db")
    yield shelf
    shelf.close()


@pytest.fixture
def engine(temporal: DevServer, shelf: SqliteShelf, request: pytest.FixtureRequest) -> Iterator[Temporal]:
    with Temporal(temporal.address, shelf, queue=request.node.name, silence=1.0) as engine:
        yield engine


@asynccontextmanager
async def serving(engine: Temporal, agent: Agent | Callable[[str], Agent], **how: Any) -> AsyncGenerator[None]:
    def agent_for(run: str) -> Agent:
        return agent if isinstance(agent, Agent) else agent(run)

    async with anyio.create_task_group() as group:
        await group.start(partial(engine.serve, agent_for, stopped_by=(), **how))
        yield
        group.cancel_scope.cancel()


async def stands(shelf: SqliteShelf, run: str, state: str, seconds: float = 10.0) -> Standing:
    with anyio.fail_after(seconds):
        while True:
            store = shelf.store(run)
            found = standing_of(store)
            store.close()
            if found is not None and found.state == state:
                return found
            await anyio.sleep(0.02)


async def asked(server: ScriptedServer, times: int) -> None:
    with anyio.fail_after(10.0):
        while len(server.requests()) < times:
            await anyio.sleep(0.02)


async def test_a_run_that_is_enlisted_is_driven_to_its_end(engine: Temporal, shelf: SqliteShelf) -> None:
    with ScriptedServer([DONE]) as server:
        async with Agent(server.model(), journal=shelf.store) as agent, serving(engine, agent):
            assert engine.enlist("one", "Do it.")
            assert (await stands(shelf, "one", ENDED)).status == "completed"


async def test_an_answer_is_taken_at_once_from_a_run_that_waits_in_no_process(
    engine: Temporal, shelf: SqliteShelf
) -> None:
    with ScriptedServer([ASK, DONE]) as server:
        async with Agent(server.model(), [ask_person], journal=shelf.store) as agent, serving(engine, agent):
            engine.enlist("asks", "Ask.")
            name = (await stands(shelf, "asks", WAITING)).signals[0]
            assert engine.deliver("asks", Letter(name, time.time(), "yes"), "first")
            assert (await stands(shelf, "asks", ENDED)).status == "completed"


async def test_a_letter_that_comes_while_no_worker_lives_is_read_by_the_next_one_and_twice_is_once(
    engine: Temporal, shelf: SqliteShelf
) -> None:
    with ScriptedServer([ASK, ASK, DONE]) as server:
        async with Agent(server.model(), [ask_person], journal=shelf.store) as agent:
            async with serving(engine, agent):
                engine.enlist("asks", "Ask.")
                name = (await stands(shelf, "asks", WAITING)).signals[0]
            letter = Letter(name, time.time(), "yes")
            assert [engine.deliver("asks", letter, "first") for _ in range(2)] == [True, False]
            async with serving(engine, agent):
                await asked(server, 2)
                second = (await stands(shelf, "asks", WAITING)).signals[0]
                engine.deliver("asks", letter, "first")
                engine.deliver("asks", attrs.evolve(letter, name=second), "second")
                assert (await stands(shelf, "asks", ENDED)).status == "completed"
    assert len(server.requests()) == 3


async def test_a_burst_under_way_is_left_as_it_stands_when_its_worker_is_cancelled_and_goes_on_at_once_elsewhere(
    engine: Temporal, shelf: SqliteShelf
) -> None:
    begun, held = anyio.Event(), anyio.Event()

    @tool(manifest=Tool(kind=Kind.READ))
    async def look() -> str:
        """Look."""
        begun.set()
        await held.wait()
        return "seen"

    with ScriptedServer([Turn(calls=(call("look", {}),)), DONE]) as server:
        async with Agent(server.model(), [look], journal=shelf.store) as agent:
            async with serving(engine, agent):
                engine.enlist("one", "Look.")
                await begun.wait()
            assert (await stands(shelf, "one", RUNNING)).status is None
            held.set()
            async with serving(engine, agent):
                began = time.monotonic()
                await stands(shelf, "one", ENDED)
                assert time.monotonic() - began < 3.0
    assert len(server.requests()) == 2


async def test_a_deadline_that_passes_while_neither_worker_nor_server_lives_is_kept_when_they_are_back(
    shelf: SqliteShelf, tmp_path: Path
) -> None:
    asks = Turn(calls=(call("ask_person", {"question": "Now?", "deadline": 1.5}),))
    with served(tmp_path) as temporal, ScriptedServer([asks, DONE]) as model:
        async with Agent(model.model(), [ask_person], journal=shelf.store) as agent:
            with Temporal(temporal.address, shelf, silence=1.0) as engine:
                async with serving(engine, agent, patience=0.0):
                    engine.enlist("late", "Ask.")
                    until = (await stands(shelf, "late", WAITING)).until
            temporal.end()
            assert until is not None
            await anyio.sleep(until - time.time() + 0.1)
            temporal.start()
            with Temporal(temporal.address, shelf, silence=1.0) as engine:
                async with serving(engine, agent, patience=0.0):
                    stood = await stands(shelf, "late", ENDED)
    assert until <= stood.at < until + 5.0
    assert "no answer came in time" in str(model.requests()[-1].request.messages[-1])


async def test_a_run_that_the_server_has_forgotten_goes_on_when_it_is_enlisted_again(
    engine: Temporal, shelf: SqliteShelf, request: pytest.FixtureRequest
) -> None:
    with ScriptedServer([ASK, DONE]) as model:
        async with Agent(model.model(), [ask_person], journal=shelf.store) as agent:
            async with serving(engine, agent):
                engine.enlist("one", "Ask.")
                name = (await stands(shelf, "one", WAITING)).signals[0]
            with Temporal(engine.address, shelf, queue=f"{request.node.name}/2") as forgetful:
                async with serving(forgetful, agent):
                    assert not forgetful.enlist("one", "Ask.")
                    forgetful.deliver("one", Letter(name, time.time(), "yes"), "first")
                    await stands(shelf, "one", ENDED)
    assert len(model.requests()) == 2


async def test_what_comes_for_a_run_that_has_ended_is_no_error(engine: Temporal, shelf: SqliteShelf) -> None:
    with ScriptedServer([DONE]) as server:
        async with Agent(server.model(), journal=shelf.store) as agent, serving(engine, agent):
            engine.enlist("one", "Do it.")
            await stands(shelf, "one", ENDED)
            for number in range(20):  # the first of them while Temporal is told of the end
                engine.deliver("one", Letter("late", time.time(), "yes"), f"id-{number}")
            assert not engine.deliver("one", Letter("late", time.time(), "yes"), "last")
            assert not engine.enlist("one", "Do it.")
    assert len(server.requests()) == 1


def test_nothing_is_taken_for_a_run_that_is_not_there_or_has_no_name_or_no_task(
    engine: Temporal, shelf: SqliteShelf
) -> None:
    with pytest.raises(JournalError, match="there is no such"):
        engine.deliver("nobody", Letter("name", 1.0, "yes"), "first")
    with pytest.raises(ValueError, match="the task is empty"):
        engine.enlist("one", " ")
    with pytest.raises(ValueError, match="run's name"):
        engine.enlist("../one", "Do it.")
    assert shelf.mailed() == ()


def test_where_no_server_is_the_run_is_put_down_all_the_same_and_said_to_be_untold(shelf: SqliteShelf) -> None:
    with Temporal(f"127.0.0.1:{free_port()}", shelf) as engine:
        with pytest.raises(ConnectionError, match="found no Temporal server at 127"):
            engine.enlist("one", "Do it.")
        with pytest.raises(ConnectionError):
            engine.deliver("one", Letter("name", 1.0, "yes"), "first")
    assert standing_of(shelf.store("one")) is not None
    assert [id for id, _ in shelf.store("one").mail()] == ["begin", "first"]


async def test_nothing_of_what_is_said_in_a_run_reaches_temporal(
    engine: Temporal, shelf: SqliteShelf, request: pytest.FixtureRequest
) -> None:
    faults = iter((ValueError(WORD),))

    with ScriptedServer([ASK, DONE]) as server:
        async with Agent(server.model(), [ask_person], journal=shelf.store) as agent:

            def agent_for(run: str) -> Agent:
                for error in faults:
                    raise error
                return agent

            async with serving(engine, agent_for):
                engine.enlist("one", WORD)
                name = (await stands(shelf, "one", WAITING, 15.0)).signals[0]
                engine.deliver("one", Letter(name, time.time(), WORD), WORD)
                await stands(shelf, "one", ENDED)
    history = await anyio.to_thread.run_sync(asyncio.run, history_of(engine.address, f"{request.node.name}/one"))
    assert WORD in str(server.requests()[-1].request)
    assert "ValueError" in history
    assert WORD not in history


async def test_a_run_that_nothing_can_drive_is_given_up_and_begun_again_when_it_is_mended(
    engine: Temporal, shelf: SqliteShelf, request: pytest.FixtureRequest
) -> None:
    with ScriptedServer([DONE]) as server:
        async with Agent(server.model(), journal=shelf.store) as agent, serving(engine, agent):
            broken = shelf.store("one")
            broken.claim(fresh=True)
            broken.append(0, b"{}")
            broken.close()
            engine.enlist("one", "Do it.")
            place = f"{request.node.name}/one"
            assert await anyio.to_thread.run_sync(asyncio.run, result_of(engine.address, place)) == BEYOND_HELP
            with shelf.file.commit("cannot be mended") as db:
                db.execute("DELETE FROM lines WHERE run = 'one'")
            engine.enlist("one", "Do it.")
            assert (await stands(shelf, "one", ENDED)).status == "completed"


@pytest.mark.deep
async def test_a_worker_whose_loop_is_held_up_loses_its_burst_and_ends_nothing(
    engine: Temporal, shelf: SqliteShelf
) -> None:
    times: list[float] = []

    @tool(manifest=Tool(kind=Kind.READ))
    async def look() -> str:
        """Look."""
        times.append(time.monotonic())
        if len(times) == 1:
            time.sleep(2.5)  # nothing else comes round in this loop
            await anyio.sleep(5.0)
        return "seen"

    with ScriptedServer([Turn(calls=(call("look", {}),)), DONE]) as server:
        async with Agent(server.model(), [look], journal=shelf.store) as agent, serving(engine, agent):
            engine.enlist("one", "Look.")
            assert (await stands(shelf, "one", ENDED, 15.0)).status == "completed"
    assert len(times) == 2
    assert times[1] - times[0] < 5.0
    assert verify(shelf.store("one")).verdict == "whole"


async def history_of(address: str, workflow: str) -> str:
    client = await Client.connect(address)
    return str((await client.get_workflow_handle(workflow).fetch_history()).to_json())


async def result_of(address: str, workflow: str) -> str | None:
    client = await Client.connect(address)
    with pytest.raises(WorkflowFailureError) as raised:
        await client.get_workflow_handle(workflow).result()
    cause = raised.value.cause
    return getattr(cause.__cause__, "type", None)
