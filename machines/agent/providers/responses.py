"""The OpenAI Responses wire, as OpenAI and the servers that are compatible with it speak it.

Nothing is stored at the provider: each request carries the whole transcript, and what the provider wants back as it
stands (sealed reasoning, compactions, the calls of its own tools) is a thinking part with the item in `raw`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from ...events import StopReason, Usage
from ...refusals.fields import count, items, mapping, string
from ..wire import CallPart, Completion, Message, Part, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from . import looked_up
from .counted import Counter
from .exact import fragment, written
from .openai import ERROR_MARK, arguments, headers
from .origin import origin
from .provider import Wire
from .streamed.gathering import Gathered, Streamed
from .streamed.responses import ResponsesGathering

CUT_SHORT: Final[Mapping[str, StopReason]] = {
    "max_output_tokens": StopReason.LENGTH,
    "content_filter": StopReason.CONTENT_FILTER,
}
"""What the reason in `incomplete_details` means; another one is OTHER."""

SEALED: Final = "reasoning.encrypted_content"
"""What `include` asks for so that reasoning can be sent back although nothing is stored."""

# Models that do not reason; OpenAI refuses a request that asks them for what they thought.
_PLAIN: Final = ("gpt-3.5", "gpt-4", "gpt-5-chat", "chatgpt", "ft:gpt-3.5", "ft:gpt-4")


def body(request: Request, model: str) -> bytes:
    """The body of a request. A schema is not strict unless it says so: this wire alone takes it for strict."""
    whole: dict[str, Any] = {"max_output_tokens": request.max_tokens, "store": False}
    if model:
        whole["model"] = model
    if request.system.strip():
        whole["instructions"] = fragment(request.system)
    if request.tools:
        whole["tools"] = [_tool(tool) for tool in request.tools]
        if request.no_tools:
            whole["tool_choice"] = "none"
    whole["input"] = [
        item
        for message in request.messages
        for item in (_user(message) if message.role == "user" else _assistant(message))
    ]
    return orjson.dumps(whole)


def reply(text: str, value: object) -> Completion | None:
    """The reply in the body of an answer. None where there is none: the response failed, or is still being made."""
    said = mapping(value)
    output = [mapping(item) for item in items(said.get("output"))]
    if not isinstance(said.get("output"), list) or said.get("status") not in ("completed", "incomplete", None):
        return None
    parts = tuple(part for item in output for part in _parts(item))
    declined = [words for item in output for words in _declined(item)]
    stop = _stop(said, parts)
    if declined and not any(isinstance(part, TextPart | CallPart) for part in parts):
        parts = (*parts, *(TextPart(words) for words in declined))
        stop = StopReason.REFUSAL if stop is StopReason.END_TURN else stop
    return Completion(stop=stop, parts=parts, usage=_usage(mapping(said.get("usage"))))


def _body_for_openai(request: Request, model: str) -> bytes:
    whole = body(request, model)
    return whole if model.startswith(_PLAIN) else whole[:-1] + b',"include":["' + SEALED.encode() + b'"]}'


def to_count(url: str, request: Request, model: str) -> bytes:
    """The body of a count: without what only a reply needs, which stands first; no other field of it is refused."""
    return b"{" + body(request, model).removeprefix(b'{"max_output_tokens":%d,"store":false,' % request.max_tokens)


COUNTER: Final = Counter(lambda url: f"{url}/input_tokens", to_count, "input_tokens")


def _of_stream(gathered: Gathered) -> Completion | None:
    return reply("", gathered.value)


STREAMED: Final = Streamed(b'"stream":true', ResponsesGathering, _of_stream)
"""How the wire streams."""

WIRE: Final = Wire(headers, body, reply, STREAMED, lookup=looked_up.OPENAI, counter=COUNTER)
"""The wire as compatible servers speak it."""

OWN_WIRE: Final = Wire(headers, _body_for_openai, reply, STREAMED, counter=COUNTER)
"""The wire as OpenAI itself speaks it."""


def _stop(said: Mapping[str, Any], parts: tuple[Part, ...]) -> StopReason:
    if said.get("status") == "incomplete":
        return CUT_SHORT.get(string(mapping(said.get("incomplete_details")).get("reason")), StopReason.OTHER)
    if said.get("status") is None:
        return StopReason.OTHER
    return StopReason.TOOL_USE if any(isinstance(part, CallPart) for part in parts) else StopReason.END_TURN


def _parts(item: Mapping[str, Any]) -> Iterator[Part]:
    kind = item.get("type")
    if kind == "message":
        found = (string(mapping(block).get("text")) for block in items(item.get("content")))
        yield from (TextPart(words) for words in found if words)
    elif kind == "function_call":
        yield CallPart(string(item.get("call_id")), string(item.get("name")), string(item.get("arguments")))
    elif item:
        written(item)  # as on the other wires: what could not be sent back is refused now
        thought = [*items(item.get("summary")), *items(item.get("content"))] if kind == "reasoning" else []
        yield ThinkingPart("\n\n".join(filter(None, (string(mapping(one).get("text")) for one in thought))), raw=item)


def _declined(item: Mapping[str, Any]) -> Iterator[str]:
    if item.get("type") == "message":
        yield from filter(None, (string(mapping(block).get("refusal")) for block in items(item.get("content"))))


def _usage(said: Mapping[str, Any]) -> Usage:
    return Usage(
        input=count(said.get("input_tokens")),
        output=count(said.get("output_tokens")),
        cached=count(mapping(said.get("input_tokens_details")).get("cached_tokens")),
    )


def _user(message: Message) -> Iterator[orjson.Fragment]:
    for part in message.parts:
        if isinstance(part, ResultPart):
            output = f"{ERROR_MARK if part.error else ''}{part.content}"
            yield fragment({"type": "function_call_output", "call_id": part.call, "output": output})
    words = [part.text for part in message.parts if isinstance(part, TextPart) and part.text]
    if words:
        yield fragment({"role": "user", "content": "\n\n".join(words)})


def _assistant(message: Message) -> Iterator[orjson.Fragment]:
    for part in message.parts:
        if isinstance(part, TextPart) and part.text:
            content = [{"type": "output_text", "text": part.text}]
            yield fragment({"type": "message", "role": "assistant", "content": content})
        elif isinstance(part, CallPart):
            given = arguments(part.args)
            yield fragment({"type": "function_call", "call_id": part.id, "name": part.name, "arguments": given})
        elif isinstance(part, ThinkingPart) and part.raw is not None and _goes_back(part.raw):
            yield fragment(part.raw)


def _goes_back(raw: Mapping[str, Any]) -> bool:
    """Whether an item is of this wire and whole. Reasoning without its content is only a name of what is not stored."""
    if origin(raw) != "openai-responses":
        return False
    return raw["type"] != "reasoning" or bool(raw.get("encrypted_content") or raw.get("content"))


def _tool(tool: ToolSchema) -> orjson.Fragment:
    said = {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema}
    return fragment({**said, "strict": False})
