"""A reply that a real server cut and calls complete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import orjson
import pytest

from machines.agent.providers.provider import Wire
from machines.agent.wire import Completion, Request, TextPart
from machines.events import StopReason, Usage
from machines.policy import Budget, Policy, Recovery

pytestmark = [pytest.mark.live, pytest.mark.anyio]

PATH = "/v1/responses"


def _body(request: Request, model: str) -> bytes:
    kinds = {"user": "input_text", "assistant": "output_text"}
    said = [
        {
            "type": "message",
            "role": message.role,
            "content": [
                {"type": kinds[message.role], "text": part.text} for part in message.parts if isinstance(part, TextPart)
            ],
        }
        for message in request.messages
    ]
    return orjson.dumps({"max_output_tokens": request.max_tokens, "instructions": request.system, "input": said})


def _reply(text: str, value: Any) -> Completion:
    texts = [part["text"] for item in value["output"] for part in item["content"]]
    usage = Usage(value["usage"]["input_tokens"], value["usage"]["output_tokens"])
    # As that wire has it: a reply that is cut is `incomplete`.
    stop = StopReason.END_TURN if value["status"] == "completed" else StopReason.LENGTH
    return Completion(stop, tuple(TextPart(words) for words in texts), usage)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_reply_that_used_up_its_budget_is_cut_whatever_the_server_says(
    server: Any, provider_of: Callable[[str], Any], ask_by: Callable[..., Awaitable[Any]], tmp_path: Path
) -> None:
    if not server.serves(PATH):
        pytest.skip(f"this build of the server does not serve {PATH}")
    provider = attrs.evolve(
        provider_of(server.url), url=server.url + PATH, wire=Wire(headers=lambda key: {}, body=_body, reply=_reply)
    )
    policy = Policy(budget=Budget(reply_tokens=3, turns=1), recovery=Recovery(truncated=1))
    ran = await ask_by(provider, tmp_path, "Count: one, two, three, four, five, six, seven.", policy=policy)
    replies = ran.heard("Reply")
    assert [reply["usage"]["output"] for reply in replies] == [3] * len(replies)
    assert [reply["stop"] for reply in replies] == [StopReason.LENGTH] * 3
    assert ran.result.truncated
