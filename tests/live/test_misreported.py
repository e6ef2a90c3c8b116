"""A reply that a real server cut and calls complete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from machines.agent.wire import Completion, Message, Request, TextPart
from machines.events import StopReason
from machines.policy import Budget, Policy, Recovery

pytestmark = [pytest.mark.live, pytest.mark.anyio]

LONG = "Count: one, two, three, four, five, six, seven."


@pytest.mark.parametrize(("anyio_backend", "wire"), [("asyncio", "openai-responses")], indirect=True)
async def test_a_reply_that_used_up_its_budget_is_cut_whatever_the_server_says(
    address: str, ask: Callable[..., Awaitable[Any]], provider_of: Callable[[str], Any]
) -> None:
    """On this wire a reply that is cut is `incomplete`; this server says `completed`."""
    provider = provider_of(address)
    said = await provider.complete(Request("", (Message("user", (TextPart(LONG),)),), max_tokens=3))
    await provider.aclose()
    assert isinstance(said, Completion)
    assert (said.stop, said.usage.output) == (StopReason.END_TURN, 3)
    ran = await ask(LONG, policy=Policy(budget=Budget(reply_tokens=3, turns=1), recovery=Recovery(truncated=1)))
    replies = ran.heard("Reply")
    assert [reply["usage"]["output"] for reply in replies] == [reply["budget"] for reply in replies] == [3, 6, 6]
    assert {reply["stop"] for reply in replies} == {StopReason.END_TURN}
    assert [reply["capped"] for reply in replies] == [True] * 3  # whatever this server calls them
    assert ran.result.truncated
