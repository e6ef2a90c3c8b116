"""What a model takes, asked over real sockets of servers that say it in every way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import pytest

from machines.agent.limit_lookup import SECONDS, limits_for
from machines.agent.limits import KnownLimits, LimitSource, ModelLimits, isolated_limits
from machines.agent.providers import HttpProvider, looked_up, provider_for
from machines.agent.providers.key import Key
from machines.agent.providers.looked_up import ANTHROPIC, GEMINI, OPENAI, Lookup, limits_in

from .asked import Said, Server, answering

pytestmark = pytest.mark.anyio

KEY = "sk-scripted-0123456789-abcdef"
PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:generateContent",
}


@pytest.fixture(autouse=True)
def isolated() -> Iterator[None]:
    with isolated_limits():
        yield


def provider_at(server: Server, wire: str = "openai", model: str = "m") -> HttpProvider:
    provider = provider_for(f"{server.url}{PATHS[wire]}" + (f"#{model}" if model else ""))
    assert isinstance(provider, HttpProvider)
    return provider


async def found(server: Server, wire: str = "openai", model: str = "m") -> ModelLimits | None:
    provider = provider_at(server, wire, model)
    try:
        return await provider.model_limits(provider.model or provider.name)
    finally:
        await provider.aclose()


def listed(**fields: object) -> Said:
    return Said(
        {"object": "list", "data": [{"id": "other", "max_model_len": 7}, {"id": "m", "object": "model", **fields}]}
    )


async def test_anthropic_is_asked_for_the_model_itself() -> None:
    model = {"type": "model", "id": "m", "max_input_tokens": 200_000, "max_tokens": 64_000}
    with answering({"/v1/models/m": Said(model)}) as server:
        assert await found(server, "anthropic") == ModelLimits(200_000, 64_000)
        assert server.paths() == ["GET /v1/models/m"]
        assert server.asks[0].headers["anthropic-version"] == "2023-06-01"


async def test_a_server_of_anthropics_wire_that_only_lists_its_models_is_asked_for_the_list() -> None:
    with answering({"/v1/models": listed(meta={"n_ctx": 2_048, "n_ctx_train": 32_768})}) as server:
        assert await found(server, "anthropic") == ModelLimits(2_048, None)
        assert server.paths() == ["GET /v1/models/m", "GET /v1/models"]


async def test_gemini_is_asked_for_the_model_itself() -> None:
    model = {"name": "models/m", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}
    with answering({"/v1beta/models/m": Said(model)}) as server:
        assert await found(server, "gemini") == ModelLimits(1_048_576, 65_536)
        assert server.paths() == ["GET /v1beta/models/m"]


@pytest.mark.parametrize("wire", ["openai", "openai-responses"])
@pytest.mark.parametrize(
    ("fields", "limits"),
    [
        ({"max_model_len": 32_768, "root": "/m"}, ModelLimits(32_768, None)),  # vLLM
        ({"meta": {"n_ctx": 2_048, "n_ctx_train": 32_768}}, ModelLimits(2_048, None)),  # llama.cpp
        (  # OpenRouter
            {"context_length": 200_000, "top_provider": {"context_length": 190_000, "max_completion_tokens": 64_000}},
            ModelLimits(190_000, 64_000),
        ),
        (
            {"context_length": 200_000, "top_provider": {"context_length": None, "max_completion_tokens": None}},
            ModelLimits(200_000, None),
        ),
        ({"context_window": 131_072, "max_completion_tokens": 65_536}, ModelLimits(131_072, 65_536)),  # Groq
        ({"max_context_length": 262_144}, ModelLimits(262_144, None)),  # Mistral
        ({"meta": {"n_ctx_train": 32_768}}, None),  # the model's own, of which the server may give less
        ({"max_model_len": 0}, None),
        ({"max_model_len": "32768"}, None),
        ({"max_model_len": True, "meta": [1], "top_provider": "none"}, None),
        ({}, None),  # OpenAI's own
    ],
)
async def test_a_list_says_it_in_one_of_its_ways(
    wire: str, fields: Mapping[str, object], limits: ModelLimits | None
) -> None:
    with answering({"/v1/models": listed(**fields)}) as server:
        assert await found(server, wire) == limits
        assert server.paths() == ["GET /v1/models"]


async def test_the_one_model_of_a_server_is_meant_by_any_name_and_of_several_only_the_named() -> None:
    one, other = {"id": "/models/a.gguf", "max_model_len": 2_048}, {"id": "b", "max_model_len": 4_096}
    for model in ("", "m", "b"):
        with answering({"/v1/models": Said({"data": [one]})}) as server:
            assert await found(server, model=model) == ModelLimits(2_048)
    for model, limits in (("", None), ("m", None), ("b", ModelLimits(4_096))):
        with answering({"/v1/models": Said({"data": [one, other]})}) as server:
            assert await found(server, model=model) == limits


async def test_the_address_of_a_model_is_escaped_and_the_key_goes_with_it() -> None:
    with answering(lambda _: Said({"max_input_tokens": 5_000})) as server:
        provider = HttpProvider(
            "n", f"{server.url}/v1/messages", "a/b?c", provider_at(server, "anthropic").wire, Key(KEY)
        )
        assert await provider.model_limits("a/b?c") == ModelLimits(5_000)
        await provider.aclose()
    assert server.paths() == ["GET /v1/models/a%2Fb%3Fc"]
    assert server.asks[0].headers["x-api-key"] == KEY


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize(
    "said",
    [
        Said({}, 401),
        Said({"max_input_tokens": 1_000, "inputTokenLimit": 1_000, "max_model_len": 1_000}, 500),
        Said(b"<html>"),
        Said(b"\xff"),
        Said([]),
        Said(None),
        Said({"data": []}),
        Said({"data": [None, 1]}),
        Said({"data": "none"}, drop=True),
    ],
)
async def test_what_is_no_answer_is_none(wire: str, said: Said) -> None:
    with answering(lambda _: said) as server:
        assert await found(server, wire) is None


async def test_a_server_that_is_not_there_is_none() -> None:
    with answering({}) as server:
        pass
    assert await found(server) is None


async def test_a_server_that_keeps_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SECONDS == 5.0
    monkeypatch.setattr(looked_up, "SECONDS", 0.1)
    with answering({"/v1/models": Said(hang=True)}) as server:
        begun = time.monotonic()
        assert await found(server) is None
        assert time.monotonic() - begun < 5.0


async def test_a_list_that_is_too_long_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"data": [{"id": "m", "max_model_len": 4_096}]}
    with answering({"/v1/models": Said(data)}) as server:
        assert await found(server) == ModelLimits(4_096)
        monkeypatch.setattr(looked_up, "MOST_BYTES", 16)
        assert await found(server) is None


async def test_openai_itself_is_not_asked() -> None:
    for house in ("openai", "openai-responses"):
        provider = provider_for(f"{house}:gpt-4o", environ={"OPENAI_API_KEY": KEY})
        assert isinstance(provider, HttpProvider)
        assert provider.wire.lookup is None
        assert await provider.model_limits("gpt-4o") is None


async def test_a_provider_over_http_is_asked_once_where_the_table_has_nothing() -> None:
    with answering({"/v1/models": listed(max_model_len=40_960)}) as server:
        provider = provider_at(server)
        known = KnownLimits(40_960, 32_000, LimitSource.PROVIDER, LimitSource.DEFAULT)
        assert await limits_for(provider) == await limits_for(provider_at(server)) == known
        assert server.paths() == ["GET /v1/models"]
        await provider.aclose()


@pytest.mark.parametrize("lookup", [ANTHROPIC, GEMINI, OPENAI])
def test_an_empty_answer_says_nothing(lookup: Lookup) -> None:
    assert limits_in(lookup, b"", "m") is None
    assert limits_in(lookup, b"{}", "") is None
