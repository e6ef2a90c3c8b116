"""The host around a run: what comes in, what is told, what is called, what is kept, and the loop over it.

A long file, since all of it plays on one model in this process, which no other module may import.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import anyio
import attrs
import orjson
import pytest

from machines.agent import agent_run as agents
from machines.agent import given
from machines.agent.agent import Agent
from machines.agent.finish import NOT_BORNE_OUT
from machines.agent.host import AgentHost
from machines.agent.notices import (
    CallsNotice,
    CondensedNotice,
    EndingNotice,
    Notice,
    Notices,
    ResultNotice,
    StateNotice,
    TextNotice,
)
from machines.agent.tools import AgentTool, ToolError, tool
from machines.agent.wire import CallPart, Completion, Message, Part, Refused, Request, ResultPart, TextPart
from machines.agent.world import World
from machines.commands import Ask, Command
from machines.drive import Loop
from machines.events import (
    Begin,
    Call,
    Cancel,
    Clock,
    Event,
    Facts,
    PollState,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
    Usage,
)
from machines.host import Key
from machines.journaled import AGENT_RUN, RunJournal
from machines.ledger.observe import forget
from machines.manifest import Kind, Tool, Wait
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Calls, Policy
from machines.state import Phase, new_run
from machines.words import HOW_TO_FINISH
from statecraft.journal import JournalError, MemoryStore, verify
from statecraft.replay import replay

pytestmark = pytest.mark.anyio

Move = Any
"""What a model does: a reply or anything else that it answers, an exception that it raises, or a function of both."""


class Model:
    """A model in this process that makes one move a request."""

    name = "in process"

    def __init__(self, *moves: Move) -> None:
        self._moves = list(moves)
        self.requests: list[list[Message]] = []
        self.tools: tuple[Any, ...] = ()

    async def complete(self, request: Request) -> Any:
        self.requests.append([*request.messages])
        self.tools = request.tools
        move: Any = self._moves[len(self.requests) - 1]
        if callable(move):
            move = await cast("Awaitable[Any]", move())
        if isinstance(move, BaseException):
            raise move
        return move

    async def aclose(self) -> None:
        """Nothing is open."""

    def heard(self, number: int = -1) -> list[Part]:
        """What the last message of a request says."""
        return [*self.requests[number][-1].parts]


def replies(*parts: Part, stop: StopReason = StopReason.TOOL_USE) -> Completion:
    return Completion(stop, parts, Usage(10, 5))


def calls(*names: str, first: int = 1) -> Completion:
    return replies(*(CallPart(f"c{first + n}", name, "{}") for n, name in enumerate(names)))


def finish(kind: str = "final", text: str = "done", id: str = "end") -> Completion:
    args = orjson.dumps({"kind": kind, "text": text}).decode()
    return replies(CallPart(id, "finish", args))


@tool
async def look() -> str:
    """Look."""
    return "seen"


class Told:
    """Notices, in order."""

    def __init__(self, agent: Agent) -> None:
        self.all: list[Notice] = []
        agent.notices.subscribe(self.all.append)

    def texts(self) -> list[tuple[str, bool]]:
        return [(one.text, one.checkpoint) for one in self.all if isinstance(one, TextNotice)]

    def results(self) -> list[tuple[str, str, str | None]]:
        return [(one.tool, one.content, one.error) for one in self.all if isinstance(one, ResultNotice)]


class Kept:
    """The stores of an agent's runs."""

    def __init__(self) -> None:
        self.stores: dict[str, MemoryStore] = {}

    def __call__(self, run: str) -> MemoryStore:
        return self.stores.setdefault(run, MemoryStore())

    def lines(self, run: str = "run") -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.stores[run].lines()]

    def events(self, run: str = "run") -> str:
        return b"\n".join(self.stores[run].lines()).decode()


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[Noting]:
    """The hosts that agents make, with the keys of what they were asked."""
    made: list[Noting] = []

    def make(*given: Any, **more: Any) -> Noting:
        made.append(Noting(*given, **more))
        return made[-1]

    monkeypatch.setattr(agents, "AgentHost", make)
    return made


class Noting(AgentHost):
    """A host that notes the keys of its commands."""

    keys: list[Key]

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.keys = []

    async def effect(self, command: Command, key: Key) -> Sequence[Event]:
        self.keys.append(key)
        return await super().effect(command, key)


# --- the loop over its journal


