"""A deploy that is waited for, over real HTTP and under a virtual clock: well, for ever, to a value nobody declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pytest

from machines.agent.agent import Agent
from machines.agent.notices import Notice, PersonNotice, VerdictNotice
from machines.agent.providers import Retries, provider_for
from machines.agent.result import RunResult
from machines.agent.scripted import Move, Received, ScriptedServer, Turn, call
from machines.agent.tools import tool
from machines.agent.wire import ResultPart, TextPart
from machines.durable.virtual import VirtualClock, to_end
from machines.manifest import Kind, Tool, Wait
from machines.outcome import TerminalStatus
from statecraft.journal import MemoryShelf, verify

pytestmark = pytest.mark.anyio

DEPLOY = Wait("deploy.phase", ("queued", "running"), ("success", "failed"), 600.0, 15.0)
MINUTE = 60.0


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops."""
    return str(request.param)


def model(received: Received, *, again: int = 0) -> Move:
    """Asks until the deploy is over, `again` times more than that, and says what it saw; told something, it ends."""
    message = received.request.messages[-1]
    results = [part for part in message.parts if isinstance(part, ResultPart)]
    told = [part.text for part in message.parts if isinstance(part, TextPart)]
    whole = [part for one in received.request.messages for part in one.parts if isinstance(part, ResultPart)]
    over = [part for part in whole if '"success"' in part.content or '"failed"' in part.content]
    spoken = bool(results and told and not again)
    if spoken or received.request.no_tools or len(over) > again:
        said = told[-1] if spoken else f"it ended: {over[-1].content}"
        return Turn(calls=(call("finish", {"kind": "final", "text": said}),))
    return Turn(calls=(call("deploy_status", {"id": "d-1"}),))


class Deployed:
    """What became of a run that waited."""

    def __init__(self) -> None:
        self.clock, self.shelf = VirtualClock(), MemoryShelf()
        self.notices: list[Notice] = []
        self.looks = 0
        self.requests = 0
        self.result: RunResult | None = None

    async def run(self, phase_at: Callable[[float], str], again: int = 0) -> RunResult:
        """Wait for a deploy whose phase depends on the seconds since it began."""
        began = self.clock()

        @tool(manifest=Tool(kind=Kind.WAIT, wait=DEPLOY))
        async def deploy_status(id: str) -> dict[str, Any]:
            """How far a deploy has come."""
            self.looks += 1
            return {"id": id, "deploy": {"phase": phase_at(self.clock() - began)}}

        with ScriptedServer(lambda received: model(received, again=again)) as server:
            provider = provider_for(server.model(), seconds=5.0, retries=Retries(attempts=1))
            agent = Agent(provider, [deploy_status], journal=self.shelf.store, clock=self.clock)
            agent.notices.subscribe(self.notices.append)
            try:
                self.result = await to_end(agent, "Say how the deploy went.", self.clock)
            finally:
                await provider.aclose()
            self.requests = len(server.requests())
        assert verify(self.shelf.store("run")).verdict == "whole"
        return self.result

    def verdicts(self) -> Sequence[tuple[str, str]]:
        return [(one.verdict, one.by) for one in self.notices if isinstance(one, VerdictNotice)]

    def events(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.shelf.store("run").lines()]


async def test_a_deploy_that_is_queued_then_runs_for_four_minutes_ends_with_its_answer_and_no_nudge() -> None:
    def phase(at: float) -> str:
        return "queued" if at < 30 else "running" if at < 30 + 4 * MINUTE else "success"

    deploy = Deployed()
    result = await deploy.run(phase)
    assert result.ok
    assert "success" in result.output
    assert deploy.verdicts() == []
    assert deploy.looks == 19  # one each 15 s, by declaration, and none between
    assert deploy.requests == deploy.looks + 1
    assert result.account.seconds == pytest.approx(4.5 * MINUTE, abs=1)


async def test_a_deploy_that_is_queued_for_ever_ends_at_its_ceiling_and_the_run_is_told() -> None:
    deploy = Deployed()
    result = await deploy.run(lambda at: "queued")
    assert result.account.seconds == pytest.approx(600, abs=1)
    assert "600 s of waiting for deploy_status; the last look gave the value queued" in result.output
    assert deploy.looks == 41  # the last one at the ceiling itself
    assert result.account.waiting_for == ()


async def test_a_phase_that_nobody_declared_is_reported_on_its_first_appearance() -> None:
    deploy = Deployed()
    result = await deploy.run(lambda at: "running" if at < 40 else "unknown")
    assert deploy.looks == 4  # at 0, 15, 30 and 45 s
    assert "the last look gave the value unknown, which the tool does not declare" in result.output
    (person,) = [one for one in deploy.notices if isinstance(one, PersonNotice)]
    assert (person.evidence["value"], person.evidence["tool"]) == ("unknown", "deploy_status")


async def test_a_finished_deploy_that_is_asked_for_again_is_a_repeated_call() -> None:
    deploy = Deployed()
    result = await deploy.run(lambda at: "success", again=100)
    assert result.status is TerminalStatus.BLOCKED
    assert deploy.looks <= 5
    assert deploy.verdicts()[-1][0] == "stop"
