"""The server's side of the OpenAI Chat Completions wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...events import StopReason, Usage
from ...refusals.fields import count, items, mapping, string
from ..providers.exact import read_text, written
from ..providers.openai import ERROR_MARK
from ..providers.origin import THINKING
from ..wire import CallPart, Message, Part, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from .moves import Turn
from .side import Side
from .streams import Event, event, split

_WORD_OF: Final = {
    StopReason.END_TURN: "stop",
    StopReason.TOOL_USE: "tool_calls",
    StopReason.LENGTH: "length",
    StopReason.CONTEXT_WINDOW: "model_context_window_exceeded",
    StopReason.CONTENT_FILTER: "content_filter",
    StopReason.STOP_SEQUENCE: "stop_sequence",
    StopReason.REFUSAL: "stop",
}


def request_in(text: str, value: object) -> Request:
    """The request in a body. Answers of calls and the user's text behind them are one message."""
    said = mapping(value)
    system: list[str] = []
    messages: list[Message] = []
    for one in map(mapping, items(said.get("messages"))):
        role = string(one.get("role"))
        if role in ("system", "developer"):
            system.append(_text(one.get("content")))
        elif role == "assistant":
            messages.append(Message("assistant", _spoken(one)))
        else:
            part = _result(one) if role == "tool" else TextPart(_text(one.get("content")))
            last = messages[-1] if messages else None
            if last is not None and last.role == "user" and all(isinstance(p, ResultPart) for p in last.parts):
                messages[-1] = Message("user", (*last.parts, part))
            else:
                messages.append(Message("user", (part,)))
    return Request(
        system="\n\n".join(system),
        messages=tuple(messages),
        tools=tuple(_tool(mapping(mapping(tool).get("function"))) for tool in items(said.get("tools"))),
        max_tokens=count(said.get("max_tokens")) or count(said.get("max_completion_tokens")),
        no_tools=said.get("tool_choice") == "none",
    )


def reply_of(turn: Turn, model: str, ids: list[str], usage: Usage, number: int) -> bytes:
    """The body of a reply."""
    stop = turn.stop or (StopReason.TOOL_USE if turn.calls else StopReason.END_TURN)
    refusal = turn.text if stop is StopReason.REFUSAL else None
    message: dict[str, Any] = {"role": "assistant", "content": None if refusal else turn.text or None}
    message["refusal"] = refusal
    if turn.thinking:
        message["reasoning_content"] = turn.thinking
    if turn.calls:
        message["tool_calls"] = [
            {"id": name, "type": "function", "function": {"name": made.name, "arguments": made.args}}
            for name, made in zip(ids, turn.calls, strict=True)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _WORD_OF.get(stop, stop.value)}
    return written(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [choice],
            "usage": {
                "prompt_tokens": usage.input,
                "completion_tokens": usage.output,
                "total_tokens": usage.input + usage.output,
                "prompt_tokens_details": {"cached_tokens": usage.cached},
            },
        }
    )


def error_of(status: int, message: str) -> bytes:
    """The body of a refusal."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return written({"error": {"message": message, "type": kind, "param": None, "code": None}})


def stream_of(turn: Turn, model: str, ids: list[str], usage: Usage, number: int) -> list[Event]:
    """The events of a reply: chunks, then what was used, then the end."""
    whole = mapping(read_text(reply_of(turn, model, ids, usage, number).decode()))
    about = {**whole, "object": "chat.completion.chunk", "usage": None}
    [choice] = items(whole["choices"])
    said = mapping(choice["message"])

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> Event:
        one = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**about, "choices": [one]}, named=False, piece="role" not in delta and bool(delta))

    events = [chunk({"role": "assistant", "content": "", "refusal": None})]
    for field in ("reasoning_content", "content", "refusal"):
        events += [chunk({field: piece}) for piece in split(string(said.get(field)))]
    for index, made in enumerate(items(said.get("tool_calls"))):
        function = {"name": made["function"]["name"], "arguments": ""}
        events.append(chunk({"tool_calls": [{**made, "index": index, "function": function}]}))
        for piece in split(made["function"]["arguments"]):
            events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    used = event({**about, "choices": [], "usage": whole["usage"]}, named=False)
    return [*events, chunk({}, choice["finish_reason"]), used, Event("", b"[DONE]")]


def error_event(status: int, message: str) -> Event:
    """An error in the midst of a stream."""
    error = {"message": message, "type": "server_error", "param": None, "code": CODE_OF.get(status, str(status))}
    return event({"error": error}, named=False)


CODE_OF: Final = {429: "rate_limit_exceeded", 500: "server_error"}
"""The codes of statuses, which an event has no other way to say. Servers that have no code give the number."""

SIDE: Final = Side("/v1/chat/completions", "authorization", request_in, reply_of, error_of, stream_of, error_event)
"""The wire as the server takes it."""


def _spoken(said: Mapping[str, Any]) -> tuple[Part, ...]:
    thinking = {name: said[name] for name in THINKING if said.get(name)}
    words = _text(said.get("content"))
    calls = ((mapping(call), mapping(mapping(call).get("function"))) for call in items(said.get("tool_calls")))
    return (
        *((ThinkingPart(string(next(iter(thinking.values()))), raw=thinking),) if thinking else ()),
        *((TextPart(words),) if words else ()),
        *(CallPart(string(call.get("id")), string(f.get("name")), string(f.get("arguments"))) for call, f in calls),
    )


def _result(said: Mapping[str, Any]) -> ResultPart:
    content = _text(said.get("content"))
    failed = content.startswith(ERROR_MARK)
    return ResultPart(string(said.get("tool_call_id")), content.removeprefix(ERROR_MARK), failed)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "".join(string(mapping(part).get("text")) for part in items(value))


def _tool(said: Mapping[str, Any]) -> ToolSchema:
    return ToolSchema(string(said.get("name")), string(said.get("description")), mapping(said.get("parameters")))
