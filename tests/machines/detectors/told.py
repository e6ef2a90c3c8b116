"""Histories of turns, written short, and what a run decides on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

import attrs

from machines.commands import AnswerCalls, Command, RunCalls
from machines.events import Begin, Chunk, ErrorKind, Event, NoReply, Reply, Said, StopReason, Text
from machines.ledger.chant import Chant
from machines.ledger.observe import UNSEEN, call_of, result_of
from machines.manifest import UNDECLARED, Tool
from machines.policy import DEFAULT, Budget, Detectors, Policy
from machines.state import Phase, new_run
from machines.supervisor import Moved, feed
from machines.verdicts import decided
from statecraft import Scalar

Verdict = tuple[int, str, str]
"""The turn, counted from 1, `nudge` or `stop`, and the rule."""


@attrs.frozen
class Answered:
    """An answer with more to it than its value. `...` as the value: it was not seen."""

    value: object = "ok"
    error: ErrorKind | None = None
    wrote: bool = False
    state: str | None = None
    target: str | None = None


Call = tuple[str, str, object]
"""A tool, its arguments as text, and what it answered: a value, an `ErrorKind`, an `Answered`, or `...` (not seen)."""

Happening = Sequence[Call] | Event
"""A turn with its calls (none: it only talks), or anything else that happens between turns."""

History = Iterable[Happening]


@attrs.frozen
class Told:
    """A verdict with the values that it rests on, and the commands of the event that it came with."""

    turn: int
    verdict: str
    by: str
    values: Mapping[str, Scalar]
    commands: tuple[Command, ...]

    @property
    def short(self) -> Verdict:
        """Turn, verdict and rule."""
        return self.turn, self.verdict, self.by

    @property
    def held(self) -> bool:
        """It came before any call of its turn was run, and all of them were answered instead."""
        kinds = [type(command) for command in self.commands]
        return AnswerCalls in kinds and RunCalls not in kinds


def policy_of(detectors: Detectors) -> Policy:
    """The policy with these detectors and turns enough."""
    budget = Budget(turns=100_000, seconds=None, tokens=None, usd=None, reply_tokens=None)
    return attrs.evolve(DEFAULT, budget=budget, detectors=detectors)


def answered(answer: object) -> Answered:
    """The answer in full."""
    if isinstance(answer, Answered):
        return answer
    return Answered("it failed", answer) if isinstance(answer, ErrorKind) else Answered(answer)


def events_of(turn: Sequence[Call], at: float, ids: Iterator[int], tools: Mapping[str, Tool]) -> list[Event]:
    """The reply and the results of one turn."""
    named = [(tools.get(name, UNDECLARED), name, args, answered(answer)) for name, args, answer in turn]
    calls = [call_of(str(next(ids)), name, args, tool) for tool, name, args, _ in named]
    text = None if calls else Text("talk", 4)
    reply = Reply(at, StopReason.TOOL_USE, tuple(calls), text)
    return [
        reply,
        *(
            result_of(
                call,
                tool,
                at=at,
                value=UNSEEN if answer.value is ... else answer.value,
                error=answer.error,
                wrote=answer.wrote,
                state=answer.state,
                target=answer.target,
            )
            for call, (tool, _, _, answer) in zip(calls, named, strict=True)
        ),
    ]


def told(
    history: History,
    *,
    detectors: Detectors = DEFAULT.detectors,
    policy: Policy | None = None,
    tools: Mapping[str, Tool] | None = None,
    every: float = 1.0,
    requires: tuple[str, ...] = (),
    worded: bool = False,
) -> list[Told]:
    """What a run decides on the history, a turn every `every` seconds; `worded`: each reply has words of its own.

    A run that was stopped gets no last reply, and what comes before a person speaks again is passed over.
    """
    tools = tools or {}
    run = feed(new_run("run", policy or policy_of(detectors), tools=tools, requires=requires), Begin(0.0)).run
    found: list[Told] = []
    ids, turn = count(), 0
    for happening in history:
        is_turn = isinstance(happening, Sequence)
        turn += is_turn
        events = events_of(happening, turn * every, ids, tools) if isinstance(happening, Sequence) else [happening]
        if worded and isinstance(events[0], Reply):
            mine = Text(f"words {turn}", 9)
            events[0] = attrs.evolve(events[0], text=mine, thinking=mine)
        for event in events:
            if run.outcome is not None and not isinstance(event, Said):
                continue
            fed = feed(run, event)
            run = fed.run
            number = turn + isinstance(event, Chunk)  # the turn that the reply under way will have
            moves = [move for move in fed.moves if isinstance(move, Moved)]
            found += [Told(number, d.verdict, d.by, d.evidence, fed.commands) for move in moves for d in decided(move)]
            if run.at is Phase.CONCLUDING:
                run = feed(run, NoReply(event.at, "nobody is there")).run
    return found


def streamed(text: str, channel: str = "text", piece: int = 2_048) -> list[Event]:
    """A reply as it streams, in pieces of so many characters."""
    chant, found = Chant(), list[Event]()
    for at in range(0, len(text), piece):
        part = text[at : at + piece]
        laps = chant.feed(part)
        found.append(Chunk(1.0, channel, Text("piece", len(part)), laps, chant.period))
    return found
