"""What a run returns: the whole output, a typed error for each reason, and a run that is driven once."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.agent.agent import Agent
from machines.agent.notices import Notice, RecoveryNotice
from machines.agent.result import (
    ContextOverflow,
    LastRefusal,
    MachineFault,
    NoAnswer,
    RecoveryExhausted,
    RunBlocked,
    RunCancelled,
    RunError,
    RunFailed,
    RunIncomplete,
    RunLimitReached,
    RunRefused,
    RunResult,
    RunStuck,
    RunTruncated,
    refused_by,
)
from machines.agent.scripted import Refuse, Turn, call
from machines.agent.tools import AgentTool, tool
from machines.detectors.roster import ROSTER
from machines.events import Text, Usage
from machines.journaled import RunJournal
from machines.outcome import Account, Fact, MessageKind, Outcome, Reason, TerminalStatus
from machines.policy import Policy, Recovery
from machines.recent import Recent
from machines.state import new_run
from statecraft.journal import FileStore, JournalError, MemoryStore, verify

pytestmark = pytest.mark.anyio

ACCOUNT = Account(1, 1.0, Usage(), (), 0, (), (), (), ())


def ended(as_: TerminalStatus, by: str, facts: tuple[Fact, ...] = (), **values: Any) -> RunResult:
    outcome = Outcome(as_, MessageKind.FAILURE_REPORT, Reason(by, tuple(values.items())), facts, ACCOUNT)
    return RunResult("r", "words", outcome, (), "r.jsonl")


S, F = TerminalStatus, Fact


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (ended(S.PARTIAL, "partial_answer"), RunIncomplete),
        (ended(S.BLOCKED, "failure_report"), RunBlocked),
        (ended(S.BLOCKED, "concluded"), RunBlocked),
        (ended(S.BLOCKED, "withheld", (F.REFUSED,), stop="refusal"), RunRefused),
        *((ended(S.BLOCKED, d.name, (F.STUCK,)), RunStuck) for d in ROSTER),
        (ended(S.BLOCKED, "escalation", (F.STUCK,)), RunStuck),
        (ended(S.PARTIAL, "escalation", (F.STUCK, F.REFUSED)), RunStuck),
        *((ended(S.BLOCKED, by, (F.LIMIT_REACHED,)), RunLimitReached) for by in ("turns", "seconds", "tokens", "usd")),
        (ended(S.PARTIAL, "limit", (F.LIMIT_REACHED, F.TRUNCATED)), RunLimitReached),
        (ended(S.BLOCKED, "recovery_exhausted", (F.TRUNCATED, F.RECOVERY_EXHAUSTED), of="truncated"), RunTruncated),
        (ended(S.BLOCKED, "recovery_exhausted", (F.RECOVERY_EXHAUSTED,), of="empty"), RecoveryExhausted),
        (ended(S.BLOCKED, "recovery_exhausted", (F.RECOVERY_EXHAUSTED,), of="paused"), RecoveryExhausted),
        (ended(S.FAILED, "refused", status=401), RunRefused),
        (ended(S.FAILED, "refused", status=529), RunRefused),
        (ended(S.FAILED, "refused", status=0), NoAnswer),
        (ended(S.FAILED, "refused", status=-1), NoAnswer),
        (ended(S.FAILED, "context_overflow", status=400), ContextOverflow),
        (ended(S.FAILED, "no_reply", why="gone"), NoAnswer),
        (ended(S.FAILED, "fault", part="guard x"), MachineFault),
        (ended(S.FAILED, "fault", (F.LIMIT_REACHED,), part="guard x"), MachineFault),
        (ended(S.FAILED, "another"), RunFailed),
        (ended(S.CANCELLED, "cancelled"), RunCancelled),
        (ended(S.CANCELLED, "cancelled", (F.STUCK,)), RunCancelled),
    ],
)
def test_each_reason_has_its_own_error(result: RunResult, error: type[RunError]) -> None:
    with pytest.raises(RunError) as caught:
        result.raise_for_status()
    assert type(caught.value) is error
    assert caught.value.result is result
    assert result.error == {"type": error.__name__, "message": str(caught.value)}
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_completed_run_raises_nothing() -> None:
    result = ended(S.COMPLETED, "final_answer", (F.UNVERIFIED,))
    assert result.raise_for_status() is result
    assert result.error is None


def test_an_error_says_once_how_and_why_the_run_ended() -> None:
    assert str(RunError(ended(S.CANCELLED, "cancelled", why="enough"))) == 'run r ended as cancelled (why="enough")'
    assert str(RunError(ended(S.BLOCKED, "turns", left=0))) == "run r ended as blocked by turns (left=0)"


@pytest.mark.parametrize(
    ("by", "status", "refused"), [("refused", 401, True), ("refused", 503, True), ("refused", 0, False)]
)
def test_a_provider_that_never_answered_has_not_refused(by: str, status: int, refused: bool) -> None:
    assert ended(S.FAILED, by, status=status).refused is refused


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"error": {"message": "invalid  x-api-key"}}', LastRefusal(401, "invalid x-api-key")),
        ("a\npage", LastRefusal(401, "a page")),
        ("", LastRefusal(401, "")),
        ('{"error": {"message": "long", "n_prompt_tokens": 9, "n_ctx": 5}}', LastRefusal(401, "long", 9, 5)),
        ("x" * 200, LastRefusal(401, "x" * 200)),
        ("x" * 201, LastRefusal(401, "x" * 199 + "…")),
        ("[" * 100_000, LastRefusal(401, "[" * 199 + "…")),
    ],
)
def test_what_came_with_a_refusal_is_shown_in_one_short_line(body: str, said: LastRefusal) -> None:
    assert refused_by(401, body) == said


def test_a_refusal_without_a_status_is_no_answer() -> None:
    assert refused_by(0, "Connection refused").words == "no answer: Connection refused"
    assert refused_by(401, "").words == "HTTP 401"


async def test_a_final_refusal_is_typed_and_says_what_the_provider_said(serve: Callable[..., Any]) -> None:
    with serve([Refuse(401, '{"error": {"message": "invalid x-api-key"}}')]) as stage:
        result = await stage.agent().run("ask", run="r")
        await stage.close()
    assert result.refused
    with pytest.raises(RunRefused, match=r"^run r ended as failed by refused .*: HTTP 401: invalid x-api-key$"):
        result.raise_for_status()
    assert result.output.endswith("\nThe last request: HTTP 401: invalid x-api-key")


async def test_a_passing_refusal_tells_what_was_said(serve: Callable[..., Any]) -> None:
    busy = Refuse(529, '{"error": {"message": "busy"}}', headers={"retry-after": "0"})
    told: list[Notice] = []
    with serve([busy, Turn(calls=(call("finish", {"kind": "final", "text": "yes"}),))]) as stage:
        agent = stage.agent()
        agent.notices.subscribe(told.append)
        result = await agent.run("ask")
        await stage.close()
    assert [n.said for n in told if isinstance(n, RecoveryNotice)] == ["HTTP 529: busy"]
    assert (result.ok, result.refusal) == (True, None)


@pytest.mark.parametrize(
    ("more", "tokens", "window"), [({"n_prompt_tokens": 900, "n_ctx": 512}, 900, 512), ({}, None, None)]
)
async def test_an_overflow_says_how_long_the_request_was(
    serve: Callable[..., Any], more: Mapping[str, int], tokens: int | None, window: int | None
) -> None:
    body = '{"error": {"code": "context_length_exceeded", "message": "too long"%s}}'
    fields = "".join(f', "{name}": {value}' for name, value in more.items())
    with serve([Refuse(400, body % fields)] * 3) as stage:
        result = await stage.agent(policy=Policy(recovery=Recovery(condensed=1))).run("x" * 100)
        await stage.close()
    with pytest.raises(ContextOverflow) as caught:
        result.raise_for_status()
    assert caught.value.window == window
    # Where the provider counts nothing, it is an estimate: the words and all that every request carries beside them.
    assert caught.value.tokens == tokens if tokens else 25 < (caught.value.tokens or 0) < 1_000


@pytest.mark.parametrize("chars", [65_536, 65_537, 300_000])
async def test_a_long_answer_comes_back_whole(serve: Callable[..., Any], chars: int) -> None:
    text = "a" * (chars - 1) + "z"
    with serve([Turn(calls=(call("finish", {"kind": "final", "text": text}),), usage=Usage(1, 1))]) as stage:
        result = await stage.agent().run("write much")
        await stage.close()
    assert result.output == text


class Forgetful(MemoryStore):
    """Keeps lines, and no content."""

    def put(self, content: bytes) -> str:
        digest = super().put(content)
        self.drop(digest)
        return digest


async def test_a_store_that_keeps_no_content_costs_no_answer(serve: Callable[..., Any], wire: str) -> None:
    text = "b" * 70_000
    with serve([Turn(calls=(call("finish", {"kind": "final", "text": text}),), usage=Usage(1, 1))]) as stage:
        async with Agent(stage.server.model("r", wire), journal=lambda run: Forgetful()) as agent:
            assert (await agent.run("write")).output == text


def test_the_last_texts_are_kept_whole_and_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recent, "CHARS", 10)
    recent = Recent()
    texts = {name: Text(name, size) for name, size in (("a", 6), ("b", 4), ("c", 1), ("d", 99))}
    for name in "abb":
        recent.keep(texts[name], name * texts[name].chars)
    assert [recent.text_of(text) for text in texts.values()] == ["a" * 6, "b" * 4, None, None]
    recent.keep(texts["c"], "c")
    assert [recent.text_of(text) for text in texts.values()] == [None, "b" * 4, "c", None]
    recent.keep(texts["d"], "d" * 99)
    assert [recent.text_of(text) for text in texts.values()] == [None, None, None, "d" * 99]


async def test_a_run_is_driven_once(serve: Callable[..., Any], tmp_path: Path) -> None:
    with serve([Turn(calls=(call("finish", {"kind": "final", "text": "yes"}),))]) as stage:
        under_way = stage.agent().start("go", run="once")
        await under_way.result()
        with pytest.raises(RuntimeError, match="once: a run is driven once"):
            await under_way.result()
        await stage.close()
    assert verify(tmp_path / "once.jsonl").verdict == "whole"


class FullDisk(FileStore):
    """A disk that is full when the first content comes."""

    def put(self, content: bytes) -> str:
        del content
        raise JournalError(f"{self.path}: the disk is full")


def test_a_journal_that_cannot_begin_gives_its_place_up(tmp_path: Path) -> None:
    place = tmp_path / "r.jsonl"
    with pytest.raises(JournalError, match="the disk is full"):
        RunJournal.begin(FullDisk(place), new_run("r"), host="agent")
    RunJournal.begin(FileStore(place), new_run("r"), host="agent").close(None)


class FullLater(FileStore):
    """A disk that is full when the task is kept: after the first line, before the loop."""

    def put(self, content: bytes) -> str:
        if content == b"the task":
            raise JournalError(f"{self.path}: the disk is full")
        return super().put(content)


async def test_what_goes_wrong_before_the_loop_closes_the_journal(tmp_path: Path) -> None:
    place = tmp_path / "r.jsonl"
    agent = Agent("http://127.0.0.1:9", journal=lambda run: FullLater(place))
    with pytest.raises(JournalError, match="the disk is full"):
        await agent.run("the task")
    place.unlink()
    RunJournal.begin(FileStore(place), new_run("r"), host="agent").close(None)
    with pytest.raises(JournalError, match="already holds a run"):
        FileStore(place).claim(fresh=True)


@pytest.mark.parametrize("task", ["", " \n"])
def test_a_task_has_words(task: str) -> None:
    with pytest.raises(ValueError, match="the task is empty"):
        Agent("http://127.0.0.1:9").start(task)


@pytest.mark.parametrize("name", ["../../evil", "a/b", "", ".hidden", "a b", "x" * 201, "a\n"])
def test_a_runs_name_is_one_that_a_file_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="found the run's name"):
        Agent("http://127.0.0.1:9", journal=tmp_path).start("go", run=name)
    assert list(tmp_path.iterdir()) == []


def test_a_good_name_and_a_folder_as_text_are_taken(tmp_path: Path) -> None:
    Agent("http://127.0.0.1:9", journal=str(tmp_path / "in")).start("go", run="a.b_C-1" + "x" * 193)
    assert (tmp_path / "in").is_dir()


def named(name: str) -> AgentTool:
    @tool(name=name)
    async def made() -> str:
        """Do nothing."""
        return ""

    return made


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["a", "a"], "2 tools are called a, expected one"),
        (["finish"], "a tool is called finish, by which a model ends a run"),
        (["a b"], "tool 'a b': expected a name"),
        (["x" * 65], "expected a name of at most 64"),
    ],
)
def test_tools_that_no_model_could_tell_apart_are_refused(names: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Agent("http://127.0.0.1:9", [named(name) for name in names])


def test_a_function_that_is_no_tool_is_named(tmp_path: Path) -> None:
    async def plain() -> str:
        return ""

    with pytest.raises(TypeError, match="found plain, expected a tool; put @tool over the function"):
        Agent("http://127.0.0.1:9", [plain])  # type: ignore[list-item]


def test_a_longest_name_is_taken() -> None:
    assert Agent("http://127.0.0.1:9", [named("x" * 64), named("write_todos")])


async def test_how_to_end_is_told_whatever_the_system_says(serve: Callable[..., Any]) -> None:
    with serve([Turn(calls=(call("finish", {"kind": "final", "text": "yes"}),))]) as stage:
        with anyio.fail_after(10):
            await stage.agent(system="You are a pirate.").run("go")
        await stage.close()
        system = stage.server.requests()[0].request.system
    assert system.startswith("You are a pirate.\n\n")
    assert "call finish" in system
