"""A tool call as OpenAI's chat completions hold it: a function's name, and its arguments as JSON text."""

from __future__ import annotations

from .json_text import JsonError, read_json
from .lines import CallSpec, Json, JsonObject
from .loose import args_text, object_of, text_of


def chat_call(call: JsonObject) -> CallSpec:
    """The call; arguments that are no JSON object stay the text that they are."""
    function = object_of(call.get("function"))
    given = function.get("arguments")
    name, tool = text_of(call.get("id")), text_of(function.get("name"))
    if isinstance(given, str):
        return CallSpec(name, tool, given, raw=not isinstance(_parsed(given), dict))
    return CallSpec(name, tool, args_text(object_of(given)))


def _parsed(text: str) -> Json:
    try:
        return read_json(text.encode("utf-8", "surrogatepass"))
    except JsonError:
        return None
