"""Replies of a real model that are told as they come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from machines.agent.notices import PieceNotice
from machines.policy import Budget, Policy, Recovery

pytestmark = [pytest.mark.live, pytest.mark.anyio]

LONG = "Count: one, two, three, four, five, six, seven."


@pytest.mark.parametrize(
    ("anyio_backend", "wire"),
    [("trio", "openai"), ("asyncio", "anthropic"), ("trio", "openai-responses")],
    indirect=True,
)
async def test_a_run_that_is_streamed_is_the_same_kind_of_run_and_is_told_piece_by_piece(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    policy = Policy(budget=Budget(reply_tokens=4), recovery=Recovery(truncated=1))
    ran = {stream: await ask(LONG, policy=policy, stream=stream, run=f"stream-{stream}") for stream in (False, True)}

    def kind(stream: bool) -> tuple[object, ...]:
        one = ran[stream]
        replies = [
            (reply["stop"], reply["capped"], reply["budget"], reply["usage"]["output"]) for reply in one.heard("Reply")
        ]
        return one.result.status, one.result.outcome.reason, replies

    assert kind(True) == kind(False), ran[True].notices
    assert not [notice for notice in ran[False].notices if isinstance(notice, PieceNotice)]
    pieces = [notice for notice in ran[True].notices if isinstance(notice, PieceNotice)]
    assert {notice.channel for notice in pieces} == {"text"}
    # A piece is a token or a few: so many came that none can have waited for the end of its reply.
    assert len(pieces) > 4
    assert ran[True].result.output
