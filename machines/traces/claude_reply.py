"""One reply of claude-code while its lines come in: a line for each block, all with one message id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import Factory, define

from .lines import CallSpec, Json, JsonObject, Line, ReplyLine, Stop, Usage
from .loose import args_text, count_of, list_of, object_of, text_of
from .recorded import Numbered

_STOPS: Final[Mapping[str, Stop]] = {
    "end_turn": "end_turn",
    "max_tokens": "length",
    "model_context_window_exceeded": "context_window",
    "pause_turn": "pause",
    "refusal": "refusal",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_use",
}


@define
class OpenReply:
    """What has come of a reply, and what came after it before it was known to be whole.

    `line` is that of its first block, `at` the time when it came; `later` are the answers to its calls, and what else
    stands between its blocks and the next reply.
    """

    id: str | None
    agent: str | None
    line: int
    at: float | None
    text: list[str] = Factory(list[str])
    thinking: list[str] = Factory(list[str])
    calls: list[CallSpec] = Factory(list[CallSpec])
    stop: str | None = None
    usage: Usage | None = None
    dispatched: bool = False
    later: list[Numbered] = Factory(list[Numbered])


def add(reply: OpenReply, message: JsonObject) -> Iterator[tuple[CallSpec, JsonObject]]:
    """Take in the blocks of one line; gives the calls among them, each with its parsed arguments."""
    # Lines of a reply that is still streaming have no stop reason, and may count fewer tokens than later ones.
    reply.stop = text_of(message.get("stop_reason")) or reply.stop
    reply.usage = usage_of(message.get("usage")) or reply.usage
    for item in list_of(message.get("content")):
        block = object_of(item)
        kind = block.get("type")
        if kind == "text":
            reply.text.append(text_of(block.get("text")))
        elif kind == "thinking":
            reply.thinking.append(text_of(block.get("thinking")))
        elif kind == "tool_use":
            call = _call(block)
            reply.calls.append(call)
            yield call, object_of(block.get("input"))


def _call(block: JsonObject) -> CallSpec:
    given = block.get("input")
    raw = isinstance(given, str)
    return CallSpec(
        id=text_of(block.get("id")),
        tool=text_of(block.get("name")),
        args=text_of(given) if raw else args_text(object_of(given)),
        raw=raw,
    )


def usage_of(value: Json) -> Usage | None:
    """What a message's `usage` says, None where it says nothing: a stream that broke off reports zeros.

    Anthropic counts tokens read from and written to a cache apart from `input_tokens`; all of them were sent.
    """
    usage = object_of(value)
    fresh, output = count_of(usage.get("input_tokens")) or 0, count_of(usage.get("output_tokens")) or 0
    cached = count_of(usage.get("cache_read_input_tokens")) or 0
    sent = fresh + cached + (count_of(usage.get("cache_creation_input_tokens")) or 0)
    return Usage(input=sent, output=output, cached=cached) if sent or output else None


def closed(reply: OpenReply, *, last: Stop | None = None, final: bool = False) -> Iterator[Numbered]:
    """The reply as a line, then what came after it.

    `last` is the stop reason that the end of the run gives to its last reply. `final`: the run ended as it should;
    then a last reply that has text and calls nothing is what it closed with.
    """
    text = "\n".join(reply.text)
    line: Line = ReplyLine(
        stop=_stop(reply, last),
        calls=tuple(reply.calls),
        text=text,
        thinking="\n".join(reply.thinking),
        usage=reply.usage,
        kind="final" if final and not reply.calls and text.strip() else None,
        agent=reply.agent,
        at=reply.at,
    )
    yield reply.line, line
    yield from reply.later


def _stop(reply: OpenReply, last: Stop | None) -> Stop:
    if reply.stop is not None:
        return stop_of(reply.stop)
    # No line gave a reason. Where its calls were run, it was whole; else the stream broke off and was begun anew.
    if reply.calls:
        return "tool_use" if reply.dispatched else "other"
    return last or "other"


def stop_of(name: str) -> Stop:
    """The stop reason that Anthropic's name for it means."""
    return _STOPS.get(name, "other")
