"""Runs that are put down and taken up again: what is sent, what is not, and what the model reads of it."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import attrs
import orjson
import pytest

from machines.agent.agent import Agent
from machines.agent.agent_run import PutDown
from machines.agent.calling import idempotency_key
from machines.agent.from_outside import WaitFor, wait_for
from machines.agent.people import ask_person
from machines.agent.result import RunResult
from machines.agent.taking_up import RunOver, retell, take_up
from machines.agent.tools import AgentTool, tool
from machines.agent.wire import CallPart, Completion, Part, Request, ResultPart, TextPart, ThinkingPart
from machines.events import StopReason, Usage
from machines.letters import BadAnswer, Letter, deliver, fitting, post
from machines.manifest import Consent, Kind, Tool
from machines.outcome import Fact, TerminalStatus
from machines.pending import UNKNOWN
from machines.policy import Budget, Policy
from machines.standing import ENDED, standing_of
from statecraft.journal import FileStore, FolderShelf, JournalError, Overtaken, SqliteShelf, SqliteStore, Store, verify
from statecraft.replay import TableChanged

pytestmark = pytest.mark.anyio

DAYS = Policy(budget=Budget(seconds=1_000_000.0))


class Clock:
    """A wall clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Model:
    """A model in this process that makes one move a request: a reply, or something to await first."""

    name = "in process"

    def __init__(self, *moves: Any) -> None:
        self.moves: list[Any] = list(moves)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Any:
        self.requests.append(attrs.evolve(request, messages=[*request.messages]))
        move: Any = self.moves.pop(0)
        if callable(move):
            return await cast("Awaitable[Any]", move())
        return move

    async def aclose(self) -> None:
        """Nothing is open."""

    def heard(self) -> list[Part]:
        """What the last message of the last request says."""
        return [*self.requests[-1].messages[-1].parts]


def calls(*made: tuple[str, dict[str, Any]], first: int = 1) -> Completion:
    parts = (CallPart(f"c{n}", name, orjson.dumps(args).decode()) for n, (name, args) in enumerate(made, first))
    return Completion(StopReason.TOOL_USE, tuple(parts), Usage(10, 5))


def finish(text: str = "done") -> Completion:
    return calls(("finish", {"kind": "final", "text": text}), first=99)


ASK = ("ask_person", {"question": "Which colour?", "choices": ["red", "blue"], "deadline": 3_600})


@attrs.define
class World:
    """One place for journals, and one clock, for agents of several processes."""

    folder: Path
    clock: Clock = attrs.field(factory=Clock)
    done: list[str] = attrs.field(factory=list[str])

    def store(self, run: str) -> Store:
        return FileStore(self.folder / f"{run}.jsonl")

    def agent(self, model: Model, *tools: AgentTool, policy: Policy = DAYS) -> Agent:
        return Agent(model, tools, policy=policy, journal=self.store, clock=self.clock)

    def answer(self, answer: str | None, *, to: str = "c1", id: str = "letter", **more: Any) -> None:
        assert deliver(self.store("run"), Letter(to, self.clock.now, answer, **more), id)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def put_down(agent: Agent, run: str = "run") -> PutDown:
    found = await agent.start("go", run=run).burst()
    assert isinstance(found, PutDown)
    return found


async def taken_up(agent: Agent, run: str = "run") -> RunResult:
    found = await agent.resume(run).burst()
    assert isinstance(found, RunResult)
    return found


async def test_a_run_that_asks_a_person_is_put_down_and_goes_on_with_the_answer(world: World) -> None:
    first = Model(calls(ASK))
    down = await put_down(world.agent(first, ask_person))
    (question,) = down.questions
    assert (question.question, question.choices, question.tool) == ("Which colour?", ("red", "blue"), "ask_person")
    assert down.until == pytest.approx(world.clock.now + 3_600, abs=1)
    assert verify(world.store("run")).verdict == "open"
    world.clock.now += 3_000
    world.answer("blue", by="ann", text="the dark one")
    world.clock.now += 9_000  # nothing ran when the time was over, and the answer was there by then
    second = Model(finish())
    result = await taken_up(world.agent(second, ask_person))
    assert result.ok
    (answer,) = second.heard()
    assert isinstance(answer, ResultPart)
    assert not answer.error
    assert orjson.loads(answer.content) == {
        "status": "answered",
        "answer": "blue",
        "text": "the dark one",
        "by": "ann",
        "when": "2023-11-14T23:03:20+00:00",
    }
    assert second.requests[0].messages[: len(first.requests[0].messages)] == first.requests[0].messages
    assert world.store("run").mail() == []
    assert verify(world.store("run")).verdict == "whole"
    assert result.account.turns == 1


