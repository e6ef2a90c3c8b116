"""Replies that a real server cuts at their token budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import reduce
from typing import Any

import pytest

from machines.agent.joining import joined
from machines.agent.notices import AttemptResetNotice, PieceNotice, RecoveryNotice, StateNotice, TextNotice
from machines.agent.result import RunTruncated
from machines.events import StopReason
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Policy, Recovery

pytestmark = [pytest.mark.live, pytest.mark.anyio]

each = pytest.mark.parametrize(
    ("anyio_backend", "wire"),
    [("asyncio", "openai"), ("trio", "anthropic"), ("trio", "openai-responses")],
    indirect=True,
)
"""Each wire once."""

LONG = "Count: one, two, three, four, five, six, seven."
"""A task that no model answers in three tokens."""


@each
async def test_a_reply_cut_at_its_budget_is_recovered_from_as_often_as_allowed_and_no_more(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    policy = Policy(budget=Budget(reply_tokens=3), recovery=Recovery(truncated=2))
    ran = await ask(LONG, policy=policy)
    replies = ran.heard("Reply")
    # The first, two more, and the last reply; one of this server's wires calls them completed.
    assert [reply["capped"] or reply["stop"] == StopReason.LENGTH for reply in replies] == [True] * 4
    # Each cut doubles the budget, which stays raised: the server itself counts what it wrote.
    assert [reply["budget"] for reply in replies] == [3, 6, 12, 12]
    assert [reply["usage"]["output"] for reply in replies] == [3, 6, 12, 12]
    attempts = [(n.reason, n.attempt, n.reply_budget) for n in ran.notices if isinstance(n, RecoveryNotice)]
    assert attempts == [("truncated", 1, 6), ("truncated", 2, 12)]
    assert not any(isinstance(notice, TextNotice) for notice in ran.notices)  # half a reply is not shown
    assert ran.result.truncated


@each
async def test_the_pieces_of_a_cut_text_are_joined_and_shown_where_the_run_was_stopped_in_it(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    policy = Policy(budget=Budget(reply_tokens=3), recovery=Recovery(truncated=2))
    ran = await ask(LONG, policy=policy, stream=True)  # what is heard of a stream says what each reply was
    said = [""]
    for notice in ran.notices:
        if isinstance(notice, PieceNotice):
            said[-1] += notice.text
        elif isinstance(notice, AttemptResetNotice):
            said[-1] = ""  # the server failed in the midst of it, and what was shown counts no longer
        elif isinstance(notice, RecoveryNotice) and notice.reason == "truncated":
            said.append("")
        elif isinstance(notice, StateNotice) and notice.state == "concluding":
            break
    assert len(said) == 3, ran.notices
    whole = reduce(joined, said)
    assert ran.heard("Reply")[2]["text"]["chars"] == len(whole)
    assert ran.result.output.endswith(f"What it had written of an answer when it was stopped:\n{whole}")


@pytest.mark.parametrize(("anyio_backend", "wire"), [("asyncio", "openai"), ("trio", "anthropic")], indirect=True)
async def test_a_run_whose_cut_reply_may_not_be_recovered_from_ends_partial_and_says_so(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    policy = Policy(budget=Budget(reply_tokens=3), recovery=Recovery(truncated=0))
    ran = await ask(LONG, policy=policy)
    assert len(ran.heard("Reply")) == 2
    assert not any(isinstance(notice, RecoveryNotice) for notice in ran.notices)
    result = ran.result
    assert result.status is TerminalStatus.PARTIAL  # there is the beginning of an answer
    assert result.truncated
    assert Fact.RECOVERY_EXHAUSTED in result.facts
    assert result.outcome.reason.by == "recovery_exhausted"
    assert result.output.startswith("The run ended as partial")
    assert result.account.turns == 0  # a reply that is cut is no turn
    with pytest.raises(RunTruncated):
        result.raise_for_status()