class Failing(MemoryStore):
    """A store that cannot keep one line, and can keep those after it."""

    fails_at = 0

    def append(self, seq: int, line: bytes) -> None:
        if len([*self.lines()]) == self.fails_at:
            self.fails_at = -1
            raise JournalError("the disk is full")
        super().append(seq, line)


async def test_a_line_that_cannot_be_written_leaves_an_open_journal_that_replays(hosts: list[Noting]) -> None:
    async def spoken_to() -> Completion:
        hosts[-1].say("one more thing")  # comes with the ending, so that a new leg begins after it
        return finish()

    moves = [calls("look", "look"), replies(TextPart("a note")), calls("look", first=7), spoken_to, finish(id="e2")]
    kept = Kept()
    assert (await Agent(Model(*moves), [look], journal=kept).run("go", run="run")).ok
    count = len(kept.lines())
    assert count > 6
    for at in range(1, count):
        store = Failing()
        store.fails_at = at
        kept.stores = {"run": store}
        under_way = Agent(Model(*moves), [look], journal=kept).start("go", run="run")
        with pytest.raises(JournalError, match="the disk is full"):
            await under_way.result()
        assert (verify(store).verdict, len([*store.lines()])) == ("open", at)
        assert replay(store, AGENT_RUN).difference is None
        assert under_way.open_calls == ()


async def test_the_key_of_a_command_names_the_line_that_asked_for_it(hosts: list[Noting]) -> None:
    async def interrupted() -> Completion:
        hosts[0].say("wait, look elsewhere")
        return calls("look", "look")

    kept = Kept()
    assert (await Agent(Model(interrupted, finish()), [look], journal=kept).run("go", run="run")).ok
    lines = kept.lines()
    kinds = [key.kind for key in hosts[0].keys]
    assert kinds == ["Ask", "AnswerCalls", "Ask"]
    for key in hosts[0].keys:
        asked = orjson.dumps(lines[key.sequence]["commands"]).decode()
        assert key.kind in asked, (key, asked)


async def test_a_person_who_speaks_begins_a_leg_and_what_the_old_one_asked_for_is_not_done(hosts: list[Noting]) -> None:
    ran: list[str] = []

    @tool
    async def note() -> str:
        """Note it."""
        ran.append("note")
        return "noted"

    async def interrupted() -> Completion:
        hosts[0].say("stop that")
        return calls("note")

    model = Model(interrupted, finish())
    result = await Agent(model, [note], journal=(kept := Kept())).run("go", run="run")
    assert (result.ok, ran, len(model.requests)) == (True, [], 2)
    answer, said = model.heard()
    assert isinstance(answer, ResultPart)
    assert answer.error
    assert said == TextPart("stop that")
    assert [line["kind"] for line in kept.lines()].count("leg") == 1
    assert replay(kept.stores["run"], AGENT_RUN).difference is None


class Puppet:
    """A host that answers from a script, by the kind of the command."""

    def __init__(self, **answers: list[Sequence[Event]]) -> None:
        self._answers = answers
        self.waited: list[float] = []
        self.settled: list[Command] = []

    async def effect(self, command: Command, key: Key) -> Sequence[Event]:
        del command
        left = self._answers.get(key.kind, [])
        return left.pop(0) if left else ()

    async def wait(self, until: float, signals: tuple[str, ...]) -> Event:
        del signals
        self.waited.append(until)
        return Clock(until)

    async def deliver(self, run: str, event: Event) -> None:
        """Nobody delivers anything."""

    def abandon(self) -> Sequence[Event]:
        return ()

    def settle(self, commands: Sequence[Command]) -> None:
        self.settled += commands

    def now(self) -> float:
        return 9.0


ARGS = Text("args", 2)


def looped(host: Puppet) -> tuple[Loop, MemoryStore]:
    poll = Tool(wait=Wait("*", ("queued",), ("done",), 100.0, 5.0))
    run = new_run("run", Policy(budget=Budget(turns=5, tokens=None, usd=None)), tools={"poll": poll})
    store = MemoryStore()
    return Loop(run, host, RunJournal.begin(store, run, host="puppet"), lambda event, fed: None), store


async def test_a_host_that_brings_nothing_is_an_error_and_the_run_has_an_ending() -> None:
    loop, store = looped(Puppet())
    with pytest.raises(RuntimeError, match="the host brought nothing to a run that is asking"):
        await loop.drive(Begin(0.0))
    assert loop.run.at is Phase.CANCELLED
    assert verify(store).verdict == "whole"