@pytest.mark.parametrize(
    ("answered", "said"),
    [(True, "that time was over, so it counts for nothing"), (False, "no denial, and no approval either")],
)
async def test_an_answer_that_comes_too_late_is_none_and_an_unanswered_question_is_no_denial(
    world: World,
    answered: bool,
    said: str,
) -> None:
    await put_down(world.agent(Model(calls(ASK)), ask_person))
    world.clock.now += 3_700
    if answered:
        world.answer("blue")
    model = Model(finish())
    assert (await taken_up(world.agent(model, ask_person))).ok
    (answer,) = model.heard()
    assert isinstance(answer, ResultPart)
    assert answer.error
    assert said in answer.content


async def test_a_wait_that_nothing_has_come_for_is_put_down_again(world: World) -> None:
    first = await put_down(world.agent(Model(calls(ASK)), ask_person))
    for _ in range(3):
        world.clock.now += 100
        again = await world.agent(Model(), ask_person).resume("run").burst()
        assert isinstance(again, PutDown)
        assert again.until == pytest.approx(first.until, abs=1)  # the deadline stands where it stood
    world.answer("red")
    assert (await taken_up(world.agent(Model(finish()), ask_person))).ok


@contextmanager
def approving(seconds: float | None = None) -> Generator[tuple[AgentTool, list[str]]]:
    """A tool that wants a consent to each call, and what it has done."""
    done: list[str] = []

    @tool(manifest=Tool(kind=Kind.COMMAND, consent=Consent(wait_seconds=60.0, lasts_seconds=seconds)))
    async def deploy(place: str) -> str:
        """Deploy."""
        done.append(place)
        return f"deployed to {place}"

    yield deploy, done


@pytest.mark.parametrize(
    ("answer", "ran", "said"),
    [("approve", ["live"], "deployed to live"), ("deny", [], "denied by ann"), (None, [], "withdrawn by ann")],
)
async def test_a_consent_decides_whether_the_call_runs(
    world: World, answer: str | None, ran: list[str], said: str
) -> None:
    with approving() as (deploy, done):
        down = await put_down(world.agent(Model(calls(("deploy", {"place": "live"}))), deploy))
        (question,) = down.questions
        assert (question.args, question.choices) == ('{"place":"live"}', ("approve", "deny"))
        assert done == []
        world.answer(answer, by="ann", withdrawn=answer is None)
        model = Model(finish())
        result = await taken_up(world.agent(model, deploy))
        assert done == ran
        (heard,) = model.heard()
        assert isinstance(heard, ResultPart)
        assert said in heard.content
        assert heard.error is (answer != "approve")
        assert result.facts == ((Fact.UNVERIFIED,))


async def test_an_approval_that_has_run_out_when_the_run_is_taken_up_runs_nothing(world: World) -> None:
    with approving(seconds=30.0) as (deploy, done):
        await put_down(world.agent(Model(calls(("deploy", {"place": "live"}))), deploy))
        world.answer("approve")
        world.clock.now += 31
        assert (await taken_up(world.agent(Model(finish()), deploy))).ok
        assert done == []


async def test_a_signal_answers_the_call_that_waits_for_it_and_its_tool_is_not_run_again(world: World) -> None:
    @tool
    async def pay(amount: int) -> WaitFor:
        """Pay."""
        world.done.append(f"asked for {amount}")
        return wait_for(f"payment-{amount}", seconds=600)

    down = await put_down(world.agent(Model(calls(("pay", {"amount": 7}))), pay))
    assert [one.awaited for one in down.questions] == ["signal"]
    world.answer(None, to="payment-7", text='{"paid": true}')
    model = Model(finish())
    assert (await taken_up(world.agent(model, pay))).ok
    (answer,) = model.heard()
    assert isinstance(answer, ResultPart)
    assert orjson.loads(answer.content)["text"] == '{"paid": true}'
    assert world.done == ["asked for 7"]


async def broken_off(agent: Agent, run: str = "run", *, resumed: bool = False) -> None:
    """Drive a run until nothing moves any more, and end its task, as the end of its process does."""
    under_way = agent.resume(run) if resumed else agent.start("go", run=run)
    async with anyio.create_task_group() as group:
        group.start_soon(under_way.burst)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()


