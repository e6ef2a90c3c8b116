"""Requests that a provider refuses: what is changed before they are sent again, and what is known from then on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from machines.agent.limits import LimitSource, limits_now
from machines.agent.notices import AttemptResetNotice, RecoveryNotice
from machines.agent.result import ContextOverflow, RunRefused
from machines.agent.scripted import Drop, Garbage, Received, Refuse, Turn, call
from machines.agent.tools import tool
from machines.agent.wire import CallPart, ThinkingPart
from machines.outcome import Fact, TerminalStatus
from machines.policy import Policy, Recovery

from .scripts import calling, done, last_texts, refusing, results, texts, too_long

pytestmark = pytest.mark.anyio

BUDGET = refusing("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for this model")
ORPHAN = refusing("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: call_1")
BAD_CALL = refusing("Failed to call a function. Please adjust your prompt.")


@tool
async def look(number: int) -> str:
    """Look at something."""
    return f"number {number}"


async def test_a_reply_budget_above_the_models_limit_is_sent_again_at_the_limit_which_the_next_run_begins_with(
    serve: Callable[..., Any],
) -> None:
    def script(received: Received) -> Any:
        return BUDGET if received.request.max_tokens > 8_192 else done()

    with serve(script) as stage:
        agent = stage.agent()
        first, second = await agent.run("one"), await agent.run("two")
        await stage.close()
        assert first.ok
        assert second.ok
        assert [received.request.max_tokens for received in stage.server.requests()] == [32_000, 8_192, 8_192]
        known = limits_now(stage.provider)
    assert (known.max_output, known.output_from) == (8_192, LimitSource.LEARNED)


async def test_a_limit_that_is_learned_is_that_of_one_model(serve: Callable[..., Any]) -> None:
    def script(received: Received) -> Any:
        return BUDGET if received.run == "small" and received.request.max_tokens > 8_192 else done()

    with serve(script) as stage:
        for name in ("small", "large"):
            assert (await stage.agent(run=name).run("go", run=name)).ok
        await stage.close()
        assert [received.request.max_tokens for received in stage.server.requests("large")] == [32_000]


async def test_a_limit_that_is_not_named_is_looked_for_by_halves(serve: Callable[..., Any]) -> None:
    unnamed = refusing("max_tokens is too large: must be less than or equal to the limit")

    def script(received: Received) -> Any:
        return unnamed if received.request.max_tokens > 9_000 else done()

    with serve(script) as stage:
        ran = await stage.ran("go")
    if ran.result.ok:
        assert [received.request.max_tokens for received in ran.requests] == [32_000, 16_000, 8_000]


async def test_a_budget_that_does_not_fit_beside_the_prompt_is_what_the_prompt_leaves(
    serve: Callable[..., Any],
) -> None:
    together = refusing("input length and `max_tokens` exceed context limit: 195000 + 32000 > 200000, decrease one")
    with serve([together, done()]) as stage:
        ran = await stage.ran("go")
    assert ran.result.ok
    assert [received.request.max_tokens for received in ran.requests] == [32_000, 5_000]
    assert [(notice.reason, notice.reply_budget) for notice in ran.heard(RecoveryNotice)] == [("reply_budget", 5_000)]


async def test_a_short_prompt_that_is_refused_as_too_long_is_sent_once_more_as_it_is_and_once_a_run(
    serve: Callable[..., Any],
) -> None:
    vague = refusing("prompt is too long: 300 tokens > 128000 maximum")
    with serve([vague, calling("look", number=1), vague]) as stage:
        ran = await stage.ran("go", [look])
    assert ran.requests[1].request == ran.requests[0].request
    assert [notice.reason for notice in ran.heard(RecoveryNotice)] == ["short_prompt", "condensed"]
    assert ran.result.outcome.reason.by == "context_overflow"


async def test_where_nothing_can_be_made_shorter_the_run_fails_with_both_sizes(serve: Callable[..., Any]) -> None:
    with serve([too_long(size=201_000, window=200_000)]) as stage:
        ran = await stage.ran("a task of a few words")
    assert (ran.result.status, len(ran.requests)) == (TerminalStatus.FAILED, 1)
    with pytest.raises(ContextOverflow) as raised:
        ran.result.raise_for_status()
    assert (raised.value.tokens, raised.value.window) == (201_000, 200_000)
    assert "201000" in str(raised.value)
    assert "200000" in str(raised.value)


async def test_a_transcript_that_is_not_taken_is_sent_plainer_from_then_on(serve: Callable[..., Any]) -> None:
    thought = Turn(thinking="I look.", calls=(call("look", {"number": 1}, id="an-id-that-is-rather-long"),))
    with serve([thought, ORPHAN, calling("look", number=2), done()]) as stage:
        ran = await stage.ran("look", [look])
    assert ran.result.ok
    assert [notice.reason for notice in ran.heard(RecoveryNotice)] == ["transcript"]
    before, after, later = (received.request for received in ran.requests[1:])
    assert (texts(after), results(after)) == (texts(before), results(before))
    for request in (after, later):
        parts = [part for message in request.messages for part in message.parts]
        assert not [part for part in parts if isinstance(part, ThinkingPart) and part.text]
        assert all(len(part.id) == 9 and part.id.isalnum() for part in parts if isinstance(part, CallPart))


async def test_a_transcript_that_is_not_taken_in_its_plainer_form_either_ends_the_run(
    serve: Callable[..., Any],
) -> None:
    with serve([calling("look", number=1), ORPHAN, ORPHAN]) as stage:
        ran = await stage.ran("look", [look])
    assert (ran.result.status, ran.result.outcome.reason.by) == (TerminalStatus.FAILED, "refused")
    assert "ids were found without" in ran.result.output
    with pytest.raises(RunRefused):
        ran.result.raise_for_status()


async def test_a_call_that_the_server_could_not_read_is_told_to_the_model(serve: Callable[..., Any]) -> None:
    with serve([BAD_CALL, calling("look", number=1), done()]) as stage:
        ran = await stage.ran("look", [look])
    assert ran.result.ok
    assert "could not read the call" in last_texts(ran.requests[1].request)[-1]


async def test_a_third_call_that_the_server_could_not_read_ends_the_run(serve: Callable[..., Any]) -> None:
    with serve([BAD_CALL] * 3) as stage:
        ran = await stage.ran("look", [look])
    assert (ran.result.outcome.reason.by, len(ran.requests)) == ("refused", 3)


@pytest.mark.parametrize(
    "passing", [Refuse(529), Refuse(429, headers={"retry-after": "7"}), Refuse(503), Drop(), Drop(mid_body=True)]
)
async def test_what_may_pass_later_is_asked_again_and_leaves_no_mark_on_the_outcome(
    serve: Callable[..., Any], passing: Any
) -> None:
    with serve([passing, calling("look", number=1), passing, done()]) as stage:
        ran = await stage.ran("look", [look])
    assert ran.result.ok
    assert Fact.REFUSED not in ran.result.facts
    assert [(notice.reason, notice.attempt) for notice in ran.heard(RecoveryNotice)] == [("refused", 1)] * 2
    assert len(ran.heard(AttemptResetNotice)) == 2
    assert ran.requests[1].request == ran.requests[0].request
    waits = {notice.after for notice in ran.heard(RecoveryNotice)}
    assert waits == ({7.0} if getattr(passing, "status", 0) == 429 else {0.5})


@pytest.mark.parametrize("final", [Refuse(401), Refuse(402), Refuse(403), Refuse(404)])
async def test_what_no_later_request_can_pass_ends_at_once(serve: Callable[..., Any], final: Refuse) -> None:
    with serve([final]) as stage:
        ran = await stage.ran("go")
    assert (ran.result.outcome.reason.by, len(ran.requests)) == ("refused", 1)


@pytest.mark.parametrize("wrong", [BUDGET, ORPHAN, BAD_CALL, Refuse(529), Garbage()])
async def test_each_recovery_of_a_request_can_be_switched_off(serve: Callable[..., Any], wrong: Any) -> None:
    off = Recovery(refused=0, condensed=0, reply_budget=0, short_prompt=0, transcript=0, bad_call=0)
    with serve([wrong]) as stage:
        ran = await stage.ran("go", policy=Policy(recovery=off))
    assert (ran.result.status, len(ran.requests)) == (TerminalStatus.FAILED, 1)
    assert ran.heard(RecoveryNotice) == []