@pytest.mark.parametrize(("more", "waited"), [((), [7.0]), ((Signal(3.0, "it is done"),), [])])
async def test_a_wait_that_is_over_is_not_slept_through(more: tuple[Event, ...], waited: list[float]) -> None:
    polled = Reply(1.0, StopReason.TOOL_USE, (Call("1", "poll", b"12345678", ARGS),))
    looked = Result(2.0, "1", digest=b"12345678", poll=PollState.WAITING)
    host = Puppet(Ask=[(polled,), (Cancel(8.0),)], RunCalls=[(looked, *more)])
    loop, _ = looped(host)
    await loop.drive(Begin(0.0))
    assert (host.waited, loop.run.at) == (waited, Phase.CANCELLED)


async def test_the_calls_of_a_last_reply_are_settled_and_nothing_is_said_of_a_cancel() -> None:
    model = Model(calls("look"), calls("look", first=5))
    under_way = Agent(model, [look], policy=Policy(budget=Budget(turns=1))).start("go")
    result = await under_way.result()
    assert (result.limited, under_way.open_calls) == (True, ())
    host: Any = under_way
    last = host._host.transcript.outbound()[-1].parts
    assert [(part.call, part.error) for part in last if isinstance(part, ResultPart)] == [("c5", True)]
    assert "cancel" not in str(last)


# --- what comes from outside


def host_of(*moves: Move, tools: Sequence[AgentTool] = ()) -> AgentHost:
    world = World(Model(*moves), {one.name: one for one in tools}, "", 100)
    return AgentHost(world, Notices(), forget, lambda: new_run("alone"))


async def test_a_wait_lasts_until_its_time_has_come() -> None:
    host = host_of()
    until = host.now() + 0.05
    found = await host.wait(until, ())
    assert isinstance(found, Clock)
    assert found.at >= until
    assert host.now() >= until - 0.001
    assert isinstance(await host.wait(host.now() - 1, ()), Clock)


async def test_a_signal_stays_for_the_wait_that_asks_for_it() -> None:
    host = host_of(calls("look"))
    await host.deliver("run", Signal(0.0, "other"))
    await host.deliver("run", Signal(0.0, "built"))
    assert [type(event) for event in await host.effect(Ask(), Key("run", 1, "Ask"))] == [Reply]
    assert await host.wait(host.now() + 30, ("built",)) == Signal(0.0, "built")
    with anyio.move_on_after(0.02) as scope:
        await host.wait(host.now() + 30, ("built",))
    assert scope.cancelled_caught
    assert isinstance(await host.wait(host.now() + 0.02, ()), Clock)  # a wait for a time is no wait for a signal
    assert await host.wait(host.now() + 30, ("other",)) == Signal(0.0, "other")


async def test_a_wait_ends_when_something_is_said_or_the_run_is_cancelled() -> None:
    for event in ("said", "cancelled"):
        host = host_of()
        found: list[Event | None] = []
        async with anyio.create_task_group() as group:

            async def wait(host: AgentHost, found: list[Event | None]) -> None:
                found.append(await host.wait(host.now() + 30, ("built",)))

            group.start_soon(wait, host, found)
            await anyio.wait_all_tasks_blocked()
            if event == "said":
                host.say("never mind")
            else:
                host.post(Cancel(host.now()))
        assert isinstance(found[0], Said if event == "said" else Cancel)
        heard = [part for message in host.transcript.outbound() for part in message.parts]
        assert heard == ([TextPart("never mind")] if event == "said" else [])


async def test_a_cancel_is_fed_last_and_once() -> None:
    host = host_of()
    host.post(Cancel(1.0, "one"))
    host.say("wait")
    host.post(Cancel(2.0, "two"))
    events = host.abandon()
    assert [type(event) for event in events] == [Said, Cancel]
    assert events[-1] == Cancel(1.0, "one")


async def test_words_of_a_person_without_their_text_are_refused() -> None:
    with pytest.raises(ValueError, match="expected them by say"):
        await host_of().deliver("run", Said(0.0, Text("digest", 3)))