def hanging(world: World, manifest: Tool) -> AgentTool:
    """A tool that notes its key and hangs, and does its work when the world lets it."""

    @tool(name="work", manifest=manifest)
    async def work() -> str:
        """Work."""
        world.done.append(idempotency_key())
        if len(world.done) < 2:
            await anyio.sleep_forever()
        return "worked"

    return work


@pytest.mark.parametrize("manifest", [Tool(kind=Kind.COMMAND, idempotent=True), Tool(kind=Kind.READ)])
async def test_what_was_in_flight_is_sent_again_under_its_key_where_that_does_no_harm(
    world: World, manifest: Tool
) -> None:
    await broken_off(world.agent(Model(calls(("work", {}))), hanging(world, manifest)))
    model = Model(finish())
    assert (await taken_up(world.agent(model, hanging(world, manifest)))).ok
    assert len(world.done) == 2
    assert len(set(world.done)) == 1
    assert world.done[0].startswith("run/")
    assert model.heard() == [ResultPart("c1", "worked")]


@pytest.mark.parametrize("manifest", [Tool(), Tool(kind=Kind.COMMAND), Tool(kind=Kind.WRITE)])
async def test_what_was_in_flight_is_reported_where_it_may_have_happened(world: World, manifest: Tool) -> None:
    await broken_off(world.agent(Model(calls(("work", {}))), hanging(world, manifest)))
    model = Model(finish())
    result = await taken_up(world.agent(model, hanging(world, manifest)))
    assert len(world.done) == 1
    assert model.heard() == [ResultPart("c1", UNKNOWN, error=True)]
    assert Fact.SIDE_EFFECTS_UNCONFIRMED in result.facts
    assert [one.tool for one in result.account.unconfirmed] == ["work"]
    assert "Not known whether it took effect: work" in "\n".join(result.summary)


async def test_nothing_is_sent_a_third_time(world: World) -> None:
    @tool(manifest=Tool(idempotent=True))
    async def fatal() -> str:
        """End the process."""
        world.done.append(idempotency_key())
        await anyio.sleep_forever()
        return "never"

    await broken_off(world.agent(Model(calls(("fatal", {}))), fatal))
    await broken_off(world.agent(Model(), fatal), resumed=True)
    model = Model(finish())
    await taken_up(world.agent(model, fatal))
    assert len(world.done) == 2
    assert model.heard() == [ResultPart("c1", UNKNOWN, error=True)]


async def test_a_request_in_flight_is_sent_five_times_at_most_and_then_the_run_fails_by_it(world: World) -> None:
    await broken_off(world.agent(Model(anyio.sleep_forever)))
    again = Model(*[anyio.sleep_forever] * 9)
    for _ in range(4):
        await broken_off(world.agent(again), resumed=True)
    assert len(again.requests) == 4
    result = await taken_up(world.agent(Model()))
    assert result.status is TerminalStatus.FAILED
    assert result.outcome.reason.by == "no_reply"


async def test_a_last_reply_that_was_in_flight_is_asked_for_with_the_same_words(world: World) -> None:
    policy = Policy(budget=Budget(turns=1, seconds=None))
    first = Model(calls(("nothing", {})), anyio.sleep_forever)
    await broken_off(world.agent(first, policy=policy))
    assert first.requests[-1].no_tools
    second = Model(finish("that was all"))
    result = await taken_up(world.agent(second, policy=policy))
    assert result.limited
    assert second.requests[0].no_tools
    assert second.requests[0].messages == first.requests[-1].messages


async def test_thinking_and_whatever_else_a_provider_wants_back_comes_back_as_it_was(world: World) -> None:
    raw = {"type": "thinking", "thinking": "hm", "signature": "sig\ud83d"}
    parts = (ThinkingPart("hm", raw), TextPart(" I ask. "), *calls(ASK).parts)
    await put_down(world.agent(Model(Completion(StopReason.TOOL_USE, parts, Usage(10, 5))), ask_person))
    world.answer("red")
    model = Model(finish())
    await taken_up(world.agent(model, ask_person))
    assert model.requests[0].messages[1].parts == parts


