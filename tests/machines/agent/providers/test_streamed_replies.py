"""A reply is the same whether it comes whole or streamed, in whatever pieces the network hands it over."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import anyio
import attrs
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.agent.providers import anthropic, gemini, openai, responses
from machines.agent.providers.event_stream import Stream, events_in, last_block, looks_streamed, read_stream
from machines.agent.providers.http import Answer
from machines.agent.providers.provider import Wire, outcome_of
from machines.agent.providers.streamed.reading import Reading
from machines.agent.scripted import Turn, call
from machines.agent.scripted import anthropic as anthropic_side
from machines.agent.scripted import gemini as gemini_side
from machines.agent.scripted import openai as openai_side
from machines.agent.scripted import responses as responses_side
from machines.agent.scripted.side import Side
from machines.agent.wire import Completion, Refused
from machines.events import StopReason, Usage

from .test_round_trips import CALLS, USAGES

EXAMPLES = settings(max_examples=40, deadline=None)  # each of them starts an event loop, or two
SPOKEN = {
    "anthropic": (anthropic_side.SIDE, anthropic.WIRE),
    "openai": (openai_side.SIDE, openai.WIRE),
    "openai-responses": (responses_side.SIDE, responses.WIRE),
    "gemini": (gemini_side.SIDE, gemini.WIRE),
}
TEXTS = st.text(max_size=40) | st.just("A word, \U0001f642 and 日本語, in two lines:\r\nthis is the other.")
STOPS = st.none() | st.sampled_from([StopReason.LENGTH, StopReason.CONTENT_FILTER, StopReason.REFUSAL])
TURNS = st.builds(Turn, text=TEXTS, calls=CALLS.map(tuple), stop=STOPS, usage=USAGES, thinking=TEXTS)
WIRES = st.sampled_from(sorted(SPOKEN))

Told = list[tuple[str, str]]


def spoken(side: Side, turn: Turn) -> tuple[bytes, bytes]:
    """The body of the whole reply, and all bytes of its stream."""
    made = (turn, "m", [call.id for call in turn.calls], turn.usage or Usage(), 0)
    return side.reply_of(*made), b"".join(event.encoded() for event in side.stream_of(*made))


class Network(httpx.AsyncByteStream):
    """Hands chunks over, one at a time."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


def heard(wire: Wire, chunks: list[bytes]) -> tuple[Completion | Refused, Told]:
    told: Told = []
    reading = Reading(wire.streamed, lambda channel, piece: told.append((channel, piece)))

    async def main() -> Stream:
        return await read_stream(httpx.Response(200, stream=Network(chunks)), 60.0, 10**8, reading.take)

    stream = anyio.run(main)
    return reading.outcome(stream.headers, stream.rest, stream.why), told


def said(told: Told, channel: str) -> str:
    return "".join(piece for name, piece in told if name == channel)


def cut_at(data: bytes, places: list[int]) -> list[bytes]:
    """The chunks of some bytes, cut anywhere: inside of characters, line ends and events."""
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


def with_line_ends(stream: bytes, end: bytes) -> bytes:
    """The same stream as another server writes it. No line end stands inside of the data, which is JSON."""
    return stream.replace(b"\n", end)


@EXAMPLES
@given(TURNS, WIRES)
def test_a_streamed_reply_is_the_whole_one(turn: Turn, name: str) -> None:
    side, wire = SPOKEN[name]
    body, stream = spoken(side, turn)
    whole = outcome_of(Answer(200, {}, body), wire)
    got, told = heard(wire, [stream])
    assert got == whole
    assert isinstance(got, Completion)
    assert (said(told, "text"), said(told, "thinking")) == (turn.text, turn.thinking)


@EXAMPLES
@given(
    TURNS,
    WIRES,
    st.lists(st.integers(0, 10**6), max_size=30),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.sampled_from([b"", b": ping\n\n", b"retry: 10\n\n", b"id: 1\ndata:\n\n"]),
)
def test_where_a_stream_is_cut_into_chunks_changes_nothing(
    turn: Turn, name: str, places: list[int], end: bytes, first: bytes
) -> None:
    side, wire = SPOKEN[name]
    _, stream = spoken(side, turn)
    assert heard(wire, cut_at(with_line_ends(first + stream, end), places)) == heard(wire, [stream])


@pytest.mark.parametrize("name", SPOKEN)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_stream_may_come_byte_by_byte(name: str, end: bytes) -> None:
    side, wire = SPOKEN[name]
    _, stream = spoken(side, Turn("Zwölf 日本 \U0001f642.", thinking="Hm\n\nwell."))
    data = with_line_ends(stream, end)
    assert heard(wire, [bytes([byte]) for byte in data]) == heard(wire, [stream])


