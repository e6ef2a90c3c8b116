"""A prompt that is larger than a real server's window."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from machines.agent.notices import CondensedNotice
from machines.agent.result import RunFailed
from machines.outcome import TerminalStatus
from machines.policy import Budget, Policy, Recovery

pytestmark = [pytest.mark.live, pytest.mark.anyio]

TOO_LONG = "word " * 3000
"""A token a word, and more of them than the window has."""


@pytest.mark.parametrize("allowed", [0, 2])
async def test_a_prompt_larger_than_the_window_is_condensed_as_often_as_allowed_and_then_ends_as_an_overflow(
    ask: Callable[..., Awaitable[Any]], allowed: int
) -> None:
    policy = Policy(budget=Budget(reply_tokens=3), recovery=Recovery(condensed=allowed))
    ran = await ask(TOO_LONG, policy=policy)
    refusals = ran.heard("Refusal")
    assert [(refusal["status"], refusal["too_long"]) for refusal in refusals] == [(400, True)] * (allowed + 1)
    assert [condensed["freed"] for condensed in ran.heard("Condensed")] == [0] * allowed
    assert not any(isinstance(notice, CondensedNotice) for notice in ran.notices), "nothing was made shorter"
    assert ran.heard("Reply") == []
    result = ran.result
    assert (result.status, result.outcome.reason.by) == (TerminalStatus.FAILED, "context_overflow")
    assert result.output
    assert (result.usage.input, result.usage.output) == (0, 0)
    with pytest.raises(RunFailed):
        result.raise_for_status()