async def test_the_plan_is_there_again_with_all_that_its_items_held(world: World) -> None:
    todos = [{"content": "ask", "status": "in_progress", "note": "first"}]
    await put_down(world.agent(Model(calls(("write_todos", {"todos": todos})), calls(ASK, first=5)), ask_person))
    world.answer("red", to="c5")
    model = Model(calls(("read_todos", {}), first=7), finish(), finish())
    result = await taken_up(world.agent(model, ask_person))
    assert [dict(item) for item in result.todos] == todos
    read = model.requests[1].messages[-1].parts[0]
    assert isinstance(read, ResultPart)
    assert orjson.loads(read.content) == todos


async def test_a_snapshot_and_a_replay_from_the_beginning_come_to_the_same(world: World) -> None:
    await put_down(world.agent(Model(calls(("nothing", {})), calls(ASK, first=5)), ask_person))
    store = world.store("run")
    short = take_up(store)
    store.keep("snapshot", None)
    whole = take_up(store)
    assert short.lines < whole.lines
    assert short.run == whole.run
    assert short.retold.talk.transcript.plain() == whole.retold.talk.transcript.plain()
    assert short.retold.asked["WaitUntil"].line == whole.retold.asked["WaitUntil"].line


@pytest.mark.parametrize("damage", [b"", b"{", b'{"format":"statecraft.snapshot/1"}', b"null", b"[1]"])
async def test_a_snapshot_that_cannot_be_believed_is_as_none(world: World, damage: bytes) -> None:
    await put_down(world.agent(Model(calls(ASK)), ask_person))
    store = world.store("run")
    good = store.kept("snapshot")
    assert good is not None
    store.keep("snapshot", damage)
    assert take_up(store).lines > 1
    store.keep("snapshot", good.replace(b'"seq":', b'"seq":1'))
    assert take_up(store).lines > 1


async def test_a_text_that_is_gone_is_named_and_the_run_stays_as_it_is(world: World) -> None:
    await put_down(world.agent(Model(calls(ASK)), ask_person))
    store = world.store("run")
    store.keep("snapshot", None)
    before = [*store.lines()]
    (task,) = [orjson.loads(line)["event"]["task"]["digest"] for line in before if b'"Begin"' in line]
    assert store.drop(task)
    with pytest.raises(JournalError, match=f"seq 1 names a text of 2 characters, {task[:12]}"):
        world.agent(Model(), ask_person).resume("run")
    assert [*world.store("run").lines()] == before


async def test_a_run_of_other_rules_is_refused(world: World) -> None:
    await put_down(world.agent(Model(calls(ASK)), ask_person))
    store = world.store("run")
    path = world.folder / "run.jsonl"
    table = orjson.loads(next(iter(store.lines())))["table"]
    path.write_bytes(path.read_bytes().replace(table.encode(), b"0" * 64))
    with pytest.raises(TableChanged, match="has changed since this run was recorded"):
        take_up(store)


async def test_a_run_that_has_ended_is_not_taken_up(world: World) -> None:
    await world.agent(Model(finish())).run("go", run="run")
    with pytest.raises(RunOver, match="has ended, as completed"):
        world.agent(Model()).resume("run")


async def test_of_two_who_take_a_run_up_one_goes_on(tmp_path: Path) -> None:
    shelf = SqliteShelf(tmp_path / "runs.db")
    clock = Clock()

    def agent(model: Model) -> Agent:
        return Agent(model, [ask_person], policy=DAYS, journal=shelf.store, clock=clock)

    await put_down(agent(Model(calls(ASK))))
    post(shelf.store("run"), "letter", Letter("c1", clock.now, "red"))
    one, two = agent(Model(finish("one"))).resume("run"), agent(Model(finish("two"))).resume("run")
    result = await one.burst()
    assert isinstance(result, RunResult)
    with pytest.raises(JournalError):
        await two.burst()
    assert verify(shelf.store("run")).verdict == "whole"
    shelf.close()


async def test_while_one_process_drives_a_run_another_one_is_refused(tmp_path: Path) -> None:
    clock = Clock()

    def agent(model: Model) -> Agent:
        def store(run: str) -> Store:
            return SqliteStore(tmp_path / "runs.db", run)

        return Agent(model, [], policy=DAYS, journal=store, clock=clock)

    under_way = agent(Model(anyio.sleep_forever)).start("go", run="run")
    async with anyio.create_task_group() as group:
        group.start_soon(under_way.burst)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(JournalError, match="another process is at work on this run"):
            await agent(Model()).resume("run").burst()
        group.cancel_scope.cancel()
    assert (await taken_up(agent(Model(finish())))).ok


