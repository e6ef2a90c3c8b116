"""The size of a prompt, asked over real sockets on each wire that can tell."""

from __future__ import annotations

import time
from typing import Any

import orjson
import pytest

from machines.agent.providers import HttpProvider, anthropic, counted, gemini, provider_for, responses
from machines.agent.wire import (
    CallPart,
    Counting,
    Message,
    Request,
    ResultPart,
    TextPart,
    ThinkingPart,
    ToolSchema,
)

from .asked import Said, Server, answering

pytestmark = pytest.mark.anyio

GO = Request(
    "Be brief.",
    (
        Message("user", (TextPart("Go"),)),
        Message("assistant", (TextPart("I read."), CallPart("c1", "read", '{"n": 12345678901234567890123}'))),
        Message("user", (ResultPart("c1", "[]"), TextPart("On"))),
    ),
    (ToolSchema("read", "Reads.", {"type": "object"}),),
    max_tokens=777,
)
PATHS = {
    "anthropic": ("/v1/messages", "/v1/messages/count_tokens", "input_tokens"),
    "openai-responses": ("/v1/responses", "/v1/responses/input_tokens", "input_tokens"),
    "gemini": ("/v1beta/models/a%2Fb:generateContent", "/v1beta/models/a%2Fb:countTokens", "totalTokens"),
}


@pytest.fixture(params=PATHS)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def provider_at(server: Server, path: str) -> HttpProvider:
    provider = provider_for(f"{server.url}{path}#a/b")
    assert isinstance(provider, HttpProvider)
    return provider


async def size(server: Server, wire: str, request: Request = GO) -> int | None:
    provider = provider_at(server, PATHS[wire][0])
    assert isinstance(provider, Counting)
    try:
        return await provider.count(request)
    finally:
        await provider.aclose()


async def test_a_prompt_is_counted_by_its_own_body(wire: str) -> None:
    path, asked, field = PATHS[wire]
    with answering({asked: Said({field: 18, "object": "response.input_tokens"})}) as server:
        assert await size(server, wire) == 18
        [ask] = server.asks
        assert (ask.method, ask.path) == ("POST", asked)
        assert ask.headers["content-type"] == "application/json"
        sent: dict[str, Any] = orjson.loads(provider_at(server, path).wire.body(GO, "a/b"))
    if wire == "gemini":
        assert ask.json() == {"generateContentRequest": {"model": "models/a/b", **sent}}
    else:
        budget = {"max_tokens", "max_output_tokens", "store"}
        assert budget & sent.keys()
        assert ask.json() == {name: value for name, value in sent.items() if name not in budget}
    # To the letter: numbers that no parser here would keep are what the model will read.
    assert b"12345678901234567890123" in ask.body


@pytest.mark.parametrize("request_", [Request("", ()), Request("", (), no_tools=True), GO])
def test_what_only_a_reply_needs_is_left_out_whatever_else_there_is(request_: Request) -> None:
    for to_count in (anthropic.to_count, responses.to_count):
        body = orjson.loads(to_count("http://h/v1/x", request_, ""))
        assert not body.keys() & {"max_tokens", "max_output_tokens", "store", "include"}
        assert body.keys() & {"messages", "input"}
    inside = orjson.loads(gemini.to_count("http://h/v1beta/models/m:generateContent", request_, ""))
    assert inside["generateContentRequest"]["model"] == "models/m"


def test_openais_own_count_is_without_what_its_own_request_includes() -> None:
    assert b'"include"' in responses.OWN_WIRE.body(GO, "gpt-5")
    assert responses.OWN_WIRE.counter is not None
    assert b'"include"' not in responses.OWN_WIRE.counter.body("http://h/v1/responses", GO, "gpt-5")


async def test_chat_completions_has_no_counts() -> None:
    with answering(lambda _: Said({"input_tokens": 18})) as server:
        provider = provider_at(server, "/v1/chat/completions")
        assert await provider.count(GO) is None
        assert server.asks == []


@pytest.mark.parametrize(
    "said",
    [
        Said({"input_tokens": 18, "totalTokens": 18}, 400),
        Said({"input_tokens": 18, "totalTokens": 18}, 529),
        Said({"input_tokens": "18", "totalTokens": None}),
        Said({"input_tokens": 0, "totalTokens": -1}),
        Said({"tokens": 18}),
        Said([18]),
        Said(b"<html>"),
        Said({"input_tokens": 18}, drop=True),
    ],
)
async def test_what_is_no_count_is_none_and_not_tried_again(wire: str, said: Said) -> None:
    with answering(lambda _: said) as server:
        assert await size(server, wire) is None
        assert len(server.asks) == 1


async def test_a_server_that_is_not_there_counts_nothing(wire: str) -> None:
    with answering({}) as server:
        pass
    assert await size(server, wire) is None


async def test_a_server_that_keeps_silent_is_given_up(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted.SECONDS == 10.0
    monkeypatch.setattr(counted, "SECONDS", 0.1)
    with answering(lambda _: Said(hang=True)) as server:
        begun = time.monotonic()
        assert await size(server, wire) is None
        assert time.monotonic() - begun < 5.0
        assert len(server.asks) == 1


async def test_a_request_that_json_cannot_say_is_not_counted(wire: str) -> None:
    odd = Request("", (Message("user", (TextPart("Go"),)),), (ToolSchema("t", "", {"type": object}),))
    raw = {"type": "thinking", "thinking": object, "signature": "s"}
    odder = Request("", (Message("assistant", (ThinkingPart("", raw),)),))
    with answering(lambda _: Said({"input_tokens": 18, "totalTokens": 18})) as server:
        assert await size(server, wire, odd) is None
        assert await size(server, wire, odder) in (None, 18)  # only the wire it came from sends it
        assert len(server.asks) <= 1
