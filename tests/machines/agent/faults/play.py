"""One scenario played to its end: over real sockets, in bursts, with a process that may be ended at any line."""

from __future__ import annotations

from copy import deepcopy
from itertools import zip_longest
from random import Random
from typing import Any, Final

import anyio
import anyio.lowlevel
from anyio import from_thread
from anyio.abc import TaskGroup

from machines.agent.agent import Agent
from machines.agent.agent_run import AgentRun, PutDown
from machines.agent.limits import register_model_limits
from machines.agent.providers import Prices, Retries, provider_for
from machines.agent.result import RunResult
from machines.agent.scripted import Move, Received, ScriptedServer
from machines.agent.scripted.received import broken_rule
from machines.agent.taking_up import RunOver, retell
from machines.agent.wire import Completion, Message, Provider
from machines.durable.burst import BEGIN, enlist
from machines.durable.virtual import VirtualClock
from machines.events import Facts
from machines.letters import BadAnswer, Letter, deliver
from machines.outcome import TerminalStatus, message_of
from statecraft.journal import MemoryStore

from ..provider_rules import refused
from .moves import STALLED, drawn
from .record import Record, text_of
from .scenario import Act, Scenario
from .toolbox import tools_of

TASK: Final = "Put the five files right, and say what you found in each of them."
MOST_BURSTS: Final = 150
"""Bursts that a run may need: more waits than any policy drawn here has turns for."""


class Watched(MemoryStore):
    """A store in memory that tells of each line: before it is written, and after."""

    play: Any = None

    def append(self, seq: int, line: bytes) -> None:
        """Write a line."""
        play = self.play
        if play is None or play.store is not self:  # the process that holds it was ended
            super().append(seq, line)
            return
        play.torn(seq)
        super().append(seq, line)
        play.happens("line", seq)


