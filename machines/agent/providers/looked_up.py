"""What a provider itself says that a model takes: where each wire says it, and in which fields.

Anthropic's and Google's models are asked for one by one. Servers that are compatible with OpenAI's Chat Completions
list what they serve, and some say there what a model takes: vLLM and SGLang, llama.cpp, OpenRouter, Groq, Mistral.
OpenAI's own list does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import anyio
import attrs

from ...refusals.fields import count, items, mapping, string
from ..limit_lookup import SECONDS
from ..limits import ModelLimits
from .exact import NotJson, read
from .http import Http, NoAnswer

MOST_BYTES: Final = 16 * 2**20
"""Bytes of an answer that are read at most: OpenRouter's list, the longest, has near one million."""

Field = tuple[str, ...]


@attrs.frozen
class Lookup:
    """How a wire is asked what a model takes.

    `urls` are asked in their order, from the address of requests and the model, until one says something. `window` and
    `output` are paths to fields in what it says of the model; of several that are there the smallest number holds.
    """

    urls: Callable[[str, str], tuple[str, ...]]
    window: tuple[Field, ...]
    output: tuple[Field, ...]


def _anthropic(url: str, model: str) -> tuple[str, ...]:
    listed = _beside(url, "/messages")
    # A compatible server may have only the list.
    return (f"{listed}/{quote(model, safe='')}", listed) if model else (listed,)


def _gemini(url: str, model: str) -> tuple[str, ...]:
    end = ":generateContent"
    return (url.removesuffix(end),) if url.endswith(end) else ()


def _openai(url: str, model: str) -> tuple[str, ...]:
    return (_beside(url, "/responses" if url.endswith("/responses") else "/chat/completions"),)


def _beside(url: str, end: str) -> str:
    return f"{url.removesuffix(end)}/models"


_SERVED: Final[tuple[Field, ...]] = (
    ("max_model_len",),  # vLLM, SGLang
    ("meta", "n_ctx"),  # llama.cpp; `n_ctx_train` beside it is the model's, of which the server may give less
)

ANTHROPIC: Final = Lookup(_anthropic, (("max_input_tokens",), *_SERVED), (("max_tokens",),))
GEMINI: Final = Lookup(_gemini, (("inputTokenLimit",),), (("outputTokenLimit",),))
OPENAI: Final = Lookup(
    _openai,
    (
        *_SERVED,
        ("context_length",),  # OpenRouter, of the model and of who serves it
        ("top_provider", "context_length"),
        ("context_window",),  # Groq
        ("max_context_length",),  # Mistral
    ),
    (("top_provider", "max_completion_tokens"), ("max_completion_tokens",)),
)
"""Of both of OpenAI's wires, on servers that are compatible with it."""


async def looked_up(
    http: Http, lookup: Lookup | None, url: str, model: str, headers: Mapping[str, str]
) -> ModelLimits | None:
    """What the provider at `url` says that `model` takes. None where it says nothing, or not within `SECONDS`."""
    if lookup is None:
        return None
    with anyio.move_on_after(SECONDS):
        for address in lookup.urls(url, model):
            answer = await http.get(address, {"accept": "application/json", **headers}, MOST_BYTES)
            if isinstance(answer, NoAnswer):
                return None
            if answer.status == 200 and (found := limits_in(lookup, answer.body, model)) is not None:
                return found
    return None


def limits_in(lookup: Lookup, body: bytes, model: str) -> ModelLimits | None:
    """What an answer says of a model. Pure."""
    try:
        entry = _entry(mapping(read(body)[1]), model)
    except NotJson:
        return None
    limits = ModelLimits(_smallest(entry, lookup.window), _smallest(entry, lookup.output))
    return None if limits == ModelLimits() else limits


def _entry(said: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """The model in a list, or all that was said. A server of one model gives it whatever name it is asked for."""
    if not isinstance(said.get("data"), list):
        return said
    entries = [mapping(one) for one in items(said["data"])]
    named = (one for one in entries if string(one.get("id")) == model)
    return next(named, entries[0] if len(entries) == 1 else {})


def _smallest(entry: Mapping[str, Any], fields: tuple[Field, ...]) -> int | None:
    return min(_numbers(entry, fields), default=None)


def _numbers(entry: Mapping[str, Any], fields: tuple[Field, ...]) -> Iterator[int]:
    for path in fields:
        value: Any = entry
        for name in path:
            value = mapping(value).get(name)
        if number := count(value):
            yield number
