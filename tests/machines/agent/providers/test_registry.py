from __future__ import annotations

from importlib.util import find_spec

import pytest

from machines.agent.providers import (
    BadProxy,
    HttpProvider,
    NoKey,
    Retries,
    UnknownModel,
    anthropic,
    gemini,
    openai,
    provider_for,
    responses,
)
from machines.agent.providers.http import on_this_machine

KEYS = {"ANTHROPIC_API_KEY": "sk-ant-0123456789", "OPENAI_API_KEY": "sk-0123456789", "GEMINI_API_KEY": "AIza-01"}


def found(model: str, **environ: str) -> HttpProvider:
    provider = provider_for(model, environ={**KEYS, **environ})
    assert isinstance(provider, HttpProvider)
    assert provider.name == model
    return provider


def test_anthropic_is_at_its_home() -> None:
    provider = found("anthropic:claude-x")
    assert (provider.url, provider.model) == ("https://api.anthropic.com/v1/messages", "claude-x")
    assert provider.wire is anthropic.WIRE
    assert provider.key is not None
    assert provider.key.text == KEYS["ANTHROPIC_API_KEY"]


def test_openai_is_at_its_home() -> None:
    provider = found("openai:gpt-x:tuned")
    assert (provider.url, provider.model) == ("https://api.openai.com/v1/chat/completions", "gpt-x:tuned")
    assert provider.wire is openai.OWN_WIRE
    assert provider.key is not None
    assert provider.key.text == KEYS["OPENAI_API_KEY"]


def test_the_responses_of_openai_are_at_its_home_with_the_same_key() -> None:
    provider = found("openai-responses:gpt-x")
    assert (provider.url, provider.model) == ("https://api.openai.com/v1/responses", "gpt-x")
    assert provider.wire is responses.OWN_WIRE
    assert provider.key is not None
    assert provider.key.text == KEYS["OPENAI_API_KEY"]
    other = found("openai-responses:m", OPENAI_BASE_URL="http://h:1/v1")
    assert (other.url, other.wire) == ("http://h:1/v1/responses", responses.WIRE)


@pytest.mark.parametrize("name", ["gemini-x", "models/gemini-x"])
def test_gemini_is_at_its_home_and_names_the_model_in_its_address(name: str) -> None:
    provider = found(f"gemini:{name}")
    home = "https://generativelanguage.googleapis.com/v1beta/models"
    assert (provider.url, provider.wire) == (f"{home}/gemini-x:generateContent", gemini.WIRE)
    assert provider.key is not None
    assert provider.key.text == KEYS["GEMINI_API_KEY"]


@pytest.mark.parametrize("base", ["http://h:1", "http://h:1/", "http://h:1/v1beta", "http://h:1/v1beta/"])
def test_the_address_of_gemini_can_be_another(base: str) -> None:
    found_at = found("gemini:a b/c", GOOGLE_GEMINI_BASE_URL=base).url
    assert found_at == "http://h:1/v1beta/models/a%20b%2Fc:generateContent"


@pytest.mark.parametrize("base", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"])
def test_the_address_of_anthropic_can_be_another(base: str) -> None:
    assert found("anthropic:m", ANTHROPIC_BASE_URL=base).url == "http://h:1/v1/messages"


@pytest.mark.parametrize("base", ["http://h:1/v1", "http://h:1/v1/"])
def test_the_address_of_openai_can_be_another(base: str) -> None:
    provider = found("openai:m", OPENAI_BASE_URL=base)
    assert (provider.url, provider.wire) == ("http://h:1/v1/chat/completions", openai.WIRE)


@pytest.mark.parametrize("base", ["", " ", "https://api.openai.com/v1", "https://API.openai.com/v1/"])
def test_openai_at_home_is_spoken_to_as_at_home(base: str) -> None:
    assert found("openai:m", OPENAI_BASE_URL=base).wire is openai.OWN_WIRE


@pytest.mark.parametrize(
    ("model", "url", "name", "wire"),
    [
        ("http://h:1", "http://h:1/v1/chat/completions", "", openai.WIRE),
        ("http://h:1/", "http://h:1/v1/chat/completions", "", openai.WIRE),
        ("http://h:1/v1", "http://h:1/v1/chat/completions", "", openai.WIRE),
        ("http://h:1/api/v2/", "http://h:1/api/v2/chat/completions", "", openai.WIRE),
        ("http://h:1/x/chat/completions#a/b:c", "http://h:1/x/chat/completions", "a/b:c", openai.WIRE),
        ("https://h/v1/messages#run%201", "https://h/v1/messages", "run 1", anthropic.WIRE),
        ("http://h:1/v1/responses#m", "http://h:1/v1/responses", "m", responses.WIRE),
        ("http://h:1/v1/models/m:generateContent", "http://h:1/v1/models/m:generateContent", "", gemini.WIRE),
        ("http://[::1]:8080/v1#m", "http://[::1]:8080/v1/chat/completions", "m", openai.WIRE),
    ],
)
def test_a_url_is_a_model_and_gets_no_key(model: str, url: str, name: str, wire: object) -> None:
    provider = found(model)
    assert (provider.url, provider.model, provider.wire) == (url, name, wire)
    assert provider.key is None


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("openai:m", "OPENAI_API_KEY"),
        ("openai-responses:m", "OPENAI_API_KEY"),
        ("gemini:m", "GEMINI_API_KEY"),
    ],
)
def test_without_a_key_the_error_names_the_variable(model: str, variable: str) -> None:
    with pytest.raises(NoKey, match=rf"^{model.partition(':')[0]} needs a key: set {variable} in the environment$"):
        provider_for(model, environ={})


