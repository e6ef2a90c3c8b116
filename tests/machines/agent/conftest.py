"""An agent on a scripted model, over real sockets, on both event loops and every wire."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from machines.agent.agent import Agent
from machines.agent.agent_run import AgentRun, PutDown
from machines.agent.providers import Retries, provider_for
from machines.agent.result import RunResult
from machines.agent.scripted import Script, ScriptedServer
from machines.agent.taking_up import retell
from machines.agent.tools import AgentTool
from machines.agent.wire import Provider
from machines.outcome import TerminalStatus


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops."""
    return str(request.param)


@pytest.fixture(params=["openai", "anthropic", "openai-responses", "gemini"])
def wire(request: pytest.FixtureRequest) -> str:
    """Every wire."""
    return str(request.param)


@pytest.fixture(autouse=True)
def told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test has a run do: from its journal the model would be sent the same, letter by letter."""
    drive = vars(AgentRun)["_drive"]

    async def checked(under_way: Any, patience: float | None, *, outlives: bool) -> RunResult | PutDown:
        found: RunResult | PutDown = await drive(under_way, patience, outlives=outlives)
        kept = under_way._text_of == under_way._journal.text_of
        # What a cancel broke off had come in, in part, without being in the journal.
        if kept and (isinstance(found, PutDown) or found.status is not TerminalStatus.CANCELLED):
            assert retell(under_way._store).retold.talk.transcript.plain() == under_way._host.transcript.plain()
        return found

    monkeypatch.setattr(AgentRun, "_drive", checked)


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
