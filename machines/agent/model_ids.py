"""Ids of models: one model goes by many, and a table that had them all would be old tomorrow.

A normal id is what a house itself calls a model: without the router or the cloud that it is reached through, without
the date of a snapshot, in lower case. What is left is found by the longest entry that it begins with.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache
from typing import Final

_SCHEME: Final = re.compile(r"^(?:anthropic|openai|openai-responses|gemini):(?!//)")
"""As `provider_for` takes a house's model."""

_PATH: Final = re.compile(r"^.*/(?=[^/])|/+$")
"""Routers and clouds put whose model it is in front: `openrouter/anthropic/`, `publishers/google/models/`, an ARN."""

_TUNED: Final = re.compile(r"^ft:")
"""OpenAI's fine-tuned models begin so, and then with the model that they come from."""

_CLOUD: Final = re.compile(
    r"^(?:(?:us|us-gov|eu|apac|au|ca|jp|sa|global)\.)?"
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen"
    r"|writer|zai)\.(?=[a-z])"
)
"""Bedrock's regions and houses."""

_VERSION: Final = re.compile(r"-v?\d{1,2}:\d{1,2}(?::\d+k)?$")
"""Bedrock's version of a model, and the window of one that has several: `-v1:0`, `-1:0`, `-v1:0:200k`."""

_TAG: Final = re.compile(r":(?:beta|exacto|extended|floor|free|latest|nitro|online|thinking)$|@(?:default|latest)$")
"""OpenRouter's variants, Ollama's newest, Vertex's newest."""

_DATE: Final = re.compile(
    r"[-@]20\d\d(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))$"
)
"""The date of a snapshot: `-20250929`, `@20250929`, `-2024-08-06`."""

_DOTTED: Final = re.compile(r"^(claude-.*?\d)\.(?=\d)")
"""OpenRouter writes Claude's versions with a dot, their house with a hyphen."""

_DROPPED: Final = (_SCHEME, _PATH, _TUNED, _CLOUD, _TAG, _DATE, _VERSION)

_BOUNDARY: Final = frozenset("-.:")


@lru_cache(maxsize=256)  # the few ids of a process are asked for at each request
def normal(model: str) -> str:
    """The normal id of a model. Idempotent; never empty where `model` is not; an address stays what it is."""
    now = model.strip().lower()
    if "://" in now:
        return now
    before = None
    while now != before:
        before = now
        for dropped in _DROPPED:
            now = dropped.sub("", now).strip() or now
        now = _DOTTED.sub(r"\1-", now)
    return now


def longest(name: str, entries: Container[str]) -> str | None:
    """The longest entry that a normal id is, or begins with up to a `-`, `.` or `:`; None where there is none.

    So `gpt-4` never stands for `gpt-4o`, and for `gpt-4.1` only where that has no entry of its own.
    """
    for end in range(len(name), 0, -1):
        if (end == len(name) or name[end] in _BOUNDARY) and name[:end] in entries:
            return name[:end]
    return None