async def test_what_a_person_says_while_a_request_is_out_goes_into_the_next_one(hosts: list[Noting]) -> None:
    async def speaks() -> Completion:
        hosts[0].say("and quickly")
        return replies(TextPart("working on it"))

    model = Model(speaks, finish())
    assert (await Agent(model).run("go")).ok
    assert model.heard(0) == [TextPart("go")]
    assert model.requests[1][0].parts == (TextPart("go"),)
    assert TextPart("and quickly") in model.heard(1)


# --- what the application gives


SECRET = "sk-do-not-tell"


@pytest.mark.parametrize(
    ("move", "what"),
    [
        (ValueError(SECRET), "the provider raised ValueError"),
        (None, "the provider answered with NoneType, which is no reply"),
        ({"text": "x"}, "the provider answered with dict, which is no reply"),
        (Completion(StopReason.END_TURN, (SECRET,)), "a Completion: one of its parts"),  # type: ignore[arg-type]
        (Completion(StopReason.END_TURN, None), "found NoneType as its parts, expected tuple"),  # type: ignore[arg-type]
        (Completion("stop", ()), "found str as its stop, expected StopReason"),  # type: ignore[arg-type]
        (replies(CallPart(None, "look", "{}")), "a Completion: one of its parts"),  # type: ignore[arg-type]
        (Refused("no", "x"), "Refused, which is no reply"),  # type: ignore[arg-type]
    ],
)
async def test_a_provider_that_raises_or_returns_rubbish_gives_no_reply(
    move: Move, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept()
    result = await Agent(Model(move), [look], journal=kept).run("go", run="run")
    assert (result.status, result.outcome.reason.by) == (TerminalStatus.FAILED, "no_reply")
    assert what in str(dict(result.outcome.reason.values)["why"])
    assert what in caplog.text
    assert SECRET not in caplog.text + kept.events() + result.output
    assert verify(kept.stores["run"]).verdict == "whole"


async def test_a_provider_that_raises_at_the_last_reply_leaves_the_account() -> None:
    model = Model(calls("look"), RuntimeError("gone"))
    result = await Agent(model, [look], policy=Policy(budget=Budget(turns=1))).run("go")
    assert (result.limited, result.status) == (True, TerminalStatus.BLOCKED)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancelled_future_of_the_providers_own_cancels_no_run() -> None:
    async def cancelled() -> None:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    result = await Agent(Model(cancelled)).run("go")
    assert result.outcome.reason.by == "no_reply"


def gives(value: Any) -> Callable[..., Awaitable[Any]]:
    async def give(*asked: object) -> Any:
        if isinstance(value, BaseException):
            raise value
        if value is anyio.sleep_forever:
            await anyio.sleep_forever()
        return value

    return give


RUBBISH = [ValueError("no"), {"grounded": True}, Facts(grounded="yes"), Facts(eligible=True), anyio.sleep_forever]  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [*RUBBISH, Facts(grounded=True, eligible=2), None])
async def test_facts_that_are_none_leave_an_answer_unverified_and_are_logged(
    value: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given, "ASKED_SECONDS", 0.02)
    with caplog.at_level(logging.ERROR, "machines.agent"):
        result = await Agent(Model(finish()), facts=gives(value)).run("go")
    sound = isinstance(value, Facts) and value.grounded is True
    assert result.ok
    assert (Fact.UNVERIFIED in result.facts) is not sound
    assert ("facts" in caplog.text) is (any(value is one for one in RUBBISH))


async def test_facts_are_asked_of_the_message_as_it_was_told_with_its_kind() -> None:
    asked: list[Completion] = []

    async def facts(answer: Completion) -> Facts:
        asked.append(answer)
        return Facts(grounded=len(asked) == 3)

    model = Model(calls("look"), replies(TextPart("a note")), finish(text="too soon"), finish(text="It is 3.", id="e2"))
    result = await Agent(model, [look], facts=facts).run("go")
    assert (result.ok, result.output) == (True, "It is 3.")
    assert [(one.text, [orjson.loads(c.args)["kind"] for c in one.calls]) for one in asked] == [
        ("a note", []),
        ("too soon", ["final"]),
        ("It is 3.", ["final"]),
    ]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ((1, 2), True),
        ((1.5, 2.0), True),
        *((rubbish, False) for rubbish in ((1,), [1, 2], (1, "2"), (True, 2), (1, float("nan")), None)),
        (ValueError("no"), False),
        (anyio.sleep_forever, False),
    ],
)
async def test_a_goal_is_asked_after_each_turns_calls_and_rubbish_is_not_told(
    value: Any, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given, "ASKED_SECONDS", 0.02)
    kept = Kept()
    assert (
        await Agent(Model(calls("look"), finish()), [look], goal=gives(value), journal=kept).run("go", run="run")
    ).ok
    assert ("GoalMeasured" in kept.events()) is told


