"""The loop over real HTTP: whatever goes wrong around it ends in an outcome and a journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.agent.calling import heartbeat
from machines.agent.notices import AttemptResetNotice, EndingNotice, Notice, RecoveryNotice, TextNotice, VerdictNotice
from machines.agent.result import RunLimitReached, RunResult, RunStuck
from machines.agent.scripted import Garbage, Received, Refuse, Turn, call
from machines.agent.tools import ToolError, tool
from machines.events import StopReason
from machines.manifest import Kind, Tool
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Policy, Recovery
from statecraft.journal import verify

pytestmark = pytest.mark.anyio


@tool
async def add(one: int, other: int) -> int:
    """Add two numbers."""
    return one + other


@tool
async def fail(why: str) -> str:
    """Fail with a kind."""
    raise ToolError("business", why)


@tool
async def burst() -> str:
    """Raise something nobody expects."""
    raise ZeroDivisionError("nobody expects this")


@tool(manifest=Tool(kind=Kind.WRITE, timeout_seconds=0.05))
async def hang() -> str:
    """Hang."""
    await anyio.sleep_forever()
    return ""


@tool(manifest=Tool(idle_seconds=0.05, timeout_seconds=5))
async def chatter(times: int) -> str:
    """Say now and then that it is at work, for longer than its time of silence."""
    for _ in range(times):
        await anyio.sleep(0.02)
        heartbeat()
    return "done"


DONE = Turn(calls=(call("finish", {"kind": "final", "text": "It is 3."}),))


def whole(folder: Path, run: str) -> bool:
    return verify(folder / f"{run}.jsonl").verdict == "whole"


async def test_a_run_that_goes_well_completes_with_the_agents_words(serve: Callable[..., Any], tmp_path: Path) -> None:
    with serve([Turn(calls=(call("add", {"one": 1, "other": 2}),)), DONE]) as stage:
        result = await stage.agent([add]).run("What is 1 + 2?", run="well")
        await stage.close()
        assert (result.status, result.output, result.ok) == (TerminalStatus.COMPLETED, "It is 3.", True)
        assert result.usage.input > 0
        assert result.raise_for_status() is result
        assert whole(tmp_path, "well")
        seen = stage.server.requests()[-1].request.messages
        assert [message.role for message in seen] == ["user", "assistant", "user"]


async def test_a_run_that_repeats_itself_is_nudged_then_stopped_and_asked_once_more(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    again = Turn(calls=(call("add", {"one": 1, "other": 2}),))
    with serve([*[again] * 4, Turn("I could not finish.")]) as stage:
        notices: list[Notice] = []
        agent = stage.agent([add])
        agent.notices.subscribe(notices.append)
        result = await agent.run("loop", run="stuck")
        await stage.close()
        verdicts = [n.verdict for n in notices if isinstance(n, VerdictNotice)]
        assert verdicts == ["nudge", "stop"]
        assert (result.status, result.facts) == (TerminalStatus.BLOCKED, (Fact.STUCK,))
        assert result.output.index("ended as blocked") < result.output.index("I could not finish.")
        assert isinstance(notices[-1], EndingNotice)
        last = stage.server.requests()[-1].request
        assert last.no_tools
        assert len(stage.server.requests()) == 5
        assert whole(tmp_path, "stuck")
        with pytest.raises(RunStuck):
            result.raise_for_status()


async def test_words_without_a_declaration_end_nothing(serve: Callable[..., Any]) -> None:
    with serve([Turn("I am looking into it."), DONE]) as stage:
        notes: list[Notice] = []
        agent = stage.agent()
        agent.notices.subscribe(notes.append)
        result = await agent.run("talk")
        await stage.close()
        assert result.ok
        assert [n.text for n in notes if isinstance(n, TextNotice) and n.checkpoint] == ["I am looking into it."]


async def test_one_failing_call_ends_no_other_and_each_gets_its_answer(serve: Callable[..., Any]) -> None:
    calls = (
        call("fail", {"why": "no such customer"}),
        call("burst", {}),
        call("hang", {}),
        call("add", {"one": "x", "other": 2}),
        call("nowhere", {}),
        call("add", {"one": 1, "other": 2}),
    )
    with serve([Turn(calls=calls), DONE]) as stage:
        result = await stage.agent([add, fail, burst, hang]).run("many")
        await stage.close()
        assert result.ok
        answers = list(stage.server.requests()[-1].request.messages[-1].parts)
        said = [getattr(part, "content", "") for part in answers]
        assert said[0] == "no such customer"
        assert "ZeroDivisionError" in said[1]
        assert "Whether it took effect is not known" in said[2]
        assert "one" in said[3]
        assert "there is no tool nowhere" in said[4]
        assert said[5] == "3"


@pytest.mark.parametrize(("times", "answer"), [(8, "done"), (0, "done")])
async def test_a_tool_that_gives_signs_of_life_may_be_slow(serve: Callable[..., Any], times: int, answer: str) -> None:
    with serve([Turn(calls=(call("chatter", {"times": times}),)), DONE]) as stage:
        await stage.agent([chatter]).run("wait")
        await stage.close()
        assert getattr(stage.server.requests()[-1].request.messages[-1].parts[0], "content", "") == answer


async def test_the_limit_ends_with_one_reply_and_is_no_success(serve: Callable[..., Any], tmp_path: Path) -> None:
    turns = [Turn(calls=(call("add", {"one": n, "other": n}),)) for n in range(9)]
    with serve([*turns[:2], Turn("Here is what I have.")]) as stage:
        result = await stage.agent([add], policy=Policy(budget=Budget(turns=2))).run("count", run="limited")
        await stage.close()
        assert (result.limited, result.ok) == (True, False)
        assert "Here is what I have." in result.output
        assert len(stage.server.requests()) == 3
        assert whole(tmp_path, "limited")
        with pytest.raises(RunLimitReached):
            result.raise_for_status()


@pytest.mark.parametrize(
    ("move", "reason"),
    [(Refuse(401), "refused"), (Refuse(529), "refused"), (Garbage(), "refused")],
)
async def test_what_a_provider_will_not_do_ends_typed(
    serve: Callable[..., Any], tmp_path: Path, move: Any, reason: str
) -> None:
    policy = Policy(recovery=Recovery(refused=1))
    with serve([move] * 12) as stage:
        result = await stage.agent(policy=policy).run("ask", run="refused")
        await stage.close()
        assert (result.status, result.outcome.reason.by) == (TerminalStatus.FAILED, reason)
        assert result.output
        assert whole(tmp_path, "refused")


async def test_a_cut_reply_is_asked_for_again_and_its_calls_are_not_run(serve: Callable[..., Any]) -> None:
    ran: list[int] = []

    @tool
    async def note(number: int) -> str:
        """Note a number."""
        ran.append(number)
        return "noted"

    cut = Turn(calls=(call("note", {"number": 1}),), stop=StopReason.LENGTH)
    with serve([cut, Turn(calls=(call("note", {"number": 2}),)), DONE]) as stage:
        result = await stage.agent([note]).run("note")
        await stage.close()
        assert (result.ok, ran) == (True, [2])


async def test_a_cancel_from_outside_answers_open_calls_and_closes_the_journal(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    started = anyio.Event()

    @tool
    async def forever() -> str:
        """Never end."""
        started.set()
        await anyio.sleep_forever()
        return ""

    with serve([Turn(calls=(call("forever", {}),))]) as stage:
        under_way = stage.agent([forever]).start("wait", run="cancelled")
        results: list[RunResult] = []
        async with anyio.create_task_group() as group:

            async def go() -> None:
                results.append(await under_way.result())

            group.start_soon(go)
            with anyio.fail_after(5):
                await started.wait()
            under_way.cancel("enough")
        await stage.close()
        assert results[0].status is TerminalStatus.CANCELLED
        assert dict(results[0].outcome.reason.values)["why"] == "enough"
        assert results[0].account.unanswered
        assert whole(tmp_path, "cancelled")


async def test_a_cancelled_task_leaves_a_whole_journal(serve: Callable[..., Any], tmp_path: Path) -> None:
    @tool
    async def forever() -> str:
        """Never end."""
        await anyio.sleep_forever()
        return ""

    with serve([Turn(calls=(call("forever", {}),))]) as stage:
        under_way = stage.agent([forever]).start("wait", run="dropped")
        with anyio.move_on_after(0.3):
            await under_way.result()
        await stage.close()
        assert under_way.run.outcome is not None
        assert under_way.run.outcome.status is TerminalStatus.CANCELLED
        assert whole(tmp_path, "dropped")


async def test_a_callback_that_raises_changes_nothing_and_is_counted(
    serve: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def angry(notice: Notice) -> None:
        raise RuntimeError("no")

    with serve([DONE]) as stage:
        agent = stage.agent()
        agent.notices.subscribe(angry)
        result = await agent.run("go")
        await stage.close()
        assert result.ok
        assert agent.notices.failures > 0
        assert "a callback raised" in caplog.text


async def test_two_hundred_runs_side_by_side_each_have_their_own_result(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    def script(received: Received) -> Turn:
        number = int(received.run.removeprefix("run-"))
        if not received.number:
            return Turn(calls=(call("add", {"one": number, "other": 1_000}),))
        seen = [getattr(part, "content", "") for part in received.request.messages[-1].parts]
        return Turn(calls=(call("finish", {"kind": "final", "text": f"{received.run} found {seen}"}),))

    with serve(script) as stage:
        results: dict[str, RunResult] = {}

        async def go(name: str) -> None:
            results[name] = await stage.agent([add], run=name).run("go", run=name)

        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(go, f"run-{number}")
        await stage.close()
        assert len(results) == 200
        for number in range(200):
            name = f"run-{number}"
            assert (results[name].ok, results[name].run) == (True, name)
            assert results[name].output == f"{name} found ['{number + 1_000}']"
            assert whole(tmp_path, name)


@pytest.mark.parametrize(
    ("move", "reset"),
    [
        (Refuse(529, headers={"retry-after": "0"}), ["refused"]),
        (Turn(""), ["empty"]),
        (Turn("cu", stop=StopReason.LENGTH), []),
    ],
)
async def test_an_attempt_that_is_given_up_is_told_and_one_that_goes_on_is_not(
    serve: Callable[..., Any], move: Any, reset: list[str]
) -> None:
    with serve([move, DONE]) as stage:
        told: list[Notice] = []
        agent = stage.agent()
        agent.notices.subscribe(told.append)
        assert (await agent.run("go")).ok
        await stage.close()
        assert [notice.reason for notice in told if isinstance(notice, AttemptResetNotice)] == reset
        assert [notice.attempt for notice in told if isinstance(notice, RecoveryNotice)] == [1]
