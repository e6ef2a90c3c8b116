"""A worker process of these tests: an agent with tools that write down what they do, served by one engine."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio

from machines.agent import Agent, AgentTool, ask_person, idempotency_key, provider_for, tool, wait_for
from machines.manifest import Kind, Tool
from statecraft.journal import Shelf, shelf_at


def tools_of(effects: Path, gate: Path) -> list[AgentTool]:
    """Tools that change something, which is written down before they hold."""

    async def done(what: str, *, hold: bool, seconds: float = 0.0) -> str:
        line = json.dumps({"what": what, "key": idempotency_key(), "process": os.getpid(), "at": time.time()})
        with effects.open("ab", buffering=0) as file:
            file.write(line.encode() + b"\n")
        await anyio.sleep(seconds)
        while hold and not gate.exists():
            await anyio.sleep(0.02)
        return f"did {what}"

    @tool(manifest=Tool(kind=Kind.WRITE, identity=("what",)))
    async def pay(what: str, hold: bool = False, seconds: float = 0.0) -> str:
        """Do something that would be done twice if it were sent twice."""
        return await done(what, hold=hold, seconds=seconds)

    @tool(manifest=Tool(kind=Kind.WRITE, identity=("what",), idempotent=True))
    async def pay_once(what: str, hold: bool = False, seconds: float = 0.0) -> str:
        """Do something that is done once under one key."""
        return await done(what, hold=hold, seconds=seconds)

    @tool
    async def event(name: str, seconds: float | None = None) -> Any:
        """Wait for an event from outside."""
        return wait_for(name, seconds=seconds)

    return [pay, pay_once, event, ask_person]


async def main(settings: dict[str, Any], shelf: Shelf) -> None:
    """Serve until told to stop."""
    provider = provider_for(settings["model"])
    tools = tools_of(Path(settings["effects"]), Path(settings["gate"]))
    agent = Agent(provider, tools, journal=shelf.store)

    def agent_for(run: str) -> Agent:
        return agent

    serve = import_module(settings["module"]).serve
    await serve(settings["words"], shelf, agent_for, settings["at_once"])
    await provider.aclose()


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    logging.basicConfig(format="%(asctime)s %(name)s %(levelname)s %(message)s")
    if given["machine"]:
        vars(import_module("machines.agent.lease"))["gethostname"] = lambda: given["machine"]
    place = shelf_at(given["place"])
    anyio.run(main, given, place, backend=given["backend"])
    place.close()
