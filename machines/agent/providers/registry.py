"""Names of models to providers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import attrs

from ..wire import Provider
from . import anthropic, gemini, openai, responses
from .http import check_proxies
from .key import HIDDEN, key_from, looks_like_key, without_likely_keys
from .prices import Prices, catalogue_cost, cost_by
from .provider import IDLE, SECONDS, HttpProvider, Wire
from .retries import Retries

EXPECTED: Final = (
    "anthropic:NAME, openai:NAME, openai-responses:NAME, gemini:NAME or http(s)://HOST[:PORT][/PATH][#MODEL]"
)


class UnknownModel(ValueError):
    """The text names no model that can be reached; the message says what was found and what was expected."""


@attrs.frozen
class _House:
    """A provider of its own name: where its key and its address stand in the environment, and what it speaks.

    An address ends before `path`, `version` may stand in either. `catalogue` is its name where prices are looked up.
    """

    key: str
    address: str
    home: str
    path: str
    wire: Wire
    at_home: Wire
    version: str
    catalogue: str


_HOUSES: Final[Mapping[str, _House]] = {
    "anthropic": _House(
        key="ANTHROPIC_API_KEY",
        address="ANTHROPIC_BASE_URL",
        home="https://api.anthropic.com",
        path="/v1/messages",
        wire=anthropic.WIRE,
        at_home=anthropic.WIRE,
        version="/v1",
        catalogue="anthropic",
    ),
    "openai": _House(
        key="OPENAI_API_KEY",
        address="OPENAI_BASE_URL",
        home="https://api.openai.com/v1",
        path="/chat/completions",
        wire=openai.WIRE,
        at_home=openai.OWN_WIRE,
        version="/v1",
        catalogue="openai",
    ),
    "openai-responses": _House(
        key="OPENAI_API_KEY",
        address="OPENAI_BASE_URL",
        home="https://api.openai.com/v1",
        path="/responses",
        wire=responses.WIRE,
        at_home=responses.OWN_WIRE,
        version="/v1",
        catalogue="openai",
    ),
    "gemini": _House(
        key="GEMINI_API_KEY",
        address="GOOGLE_GEMINI_BASE_URL",
        home="https://generativelanguage.googleapis.com",
        path="/v1beta/models/{model}" + gemini.WHOLE,
        wire=gemini.WIRE,
        at_home=gemini.WIRE,
        version="/v1beta",
        catalogue="google",
    ),
}


_ENDS: Final[Mapping[str, Wire]] = {
    "/messages": anthropic.WIRE,
    "/chat/completions": openai.WIRE,
    "/responses": responses.WIRE,
    gemini.WHOLE: gemini.WIRE,
}


def provider_for(
    model: str,
    *,
    environ: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
    retries: Retries | None = None,
    prices: Prices | None = None,
    idle_seconds: float = IDLE,
) -> Provider:
    """The provider that `model` names; `seconds` bounds one request in all, `environ` is the process's own.

    `idle_seconds` is how long nothing may come of a stream.

    `anthropic:NAME` takes its key from ANTHROPIC_API_KEY and its address from ANTHROPIC_BASE_URL where that is set,
    `openai:NAME` and `openai-responses:NAME` from OPENAI_API_KEY and OPENAI_BASE_URL, `gemini:NAME` from GEMINI_API_KEY
    and GOOGLE_GEMINI_BASE_URL. A URL is that of a server that speaks OpenAI's Chat Completions, or another wire where
    its path ends as that wire's does (`/messages`, `/responses`, `:generateContent`), and gets no key, since none in
    the environment was meant for it. Without `prices`, those of the package genai-prices hold for a house's models,
    where that is installed; else no money is counted, and no budget of dollars acts.

    UnknownModel where the text or an address is not understood, NoKey where a key is missing, BadProxy where the
    environment names a proxy that cannot be used.
    """
    known = os.environ if environ is None else environ
    patience = Retries() if retries is None else retries
    given = None if prices is None else cost_by(prices)
    scheme, _, name = model.partition(":")
    if (house := _HOUSES.get(scheme)) and name.strip():
        if looks_like_key(name.strip()):
            raise UnknownModel(
                f"{scheme}: found what looks like a key, expected {scheme}:NAME and the key in {house.key}"
            )
        url, wire = _at(house, known)
        url = url.replace("{model}", quote(name.strip().removeprefix("models/"), safe=""))
        key = key_from(known, house.key, scheme)
        cost = given or catalogue_cost(house.catalogue, name.strip())
        provider = HttpProvider(model, url, name.strip(), wire, key, seconds, patience, cost, idle_seconds)
    elif scheme in ("http", "https"):
        address, _, name = model.partition("#")
        url, wire = _endpoint(_checked(address, "the URL of a model"))
        provider = HttpProvider(model, url, unquote(name), wire, None, seconds, patience, given, idle_seconds)
    else:
        raise UnknownModel(f"{_shown(model, known)} names no model: expected {EXPECTED}")
    check_proxies(provider.url)
    return provider


def _at(house: _House, environ: Mapping[str, str]) -> tuple[str, Wire]:
    given = environ.get(house.address, "").strip()
    if not given:
        return house.home + house.path, house.at_home
    base = _checked(given, house.address)
    # With its version or without it: both are found in the wild.
    base = base.removesuffix(house.version) if house.path.startswith(house.version) else base
    home = urlsplit(house.home).hostname
    return base + house.path, house.at_home if urlsplit(base).hostname == home else house.wire


def _endpoint(url: str) -> tuple[str, Wire]:
    path = urlsplit(url).path
    for end, wire in _ENDS.items():
        if path.endswith(end):
            return url, wire
    return url + ("/chat/completions" if path else "/v1/chat/completions"), openai.WIRE


def _checked(url: str, what: str) -> str:
    """A plain address, without a slash at its end.

    What is wrong with another one is said without showing it: a URL is where people put passwords.
    """
    try:
        parts = urlsplit(url)
        wrong = (
            (parts.scheme not in ("http", "https"), "does not begin with http:// or https://"),
            (parts.username is not None or parts.password is not None, "holds a user name or a password"),
            (not parts.hostname, "names no host"),
            (bool(parts.query), "has a query"),
            (parts.port == 0 or not url.isprintable() or " " in url, "has a character or a port that no address has"),
        )
    except ValueError as error:
        raise UnknownModel(f"{what} is no address ({error}): expected http(s)://HOST[:PORT][/PATH]") from None
    for holds, why in wrong:
        if holds:
            raise UnknownModel(f"{what} {why}: expected http(s)://HOST[:PORT][/PATH]")
    return url.partition("#")[0].rstrip("/")


def _shown(model: str, environ: Mapping[str, str]) -> str:
    """`model` as an error may quote it: people do put a key where a name belongs."""
    if looks_like_key(model):
        return "a text that looks like a key"
    for house in _HOUSES.values():
        secret = environ.get(house.key, "").strip()
        model = model.replace(secret, HIDDEN) if secret else model
    return repr(without_likely_keys(model))
