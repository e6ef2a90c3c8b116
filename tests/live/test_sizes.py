"""What a real server says of its model and of a prompt, and whether its replies say the same."""

from __future__ import annotations

import pytest

from machines.agent.limits import ModelLimits
from machines.agent.providers import HttpProvider, Retries, provider_for
from machines.agent.wire import Completion, Message, Request, TextPart, ToolSchema

from .serve import CONTEXT

pytestmark = [pytest.mark.live, pytest.mark.anyio]

GO = Request(
    "Be brief.",
    (Message("user", (TextPart("Count: one, two, three."),)),),
    (ToolSchema("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),),
    max_tokens=4,
)


async def test_a_server_says_what_its_model_takes_and_how_large_a_prompt_is(address: str, wire: str) -> None:
    provider = provider_for(address, retries=Retries(attempts=1))
    assert isinstance(provider, HttpProvider)
    try:
        assert await provider.model_limits(provider.name) == ModelLimits(CONTEXT, None)
        counted = await provider.count(GO)
        reply = await provider.complete(GO)
    finally:
        await provider.aclose()
    assert isinstance(reply, Completion)
    # Chat Completions has no counts.
    assert counted == (None if wire == "openai" else reply.usage.input)