# --- what is told


async def test_the_notices_of_a_small_run_in_their_order() -> None:
    model = Model(replies(TextPart("let me see"), CallPart("1", "look", "{}")), replies(TextPart("a note")), finish())
    agent = Agent(model, [look])
    told = Told(agent)
    result = await agent.run("go")
    assert {n.run for n in told.all} == {result.run}
    plain = [attrs.evolve(n, run="") for n in told.all]
    assert [(n.state, n.turn) if isinstance(n, StateNotice) else n for n in plain] == [
        ("asking", 0),
        TextNotice("let me see"),
        ("acting", 1),
        CallsNotice((("1", "look", "{}"),)),
        ResultNotice("1", "look", "seen", None),
        ("asking", 1),
        ("asking", 2),
        TextNotice("a note", checkpoint=True),
        ("completed", 2),
        EndingNotice(result.outcome, "done"),
    ]
    assert model.heard()[-1] == TextPart(HOW_TO_FINISH)


async def test_a_declaration_that_the_facts_do_not_bear_out_is_shown_and_answered_in_other_words() -> None:
    asked: list[Completion] = []

    async def facts(answer: Completion) -> Facts:
        asked.append(answer)
        return Facts(grounded=len(asked) > 1)

    model = Model(finish(text="too soon"), finish(text="It is 3.", id="e2"))
    agent = Agent(model, facts=facts)
    told = Told(agent)
    assert (await agent.run("go")).output == "It is 3."
    assert told.texts() == [("too soon", True)]
    assert model.heard() == [TextPart(NOT_BORNE_OUT)]


async def test_a_declaration_that_cannot_be_read_is_a_failed_call() -> None:
    bad = replies(CallPart("1", "finish", '{"kind": "final"}'))
    model = Model(bad, finish())
    agent = Agent(model)
    told = Told(agent)
    assert (await agent.run("go")).ok
    ((name, content, error),) = told.results()
    assert (name, error) == ("finish", "validation")
    assert "text" in content
    assert model.heard() == [ResultPart("1", content, error=True)]


async def test_a_declaration_beside_other_calls_does_not_end_the_run() -> None:
    both = replies(CallPart("1", "look", "{}"), CallPart("2", "finish", '{"kind": "final", "text": "early"}'))
    model = Model(both, finish(text="late"))
    result = await Agent(model, [look]).run("go")
    assert result.output == "late"
    one, other = model.heard()
    assert one == ResultPart("1", "seen")
    assert isinstance(other, ResultPart)
    assert other.error
    assert other.content.startswith("not finished: other tools were called")


async def test_after_a_cut_text_the_model_is_told_to_go_on() -> None:
    model = Model(replies(TextPart("It i"), stop=StopReason.LENGTH), finish())
    assert (await Agent(model).run("go")).ok
    (told,) = model.heard()
    assert isinstance(told, TextPart)
    assert told.text.startswith("Your reply was cut off at its budget. Go on exactly where it stopped")


async def test_the_model_is_told_of_a_tool_what_its_schema_says_and_no_more() -> None:
    @tool(manifest=Tool(kind=Kind.WRITE, target=("path",), timeout_seconds=7, family="files"))
    async def put(path: str) -> str:
        """Put something."""
        return path

    model = Model(finish())
    await Agent(model, [put]).run("go")
    shown = next(attrs.asdict(schema) for schema in model.tools if schema.name == "put")
    properties = {"path": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["path"], "additionalProperties": False}
    assert shown == {"name": "put", "description": "Put something.", "schema": schema}


# --- the calls of a turn


