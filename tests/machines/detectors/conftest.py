"""Histories of turns, written short, and what a run decides on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count

import attrs
import pytest

from machines.commands import Tell
from machines.events import Begin, ErrorKind, Event, NoReply, Reply, Said, StopReason, Text
from machines.ledger.observe import UNSEEN, call_of, result_of
from machines.manifest import UNDECLARED, Tool
from machines.policy import DEFAULT, Budget, Detectors, Policy
from machines.state import Phase, new_run
from machines.supervisor import feed

Verdict = tuple[int, str, str]
"""The turn, counted from 1, `nudge` or `stop`, and the rule."""

Call = tuple[str, str, object]
"""A tool, its arguments as text, and what it answered: a value, an `ErrorKind`, or nothing that was seen (`...`)."""

Happening = Sequence[Call] | Event
"""A turn with its calls (none: it only talks), or anything else that happens between turns."""

History = Iterable[Happening]
Judge = Callable[..., list[Verdict]]


def policy_of(detectors: Detectors) -> Policy:
    """The policy with these detectors and turns enough."""
    budget = Budget(turns=100_000, seconds=None, tokens=None, usd=None, reply_tokens=None)
    return attrs.evolve(DEFAULT, budget=budget, detectors=detectors)


def verdicts(
    history: History,
    *,
    detectors: Detectors = DEFAULT.detectors,
    policy: Policy | None = None,
    tools: Mapping[str, Tool] | None = None,
    every: float = 1.0,
) -> list[Verdict]:
    """What a run decides on the history, a turn every `every` seconds.

    A run that was stopped gets no last reply, and what comes before a person speaks again is passed over.
    """
    tools = tools or {}
    run = feed(new_run("run", policy or policy_of(detectors), tools=tools), Begin(0.0)).run
    found: list[Verdict] = []
    ids, turn = count(), 0
    for happening in history:
        if not isinstance(happening, Sequence):
            events: list[Event] = [happening]
        else:
            turn += 1
            at = turn * every
            calls = [
                (call_of(str(next(ids)), name, args, tools.get(name, UNDECLARED)), tools.get(name, UNDECLARED), answer)
                for name, args, answer in happening
            ]
            text = None if calls else Text("talk", 4)
            events = [Reply(at, StopReason.TOOL_USE, tuple(call for call, _, _ in calls), text)]
            events += [
                result_of(
                    call,
                    tool,
                    at=at,
                    value=UNSEEN if answer is ... else "it failed" if isinstance(answer, ErrorKind) else answer,
                    error=answer if isinstance(answer, ErrorKind) else None,
                )
                for call, tool, answer in calls
            ]
        for event in events:
            if run.outcome is not None and not isinstance(event, Said):
                continue
            fed = feed(run, event)
            run = fed.run
            found += [(turn, "nudge", command.by) for command in fed.commands if isinstance(command, Tell)]
            if run.at is Phase.CONCLUDING:
                assert run.stop is not None
                found.append((turn, "stop", run.stop.by))
                run = feed(run, NoReply(event.at, "nobody is there")).run
    return found


@pytest.fixture(scope="session")
def judge() -> Judge:
    """Judges a history; see `verdicts`."""
    return verdicts
