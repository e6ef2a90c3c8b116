"""A run that waits for a person's consent for two days, in no process, and a test of it in which no time passes."""

from __future__ import annotations

import anyio

from machines.agent import Agent, Consent, Kind, PutDown, RunResult, Tool, tool
from machines.agent.scripted import ScriptedServer, Turn, call
from machines.durable.virtual import VirtualClock
from machines.letters import Letter, deliver
from machines.policy import Budget, Policy
from statecraft.journal import MemoryShelf

DAY = 86_400.0
WEEK = Policy(budget=Budget(seconds=7 * DAY))  # a wait is a slice of the run's own time

deployed: list[int] = []


@tool(manifest=Tool(kind=Kind.COMMAND, consent=Consent(wait_seconds=3 * DAY)))
async def deploy(release: int) -> str:
    """Deploy a release."""
    deployed.append(release)
    return f"release {release} is live"


shelf, clock = MemoryShelf(), VirtualClock()


async def works(model: str) -> RunResult:
    """What is one process here may be three: nothing but the journal is handed on."""
    async with Agent(model, [deploy], policy=WEEK, journal=shelf.store, clock=clock) as agent:
        down = await agent.start("Deploy release 7.", run="release-7").burst()
        assert isinstance(down, PutDown)
        assert deployed == []
        (question,) = down.questions
        print(f"{question.awaited} to {question.tool}({question.args}): {' or '.join(question.choices)}")

    clock.advance(2 * DAY)
    letter = Letter(question.name, clock(), "approve", by="ann")
    assert deliver(shelf.store("release-7"), letter)

    async with Agent(model, [deploy], policy=WEEK, journal=shelf.store, clock=clock) as agent:
        return await agent.resume("release-7").result()


asks = Turn(calls=(call("deploy", {"release": 7}),))
done = Turn(calls=(call("finish", {"kind": "final", "text": "It is live."}),))
with ScriptedServer([asks, done]) as server:
    result = anyio.run(works, server.model("release-7"))
print(result.output)
