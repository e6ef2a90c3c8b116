"""The server's side of the Anthropic Messages wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from ...events import StopReason, Usage
from ...refusals.fields import count, items, mapping, string
from ..providers.anthropic import STOPS
from ..providers.exact import fragment, object_text, pieces, read_text, written
from ..providers.refusal import STATUS_OF
from ..wire import CallPart, Message, Part, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from .moves import Turn
from .side import Side
from .streams import Event, event, split

_GROWS: Final = {
    "thinking": ("thinking", "thinking_delta"),
    "text": ("text", "text_delta"),
    "tool_use": ("input", "input_json_delta"),
}
_WORD_OF: Final = {reason: word for word, reason in STOPS.items()}
# Of the types of one status the first is Anthropic's own.
_TYPE_OF: Final = {status: kind for kind, status in list(STATUS_OF.items())[::-1]}


def request_in(text: str, value: object) -> Request:
    """The request in a body."""
    said = mapping(value)
    inputs = iter(pieces(text, ("messages", None, "content", None, "input")))
    return Request(
        system=_text(said.get("system")),
        messages=tuple(_message(mapping(message), inputs) for message in items(said.get("messages"))),
        tools=tuple(_tool(mapping(tool)) for tool in items(said.get("tools"))),
        max_tokens=count(said.get("max_tokens")),
        no_tools=mapping(said.get("tool_choice")).get("type") == "none",
    )


def reply_of(turn: Turn, model: str, ids: list[str], usage: Usage, number: int) -> bytes:
    """The body of a reply."""
    content: list[orjson.Fragment] = []
    if turn.thinking:
        content.append(fragment({"type": "thinking", "thinking": turn.thinking, "signature": "c2NyaXB0ZWQ="}))
    if turn.text:
        content.append(fragment({"type": "text", "text": turn.text}))
    for name, made in zip(ids, turn.calls, strict=True):
        before = written({"type": "tool_use", "id": name, "name": made.name})
        # What is no object cannot be said on this wire but as a string.
        given = object_text(made.args) or written(made.args)
        content.append(orjson.Fragment(before[:-1] + b',"input":' + given + b"}"))
    stop = turn.stop or (StopReason.TOOL_USE if turn.calls else StopReason.END_TURN)
    return orjson.dumps(
        {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": _WORD_OF.get(stop, stop.value),
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.input - usage.cached,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": usage.cached,
                "output_tokens": usage.output,
            },
        }
    )


def error_of(status: int, message: str) -> bytes:
    """The body of a refusal."""
    kind = _TYPE_OF.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return written({"type": "error", "error": {"type": kind, "message": message}})


def stream_of(turn: Turn, model: str, ids: list[str], usage: Usage, number: int) -> list[Event]:
    """The events of a reply, which begin with what a whole one holds. Arguments come as they are, object or not."""
    whole = mapping(read_text(reply_of(turn, model, ids, usage, number).decode()))
    calls = iter(turn.calls)
    start: dict[str, Any] = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**whole["usage"], "output_tokens": 1},
    }
    events = [event({"type": "message_start", "message": start}), event({"type": "ping"})]
    for index, block in enumerate(items(whole["content"])):
        kind = string(block["type"])
        field, delta = _GROWS[kind]
        text = next(calls).args if kind == "tool_use" else string(block[field])
        empty: object = {} if kind == "tool_use" else ""
        opened: dict[str, Any] = {**block, field: empty, **({"signature": ""} if kind == "thinking" else {})}
        events.append(event({"type": "content_block_start", "index": index, "content_block": opened}))
        said = [{"type": delta, "partial_json" if kind == "tool_use" else field: piece} for piece in split(text)]
        said += [{"type": "signature_delta", "signature": block["signature"]}] if kind == "thinking" else []
        for one in said:
            grown = {"type": "content_block_delta", "index": index, "delta": one}
            events.append(event(grown, piece=one["type"] != "signature_delta"))
        events.append(event({"type": "content_block_stop", "index": index}))
    closed = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    used = {"output_tokens": usage.output}
    return [
        *events,
        event({"type": "message_delta", "delta": closed, "usage": used}),
        event({"type": "message_stop"}),
    ]


def error_event(status: int, message: str) -> Event:
    """An error in the midst of a stream: what a refusal holds."""
    return Event("error", error_of(status, message))


SIDE: Final = Side("/v1/messages", "x-api-key", request_in, reply_of, error_of, stream_of, error_event)
"""The wire as the server takes it."""


def _message(said: Mapping[str, Any], inputs: Iterator[str | None]) -> Message:
    content = said.get("content")
    if isinstance(content, str):
        parts: tuple[Part, ...] = (TextPart(content),)
    else:
        parts = tuple(_part(mapping(block), next(inputs)) for block in items(content))
    return Message("assistant" if said.get("role") == "assistant" else "user", parts)


def _part(block: Mapping[str, Any], given: str | None) -> Part:
    kind = block.get("type")
    if kind == "text":
        return TextPart(string(block.get("text")))
    if kind == "tool_use":
        return CallPart(string(block.get("id")), string(block.get("name")), given or "")
    if kind == "tool_result":
        failed = block.get("is_error") is True
        return ResultPart(string(block.get("tool_use_id")), _text(block.get("content")), failed)
    return ThinkingPart(string(block.get("thinking")), raw=block)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "".join(string(mapping(block).get("text")) for block in items(value))


def _tool(said: Mapping[str, Any]) -> ToolSchema:
    return ToolSchema(string(said.get("name")), string(said.get("description")), mapping(said.get("input_schema")))
