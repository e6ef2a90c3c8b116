"""A real model that is shown how to call a tool, and mostly does. What it calls, and with what, is its own affair."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from machines.agent.notices import CallsNotice, ResultNotice
from machines.agent.tools import tool
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Policy

pytestmark = [pytest.mark.live, pytest.mark.anyio]


def shown(one: int, other: int) -> str:
    """A question and its call, as the server's template writes them."""
    call = f'<call>{{"name": "add", "arguments": {{"one": {one}, "other": {other}}}}}</call>'
    return f"<start_of_turn>user\nAdd {one} and {other}.<eos>\n<start_of_turn>model\n{call}<eos>\n"


@pytest.mark.parametrize(
    ("anyio_backend", "wire"),
    [("asyncio", "openai"), ("trio", "anthropic"), ("asyncio", "openai-responses")],
    indirect=True,
)
async def test_calls_of_a_real_model_are_run_and_answered_until_the_turns_are_used_up(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    sums: list[int] = []

    @tool
    async def add(one: int, other: int) -> int:
        """Add two numbers."""
        sums.append(one + other)
        return one + other

    policy = Policy(budget=Budget(turns=2, reply_tokens=48))
    ran = await ask("Add 2 and 3.", tools=[add], system=shown(4, 5) + shown(1, 7), policy=policy)
    result = ran.result
    assert result.output
    assert result.account.turns <= 2
    called = [call for notice in ran.notices if isinstance(notice, CallsNotice) for call, _, _ in notice.calls]
    answered = [notice.call for notice in ran.notices if isinstance(notice, ResultNotice)]
    assert sorted(called) == sorted(answered) == sorted(event["call"] for event in ran.heard("Result"))
    if not called:
        pytest.skip("this model, on this machine, made no call")
    assert sums
    # The last reply has no tools. A server that forgets that makes calls in it all the same: they are not run.
    assert (result.limited, result.account.turns) == (True, 2)
    assert result.status is TerminalStatus.BLOCKED
    assert Fact.LIMIT_REACHED in result.facts