async def test_a_clock_that_was_put_back_makes_no_time_run_again(world: World) -> None:
    await put_down(world.agent(Model(calls(ASK)), ask_person))
    world.clock.now += 1_000
    again = await world.agent(Model(), ask_person).resume("run").burst()
    assert isinstance(again, PutDown)
    world.clock.now -= 50_000
    world.answer("red")
    result = await taken_up(world.agent(Model(finish()), ask_person))
    assert result.ok
    assert result.account.seconds >= 1_000


async def test_a_run_that_waits_in_its_process_takes_an_answer_from_another(world: World) -> None:
    agent = world.agent(Model(calls(ASK), finish()), ask_person)
    under_way = agent.start("go", run="run")
    results: list[RunResult] = []

    async def drive() -> None:
        results.append(await under_way.result())

    async with anyio.create_task_group() as group:
        group.start_soon(drive)
        while standing_of(world.store("run")) is None:
            await anyio.sleep(0.01)
        world.answer("red")
        with anyio.fail_after(10):
            while not results:
                await anyio.sleep(0.01)
    assert results[0].ok


async def test_a_run_answered_from_its_own_process_needs_no_mail(world: World) -> None:
    under_way = world.agent(Model(calls(ASK), finish()), ask_person).start("go", run="run")
    async with anyio.create_task_group() as group:
        group.start_soon(under_way.result)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(BadAnswer, match="expected one of: red, blue"):
            under_way.answer("green")
        under_way.answer("Blue", by="ann")
    assert under_way.run.outcome is not None


async def test_an_answer_has_to_fit_the_question(world: World) -> None:
    down = await put_down(world.agent(Model(calls(ASK)), ask_person))
    fits = fitting(down.questions, Letter("", 1.0, " BLUE "))
    assert (fits.name, fits.answer) == ("c1", "blue")
    for letter, said in [
        (Letter("c1", 1.0, "green"), "expected one of: red, blue"),
        (Letter("c1", 1.0), "found no answer to c1"),
        (Letter("c9", 1.0, "red"), "expected the name of one that it waits for: c1"),
    ]:
        with pytest.raises(BadAnswer, match=said):
            fitting(down.questions, letter)
    assert fitting(down.questions, Letter("c1", 1.0, withdrawn=True)).withdrawn


async def test_whatever_is_retold_is_what_was_said_where_the_process_ended(world: World) -> None:
    model = Model(calls(("nothing", {}), ("work", {})), calls(ASK, first=5))
    await put_down(world.agent(model, ask_person))
    told = retell(world.store("run")).retold
    assert told.talk.transcript.open_calls == ("c5",)
    assert set(told.talk.calls) == {"c5"}


@pytest.mark.parametrize("kind", ["folder", "sqlite"])
async def test_a_run_that_another_process_drove_since_it_was_read_is_not_driven_on_what_is_old(
    tmp_path: Path, kind: str
) -> None:
    shelf = SqliteShelf(tmp_path / "runs.db") if kind == "sqlite" else FolderShelf(tmp_path)
    clock, paid = Clock(), list[str]()

    @tool(manifest=Tool(kind=Kind.WRITE))
    async def pay() -> str:
        """Pay."""
        paid.append("once")
        return "paid"

    def agent(model: Model) -> Agent:
        return Agent(model, [ask_person, pay], policy=DAYS, journal=shelf.store, clock=clock)

    await put_down(agent(Model(calls(ASK))))
    assert deliver(shelf.store("run"), Letter("c1", clock.now, "red"), "letter")
    early, late = (agent(Model(calls(("pay", {}), first=5), calls(ASK, first=7))).resume("run") for _ in range(2))
    assert isinstance(await early.burst(), PutDown)
    with pytest.raises(Overtaken, match="has driven this run since it was read"):
        await late.burst()
    assert paid == ["once"]
    assert verify(shelf.store("run")).verdict == "open"
    shelf.close()


@tool(manifest=Tool(kind=Kind.COMMAND, identity=("to",), consent=Consent(lasts_seconds=600.0)))
async def transfer(to: str, amount: int) -> str:
    """Transfer money."""
    return f"{amount} to {to}"


async def test_a_consent_is_for_every_letter_of_the_call_even_where_its_identity_is_less(world: World) -> None:
    await put_down(world.agent(Model(calls(("transfer", {"to": "bob", "amount": 1}))), transfer))
    world.answer("approve")
    more = calls(("transfer", {"to": "bob", "amount": 1_000_000}), first=5)
    again = await world.agent(Model(more), transfer).resume("run").burst()
    assert isinstance(again, PutDown)
    assert [one.args for one in again.questions] == ['{"to":"bob","amount":1000000}']
    world.answer("approve", to="c5", id="second")
    same = calls(("transfer", {"to": "bob", "amount": 1}), first=7)
    assert (await taken_up(world.agent(Model(same, finish()), transfer))).ok


