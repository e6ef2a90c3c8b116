"""A run, its tools, and the events that its tests feed it."""

from __future__ import annotations

from typing import Any

from machines.events import Call, Declared, Event, Reply, Said, StopReason, Text
from machines.manifest import Kind, Tool, Wait
from machines.policy import Budget, Policy
from machines.state import Run, new_run
from machines.supervisor import feed

TEXT = Text("text", 4)
ONE, TWO = Call("1", "read", b"sign-one", TEXT), Call("2", "write", b"sign-two", TEXT)
TOOLS = {"write": Tool(Kind.WRITE), "poll": Tool(wait=Wait("*", ("queued",), ("done",), 100.0, 5.0))}
NEW = new_run("run", Policy(budget=Budget(turns=5, tokens=None, usd=None)), tools=TOOLS)
HI, BY_A_PROGRAM = Said(5.0, TEXT), Said(5.0, TEXT, synthetic=True)


def after(*events: Event, run: Run = NEW) -> Run:
    for event in events:
        run = feed(run, event).run
    return run


def calling(*calls: Call, at: float = 1.0) -> Reply:
    return Reply(at, StopReason.TOOL_USE, calls)


def final(at: float = 4.0, **more: Any) -> Reply:
    return Reply(at, StopReason.END_TURN, text=TEXT, kind=Declared.FINAL, **more)
