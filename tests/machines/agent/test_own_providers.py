"""A provider of the application's own: whatever it answers, the run ends with an outcome and a journal that reads."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import attrs
import pytest

from machines.agent.agent import Agent
from machines.agent.limits import isolated_limits
from machines.agent.wire import CallPart, Completion, Heard, Refused, Request, TextPart, ThinkingPart
from machines.events import RefusalKind, StopReason, Usage
from machines.journaled import AGENT_RUN
from machines.policy import Policy, Recovery
from statecraft.journal import MemoryStore, verify
from statecraft.replay import replay

pytestmark = pytest.mark.anyio

DONE = Completion(StopReason.TOOL_USE, (CallPart("end", "finish", '{"kind": "final", "text": "done"}'),), Usage(9, 1))
NAN = float("nan")


@attrs.define(eq=False)
class Mine:
    """Answers with what it is given, and then as it should."""

    answer: Any
    name: str = "mine"
    asked: int = 0

    async def complete(self, request: Request) -> Any:
        del request
        self.asked += 1
        return self.answer if self.asked == 1 else DONE

    async def aclose(self) -> None:
        """Nothing is open."""


def says(usage: Any = Usage(1, 1), *parts: Any) -> Completion:  # noqa: B008  # a value
    return Completion(StopReason.END_TURN, (TextPart("a"), *parts), usage)


def refused(**fields: Any) -> Refused:
    return attrs.evolve(Refused(529, "busy", after=0.0, kind=RefusalKind.OVERLOADED), **fields)


@pytest.mark.parametrize(
    "answer",
    [
        says(Usage("1", "2")),  # type: ignore[arg-type]
        says(Usage(None, None)),  # type: ignore[arg-type]
        says(Usage(1.5, 2)),  # type: ignore[arg-type]
        says(Usage(1, 2, usd="5")),  # type: ignore[arg-type]
        says(Usage(1, 2, usd=NAN)),
        says(Usage(1, 1), ThinkingPart("t", raw=7)),  # type: ignore[arg-type]
        refused(limit="5000"),
        refused(size=NAN),
        refused(status=True),
        refused(kind="overloaded"),
        refused(too_long="yes"),
    ],
)
async def test_an_answer_of_another_type_is_no_reply_and_the_journal_reads(answer: Any) -> None:
    store = MemoryStore()
    result = await Agent(Mine(answer), journal=lambda run: store).run("go")
    assert result.outcome.reason.by == "no_reply"
    assert verify(store).verdict == "whole"
    assert replay(store, AGENT_RUN).difference is None


@attrs.define(eq=False)
class Counts(Mine):
    """Counts as it is told."""

    counted: Any = None

    async def count(self, request: Request) -> Any:
        del request
        if isinstance(self.counted, BaseException):
            raise self.counted
        return self.counted


@pytest.mark.parametrize("counted", [True, -5, "12", None, ValueError("no")])
async def test_a_count_that_is_none_leaves_the_estimate(counted: Any) -> None:
    policy = Policy(recovery=Recovery(condensed_ahead=0))
    store = MemoryStore()
    task = "x" * 350_000  # so much that it is counted, and not so much that it does not fit
    result = await Agent(Counts(DONE, counted=counted), journal=lambda run: store, policy=policy).run(task)
    assert result.ok
    assert replay(store, AGENT_RUN).difference is None


@attrs.define(eq=False)
class Looks(Mine):
    """Fails when it is asked what its model takes."""

    async def model_limits(self, model: str) -> Any:
        del model
        raise asyncio.CancelledError("a future of its own")


async def test_a_lookup_that_was_cancelled_by_itself_cancels_no_run(anyio_backend_name: str) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("there a task cannot be cancelled by an exception of another library")
    with isolated_limits():
        assert (await Agent(Looks(DONE)).run("go")).ok


@attrs.define(eq=False)
class Late(Mine):
    """Goes on telling of its first reply while the second one is out."""

    heard: list[Heard] = attrs.field(factory=list[Heard])

    async def stream(self, request: Request, heard: Heard) -> Any:
        del request
        self.heard.append(heard)
        if len(self.heard) > 1:
            self.heard[0]("text", "The same again. " * 1_000)
            await anyio.lowlevel.checkpoint()
            return DONE
        return says()


async def test_what_is_heard_of_a_reply_that_is_there_counts_for_no_other() -> None:
    model = Late(None)
    result = await Agent(model, stream=True).run("go")
    assert result.raise_for_status().output == "done"
    model.heard[1]("text", "and on")


async def test_what_is_to_be_made_shorter_after_the_end_is_not_waited_for() -> None:
    under_way = Agent(Mine(DONE)).start("go")
    assert (await under_way.result()).ok
    with anyio.fail_after(1):
        assert await under_way.prune_tool_results() == 0
