"""The server's side of the Gemini `generateContent` wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from ...events import StopReason, Usage
from ...refusals.fields import count, items, mapping, string
from ..providers.exact import fragment, object_text, pieces, read_text, written
from ..providers.gemini import SIGNATURE, WHOLE
from ..wire import CallPart, Message, Part, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from .moves import Turn
from .side import Side
from .streams import Event, event, split

_WORD_OF: Final = {
    StopReason.END_TURN: "STOP",
    StopReason.TOOL_USE: "STOP",
    StopReason.LENGTH: "MAX_TOKENS",
    StopReason.CONTENT_FILTER: "SAFETY",
    StopReason.MALFORMED_CALL: "MALFORMED_FUNCTION_CALL",
}
_STATUS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def request_in(text: str, value: object) -> Request:
    """The request in a body."""
    said = mapping(value)
    given = iter(pieces(text, ("contents", None, "parts", None, "functionCall", "args")))
    config = mapping(mapping(said.get("toolConfig")).get("functionCallingConfig"))
    declared = [mapping(one) for tool in items(said.get("tools")) for one in items(tool.get("functionDeclarations"))]
    return Request(
        system="".join(string(part.get("text")) for part in items(mapping(said.get("systemInstruction")).get("parts"))),
        messages=tuple(_message(mapping(content), given) for content in items(said.get("contents"))),
        tools=tuple(map(_tool, declared)),
        max_tokens=count(mapping(said.get("generationConfig")).get("maxOutputTokens")),
        no_tools=config.get("mode") == "NONE",
    )


def reply_of(turn: Turn, model: str, ids: list[str], usage: Usage, number: int) -> bytes:
    """The body of a reply. Each call has a signature, as Gemini 3 gives one."""
    stop = turn.stop or (StopReason.TOOL_USE if turn.calls else StopReason.END_TURN)
    parts: list[orjson.Fragment] = []
    if turn.thinking:
        parts.append(fragment({"text": turn.thinking, "thought": True}))
    if turn.text:
        parts.append(fragment({"text": turn.text}))
    for name, made in zip(ids, turn.calls, strict=True):
        before = written({"id": name, "name": made.name})
        # What is no object cannot be said on this wire but as a string.
        called = before[:-1] + b',"args":' + (object_text(made.args) or written(made.args)) + b"}"
        part = {"functionCall": orjson.Fragment(called), SIGNATURE: "c2NyaXB0ZWQ="}
        parts.append(orjson.Fragment(orjson.dumps(part)))
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": _WORD_OF.get(stop, "OTHER"), "index": 0}
    return orjson.dumps(
        {
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": usage.input,
                "candidatesTokenCount": usage.output,
                "cachedContentTokenCount": usage.cached,
                "totalTokenCount": usage.input + usage.output,
            },
            "modelVersion": model,
            "responseId": f"resp_{number}",
        }
    )


def error_of(status: int, message: str) -> bytes:
    """The body of a refusal."""
    kind = _STATUS.get(status, "INTERNAL" if status >= 500 else "FAILED_PRECONDITION")
    return written({"error": {"code": status, "message": message, "status": kind}})


def stream_of(turn: Turn, model: str, ids: list[str], usage: Usage, number: int) -> list[Event]:
    """The events of a reply: each a reply with some of its parts. A call comes whole, the reason to finish at last."""
    body = reply_of(turn, model, ids, usage, number).decode()
    whole = mapping(read_text(body))
    [candidate] = items(whole["candidates"])
    texts = pieces(body, ("candidates", None, "content", "parts", None))
    events: list[Event] = []
    for part, text in zip(items(candidate["content"]["parts"]), texts, strict=True):
        words = string(part.get("text"))
        said = [fragment({**part, "text": piece}) for piece in split(words)] if words else [_as_it_stands(text)]
        events += [_chunk(whole, [one]) for one in said]
    last = {**candidate, "content": {"role": "model", "parts": [{"text": ""}]}}
    return [*events, event({**whole, "candidates": [last]}, named=False)]


def error_event(status: int, message: str) -> Event:
    """An error in the midst of a stream: what a refusal holds."""
    return Event("", error_of(status, message))


STREAM: Final = ":streamGenerateContent"
"""How the path ends at which a stream is asked for."""

SIDE: Final = Side(
    "/v1beta/models/{model}" + WHOLE,
    "x-goog-api-key",
    request_in,
    reply_of,
    error_of,
    stream_of,
    error_event,
    stream_end=STREAM,
)
"""The wire as the server takes it."""


def _as_it_stands(text: str | None) -> orjson.Fragment:
    return orjson.Fragment((text or "{}").encode("utf-8", "replace"))


def _chunk(whole: Mapping[str, Any], parts: list[orjson.Fragment]) -> Event:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    used = {"promptTokenCount": whole["usageMetadata"]["promptTokenCount"]}
    return Event("", orjson.dumps({**whole, "candidates": [candidate], "usageMetadata": used}), piece=True)


def _message(said: Mapping[str, Any], given: Iterator[str | None]) -> Message:
    parts = tuple(part for one in items(said.get("parts")) for part in _parts(mapping(one), next(given)))
    return Message("assistant" if said.get("role") == "model" else "user", parts)


def _parts(said: Mapping[str, Any], given: str | None) -> Iterator[Part]:
    called, answered = mapping(said.get("functionCall")), mapping(said.get("functionResponse"))
    if said.get("thought"):
        yield ThinkingPart(string(said.get("text")), raw=said)
        return
    if said.get(SIGNATURE):
        yield ThinkingPart("", raw={SIGNATURE: said[SIGNATURE]})
    if called:
        yield CallPart(string(called.get("id")), string(called.get("name")), given or "")
    elif answered:
        response = mapping(answered.get("response"))
        failed = "error" in response
        yield ResultPart(string(answered.get("id")), string(response.get("error" if failed else "output")), failed)
    else:
        yield TextPart(string(said.get("text")))


def _tool(said: Mapping[str, Any]) -> ToolSchema:
    schema = mapping(said.get("parametersJsonSchema"))
    return ToolSchema(string(said.get("name")), string(said.get("description")), schema)
