"""The server's side of the OpenAI Responses wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...events import StopReason, Usage
from ...refusals.fields import count, items, mapping, string
from ..providers.exact import read_text, written
from ..providers.openai import ERROR_MARK
from ..wire import CallPart, Message, Part, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from .moves import Turn
from .openai import CODE_OF, error_of
from .side import Side
from .streams import Event, event, split

_WHY: Final = {
    StopReason.LENGTH: "max_output_tokens",
    StopReason.CONTENT_FILTER: "content_filter",
}
_OPENS: Final[Mapping[str, Mapping[str, Any]]] = {
    "function_call": {"arguments": ""},
    "message": {"content": []},
    "reasoning": {"summary": []},
}
_WHOLE: Final = frozenset({StopReason.END_TURN, StopReason.TOOL_USE, StopReason.REFUSAL})


def request_in(text: str, value: object) -> Request:
    """The request in a body. Items of one side that stand together are one message, a user's text ends it."""
    said = mapping(value)
    messages: list[Message] = []
    open_for = ""
    for role, part in map(_part, map(mapping, items(said.get("input")))):
        if role == open_for:
            messages[-1] = Message(messages[-1].role, (*messages[-1].parts, part))
        else:
            messages.append(Message("assistant" if role == "assistant" else "user", (part,)))
        open_for = "" if role == "user" and isinstance(part, TextPart) else role
    return Request(
        system=string(said.get("instructions")),
        messages=tuple(messages),
        tools=tuple(_tool(mapping(tool)) for tool in items(said.get("tools"))),
        max_tokens=count(said.get("max_output_tokens")),
        no_tools=said.get("tool_choice") == "none",
    )


def reply_of(turn: Turn, model: str, ids: list[str], usage: Usage, number: int) -> bytes:
    """The body of a reply. What it cannot say of a stop, it says as incomplete, with the reason's own name."""
    stop = turn.stop or (StopReason.TOOL_USE if turn.calls else StopReason.END_TURN)
    status = "completed" if stop in _WHOLE else "incomplete"
    output: list[dict[str, Any]] = []
    if turn.thinking:
        thought = [{"type": "summary_text", "text": turn.thinking}]
        output.append({"id": f"rs_{number}", "type": "reasoning", "summary": thought, "encrypted_content": "c2NyaXB0"})
    if turn.text:
        refusal = stop is StopReason.REFUSAL
        block = {"type": "refusal", "refusal": turn.text} if refusal else {"type": "output_text", "text": turn.text}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": status}
        output.append({**message, "content": [block if refusal else {**block, "annotations": []}]})
    for name, made in zip(ids, turn.calls, strict=True):
        called = {"id": f"fc_{name}", "type": "function_call", "status": status, "call_id": name}
        output.append({**called, "name": made.name, "arguments": made.args})
    return written(
        {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": None,
            "incomplete_details": None if status == "completed" else {"reason": _WHY.get(stop, stop.value)},
            "model": model,
            "output": output,
            "usage": {
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.input + usage.output,
            },
        }
    )


def stream_of(turn: Turn, model: str, ids: list[str], usage: Usage, number: int) -> list[Event]:
    """The events of a reply: each item opens, grows and closes, and the last event holds them all."""
    whole = mapping(read_text(reply_of(turn, model, ids, usage, number).decode()))
    begun: dict[str, Any] = {**whole, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    said: list[dict[str, Any]] = [
        {"type": f"response.{what}", "response": begun} for what in ("created", "in_progress")
    ]
    for place, item in enumerate(map(mapping, items(whole["output"]))):
        at = {"output_index": place, "item_id": item["id"]}
        kind = string(item["type"])
        opens: Mapping[str, Any] = _OPENS.get(kind, {})
        said.append({"type": "response.output_item.added", **at, "item": {**item, **opens}})
        if kind == "function_call":
            said += _grown("function_call_arguments", at, item["arguments"])
        elif kind == "reasoning":
            said += _grown("reasoning_summary_text", {**at, "summary_index": 0}, item["summary"][0]["text"])
        else:
            [block] = item["content"]
            refusal = block["type"] == "refusal"
            words = block["refusal" if refusal else "text"]
            said += _grown("refusal" if refusal else "output_text", {**at, "content_index": 0}, words)
        said.append({"type": "response.output_item.done", **at, "item": item})
    said.append({"type": f"response.{whole['status']}", "response": whole})
    return [
        event({**one, "sequence_number": place}, piece=one["type"].endswith(".delta")) for place, one in enumerate(said)
    ]


def error_event(status: int, message: str) -> Event:
    """An error in the midst of a stream."""
    return event({"type": "error", "code": CODE_OF.get(status, str(status)), "message": message, "param": None})


SIDE: Final = Side("/v1/responses", "authorization", request_in, reply_of, error_of, stream_of, error_event)
"""The wire as the server takes it."""


def _grown(what: str, at: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    return [{"type": f"response.{what}.delta", **at, "delta": piece} for piece in split(text)]


def _part(said: Mapping[str, Any]) -> tuple[str, Part]:
    kind = said.get("type", "message")
    if kind == "function_call":
        return "assistant", CallPart(string(said.get("call_id")), string(said.get("name")), string(said["arguments"]))
    if kind == "function_call_output":
        output = string(said.get("output"))
        failed = output.startswith(ERROR_MARK)
        return "user", ResultPart(string(said.get("call_id")), output.removeprefix(ERROR_MARK), failed)
    if kind == "message":
        return string(said.get("role")), TextPart(_text(said.get("content")))
    return "assistant", ThinkingPart("".join(string(one.get("text")) for one in items(said.get("summary"))), raw=said)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "".join(string(mapping(block).get("text")) for block in items(value))


def _tool(said: Mapping[str, Any]) -> ToolSchema:
    return ToolSchema(string(said.get("name")), string(said.get("description")), mapping(said.get("parameters")))
