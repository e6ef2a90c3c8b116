"""The Anthropic Messages wire: a request and its reply in the words of `wire.py`.

Blocks that the provider wants back as they stand (thinking, redacted thinking, the calls and results of its own tools,
compactions) are thinking parts with the block in `raw`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import orjson

from ...events import StopReason, Usage
from ...refusals.fields import count, items, mapping, string
from ..wire import CallPart, Completion, Message, Part, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from . import looked_up
from .counted import Counter
from .exact import fragment, object_text, pieces, written
from .key import Key
from .origin import origin
from .provider import Wire
from .streamed.anthropic import AnthropicGathering
from .streamed.gathering import Gathered, Streamed

VERSION: Final = "2023-06-01"
"""The `anthropic-version` that is spoken."""

STOPS: Final[Mapping[str, StopReason]] = {
    "end_turn": StopReason.END_TURN,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.CONTEXT_WINDOW,
    "pause_turn": StopReason.PAUSE,
    "refusal": StopReason.REFUSAL,
    "stop_sequence": StopReason.STOP_SEQUENCE,
}
"""What its `stop_reason` means; another one is OTHER."""

MALFORMED: Final = "malformed_arguments"
"""Arguments that are no JSON object go back as an object that has their text under this name: `input` must be one."""

# The provider refuses an error without content, and a text block without any.
_NO_WORDS: Final = "(no output)"
_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_NOT_IN_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")


def headers(key: Key | None) -> Mapping[str, str]:
    """The headers of the wire, with the key where there is one."""
    return {"anthropic-version": VERSION} | ({} if key is None else {"x-api-key": key.text})


def body(request: Request, model: str) -> bytes:
    """The body of a request.

    Results of calls come first in their message and blank texts are left out, as the provider demands. It also demands
    tools where the transcript holds calls: for a request that lists none, those that were called are, and none may be.
    """
    whole: dict[str, Any] = {"max_tokens": request.max_tokens}
    if model:
        whole["model"] = model
    if request.system.strip():
        whole["system"] = fragment(request.system)
    called = () if request.tools else _called(request.messages)
    if request.tools or called:
        whole["tools"] = [_tool(tool) for tool in request.tools or called]
    if called or (request.tools and request.no_tools):
        whole["tool_choice"] = {"type": "none"}
    spoken = ((message.role, _blocks(message)) for message in request.messages)
    whole["messages"] = [{"role": role, "content": blocks} for role, blocks in spoken if blocks]
    return orjson.dumps(whole)


def reply(text: str, value: object) -> Completion | None:
    """The reply in the body of an answer, None where there is none. NotJson for a block that could not be sent back."""
    content = mapping(value).get("content")
    called = any(mapping(block).get("type") == "tool_use" for block in items(content))
    return _reply(value, pieces(text, ("content", None, "input")) if called else [None] * len(items(content)))


def _of_stream(gathered: Gathered) -> Completion | None:
    return _reply(gathered.value, gathered.args)


STREAMED: Final = Streamed(b'"stream":true', AnthropicGathering, _of_stream)
"""How the wire streams."""


def _reply(value: object, inputs: Sequence[str | None]) -> Completion | None:
    said = mapping(value)
    if not isinstance(said.get("content"), list):
        return None
    blocks = [mapping(block) for block in items(said["content"])]
    return Completion(
        stop=STOPS.get(string(said.get("stop_reason")), StopReason.OTHER),
        parts=tuple(
            part for block, given in zip(blocks, inputs, strict=True) if (part := _part(block, given)) is not None
        ),
        usage=_usage(mapping(said.get("usage"))),
    )


def to_count(url: str, request: Request, model: str) -> bytes:
    """The body of a count: without the reply's budget, which stands first and which a count refuses."""
    return b"{" + body(request, model).removeprefix(b'{"max_tokens":%d,' % request.max_tokens)


COUNTER: Final = Counter(lambda url: f"{url}/count_tokens", to_count, "input_tokens")

WIRE: Final = Wire(headers, body, reply, STREAMED, lookup=looked_up.ANTHROPIC, counter=COUNTER)
"""The wire as a provider takes it."""


def _part(block: Mapping[str, Any], given: str | None) -> Part | None:
    kind = block.get("type")
    if kind == "text":
        words = string(block.get("text"))
        return TextPart(words) if words else None
    if kind == "tool_use":
        return CallPart(string(block.get("id")), string(block.get("name")), given or "")
    if not block:
        return None
    written(block)  # what cannot be written could not be sent back: better to refuse the reply that holds it
    return ThinkingPart(string(block.get("thinking")), raw=block)


def _usage(said: Mapping[str, Any]) -> Usage:
    # `input_tokens` counts what no cache had a part in.
    cached = count(said.get("cache_read_input_tokens"))
    fresh = count(said.get("input_tokens")) + count(said.get("cache_creation_input_tokens"))
    return Usage(input=fresh + cached, output=count(said.get("output_tokens")), cached=cached)


def _blocks(message: Message) -> list[orjson.Fragment]:
    results = [part for part in message.parts if isinstance(part, ResultPart)]
    others = [part for part in message.parts if not isinstance(part, ResultPart)]
    return [block for part in (*results, *others) if (block := _block(part)) is not None]


def _block(part: Part) -> orjson.Fragment | None:
    if isinstance(part, TextPart):
        return fragment({"type": "text", "text": part.text}) if part.text.strip() else None
    if isinstance(part, CallPart):
        given = object_text(part.args)
        if given is None:
            given = written({MALFORMED: part.args} if part.args.strip() else {})
        before = written({"type": "tool_use", "id": _id(part.id), "name": part.name})
        return orjson.Fragment(before[:-1] + b',"input":' + given + b"}")
    if isinstance(part, ResultPart):
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": _id(part.call)}
        words = part.content if part.content.strip() else _NO_WORDS
        result["content"] = words
        if part.error:
            result["is_error"] = True
        return fragment(result)
    # Thinking without a block of its own, or from another wire, cannot be sent: the provider checks its signature.
    return fragment(part.raw) if part.raw is not None and origin(part.raw) == "anthropic" else None


def _tool(tool: ToolSchema) -> orjson.Fragment:
    return fragment({"name": tool.name, "description": tool.description, "input_schema": tool.schema})


def _called(messages: Iterable[Message]) -> tuple[ToolSchema, ...]:
    names = {part.name for message in messages for part in message.parts if isinstance(part, CallPart)}
    return tuple(ToolSchema(name, "Not available now.", {"type": "object"}) for name in sorted(names))


def _id(name: str) -> str:
    """An id as the provider takes it: one from another wire that it would refuse is changed, the same way each time."""
    if _ID.fullmatch(name):
        return name
    mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{_NOT_IN_ID.sub('_', name)}-{mark}"