class Play:
    """A scenario while it is played. `store` is what a new process would find of the run."""

    def __init__(self, scenario: Scenario, server: ScriptedServer) -> None:
        self.scenario, self._server = scenario, server
        self.clock = VirtualClock()
        self.store = Watched(scenario.name)
        self.store.play = self
        self.record = Record(scenario, self.store)
        self._acts: list[Act] = list(scenario.acts)
        self._under_way: AgentRun | None = None
        self._scope: anyio.CancelScope | None = None
        self._token: Any = None
        self._sent: list[Message] = []
        self._group: TaskGroup | None = None
        self._dead = False
        self._tools = tools_of(self._ran, brisk=scenario.brisk)

    def _ran(self, key: str, tool: str) -> None:
        if not self._dead:  # else a task of a process that is gone
            self.record.ran.append((key.split("/", 3)[-1], tool))
            self.happens("tool", len(self.record.ran))

    def move(self, received: Received) -> Move:
        """What the server does with a request; in its thread."""
        rule = broken_rule(received.request) or refused(received.wire, received.request.messages)
        if rule:
            self.record.rules.append(f"request {received.number}: {rule}")
        self._compare(received)
        if any(act.during == "request" and act.at == received.number for act in self._acts):
            try:
                from_thread.run_sync(self.happens, "request", received.number, token=self._token)
            except RuntimeError:
                self.record.acts.append("too late: the loop has ended")
        made = drawn(self.scenario.seed, received, self.scenario.weights, self.scenario.last)
        self.record.moves.append(made.name)
        return made.move

    def _compare(self, received: Received) -> None:
        """Whether a request begins as the one before it did, but for the last message, which may have had a note."""
        if not received.request.tools:
            return  # it asks for a summary
        sent = [*received.request.messages]
        for at, (before, now) in enumerate(zip_longest(self._sent[:-1], sent[: max(len(self._sent) - 1, 0)])):
            if before != now:
                self.record.changed.append(f"request {received.number}, message {at}: was {before}, is {now}"[:1_500])
                break
        self._sent = sent

    def torn(self, seq: int) -> None:
        """A line is about to be written."""
        self._happens([act for act in self._acts if act.what == "torn" and act.at == seq])

    def happens(self, during: str, at: int) -> None:
        """A moment at which something may come from outside; in the loop's thread."""
        self._happens([act for act in self._acts if act.what != "torn" and (act.during, act.at) == (during, at)])

    def _happens(self, acts: list[Act]) -> None:
        for act in acts:
            self._acts.remove(act)
            self._act(act)

    def _act(self, act: Act) -> None:
        under_way: Any = self._under_way
        if under_way is None or self._scope is None or self._dead:
            return
        self.record.acts.append(f"{act.what} {act.during} {act.at}")
        match act.what:
            case "cancel":
                under_way.cancel("drawn")
            case "say" | "say_synthetic" if self._group is not None:
                self._group.start_soon(self._say, under_way, act.what != "say")
            case "kill" | "torn":
                self._die()
            case "leave":
                self._scope.cancel()
            case _:
                pass

    async def _say(self, under_way: Any, synthetic: bool) -> None:
        """Speak as another task does: while the run awaits something."""
        if under_way._host is not None and not self._dead:
            under_way._host.say("And mind the time.", synthetic=synthetic)

    def _die(self) -> None:
        """What is written so far stays; what the process still does until its task is gone is in no store."""
        left = Watched(self.store.name)
        for name in ("_lines", "_content", "_notes", "_mail"):
            setattr(left, name, deepcopy(getattr(self.store, name)))
        left.play, self.store, self.record.store = self, left, left
        self._dead = True
        assert self._scope is not None
        self._scope.cancel()

    async def run(self) -> Record:
        """Play it."""
        scenario = self.scenario
        taken_back = register_model_limits(scenario.name, *scenario.limits) if scenario.limits else None
        self._token = anyio.lowlevel.current_token()
        provider = provider_for(
            self._server.model(scenario.name, scenario.wire),
            seconds=STALLED / 3 if scenario.stalls else 20.0,
            idle_seconds=STALLED / 5 if scenario.stalls else 20.0,
            retries=Retries(attempts=1),
            prices=Prices(3.0, 15.0) if scenario.priced else None,
        )
        try:
            async with anyio.create_task_group() as self._group:
                await self._to_end(self._agent(provider))
        finally:
            await provider.aclose()
            if taken_back is not None:
                taken_back()
        self._done()
        return self.record

    def _agent(self, provider: Provider) -> Agent:
        scenario = self.scenario
        rng = Random(f"{scenario.seed}/facts")

        async def sleep(seconds: float) -> None:
            self.clock.advance(seconds)
            await anyio.lowlevel.checkpoint()

        async def facts(answer: Completion) -> Facts | None:
            three = (None, True, False)
            return rng.choice(
                (None, Facts(rng.choice(three), rng.choice(three), rng.choice((None, 0, 2)), *[None] * 5))
            )

        async def goal() -> tuple[float, float] | None:
            return rng.choice((None, (rng.randrange(3), 3)))

        return Agent(
            provider,
            self._tools,
            policy=scenario.policy,
            journal=lambda run: self.store,
            facts=facts if scenario.facts else None,
            goal=goal if scenario.goal else None,
            work=scenario.work,
            requires=scenario.requires,
            clock=self.clock,
            stream=scenario.stream,
            sleep=sleep,
        )

    async def _to_end(self, agent: Agent) -> None:
        enlist(self.store, self.scenario.name, TASK, self.clock())
        while self.record.bursts < MOST_BURSTS:
            self.record.bursts += 1
            self._dead = False
            try:
                under_way = self._begun(agent)
            except RunOver:
                return  # its process ended after its last line
            found = await self._burst(under_way)
            if isinstance(found, RunResult):
                self.record.result = found
                return
            if isinstance(found, PutDown):
                self._between(found)
            self.clock.advance(1.0)
        self.record.raised.append(f"not at its end after {MOST_BURSTS} bursts")

    def _begun(self, agent: Agent) -> AgentRun:
        if self.store.last() is not None:
            return agent.resume(self.scenario.name)
        self.store.unpost(BEGIN)
        return agent.start(TASK, run=self.scenario.name)

    async def _burst(self, under_way: Any) -> RunResult | PutDown | None:
        patience = 0.05 if self.scenario.brisk else 0.0
        found: RunResult | PutDown | None = None
        self._under_way = under_way
        with anyio.CancelScope() as self._scope:
            try:
                found = await under_way.burst(patience, outlives=self.scenario.outlives)
            except Exception as error:
                self.record.raised.append(f"burst {self.record.bursts}: {type(error).__name__}: {error}")
                raise
            finally:
                self._under_way = None
        self._scope = None
        if self._dead:
            return None
        host = under_way._host
        if host is not None and found is not None:
            self.record.open_calls = host.transcript.open_calls if isinstance(found, RunResult) else ()
            self._told_again(host, found)
        return found

    def _told_again(self, host: Any, found: RunResult | PutDown) -> None:
        if isinstance(found, RunResult) and found.status is TerminalStatus.CANCELLED:
            return  # what a cancel broke off had come in, in part, without being in the journal
        told, live = retell(self.store).retold.talk.transcript.plain(), host.transcript.plain()
        if told != live:
            parts = [name for name in live if told[name] != live[name]]
            self.record.parted.append(f"burst {self.record.bursts}: " + "; ".join(_apart(told, live, n) for n in parts))

    def _between(self, put_down: PutDown) -> None:
        """What comes while nobody drives the run: an answer that fits or not, a letter twice, time, or nothing yet."""
        rng = Random(f"{self.scenario.seed}/between/{self.record.bursts}")
        roll, until = rng.random(), put_down.until
        if put_down.signals and (roll < 0.6 or until is None):
            self._answer(put_down, rng)
        elif until is not None and (roll < 0.9 or self.record.bursts > 20):
            self.clock.now = max(self.clock.now, until)
        else:
            self.clock.advance(rng.choice((0.5, 30.0, 1_000.0)))

    def _answer(self, put_down: PutDown, rng: Random) -> None:
        name = rng.choice(put_down.signals)
        asked = next((one for one in put_down.questions if one.name == name), None)
        choices = asked.choices if asked is not None else ()
        words = rng.choice((*choices, *choices, "approve", "deny", "maybe \ud800")) if choices else "as you like"
        letter = Letter(
            name, self.clock(), words, "ann", text=rng.choice((None, "because")), withdrawn=rng.random() < 0.1
        )
        for _ in range(rng.choice((1, 1, 2))):
            try:
                deliver(self.store, letter, rng.choice((None, "same")))
            except BadAnswer:
                self.clock.advance(1.0)

    def _done(self) -> None:
        """What a person is shown, as the last process has it, or as the journal does."""
        if self.record.result is not None:
            self.record.message = self.record.result.output
            return
        if self.store.last() is not None and (outcome := retell(self.store).run.outcome) is not None:
            self.record.message = message_of(outcome, lambda text: text_of(self.store, text))


def _apart(told: dict[str, Any], live: dict[str, Any], name: str) -> str:
    """Where the two differ first in the field of that name."""
    one, other = told[name], live[name]
    if {type(one), type(other)} == {list}:
        pairs: list[tuple[Any, Any]] = [*zip_longest(one, other)]
        at = next(at for at, (mine, its) in enumerate(pairs) if mine != its)
        return f"{name}[{at}]: told again {str(pairs[at][0])[:600]}, live {str(pairs[at][1])[:600]}"
    return f"{name}: told again {str(one)[:600]}, live {str(other)[:600]}"