async def test_calls_run_at_once_and_one_that_is_alone_keeps_its_place() -> None:
    log: list[str] = []
    both = anyio.Event()

    def made(name: str, *, alone: bool = False) -> AgentTool:
        async def act() -> str:
            """Act."""
            log.append(f"{name} begins")
            if name == "c":
                with anyio.fail_after(5):
                    await both.wait()  # set by `d`, which has to run beside it
            if name == "d":
                both.set()
            await anyio.sleep(0)
            log.append(f"{name} ends")
            return name

        return tool(name=name, alone=alone)(act)

    tools = [made("a"), made("b", alone=True), made("c"), made("d")]
    model = Model(calls("a", "b", "c", "d"), finish())
    agent = Agent(model, tools)
    assert (await agent.run("go")).ok
    assert log[:4] == ["a begins", "a ends", "b begins", "b ends"]
    assert sorted(log[4:6]) == ["c begins", "d begins"]
    assert [part.content for part in model.heard() if isinstance(part, ResultPart)] == ["a", "b", "c", "d"]


class Stop(BaseException):
    pass


@pytest.mark.parametrize("beside", [0, 1])
async def test_two_calls_break_a_run_as_one_does(beside: int) -> None:
    @tool
    async def stop() -> str:
        """Stop everything."""
        await anyio.sleep(0)
        raise Stop("now")

    kept = Kept()
    under_way = Agent(Model(calls("stop", *["look"] * beside)), [stop, look], journal=kept).start("go", run="run")
    with pytest.raises(Stop, match="now"):
        await under_way.result()
    assert under_way.open_calls == ()
    assert verify(kept.stores["run"]).verdict == "whole"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_call_that_its_group_drops_without_a_word_gets_an_error_result() -> None:
    @tool(manifest=Tool(kind=Kind.WRITE))
    async def ends_itself() -> str:
        """Cancel the task that it runs in."""
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return ""

    agent = Agent(Model(calls("ends_itself", "ends_itself"), finish()), [ends_itself])
    told = Told(agent)
    assert (await agent.run("go")).ok
    assert {error for _, _, error in told.results()} == {"other"}
    assert all("Whether it took effect is not known" in content for _, content, _ in told.results())


@pytest.mark.parametrize("id", ["", "same"])
async def test_a_provider_that_repeats_ids_or_leaves_them_out_makes_no_call_run_twice(id: str) -> None:
    ran: list[int] = []

    @tool
    async def note(number: int) -> str:
        """Note a number."""
        ran.append(number)
        return f"noted {number}"

    turns = [replies(*(CallPart(id, "note", f'{{"number": {n}}}') for n in (at, at + 1))) for at in (1, 3, 5)]
    model = Model(*turns, finish(id=id))
    result = await Agent(model, [note]).run("go")
    assert (result.ok, sorted(ran)) == (True, [1, 2, 3, 4, 5, 6])
    ids = [part.id for message in model.requests[-1] for part in message.parts if isinstance(part, CallPart)]
    assert len(set(ids)) == 6
    assert all(ids)
    assert [part.content for part in model.heard() if isinstance(part, ResultPart)] == ["noted 5", "noted 6"]


async def test_what_the_ledger_learns_of_a_write_is_its_state_and_that_it_wrote() -> None:
    states = iter(["one", "two", "two", "two"])

    async def digest(target: str) -> str:
        return next(states)

    @tool(manifest=Tool(kind=Kind.WRITE, target=("path",)), digest=digest)
    async def put(path: str) -> str:
        """Put something."""
        return path

    kept = Kept()
    model = Model(*(replies(CallPart(str(n), "put", '{"path": "here"}')) for n in range(2)), finish())
    assert (await Agent(model, [put], journal=kept).run("go", run="run")).ok
    results = [line["event"] for line in kept.lines() if line.get("event", {}).get("is") == "Result"]
    assert [one["wrote"] for one in results] == [True, False]
    assert results[0]["state"] == results[1]["state"] is not None


# --- condensing


def big(size: int) -> AgentTool:
    @tool
    async def read() -> str:
        """Read much."""
        return "x" * size

    return read


TOO_LARGE = Refused(413, "too large", too_long=True)


async def test_condensing_sets_aside_what_is_too_long_though_unseen_and_tells_it() -> None:
    model = Model(calls("read"), TOO_LARGE, TOO_LARGE, finish())  # a plainly short one is sent once more
    agent = Agent(model, [big(100_000)])
    heard = Told(agent)
    assert (await agent.run("go")).ok
    assert len([one for one in heard.all if isinstance(one, CondensedNotice)]) == 1
    (answer,) = model.heard()
    assert isinstance(answer, ResultPart)
    assert "100000 characters in all" in answer.content


