"""Runs of a real model that end because a budget is used up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from machines.agent.result import RunLimitReached
from machines.outcome import TerminalStatus
from machines.policy import Budget, Policy, Recovery

pytestmark = [pytest.mark.live, pytest.mark.anyio]

both = pytest.mark.parametrize(("anyio_backend", "wire"), [("asyncio", "anthropic"), ("trio", "openai")], indirect=True)
"""Each loop and each wire once."""

TOKENS = 3_000


@both
async def test_a_run_whose_tokens_are_used_up_ends_within_them_and_gives_an_account(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    # What is held back is more than the last request here can cost.
    policy = Policy(budget=Budget(tokens=TOKENS, reply_tokens=4, hold_back=0.4), recovery=Recovery(truncated=9))
    ran = await ask("Count: one, two, three, four, five, six, seven.", policy=policy)
    result = ran.result
    assert (result.status, result.outcome.reason.by) == (TerminalStatus.PARTIAL, "tokens")
    assert (result.limited, result.ok) == (True, False)
    assert len(ran.heard("Reply")) >= 3
    assert 0.5 * TOKENS < result.usage.input + result.usage.output <= TOKENS
    assert f"{result.usage.input + result.usage.output} tokens" in result.output
    with pytest.raises(RunLimitReached):
        result.raise_for_status()


@both
async def test_what_a_run_says_that_it_used_is_what_the_server_counted(
    ask: Callable[..., Awaitable[Any]], server: Any
) -> None:
    before = server.counts()
    ran = await ask("Say hi.", policy=Policy(budget=Budget(reply_tokens=3), recovery=Recovery(truncated=1)))
    after = server.counts()
    usage = ran.result.usage
    assert usage.output == after["written"] - before["written"] > 0
    assert usage.input - usage.cached == after["read"] - before["read"] > 0
    replies = [reply["usage"] for reply in ran.heard("Reply")]
    assert (usage.input, usage.output) == (sum(r["input"] for r in replies), sum(r["output"] for r in replies))
