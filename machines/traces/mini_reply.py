"""What both versions of mini-swe-agent keep of a model's response: why it stopped, what it cost, what it thought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .lines import JsonObject, Stop, Usage
from .loose import count_of, list_of, number_of, object_of, text_of

# The names of OpenAI's chat completions, which every provider's response is translated to.
_STOPS: Final[Mapping[str, Stop]] = {
    "content_filter": "content_filter",
    "function_call": "tool_use",
    "length": "length",
    "stop": "end_turn",
    "tool_calls": "tool_use",
}


def response_of(message: JsonObject) -> JsonObject:
    """The provider's response that an assistant message keeps, empty where it keeps none."""
    return object_of(object_of(message.get("extra")).get("response"))


def stop_of(response: JsonObject, *, calls: bool) -> Stop:
    """Why the model stopped. Where a call is read out of its text, `stop` means that it stopped to have it run."""
    choice = _choice(response)
    if text_of(choice.get("native_finish_reason")) == "MALFORMED_FUNCTION_CALL":
        return "malformed_call"
    stop: Stop = _STOPS.get(text_of(choice.get("finish_reason")), "other")
    if calls and stop in ("end_turn", "other"):
        return "tool_use"
    return stop


def usage_of(message: JsonObject) -> Usage | None:
    """What a reply cost; `prompt_tokens` counts cached ones too."""
    usage = object_of(response_of(message).get("usage"))
    detail = object_of(usage.get("prompt_tokens_details"))
    cost = number_of(object_of(message.get("extra")).get("cost"))
    found = Usage(
        input=count_of(usage.get("prompt_tokens")),
        output=count_of(usage.get("completion_tokens")),
        cached=count_of(detail.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))),
        usd=number_of(usage.get("cost")) if cost is None else cost,
    )
    return None if found == Usage() else found


def thinking_of(message: JsonObject) -> str:
    """What the model thought, where it is kept apart from what it said."""
    inner = object_of(_choice(response_of(message)).get("message"))
    return text_of(message.get("reasoning_content")) or text_of(inner.get("reasoning"))


def _choice(response: JsonObject) -> JsonObject:
    choices = list_of(response.get("choices"))
    return object_of(choices[0]) if choices else {}
