"""An agent on a scripted model, over real sockets, on both event loops and both wires."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from machines.agent.agent import Agent
from machines.agent.providers import Retries, provider_for
from machines.agent.scripted import Script, ScriptedServer
from machines.agent.tools import AgentTool
from machines.agent.wire import Provider


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops."""
    return str(request.param)


@pytest.fixture(params=["openai", "anthropic"])
def wire(request: pytest.FixtureRequest) -> str:
    """Both wires."""
    return str(request.param)


class Stage:
    """A scripted server, and agents that ask it."""

    def __init__(self, server: ScriptedServer, wire: str, folder: Path) -> None:
        self.server, self.folder = server, folder
        self._wire = wire
        self._open: list[Provider] = []

    def agent(self, tools: Iterable[AgentTool] = (), *, run: str = "scripted", **more: Any) -> Agent:
        """An agent whose model is the script; its journals lie in the test's folder."""
        provider = provider_for(self.server.model(run, self._wire), seconds=5.0, retries=Retries(attempts=1))
        self._open.append(provider)
        return Agent(provider, tools, journal=self.folder, **more)

    async def close(self) -> None:
        """Give up what the agents hold open."""
        for provider in self._open:
            await provider.aclose()


@pytest.fixture
def serve(wire: str, tmp_path: Path) -> Callable[[Script], Any]:
    """A stage for a script: `with serve(script) as stage`."""

    @contextmanager
    def served(script: Script) -> Generator[Stage, None, None]:
        with ScriptedServer(script) as server:
            yield Stage(server, wire, tmp_path)

    return served
