"""A prompt that is larger than a real server's window."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from machines.agent.notices import CondensedNotice
from machines.agent.result import ContextOverflow
from machines.agent.tools import tool
from machines.outcome import TerminalStatus
from machines.policy import Budget, History, Policy, Recovery

from .serve import CONTEXT
from .test_calls import shown

pytestmark = [pytest.mark.live, pytest.mark.anyio]

TOO_LONG = "word " * 3000
"""A token a word, and more of them than the window has."""


@pytest.mark.parametrize("allowed", [0, 2])
async def test_a_task_larger_than_the_window_cannot_be_made_shorter_and_ends_as_an_overflow_with_its_size(
    ask: Callable[..., Awaitable[Any]], allowed: int
) -> None:
    policy = Policy(budget=Budget(reply_tokens=3), recovery=Recovery(condensed=allowed))
    ran = await ask(TOO_LONG, policy=policy)
    refusals = ran.heard("Refusal")
    assert [(refusal["status"], refusal["too_long"]) for refusal in refusals] == [(400, True)]
    # Before it is sent, and, where that is allowed, after it was refused.
    condensed = ran.heard("Condensed")
    assert [(one["freed"], one["nothing_left"]) for one in condensed] == [(0, True)] * (2 if allowed else 1)
    assert not any(isinstance(notice, CondensedNotice) for notice in ran.notices), "nothing was made shorter"
    assert ran.heard("Reply") == []
    result = ran.result
    assert (result.status, result.outcome.reason.by) == (TerminalStatus.FAILED, "context_overflow")
    assert result.output
    assert (result.usage.input, result.usage.output) == (0, 0)
    with pytest.raises(ContextOverflow) as raised:
        result.raise_for_status()
    assert raised.value.window == CONTEXT
    assert (raised.value.tokens or 0) > 3_000


each = pytest.mark.parametrize(
    ("anyio_backend", "wire"),
    [("asyncio", "openai"), ("trio", "anthropic"), ("asyncio", "openai-responses")],
    indirect=True,
)
"""Each wire once."""

ONCE = Recovery(truncated=0)
"""A reply that is cut ends the run: what this model would say in a longer one is of no interest."""


@each
async def test_a_result_larger_than_the_window_is_set_aside_after_the_server_refused_it_and_the_run_is_answered(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    given: list[str] = []

    @tool
    async def add(one: int, other: int) -> str:
        """Add two numbers."""
        given.append(f"{one + other}. " + "That is fine, and " * (0 if given else 700))
        return given[-1]

    policy = Policy(budget=Budget(turns=2, reply_tokens=40), recovery=ONCE)
    ran = await ask("Add 2 and 3.", tools=[add], system=shown(4, 5) + shown(1, 7), policy=policy)
    if not given:
        pytest.skip("this model, on this machine, made no call")
    assert [refusal["kind"] for refusal in ran.heard("Refusal")] == ["prompt_too_long"]
    ahead, after = ran.heard("Condensed")
    assert (ahead["freed"], after["steps"]) == (0, ["spilled"])
    kinds = [event["is"] for event in ran.events]
    assert "Reply" in kinds[kinds.index("Refusal") :], "it was answered"
    assert any(isinstance(notice, CondensedNotice) for notice in ran.notices)


# On this wire the server counts a prompt, so nothing has to be refused. One run is enough: it takes longest of all.
@pytest.mark.parametrize(("anyio_backend", "wire"), [("trio", "anthropic")], indirect=True)
async def test_a_history_that_grows_beyond_the_window_is_condensed_and_the_run_goes_on(
    ask: Callable[..., Awaitable[Any]],
) -> None:
    given: list[str] = []

    @tool
    async def add(one: int, other: int) -> str:
        """Add two numbers."""
        given.append(f"{one + other}. " + f"number {len(given)} is fine, and " * (100 if len(given) < 2 else 0))
        return given[-1]

    # Without the model: one of this size writes no summary that ends.
    policy = Policy(budget=Budget(turns=3, reply_tokens=40), recovery=ONCE, history=History(summaries=False))
    ran = await ask("Add 2 and 3.", tools=[add], system=shown(4, 5) + shown(1, 7), policy=policy)
    if len(given) < 2:
        pytest.skip("this model, on this machine, made no two calls")
    steps = [condensed["steps"] for condensed in ran.heard("Condensed")]
    assert (steps, ran.heard("Refusal")) == ([["mechanical"]], [])
    kinds = [event["is"] for event in ran.events]
    assert "Reply" in kinds[kinds.index("Condensed") :], "it was answered"
    for reply in ran.heard("Reply"):
        assert reply["usage"]["input"] + reply["budget"] <= CONTEXT
    assert ran.result.outcome.reason.by in ("turns", "recovery_exhausted")
