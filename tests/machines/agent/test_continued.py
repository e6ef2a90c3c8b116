"""A text that is continued: what belongs to it, what does not, and what is judged of each piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import orjson
import pytest

from machines.agent.agent import Agent
from machines.agent.result import RunResult
from machines.agent.tools import tool
from machines.agent.wire import CallPart, Completion, Message, Part, Refused, Request, TextPart, ThinkingPart
from machines.events import RefusalKind, StopReason, Usage
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Policy, Recovery

pytestmark = pytest.mark.anyio


@attrs.define(eq=False)
class Model:
    """A model in this process that makes one move a request."""

    moves: Sequence[Completion | Refused]
    requests: list[list[Message]] = attrs.field(factory=list[list[Message]])
    name: str = "in process"

    async def complete(self, request: Request) -> Any:
        self.requests.append([*request.messages])
        return self.moves[len(self.requests) - 1]

    async def aclose(self) -> None:
        """Nothing is open."""


def says(text: str, stop: StopReason = StopReason.END_TURN, *parts: Part) -> Completion:
    return Completion(stop, (*([TextPart(text)] if text else []), *parts), Usage(10, 5))


def finish(text: str = "") -> Completion:
    args = orjson.dumps({"kind": "final", "text": text}).decode()
    return Completion(StopReason.TOOL_USE, (CallPart("end", "finish", args),), Usage(10, 5))


@tool
async def look() -> str:
    """Look."""
    return "seen"


CUT, PAUSE = StopReason.LENGTH, StopReason.PAUSE
THOUGHT = Completion(CUT, (ThinkingPart("hm"),), Usage(10, 5))
BUSY = Refused(529, "busy", after=0.0, kind=RefusalKind.OVERLOADED)
EMPTY = says("")


async def ran(*moves: Completion | Refused, policy: Policy | None = None) -> tuple[RunResult, Model]:
    model = Model(moves)
    return await Agent(model, [look], policy=policy or Policy()).run("go"), model


@pytest.mark.parametrize(
    ("moves", "output"),
    [
        ([says("One, ", CUT), finish("two.")], "One, two."),
        ([says("One, ", PAUSE), finish("two.")], "One, two."),
        ([says("One, ", CUT), BUSY, finish("two.")], "One, two."),
        ([says("One, ", CUT), THOUGHT, finish("two.")], "One, two."),
        ([says("One, ", CUT), EMPTY, finish("two.")], "One, two."),
        ([says("One, ", CUT), says("two, ", CUT), finish("three.")], "One, two, three."),
        (
            [says("I will ", CUT), says("look.", StopReason.TOOL_USE, CallPart("1", "look", "{}")), finish("It is 3.")],
            "It is 3.",
        ),
        ([says("One.", StopReason.END_TURN), finish("Two.")], "Two."),
    ],
)
async def test_a_text_is_continued_through_whatever_comes_between_and_no_turn_further(
    moves: Sequence[Completion | Refused], output: str
) -> None:
    result, _ = await ran(*moves)
    assert result.raise_for_status().output == output


async def test_an_empty_continuation_is_empty_and_what_there_was_is_kept() -> None:
    result, model = await ran(says("The report begins: ", CUT), EMPTY, EMPTY, EMPTY, says("I gave up."))
    assert (result.outcome.reason.by, result.status) == ("recovery_exhausted", TerminalStatus.PARTIAL)
    assert "The report begins:" in result.output
    assert "I gave up." in result.output
    assert len(model.requests) == 5


@pytest.mark.parametrize("stop", [PAUSE, CUT])
async def test_the_last_reply_continues_nothing(stop: StopReason) -> None:
    policy = Policy(recovery=Recovery(truncated=0, paused=0))
    result, _ = await ran(says("I was looking at the ", stop), says("Last words."), policy=policy)
    claim = result.output.split("What the agent says of it")[1]
    assert "I was looking at the Last words." not in claim
    assert claim.count("I was looking at the") == 1, "beneath its last words, as what it had begun"


async def test_calls_that_are_cut_again_and_again_end_a_run_as_partial_and_truncated() -> None:
    cut = Completion(CUT, (CallPart("c", "look", "{}"),), Usage(10, 5))
    result, _ = await ran(cut, cut, cut, cut, says("That was all."))
    assert (result.status, Fact.TRUNCATED in result.outcome.facts) == (TerminalStatus.PARTIAL, True)


async def test_what_every_reply_cost_is_in_the_account() -> None:
    moves = [says("One, ", CUT), EMPTY, says("two, ", PAUSE), finish("three.")]
    result, _ = await ran(*moves, policy=Policy(budget=Budget(tokens=100_000)))
    assert result.outcome.account.usage == Usage(40, 20)


async def test_an_answer_that_is_cut_in_its_declaration_is_shown_and_ends_nothing() -> None:
    half = Completion(CUT, (CallPart("end", "finish", '{"kind": "final", "text": "The report begins'),), Usage(10, 5))
    result, model = await ran(half, half, half, half, says("That was all."))
    assert (result.status, result.outcome.reason.by) == (TerminalStatus.PARTIAL, "recovery_exhausted")
    assert "The report begins" in result.output
    told = str(model.requests[1][-1].parts)
    assert "Your finish was cut off, so it ended nothing" in told
    again, _ = await ran(half, finish("The report begins and ends."))
    assert again.raise_for_status().output == "The report begins and ends."