@EXAMPLES
@given(TURNS, WIRES, st.integers(0, 10**6))
def test_a_stream_that_ends_anywhere_is_no_exception(turn: Turn, name: str, place: int) -> None:
    side, wire = SPOKEN[name]
    _, stream = spoken(side, turn)
    got, told = heard(wire, [stream[: place % len(stream)]])
    whole, all_told = heard(wire, [stream])
    assert isinstance(whole, Completion)
    assert turn.text.startswith(said(told, "text"))
    assert turn.thinking.startswith(said(told, "thinking"))
    assert len(told) <= len(all_told)
    if isinstance(got, Refused):  # an event that was cut is no JSON, which is the fault of whoever stands between
        assert got.status in (0, 502)
    else:  # all that is missing is what stands behind the reason to finish
        assert attrs.evolve(got, usage=whole.usage) == whole


@EXAMPLES
@given(
    st.lists(
        st.binary(max_size=60) | st.sampled_from([b"data: ", b"\n\n", b"{}", b"[1]", b"null", b'{"a":']), max_size=12
    ),
    WIRES,
)
def test_no_bytes_at_all_are_an_exception(chunks: list[bytes], name: str) -> None:
    got, told = heard(SPOKEN[name][1], chunks)
    assert isinstance(got, Refused)
    assert told == []


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "text", "function", "STOP", "error"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "index",
                    "delta",
                    "choices",
                    "candidates",
                    "content",
                    "parts",
                    "text",
                    "functionCall",
                    "args",
                    "tool_calls",
                    "function",
                    "arguments",
                    "response",
                    "output",
                    "item",
                    "error",
                    "usage",
                    "message",
                    "content_block",
                    "partialArgs",
                    "jsonPath",
                    "usageMetadata",
                    "id",
                    "name",
                    "reasoning_details",
                    "willContinue",
                    "input",
                    "finish_reason",
                    "finishReason",
                    "summary",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
KINDS = [
    *("message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"),
    *("response.output_item.added", "response.output_item.done", "response.output_text.delta"),
    *("response.function_call_arguments.delta", "response.reasoning_text.delta", "response.completed"),
]


@EXAMPLES
@given(st.lists(st.tuples(JUNK, st.sampled_from([None, *KINDS])), max_size=6), WIRES)
def test_no_events_at_all_are_an_exception(events: list[tuple[Any, str | None]], name: str) -> None:
    reading = Reading(SPOKEN[name][1].streamed, lambda channel, piece: None)
    value: Any
    for value, kind in events:
        if isinstance(value, dict) and kind:
            value["type"] = kind
        if reading.take(json.dumps(value)):
            break
    assert isinstance(reading.outcome({}), Completion | Refused)


@pytest.mark.parametrize("name", SPOKEN)
def test_arguments_that_are_cut_come_as_they_were_received(name: str) -> None:
    side, wire = SPOKEN[name]
    args = '{"path": "a'
    turn = Turn("", (call("read", args, id="c"),), stop=StopReason.LENGTH)
    got, _ = heard(wire, [spoken(side, turn)[1]])
    assert isinstance(got, Completion)
    assert (got.stop, got.calls[0].name) == (StopReason.LENGTH, "read")
    # Gemini sends arguments as JSON alone, and never half of them: what is none comes as a text.
    assert got.calls[0].args == (args if name != "gemini" else '"{\\"path\\": \\"a"')


@pytest.mark.parametrize("name", SPOKEN)
def test_the_last_event_need_not_be_closed(name: str) -> None:
    side, wire = SPOKEN[name]
    _, stream = spoken(side, Turn("All of it."))
    assert heard(wire, [stream.rstrip(b"\n")]) == heard(wire, [stream])


def test_what_stands_behind_the_last_event_is_found() -> None:
    assert last_block(b"data: 1\n\ndata: 2\n\n{\n}\n") == b"{\n}"
    assert last_block(b"data: 1\r\n\r\n{\r\n}") == b"{\n}"
    assert last_block(b"data: 1\n\n") == b"data: 1"
    assert last_block(b"") == b""


@pytest.mark.parametrize(
    ("body", "streamed"),
    [(b"data: 1", True), (b"event: x\n", True), (b": ping\n", True), (b"\xef\xbb\xbfdata: 1", True), (b"{}", False)],
)
def test_a_stream_is_known_by_how_it_begins(body: bytes, streamed: bool) -> None:
    assert looks_streamed(body) == streamed
    if streamed and b"1" in body:
        assert list(events_in(body)) == ["1"]