async def test_where_nothing_can_be_condensed_the_run_overflows_and_nothing_is_told() -> None:
    model = Model(calls("read"), TOO_LARGE, TOO_LARGE)
    agent = Agent(model, [big(10)])
    heard = Told(agent)
    result = await agent.run("go")
    assert (result.outcome.reason.by, len(model.requests)) == ("context_overflow", 3)
    assert not [one for one in heard.all if isinstance(one, CondensedNotice)]


async def test_a_tool_error_names_its_kind_in_the_notice() -> None:
    @tool
    async def refuse() -> str:
        """Refuse."""
        raise ToolError("permission", "not yours")

    agent = Agent(Model(calls("refuse"), finish()), [refuse])
    told = Told(agent)
    await agent.run("go")
    assert told.results() == [("refuse", "not yours", "permission")]


@pytest.mark.parametrize("kind", [Kind.WRITE, Kind.READ])
async def test_a_write_that_is_broken_off_by_a_cancel_says_that_its_effect_is_not_known(
    kind: Kind, hosts: list[Noting]
) -> None:
    started = anyio.Event()

    @tool(manifest=Tool(kind=kind))
    async def put() -> str:
        """Write for ever."""
        started.set()
        await anyio.sleep_forever()
        return ""

    under_way = Agent(Model(calls("put")), [put]).start("go")
    async with anyio.create_task_group() as group:
        group.start_soon(under_way.result)
        await started.wait()
        under_way.cancel()
    (answer,) = hosts[0].transcript.outbound()[-1].parts
    said = "no answer came before the turn was over"
    said += ". Whether it took effect is not known." if kind is Kind.WRITE else ""
    assert answer == ResultPart("c1", said, error=True)


async def test_a_call_that_nothing_answers_by_the_end_is_told_that_the_run_has_ended() -> None:
    host = host_of(calls("look"), tools=[look])
    await host.effect(Ask(), Key("run", 1, "Ask"))
    host.settle([])
    assert host.transcript.outbound()[-1].parts == (ResultPart("c1", "no answer: the run has ended", error=True),)


async def test_a_call_that_timed_out_is_seen_by_the_ledger() -> None:
    @tool(manifest=Tool(timeout_seconds=0.02))
    async def hang() -> str:
        """Hang."""
        await anyio.sleep_forever()
        return ""

    kept = Kept()
    assert (await Agent(Model(calls("hang"), finish()), [hang], journal=kept).run("go", run="run")).ok
    (result,) = [line["event"] for line in kept.lines() if line.get("event", {}).get("is") == "Result"]
    assert result["error"] == "timeout"
    assert result["digest"] is not None


@pytest.mark.parametrize("repairs", [True, False])
async def test_a_tool_is_known_by_a_name_that_is_wrong_in_form_unless_the_policy_says_no(repairs: bool) -> None:
    model = Model(calls("functions.Look"), finish())
    kept = Kept()
    agent = Agent(model, [look], journal=kept, policy=Policy(calls=Calls(names=repairs)))
    assert (await agent.run("go", run="run")).ok
    (answer,) = model.heard(1)
    assert isinstance(answer, ResultPart)
    assert answer.content == ("seen" if repairs else "there is no tool functions.Look; the nearest are: look")
    assert ('"named":"functions.Look"' in kept.events()) is repairs


@pytest.mark.parametrize("stop", [StopReason.TOOL_USE, StopReason.END_TURN, StopReason.LENGTH])
async def test_a_call_that_ends_in_the_middle_is_cut_whatever_the_provider_calls_it(stop: StopReason) -> None:
    half = replies(CallPart("c1", "look", '{"where": "he'), stop=stop)
    model = Model(half, finish())
    assert (await Agent(model, [look]).run("go")).ok
    answer, told = model.heard(1)
    assert isinstance(answer, ResultPart)
    assert answer.content == "the reply was cut off, so its calls may be incomplete"
    assert isinstance(told, TextPart)
    assert "none of its calls was run" in told.text


async def test_a_call_that_is_garbled_is_answered_alone_and_the_others_are_run() -> None:
    model = Model(replies(CallPart("c1", "look", '{"where" 1}'), CallPart("c2", "look", "{}")), finish())
    assert (await Agent(model, [look]).run("go")).ok
    first, second = model.heard(1)
    assert isinstance(first, ResultPart)
    assert isinstance(second, ResultPart)
    assert first.content.startswith("the arguments are not a JSON object: no JSON: Expecting ':'")
    assert second.content == "seen"
