"""An agent on a scripted model, over real sockets, on both event loops and every wire."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio.lowlevel
import attrs
import orjson
import pytest

from machines.agent.agent import Agent
from machines.agent.agent_run import AgentRun, PutDown
from machines.agent.limits import isolated_limits
from machines.agent.notices import Notice
from machines.agent.providers import Prices, Retries, provider_for
from machines.agent.result import RunResult
from machines.agent.scripted import Received, Script, ScriptedServer
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


@pytest.fixture(autouse=True)
def nothing_learned() -> Generator[None, None, None]:
    """What one test's run learned of a model's limits is known to no other: ports are given out again."""
    with isolated_limits():
        yield


N = TypeVar("N", bound=Notice)


@attrs.frozen
class Ran:
    """A run that has ended: what it returned, what was told of it, and the requests as the server received them."""

    result: RunResult
    notices: list[Notice]
    requests: tuple[Received, ...]

    def heard(self, kind: type[N]) -> list[N]:
        """The notices of one kind, in order."""
        return [notice for notice in self.notices if isinstance(notice, kind)]


class Stage:
    """A scripted server, and agents that ask it."""

    def __init__(self, server: ScriptedServer, wire: str, folder: Path) -> None:
        self.server, self.folder = server, folder
        self._wire = wire
        self._open: list[Provider] = []

    def agent(
        self, tools: Iterable[AgentTool] = (), *, run: str = "scripted", prices: Prices | None = None, **more: Any
    ) -> Agent:
        """An agent whose model is the script; its journals lie in the test's folder."""
        model, retries = self.server.model(run, self._wire), Retries(attempts=1)
        provider = provider_for(model, seconds=5.0, retries=retries, prices=prices)
        self._open.append(provider)
        return Agent(provider, tools, journal=self.folder, **more)

    async def ran(self, task: str, tools: Iterable[AgentTool] = (), **more: Any) -> Ran:
        """A run by an agent of its own, from its beginning to its end; no wait takes time.

        Its journal is `run-1.jsonl`, that of the next one `run-2.jsonl`. Its requests are all that the server has
        received by then.
        """
        told: list[Notice] = []
        agent = self.agent(tools, sleep=_at_once, **more)
        agent.notices.subscribe(told.append)
        result = await agent.run(task, run=f"run-{len(self._open)}")
        await self.close()
        return Ran(result, told, self.server.requests())

    @property
    def provider(self) -> Provider:
        """The provider of the last agent."""
        return self._open[-1]

    def events(self, kind: str, run: int = 1) -> list[Mapping[str, Any]]:
        """The events of one kind in the journal of a run, in order."""
        lines = map(orjson.loads, (self.folder / f"run-{run}.jsonl").read_bytes().splitlines())
        return [line["event"] for line in lines if line.get("event", {}).get("is") == kind]

    async def close(self) -> None:
        """Give up what the agents hold open."""
        for provider in self._open:
            await provider.aclose()


async def _at_once(seconds: float) -> None:
    """No time at all."""
    await anyio.lowlevel.checkpoint()


@pytest.fixture
def serve(wire: str, tmp_path: Path) -> Callable[[Script], Any]:
    """A stage for a script: `with serve(script) as stage`."""

    @contextmanager
    def served(script: Script) -> Generator[Stage, None, None]:
        with ScriptedServer(script) as server:
            yield Stage(server, wire, tmp_path)

    return served
