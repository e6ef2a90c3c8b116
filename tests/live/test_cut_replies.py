"""Replies that a real server cuts at their token budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from machines.agent.notices import RecoveryNotice, TextNotice
from machines.agent.result import RunTruncated
from machines.events import StopReason
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Policy, Recovery

pytestmark = [pytest.mark.live, pytest.mark.anyio]

LONG = "Count: one, two, three, four, five, six, seven."
"""A task that no model answers in three tokens."""


async def test_a_reply_cut_at_its_budget_is_recovered_from_as_often_as_allowed_and_no_more(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    policy = Policy(budget=Budget(reply_tokens=3), recovery=Recovery(truncated=2))
    ran = await ask(LONG, policy=policy)
    replies = ran.heard("Reply")
    # The first, two more, and the last reply; one of this server's wires calls them completed.
    assert [reply["capped"] or reply["stop"] == StopReason.LENGTH for reply in replies] == [True] * 4
    assert [reply["usage"]["output"] for reply in replies] == [3] * 4
    attempts = [(n.reason, n.attempt) for n in ran.notices if isinstance(n, RecoveryNotice)]
    assert attempts == [("truncations", 1), ("truncations", 2)]
    assert not any(isinstance(notice, TextNotice) for notice in ran.notices)  # half a reply is not shown
    assert ran.result.truncated


@pytest.mark.parametrize(("anyio_backend", "wire"), [("asyncio", "openai"), ("trio", "anthropic")], indirect=True)
async def test_a_run_whose_cut_reply_may_not_be_recovered_from_ends_blocked_and_says_so(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    policy = Policy(budget=Budget(reply_tokens=3), recovery=Recovery(truncated=0))
    ran = await ask(LONG, policy=policy)
    assert len(ran.heard("Reply")) == 2
    assert not any(isinstance(notice, RecoveryNotice) for notice in ran.notices)
    result = ran.result
    assert result.status is TerminalStatus.BLOCKED
    assert result.truncated
    assert Fact.RECOVERY_EXHAUSTED in result.facts
    assert result.outcome.reason.by == "recovery_exhausted"
    assert result.output.startswith("The run ended as blocked")
    assert result.account.turns == 0  # a reply that is cut is no turn
    with pytest.raises(RunTruncated):
        result.raise_for_status()