@pytest.mark.parametrize("model", ["", "gpt-4o", "anthropic:", "openai: ", "google:x", "file:///x", "Anthropic:x"])
def test_another_text_names_no_model(model: str) -> None:
    with pytest.raises(
        UnknownModel, match=r"names no model: expected anthropic:NAME, openai:NAME, openai-resp"
    ) as caught:
        provider_for(model, environ=KEYS)
    assert repr(model) in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        "sk-ant-api03-abc",
        f"x:{KEYS['OPENAI_API_KEY']}",
        "openai:sk-ant-api03-abc",
        "anthropic: sk-ant-api03-abc ",
        "openia:sk-ant-api03-abc",
        "gsk_0123456789abc",
        "AIzaSy0123456789abc",
        "gemini:AIzaSy0123456789abc",
        "x:0123456789abcdefghijklmnopqrstuvwxyz",
    ],
)
@pytest.mark.parametrize("environ", [KEYS, {}])
def test_a_key_in_the_place_of_a_name_is_not_shown(model: str, environ: dict[str, str]) -> None:
    with pytest.raises((UnknownModel, NoKey)) as caught:
        provider_for(model, environ=environ)
    assert "abc" not in str(caught.value)
    assert KEYS["OPENAI_API_KEY"] not in str(caught.value) or not environ
    assert caught.value.__cause__ is None


def test_a_key_as_the_name_of_a_houses_model_is_said_to_be_one() -> None:
    with pytest.raises(
        UnknownModel, match=r"^openai: found what looks like a key, expected openai:NAME and the key in"
    ):
        provider_for("openai:sk-proj-0123456789", environ=KEYS)


@pytest.mark.parametrize("name", ["xai-grok-4-fast", "hf-something-long", "sk-tiny", "claude-sonnet-4-5-20250929"])
def test_the_name_of_a_model_is_taken_for_no_key(name: str) -> None:
    assert found(f"openai:{name}").model == name


PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("proxy", ["socks4://user:pass@h:1", "ftp://user:pass@h:1"])
def test_a_proxy_that_cannot_be_used_is_said_without_showing_it(no_proxies: pytest.MonkeyPatch, proxy: str) -> None:
    no_proxies.setenv("ALL_PROXY", proxy)
    with pytest.raises(BadProxy, match=r"\(all_proxy\) cannot be used: expected http:// or https://") as caught:
        found("openai:m")
    assert "pass" not in str(caught.value)
    found("http://127.0.0.1:8080#m")  # asked through no proxy
    no_proxies.setenv("ALL_PROXY", "http://h:1")
    found("openai:m")


@pytest.mark.skipif(find_spec("socksio") is not None, reason="SOCKS works here")
def test_a_socks_proxy_names_the_package_that_is_missing(no_proxies: pytest.MonkeyPatch) -> None:
    no_proxies.setenv("HTTPS_PROXY", "socks5://h:1")
    with pytest.raises(BadProxy, match=r"\(https_proxy\) .*; SOCKS needs the package socksio"):
        found("openai:m")


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1/v1", True),
        ("http://LOCALHOST", True),
        ("http://localhost./v1", True),
        ("http://a.localhost", True),
        ("http://128.0.0.1", False),
        ("http://localhost.org", False),
        ("http://notlocalhost", False),
    ],
)
def test_addresses_of_this_machine_are_told_from_others(url: str, here: bool) -> None:
    assert on_this_machine(url) is here


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://user:pass@h/v1", "holds a user name or a password"),
        ("http://pass@h/v1", "holds a user name or a password"),
        ("http:///v1", "names no host"),
        ("http://h/v1?key=pass", "has a query"),
        ("http://h:0/v1", "has a character or a port that no address has"),
        ("http://h:99999/v1", "Port out of range"),
        ("http://h:pass/v1", "is no address"),
        ("http://[h/v1", "is no address"),
        ("http://h h/v1", "has a character or a port that no address has"),
    ],
)
def test_an_address_that_is_none_is_refused(url: str, why: str) -> None:
    with pytest.raises(UnknownModel, match=f"^the URL of a model .*{why}") as caught:
        provider_for(url, environ=KEYS)
    assert "pass@" not in str(caught.value)
    with pytest.raises(UnknownModel, match=f"^OPENAI_BASE_URL .*{why}"):
        provider_for("openai:m", environ={**KEYS, "OPENAI_BASE_URL": url})


def test_an_address_of_another_scheme_is_refused() -> None:
    with pytest.raises(UnknownModel, match=r"^ANTHROPIC_BASE_URL does not begin with http"):
        provider_for("anthropic:m", environ={**KEYS, "ANTHROPIC_BASE_URL": "h:1"})


def test_the_environment_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-process")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h/v1")
    provider = provider_for("openai:m", seconds=5, retries=Retries(attempts=3))
    assert isinstance(provider, HttpProvider)
    assert provider.key is not None
    assert (provider.key.text, provider.seconds, provider.retries.attempts) == ("sk-of-the-process", 5, 3)


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_request_has_some_time(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        provider_for("http://h", seconds=seconds)


def test_at_least_one_attempt_is_made() -> None:
    with pytest.raises(ValueError, match="attempts"):
        Retries(attempts=0)
