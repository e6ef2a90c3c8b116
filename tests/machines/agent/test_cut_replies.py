"""Replies that are cut off: continued and joined, asked for again, or condensed, and never acted upon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from machines.agent.limits import register_model_limits
from machines.agent.notices import CondensedNotice, RecoveryNotice, TextNotice
from machines.agent.result import RunTruncated
from machines.agent.scripted import Turn, call
from machines.agent.tools import tool
from machines.events import StopReason, Usage
from machines.manifest import Kind, Tool
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Policy, Recovery

from .scripts import calling, done, last_texts, results, summing_up

pytestmark = pytest.mark.anyio

SMALL = Policy(budget=Budget(reply_tokens=1_000))


def cut(text: str = "", **more: Any) -> Turn:
    return Turn(text, stop=StopReason.LENGTH, **more)


@tool
async def look(number: int) -> str:
    """Look at something."""
    return f"number {number}"


async def test_a_text_that_was_cut_is_continued_and_joined_without_what_is_said_again(
    serve: Callable[..., Any],
) -> None:
    first, second, rest = "The report has three parts. The fi", "parts. The first is long, and the se", "cond is short."
    with serve([cut(first), cut(second), done(rest)]) as stage:
        ran = await stage.ran("report")
    whole = "The report has three parts. The first is long, and the second is short."
    assert (ran.result.status, ran.result.output) == (TerminalStatus.COMPLETED, whole)
    assert not ran.result.truncated
    assert "Go on exactly where it stopped" in last_texts(ran.requests[1].request)[-1]
    assert not ran.heard(TextNotice), "half a text is not shown"
    assert [(notice.reason, notice.attempt) for notice in ran.heard(RecoveryNotice)] == [
        ("truncated", 1),
        ("truncated", 2),
    ]


async def test_a_continuation_that_begins_anew_takes_the_place_of_what_was_cut(serve: Callable[..., Any]) -> None:
    with serve([cut("The report has three parts. The fi"), done("The report has three parts, all short.")]) as stage:
        ran = await stage.ran("report")
    assert ran.result.output == "The report has three parts, all short."


async def test_the_reply_budget_doubles_up_to_the_models_limit_stays_raised_and_is_told_as_it_is(
    serve: Callable[..., Any],
) -> None:
    register_model_limits("scripted", context_window=100_000, max_output=3_000)
    script = [cut("one, "), calling("look", number=1), cut("two, "), calling("look", number=2), cut("three"), done()]
    with serve(script) as stage:
        ran = await stage.ran("count", [look], policy=SMALL)
    assert [received.request.max_tokens for received in ran.requests] == [1_000, 2_000, 2_000, 3_000, 3_000, 3_000]
    said = [last_texts(received.request)[-1] for received in ran.requests if last_texts(received.request)]
    assert "The next reply may have 2000 tokens." in said[1]
    assert "The next reply may have 3000 tokens." in said[2]
    assert "The budget of 3000 tokens cannot be raised any further: be brief." in said[3]
    assert [notice.reply_budget for notice in ran.heard(RecoveryNotice)] == [2_000, 3_000, 3_000]


async def test_a_budget_that_the_window_has_no_room_for_is_not_promised(serve: Callable[..., Any]) -> None:
    register_model_limits("scripted", context_window=4_500, max_output=64_000)
    full = cut("It goes on", usage=Usage(input=3_000, output=1_000))
    with serve([full, done("and on.")]) as stage:
        ran = await stage.ran("count", policy=SMALL)
    second = ran.requests[1].request
    assert 1_024 <= second.max_tokens < 2_000
    assert last_texts(second)[-1].endswith("The context window has little room left for a longer reply: be brief.")


@pytest.mark.parametrize(
    "how", [{"stop": StopReason.LENGTH}, {"stop": StopReason.TOOL_USE, "usage": Usage(input=90, output=1_000)}]
)
async def test_a_write_that_was_cut_never_runs_even_where_it_can_be_read(
    serve: Callable[..., Any], how: dict[str, Any]
) -> None:
    wrote: list[str] = []

    @tool(manifest=Tool(kind=Kind.WRITE))
    async def write(text: str) -> str:
        """Write a file."""
        wrote.append(text)
        return "written"

    half, whole = call("write", {"text": "half of"}), call("write", {"text": "half of the text"})
    with serve([Turn(calls=(half,), **how), Turn(calls=(whole,)), done()]) as stage:
        ran = await stage.ran("write", [write], policy=SMALL)
    assert (ran.result.ok, wrote) == (True, ["half of the text"])
    assert "cut off" in results(ran.requests[1].request)[0]
    assert "Make the call again, whole" in last_texts(ran.requests[1].request)[-1]
    assert ran.requests[1].request.max_tokens == 2_000


@pytest.mark.parametrize("wire", ["openai", "anthropic", "openai-responses"], indirect=True)
@pytest.mark.parametrize("args", ['{"number": 1', '{"number": 1, "why": "so t', '{"number"'])
async def test_a_call_that_ends_inside_its_arguments_was_cut_whatever_the_provider_calls_it(
    serve: Callable[..., Any], args: str
) -> None:
    # Streamed, since a whole reply of Anthropic's has its arguments as an object; Gemini's calls come whole either way.
    with serve([Turn(calls=(call("look", args),), stop=StopReason.TOOL_USE), done()]) as stage:
        ran = await stage.ran("look", [look], stream=True)
    assert ran.result.ok
    assert "cut off" in results(ran.requests[1].request)[0]
    assert [notice.reason for notice in ran.heard(RecoveryNotice)] == ["truncated"]


@pytest.mark.parametrize("stop", [StopReason.END_TURN, StopReason.STOP_SEQUENCE, StopReason.OTHER])
async def test_a_reply_with_calls_is_honoured_whatever_it_says_that_it_stopped_for(
    serve: Callable[..., Any], stop: StopReason
) -> None:
    with serve([Turn(calls=(call("look", {"number": 1}),), stop=stop), done()]) as stage:
        ran = await stage.ran("look", [look])
    assert ran.result.ok
    assert results(ran.requests[1].request) == ["number 1"]


async def test_thinking_that_was_cut_is_not_kept_and_the_model_is_told_to_think_less(serve: Callable[..., Any]) -> None:
    with serve([cut(thinking="I wonder whether"), done()]) as stage:
        ran = await stage.ran("think")
    assert ran.result.ok
    second = ran.requests[1].request
    assert [message.role for message in second.messages] == ["user"]
    assert "while you were still thinking" in last_texts(second)[-1]


async def test_a_fourth_cut_of_one_incident_ends_as_partial_with_what_was_written(serve: Callable[..., Any]) -> None:
    script = [cut("one, "), cut("two, "), cut("three, "), cut("four, "), Turn("I could not finish the list.")]
    with serve(script) as stage:
        ran = await stage.ran("count", policy=SMALL)
    result = ran.result
    assert (result.status, result.truncated) == (TerminalStatus.PARTIAL, True)
    assert result.facts == (Fact.TRUNCATED, Fact.RECOVERY_EXHAUSTED)
    assert "one, two, three, four, " in result.output
    assert "I could not finish the list." in result.output
    assert (len(ran.requests), ran.requests[-1].request.no_tools) == (5, True)
    with pytest.raises(RunTruncated):
        result.raise_for_status()


async def test_a_reply_that_was_cut_where_the_window_was_full_goes_on_with_a_shorter_history(
    serve: Callable[..., Any],
) -> None:
    register_model_limits("scripted", context_window=10_000, max_output=4_000)

    @tool
    async def read(number: int) -> str:
        """Read a long page."""
        return f"page {number}: " + "words and words " * 800

    full = cut("The pages say that ", usage=Usage(input=9_200, output=700))
    # The estimate says 3,000 tokens a page, the model's own count says more.
    script = [calling("read", number=1), calling("read", number=2), full, done("nothing is missing.")]
    with serve(summing_up(script, Turn("Two pages were read."))) as stage:
        ran = await stage.ran("read", [read], policy=Policy(budget=Budget(reply_tokens=4_000)))
    assert (ran.result.ok, ran.result.output) == (True, "The pages say that nothing is missing.")
    assert [notice.reason for notice in ran.heard(RecoveryNotice)] == ["truncated"]
    last = ran.requests[-1].request
    assert ran.heard(CondensedNotice)
    assert "Go on exactly where it stopped" in last_texts(last)[-1]
    assert sum(map(len, results(last))) < 13_000, "of two pages one is gone at least"


async def test_without_recoveries_the_first_cut_is_the_last_and_the_budget_a_hard_one(
    serve: Callable[..., Any],
) -> None:
    with serve([cut("one, "), Turn("No more.")]) as stage:
        ran = await stage.ran("count", policy=Policy(budget=SMALL.budget, recovery=Recovery(truncated=0)))
    assert (ran.result.truncated, ran.heard(RecoveryNotice)) == (True, [])
    assert [received.request.max_tokens for received in ran.requests] == [1_000, 1_000]
    assert "one, " in ran.result.output
