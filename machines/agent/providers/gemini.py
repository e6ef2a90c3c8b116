"""The Gemini `generateContent` wire: a request and its reply in the words of `wire.py`.

Parts that the provider wants back as they stand (thoughts, what its own tools made) are thinking parts with the part in
`raw`. A signature on a text or a call is a thinking part of its own that stands before it and is put back onto it:
Gemini 3 refuses a call that comes back without its signature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

import orjson

from ...events import StopReason, Usage
from ...refusals.fields import count, items, mapping, string
from ..wire import CallPart, Completion, Message, Part, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from . import looked_up
from .anthropic import MALFORMED
from .counted import Counter
from .exact import fragment, object_text, pieces, written
from .key import Key
from .origin import origin
from .provider import Wire
from .streamed.gathering import Gathered, Streamed
from .streamed.gemini import GeminiGathering

STOPS: Final[Mapping[str, StopReason]] = {
    "STOP": StopReason.END_TURN,
    "MAX_TOKENS": StopReason.LENGTH,
    "MALFORMED_FUNCTION_CALL": StopReason.MALFORMED_CALL,
    "UNEXPECTED_TOOL_CALL": StopReason.MALFORMED_CALL,
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "MODEL_ARMOR",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
        ),
        StopReason.CONTENT_FILTER,
    ),
}
"""What a `finishReason` means; another one is OTHER."""

SIGNATURE: Final = "thoughtSignature"

WHOLE: Final = ":generateContent"
"""How an address ends at which a whole reply is asked for."""

STREAM: Final = ":streamGenerateContent?alt=sse"
"""How the address of its stream ends; without the query it is one long list."""

# A reply with calls says STOP, and one that calls a tool which was not declared still says which.
_CALLS: Final = frozenset({"STOP", "UNEXPECTED_TOOL_CALL"})


def headers(key: Key | None) -> Mapping[str, str]:
    """The headers of the wire, with the key where there is one."""
    return {} if key is None else {"x-goog-api-key": key.text}


def body(request: Request, model: str) -> bytes:
    """The body of a request. The model stands in its address."""
    whole: dict[str, Any] = {"generationConfig": {"maxOutputTokens": request.max_tokens}}
    if request.system.strip():
        whole["systemInstruction"] = {"parts": [fragment({"text": request.system})]}
    if request.tools:
        whole["tools"] = [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]
        if request.no_tools:
            whole["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    names = {part.id: part.name for message in request.messages for part in message.parts if isinstance(part, CallPart)}
    spoken = ((message.role, list(_parts(message, names))) for message in request.messages)
    whole["contents"] = [
        {"role": "model" if role == "assistant" else "user", "parts": parts} for role, parts in spoken if parts
    ]
    return orjson.dumps(whole)


def reply(text: str, value: object) -> Completion | None:
    """The reply in the body of an answer: its first candidate. None where there is none.

    A prompt that a filter took has no candidate, but the reason: that is a reply that was filtered.
    """
    first = mapping(next(iter(items(mapping(value).get("candidates"))), None))
    made = items(mapping(first.get("content")).get("parts"))
    called = any("functionCall" in mapping(part) for part in made)
    path = ("candidates", None, "content", "parts", None, "functionCall", "args")
    return _reply(value, pieces(text, path)[: len(made)] if called else [None] * len(made))


def _of_stream(gathered: Gathered) -> Completion | None:
    return _reply(gathered.value, gathered.args)


def _stream_url(url: str) -> str:
    return url.removesuffix(WHOLE) + STREAM


STREAMED: Final = Streamed(b"", GeminiGathering, _of_stream, _stream_url)
"""How the wire streams: asked for by its address alone."""


def _reply(value: object, args: Sequence[str | None]) -> Completion | None:
    said = mapping(value)
    usage = _usage(mapping(said.get("usageMetadata")))
    name = string(said.get("responseId")) or None
    candidates = items(said.get("candidates"))
    if not candidates:
        feedback = mapping(said.get("promptFeedback"))
        blocked = feedback.get("blockReason") or feedback.get("blockReasonMessage")
        return Completion(StopReason.CONTENT_FILTER, (), usage, name) if blocked else None
    candidate = mapping(candidates[0])
    made = [mapping(part) for part in items(mapping(candidate.get("content")).get("parts"))]
    parts = tuple(part for one, given in zip(made, args, strict=True) for part in _heard(one, given))
    finish = string(candidate.get("finishReason"))
    stop = STOPS.get(finish, StopReason.OTHER)
    if finish in _CALLS and any(isinstance(part, CallPart) for part in parts):
        stop = StopReason.TOOL_USE
    return Completion(stop, parts, usage, name)


def to_count(url: str, request: Request, model: str) -> bytes:
    """The body of a count: a whole request, which here must name the model that else stands in its address alone."""
    named = unquote(url.rpartition("/")[2].removesuffix(WHOLE))
    inside = orjson.dumps({"model": f"models/{named}"})[:-1] + b"," + body(request, model)[1:]
    return b'{"generateContentRequest":' + inside + b"}"


COUNTER: Final = Counter(lambda url: f"{url.removesuffix(WHOLE)}:countTokens", to_count, "totalTokens")

WIRE: Final = Wire(headers, body, reply, STREAMED, lookup=looked_up.GEMINI, counter=COUNTER)
"""The wire as a provider takes it."""


def _heard(part: Mapping[str, Any], args: str | None) -> Iterator[Part]:
    words, called = part.get("text"), mapping(part.get("functionCall"))
    signature = part.get(SIGNATURE)
    if part.get("thought") or not (called or (isinstance(words, str) and (words or not signature))):
        if part:
            written(part)  # as on the other wires: what could not be sent back is refused now
            yield ThinkingPart(string(words) if part.get("thought") else "", raw=part)
        return
    if signature:
        yield ThinkingPart("", raw={SIGNATURE: string(signature)})
    if called:
        yield CallPart(string(called.get("id")), string(called.get("name")), args or "{}")
    elif words:
        yield TextPart(string(words))


def _usage(said: Mapping[str, Any]) -> Usage:
    # What the provider's own tools put into the prompt is counted apart, and so is what was thought.
    return Usage(
        input=count(said.get("promptTokenCount")) + count(said.get("toolUsePromptTokenCount")),
        output=count(said.get("candidatesTokenCount")) + count(said.get("thoughtsTokenCount")),
        cached=count(said.get("cachedContentTokenCount")),
    )


def _parts(message: Message, names: Mapping[str, str]) -> Iterator[orjson.Fragment]:
    signature: Mapping[str, Any] = {}
    results = [part for part in message.parts if isinstance(part, ResultPart)]
    for part in (*results, *(part for part in message.parts if not isinstance(part, ResultPart))):
        if isinstance(part, ThinkingPart):
            if part.raw is not None and set(part.raw) == {SIGNATURE}:
                signature = part.raw
            elif part.raw is not None and origin(part.raw) == "gemini":
                yield fragment(part.raw)
        elif isinstance(part, ResultPart):
            response = {"error" if part.error else "output": part.content}
            answer = {"id": part.call, "name": names.get(part.call, part.call), "response": response}
            yield fragment({"functionResponse": answer})
        elif isinstance(part, TextPart):
            if part.text:
                yield fragment({"text": part.text, **signature})
                signature = {}
        else:
            yield _call(part, signature)
            signature = {}


def _call(part: CallPart, signature: Mapping[str, Any]) -> orjson.Fragment:
    args = object_text(part.args)
    if args is None:
        args = written({MALFORMED: part.args} if part.args.strip() else {})
    before = written({"id": part.id, "name": part.name})
    called = orjson.Fragment(before[:-1] + b',"args":' + args + b"}")
    signed = written(dict(signature))[1:-1]
    return orjson.Fragment(orjson.dumps({"functionCall": called})[:-1] + (b"," + signed if signed else b"") + b"}")


def _tool(tool: ToolSchema) -> orjson.Fragment:
    return fragment({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema})
