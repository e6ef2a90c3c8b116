"""Runs on a real Temporal server, which are driven in this process."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.agent.agent import Agent
from machines.agent.people import ask_person
from machines.agent.scripted import ScriptedServer, Turn, call
from machines.durable.temporal import Temporal
from machines.letters import ENDED, WAITING, Letter, Standing, standing_of
from statecraft.journal import SqliteShelf

from .temporal_server import DevServer, served

pytestmark = pytest.mark.anyio

DONE = Turn(calls=(call("finish", {"kind": "final", "text": "Done."}),))
ASK = Turn(calls=(call("ask_person", {"question": "Now?"}),))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops."""
    return str(request.param)


@pytest.fixture(scope="module")
def temporal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """One server for all; the tests tell their runs apart by their queues."""
    with served(tmp_path_factory.mktemp("temporal")) as server:
        yield server


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
async def serving(engine: Temporal, agent: Agent, **how: Any) -> AsyncGenerator[None]:
    def agent_for(run: str) -> Agent:
        return agent

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