async def test_a_letter_from_before_a_consent_was_asked_for_gives_none(world: World) -> None:
    letter = Letter("c1", world.clock.now - 3_600, "approve")
    assert post(world.store("run"), "early", letter)
    down = await put_down(world.agent(Model(calls(("transfer", {"to": "bob", "amount": 1}))), transfer))
    assert [one.name for one in down.questions] == ["c1"]


async def test_a_call_under_way_is_not_sent_again_when_its_consent_is_over(world: World) -> None:
    sent: list[str] = []

    @tool(manifest=Tool(idempotent=True, consent=Consent(lasts_seconds=60.0)))
    async def fire() -> str:
        """Fire."""
        sent.append("fired")
        await anyio.sleep_forever()
        return "never"

    await put_down(world.agent(Model(calls(("fire", {}))), fire))
    world.answer("approve")
    await broken_off(world.agent(Model(), fire), resumed=True)
    world.clock.now += 86_400
    model = Model(finish())
    await taken_up(world.agent(model, fire))
    assert sent == ["fired"]
    assert model.heard() == [ResultPart("c1", UNKNOWN, error=True)]


async def test_two_calls_of_a_turn_cannot_wait_for_one_answer(world: World) -> None:
    @tool
    async def hook(number: int) -> WaitFor:
        """Wait."""
        return wait_for("paid", seconds=600)

    down = await put_down(world.agent(Model(calls(("hook", {"number": 1}), ("hook", {"number": 2}))), hook))
    assert [one.name for one in down.questions] == ["paid"]
    world.answer(None, to="paid", text="yes")
    model = Model(finish())
    await taken_up(world.agent(model, hook))
    answers = [part for part in model.heard() if isinstance(part, ResultPart)]
    assert sorted(part.error for part in answers) == [False, True]  # whichever asked first
    assert [part.content for part in answers if part.error] == [
        "another call of this turn waits for paid already; expected one call for each answer"
    ]


async def test_a_second_answer_is_refused_while_the_first_lies_there(world: World) -> None:
    await put_down(world.agent(Model(calls(ASK)), ask_person))
    world.answer("red")
    with pytest.raises(BadAnswer, match="another answer to c1, which lies there already"):
        deliver(world.store("run"), Letter("c1", world.clock.now, "blue"), "second")
    assert not deliver(world.store("run"), Letter("c1", world.clock.now, "blue"), "letter")
    assert (await taken_up(world.agent(Model(finish()), ask_person))).ok
    assert not deliver(world.store("run"), Letter("c1", world.clock.now, "blue"), "late")


async def test_the_words_of_a_person_can_be_redacted(world: World) -> None:
    await put_down(world.agent(Model(calls(("ask_person", {"question": "What?"}))), ask_person))
    world.answer("my secret words", by="ann")
    model = Model(finish())
    await taken_up(world.agent(model, ask_person))
    (answer,) = model.heard()
    assert isinstance(answer, ResultPart)
    assert orjson.loads(answer.content)["answer"] == "my secret words"
    kept = world.folder / "run.jsonl"
    assert b"secret" not in kept.read_bytes()
    beside = [path for path in world.folder.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    assert {path.parent.name for path in beside} == {"run.content"}


async def test_a_run_ended_by_its_scope_after_it_was_taken_up_stands_as_ended(world: World) -> None:
    await put_down(world.agent(Model(calls(ASK)), ask_person))
    world.answer("red")
    under_way = world.agent(Model(anyio.sleep_forever), ask_person).resume("run")
    async with anyio.create_task_group() as group:
        group.start_soon(under_way.result)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    stood = standing_of(world.store("run"))
    assert stood is not None
    assert (stood.state, stood.status) == (ENDED, "cancelled")
    assert world.store("run").kept("snapshot") is None


async def test_a_process_that_was_stopped_a_few_times_in_one_request_has_not_failed_its_run(world: World) -> None:
    await broken_off(world.agent(Model(anyio.sleep_forever)))
    for _ in range(3):
        await broken_off(world.agent(Model(anyio.sleep_forever)), resumed=True)
    assert (await taken_up(world.agent(Model(finish())))).ok
