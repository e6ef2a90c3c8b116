"""The OpenAI Chat Completions wire, as OpenAI and the servers that are compatible with it speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from ...events import StopReason, Usage
from ...refusals.fields import count, items, mapping, string
from ..wire import CallPart, Completion, Message, Part, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from . import looked_up
from .anthropic import MALFORMED
from .exact import fragment, object_text, pieces, written
from .key import Key
from .origin import THINKING, origin
from .provider import Wire
from .streamed.gathering import Gathered, Streamed
from .streamed.openai import OpenAIGathering

STOPS: Final[Mapping[str, StopReason]] = {
    "stop": StopReason.END_TURN,
    "end_turn": StopReason.END_TURN,
    "eos": StopReason.END_TURN,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "length": StopReason.LENGTH,
    "model_length": StopReason.CONTEXT_WINDOW,
    "model_context_window_exceeded": StopReason.CONTEXT_WINDOW,
    "content_filter": StopReason.CONTENT_FILTER,
    "sensitive": StopReason.CONTENT_FILTER,
    "stop_sequence": StopReason.STOP_SEQUENCE,
}
"""What a `finish_reason` means: OpenAI's own, and those of xAI, Together, Mistral and Z.AI. Another one is OTHER."""

FAILED: Final = frozenset({"error", "network_error", "insufficient_system_resource"})
"""How OpenRouter, Z.AI and DeepSeek say inside a 200 that the upstream broke down: no reply, whatever text came."""

ERROR_MARK: Final = "[error] "
"""Stands before the content of a result that is an error: the wire has no field that says so."""


def headers(key: Key | None) -> Mapping[str, str]:
    """The headers of the wire, with the key where there is one."""
    return {} if key is None else {"authorization": f"Bearer {key.text}"}


def body(request: Request, model: str, limit: str = "max_tokens") -> bytes:
    """The body of a request. `limit` names the field of the reply's budget.

    OpenAI's reasoning models refuse `max_tokens`; some compatible servers overlook `max_completion_tokens`.
    """
    whole: dict[str, Any] = {limit: request.max_tokens}
    if model:
        whole["model"] = model
    if request.tools:
        whole["tools"] = [_tool(tool) for tool in request.tools]
        if request.no_tools:
            whole["tool_choice"] = "none"
    messages = [fragment({"role": "system", "content": request.system})] if request.system.strip() else []
    for message in request.messages:
        messages += _user(message) if message.role == "user" else _assistant(message)
    whole["messages"] = messages
    return orjson.dumps(whole)


def reply(text: str, value: object) -> Completion | None:
    """The reply in the body of an answer: its first choice. None where there is none, or the choice is a failure.

    A choice without a message is a reply only where a filter took the message away, as Azure's does.
    """
    said = mapping(value)
    choice = mapping(next(iter(items(said.get("choices"))), None))
    message = mapping(choice.get("message"))
    finish = string(choice.get("finish_reason"))
    stop = STOPS.get(finish, StopReason.OTHER)
    if choice.get("error") or finish in FAILED or not (message or stop is StopReason.CONTENT_FILTER):
        return None
    parts = [*_thinking(message), *_words(message), *_calls(message, text)]
    declined = string(message.get("refusal"))
    if declined and not parts:
        parts = [TextPart(declined)]
        stop = StopReason.REFUSAL if stop is StopReason.END_TURN else stop
    return Completion(stop=stop, parts=tuple(parts), usage=_usage(mapping(said.get("usage"))))


def _body_for_openai(request: Request, model: str) -> bytes:
    return body(request, model, limit="max_completion_tokens")


def _of_stream(gathered: Gathered) -> Completion | None:
    return reply("", gathered.value)  # its arguments are texts, so no other text is needed


STREAMED: Final = Streamed(b'"stream":true,"stream_options":{"include_usage":true}', OpenAIGathering, _of_stream)
"""How the wire streams. Nothing is told of what a reply used but for the asking."""

WIRE: Final = Wire(headers, body, reply, STREAMED, lookup=looked_up.OPENAI)
"""The wire as compatible servers speak it."""

OWN_WIRE: Final = Wire(headers, _body_for_openai, reply, STREAMED)
"""The wire as OpenAI itself speaks it."""


def _thinking(message: Mapping[str, Any]) -> Iterator[Part]:
    raw = {name: message[name] for name in THINKING if message.get(name)}
    if raw:
        written(raw)  # as on the other wire: what could not be sent back is refused now
        yield ThinkingPart(next((words for name in THINKING if (words := string(raw.get(name)))), ""), raw=raw)


def _words(message: Mapping[str, Any]) -> Iterator[Part]:
    content = message.get("content")
    # A text, null, or a list of parts, as Mistral answers.
    found = [content] if isinstance(content, str) else [mapping(part).get("text") for part in items(content)]
    yield from (TextPart(words) for words in map(string, found) if words)


def _calls(message: Mapping[str, Any], text: str) -> Iterator[Part]:
    made = [mapping(call) for call in items(message.get("tool_calls"))]
    objects: list[str | None] = []
    for number, call in enumerate(made):
        function = mapping(call.get("function"))
        given = function.get("arguments")
        if given is not None and not isinstance(given, str):  # some servers send the object itself
            path = ("choices", None, "message", "tool_calls", None, "function", "arguments")
            objects = objects or pieces(text, path)
            given = objects[number]
        yield CallPart(string(call.get("id")), string(function.get("name")), string(given))
    function = mapping(message.get("function_call"))
    if function and not made:
        yield CallPart("", string(function.get("name")), string(function.get("arguments")))


def _usage(said: Mapping[str, Any]) -> Usage:
    # OpenAI, DeepSeek and Moonshot each name the cached part in their own way.
    cached = (
        count(mapping(said.get("prompt_tokens_details")).get("cached_tokens"))
        or count(said.get("prompt_cache_hit_tokens"))
        or count(said.get("cached_tokens"))
    )
    return Usage(input=count(said.get("prompt_tokens")), output=count(said.get("completion_tokens")), cached=cached)


def _user(message: Message) -> list[orjson.Fragment]:
    results = [part for part in message.parts if isinstance(part, ResultPart)]
    words = [part.text for part in message.parts if isinstance(part, TextPart) and part.text]
    said = [
        {"role": "tool", "tool_call_id": part.call, "content": f"{ERROR_MARK if part.error else ''}{part.content}"}
        for part in results
    ]
    if words:
        said.append({"role": "user", "content": "\n\n".join(words)})
    return [fragment(one) for one in said]


def _assistant(message: Message) -> list[orjson.Fragment]:
    words = "".join(part.text for part in message.parts if isinstance(part, TextPart))
    calls = [
        {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": arguments(part.args)}}
        for part in message.parts
        if isinstance(part, CallPart)
    ]
    if not words and not calls:
        return []
    said: dict[str, Any] = {"role": "assistant", "content": words or None}
    if calls:
        said["tool_calls"] = calls
        # A server that thinks between calls wants its thinking back with them; with a plain text some refuse it.
        for part in message.parts:
            if isinstance(part, ThinkingPart) and part.raw is not None and origin(part.raw) == "openai":
                said |= part.raw
    return [fragment(said)]


def arguments(args: str) -> str:
    """Arguments of a call as they go back: as received, where they are an object. What is none, as one with its text.

    llama.cpp for one parses the arguments of old calls, and refuses the whole transcript for what is no JSON.
    """
    if object_text(args) is not None:
        return args
    return written({MALFORMED: args} if args.strip() else {}).decode()


def _tool(tool: ToolSchema) -> orjson.Fragment:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return fragment({"type": "function", "function": function})
