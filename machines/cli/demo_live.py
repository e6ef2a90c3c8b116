"""Runs of an agent on a scripted model, over real HTTP: well, stuck, talking, waiting for a deploy, for a person."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import anyio
import attrs

from statecraft.cli.journals import walked
from statecraft.cli.running import harmless
from statecraft.diagrams import mermaid
from statecraft.journal import FileStore, verify

from ..agent.agent import Agent
from ..agent.agent_run import PutDown
from ..agent.providers import provider_for
from ..agent.result import RunResult
from ..agent.scripted import Move, Received, ScriptedServer, Turn, by_run, call
from ..agent.tools import AgentTool, ToolError, tool
from ..agent.wire import ResultPart
from ..events import ErrorKind
from ..held import APPROVE
from ..letters import Letter, fitting, post
from ..manifest import Consent, Kind, Tool, Wait
from ..run import RUN
from .live import plainly

PRICES: Final[Mapping[str, str]] = {"tea": "4.20", "coffee": "6.80", "sugar": "1.10"}

TASKS: Final[Mapping[str, str]] = {
    "well": "What do tea and sugar cost together?",
    "stuck": "What does saffron cost?",
    "narrates": "What does coffee cost?",
    "waits": "Say when the deploy of release 7 is live.",
    "asks": "Note that tea costs 4.20.",
}

SCRIPT: Final[Mapping[str, Sequence[Move]]] = {
    "well": (
        Turn("Let me look both up.", calls=(call("price_of", {"item": "tea"}), call("price_of", {"item": "sugar"}))),
        Turn(calls=(call("note", {"text": "tea 4.20, sugar 1.10"}),)),
        Turn(calls=(call("finish", {"kind": "final", "text": "Tea and sugar cost 5.30 together."}),)),
    ),
    "stuck": (
        *(Turn(calls=(call("price_of", {"item": "saffron"}),)) for _ in range(7)),
        Turn("I kept asking for the price of saffron, and the list does not have it."),
    ),
    "narrates": (
        Turn("One moment, the price list is on its way."),
        Turn("Nearly there: I have the list in front of me."),
        Turn("I am about to read the line for coffee."),
        Turn("Just one more look."),
        Turn("I did not get round to reading the list."),
    ),
    "waits": (
        *(Turn(calls=(call("deploy_status", {"release": 7}),)) for _ in range(6)),
        Turn(calls=(call("finish", {"kind": "final", "text": "Release 7 is live."}),)),
    ),
    "asks": (
        Turn(calls=(call("note", {"text": "tea 4.20"}),)),
        Turn(calls=(call("finish", {"kind": "final", "text": "It is noted."}),)),
    ),
}


DEPLOY: Final = Wait("status", ("queued", "running"), ("success", "failed"), 60.0, 0.25)
"""Asked six times for three answers, this is no repetition: it is waiting, no more often than is of use (seconds)."""

ANSWERED_AFTER: Final = 0.5
"""Seconds for which nothing runs, before a person answers."""


def tools(notes: list[str]) -> tuple[AgentTool, ...]:
    """The tools of all runs."""
    said = iter(("queued", "running", "running", "running", "running", "success"))

    @tool(manifest=Tool(kind=Kind.READ))
    async def price_of(item: str) -> str:
        """Look an item up in the price list."""
        if item not in PRICES:
            raise ToolError(ErrorKind.BUSINESS, f"{item} is not in the list")
        return PRICES[item]

    @tool(manifest=Tool(kind=Kind.WRITE))
    async def note(text: str) -> str:
        """Write a note down."""
        notes.append(text)
        return "noted"

    @tool(manifest=Tool(kind=Kind.WAIT, wait=DEPLOY))
    async def deploy_status(release: int) -> dict[str, Any]:
        """How far a deploy has come."""
        return {"release": release, "status": next(said, "success")}

    return price_of, note, deploy_status


def consented(made: AgentTool) -> AgentTool:
    """The tool, with a person's consent to each call."""
    return attrs.evolve(made, manifest=attrs.evolve(made.manifest, consent=Consent()))


def live_demo(into: Path) -> int:
    """Run them all, and say for each how it ended and where to look. Exit code 1 if a journal is not whole."""
    with ScriptedServer(by_run(SCRIPT)) as server:
        say(f"A scripted model answers at {server.url}; every request is real HTTP.\n\n")
        return max(anyio.run(_one, server.model(name), name, into) for name in TASKS)


def serve() -> int:
    """Answer `statecraft run` without a real model, until interrupted: it looks into the folder, and is done."""
    with ScriptedServer(_looks, keep=1) as server:
        say(f'statecraft run "What is here?" --folder . --model {server.model("demo")}\n')
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


def _looks(received: Received) -> Move:
    """By what it is sent and not by its count, so that run after run gets its answer."""
    found = [part.content for part in received.request.messages[-1].parts if isinstance(part, ResultPart)]
    if not found and any(given.name == "list_files" for given in received.request.tools):
        return Turn("Let me look.", calls=(call("list_files", {}),))
    text = f"I found: {found[-1]}" if found else "I was given no folder to look into (--folder)."
    return Turn(calls=(call("finish", {"kind": "final", "text": text}),))


async def _one(model: str, name: str, into: Path) -> int:
    provider = provider_for(model)
    given = tools([])
    agent = Agent(provider, tuple(map(consented, given)) if name == "asks" else given, journal=into)
    say(f"{name}: {TASKS[name]}\n")
    agent.notices.subscribe(lambda notice: plainly(notice, "  ", stream=sys.stdout, most=100))
    try:
        found = await agent.start(TASKS[name], run=name).burst(patience=1.0)
        if isinstance(found, PutDown):
            await _answered(agent, found)
            found = await agent.resume(name).result()
    finally:
        await provider.aclose()
    assert isinstance(found, RunResult)  # one question, which was answered
    return _told(name, found, into)


async def _answered(agent: Agent, down: PutDown) -> None:
    """A person approves, while the run is nothing but its journal."""
    (question,) = down.questions
    say(f"  put down {question.awaited} to {question.tool}({question.args}); nothing runs now\n")
    await anyio.sleep(ANSWERED_AFTER)
    letter = fitting(down.questions, Letter(question.name, time.time(), APPROVE, by="a person"))
    post(agent.store(down.run), "demo", letter)
    say(f"  answer   {letter.answer}, by {letter.by}; the run is taken up from its journal\n")


def _told(name: str, result: RunResult, into: Path) -> int:
    drawing = into / f"{name}.mmd"
    drawing.write_text(mermaid(RUN, walked(Path(result.journal), None, RUN)), encoding="utf-8")
    with closing(FileStore(result.journal)) as store:
        found = verify(store)
    say(f"  ended    {result.status.value}, {result.kind.value.replace('_', ' ')}\n")
    account = result.summary[1:] if result.ok else ()
    say("".join(f"    | {harmless(line)}\n" for line in (*result.output.split("\n"), *account)))
    say(f"  journal  {result.journal}: {found.verdict}, {found.lines} lines\n  diagram  {drawing}\n\n")
    return 0 if found.verdict == "whole" else 1


def say(text: str) -> None:
    """To standard output, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()
