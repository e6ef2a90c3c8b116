"""Streams of servers that end, or begin, otherwise than they should: bytes over plain sockets, on both event loops."""

from __future__ import annotations

import gc
import gzip
import time
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from machines.agent.providers import Retries, provider_for
from machines.agent.wire import Completion, Message, Refused, Request, Streaming, TextPart

pytestmark = pytest.mark.anyio

GO = Request("", (Message("user", (TextPart("Go"),)),))
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n%b\r\n"
HELLO = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n'
STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"

Answer = Callable[[ByteStream], Awaitable[None]]
Told = list[tuple[str, str]]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


END = chunk(b"")


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[str, None]:
    """A server that reads a request and answers so; its address."""

    async def connected(stream: SocketStream) -> None:
        try:
            async with stream:
                await stream.receive()
                await answer(stream)
        except (anyio.BrokenResourceError, anyio.EndOfStream):
            pass  # the provider has left

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, connected)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        group.cancel_scope.cancel()


async def ask(
    answer: Answer, path: str = "/v1", *, idle: float = 5.0, seconds: float = 10.0
) -> tuple[Completion | Refused, Told]:
    told: Told = []
    async with serving(answer) as url:
        once = Retries(attempts=1)
        provider = provider_for(url + path, retries=once, seconds=seconds, idle_seconds=idle)
        assert isinstance(provider, Streaming)
        got = await provider.stream(GO, lambda channel, piece: told.append((channel, piece)))
        await provider.aclose()
    return got, told


def sends(*data: bytes, more: bytes = b"", every: float = 0.0, holds: bool = False) -> Answer:
    """Sends these chunks and then, over and over, `more`; leaves the connection open or closes it."""

    async def answer(stream: ByteStream) -> None:
        await stream.send(HEAD % b"" + b"".join(chunk(one) for one in data))
        while more:
            await anyio.sleep(every)
            await stream.send(chunk(more))
        if holds:
            await anyio.sleep_forever()

    return answer


async def test_a_connection_that_is_left_open_behind_the_last_event_delays_nothing() -> None:
    began = time.monotonic()
    got, told = await ask(sends(HELLO, STOP, DONE, holds=True))
    assert isinstance(got, Completion)
    assert (got.text, told) == ("Hello", [("text", "Hello")])
    assert time.monotonic() - began < 2


async def test_a_server_that_goes_on_behind_the_last_event_is_left() -> None:
    began = time.monotonic()
    got, _ = await ask(sends(HELLO, STOP, DONE, more=HELLO, every=0.01))
    assert isinstance(got, Completion)
    assert got.text == "Hello"
    assert time.monotonic() - began < 2


async def test_a_connection_that_breaks_behind_the_reason_to_finish_takes_nothing_away() -> None:
    got, _ = await ask(sends(HELLO, STOP))
    assert isinstance(got, Completion)
    assert got.text == "Hello"


async def test_a_stream_of_nothing_but_pings_is_alive_and_has_no_more_time_for_that() -> None:
    got, told = await ask(sends(HELLO, more=b": ping\n\n", every=0.02), idle=0.2, seconds=0.5)
    assert got == Refused(0, "no answer within 0.5 seconds")
    assert told == [("text", "Hello")]


async def test_what_gemini_says_of_an_error_behind_its_last_event_is_the_refusal() -> None:
    first = b'data: {"candidates":[{"content":{"parts":[{"text":"Hel"}]},"finishReason":"STOP"}]}\r\n\r\n'
    error = b'{\n  "error": {\n    "code": 503,\n    "message": "busy",\n    "status": "UNAVAILABLE"\n  }\n}\n'

    async def answer(stream: ByteStream) -> None:
        await stream.send(HEAD % b"" + chunk(first) + chunk(error[:20]) + chunk(error[20:]) + END)

    got, told = await ask(answer, "/v1beta/models/m:generateContent")
    assert isinstance(got, Refused)
    assert (got.status, told) == (503, [("text", "Hel")])
    assert '"busy"' in got.body


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("head", [(BOM + HELLO,), (BOM[:1], BOM[1:] + HELLO), (BOM[:2], BOM[2:], HELLO), (HELLO,)])
async def test_a_mark_of_the_byte_order_before_a_stream_takes_no_event_with_it(head: tuple[bytes, ...]) -> None:
    got, told = await ask(sends(*head, HELLO, STOP, DONE))
    assert isinstance(got, Completion)
    assert (got.text, len(told)) == ("HelloHello", 2)


async def test_a_few_packed_bytes_that_hold_millions_keep_nobody_waiting() -> None:
    packed = gzip.compress(b": ping\n\n" * 4_000_000)
    assert len(packed) < 200_000

    async def answer(stream: ByteStream) -> None:
        await stream.send(HEAD % b"content-encoding: gzip\r\n" + chunk(packed) + END)

    longest, last = 0.0, time.monotonic()

    async def ticks() -> None:
        nonlocal longest, last
        while True:
            await anyio.sleep(0.01)
            now = time.monotonic()
            longest, last = max(longest, now - last), now

    async with anyio.create_task_group() as group:
        group.start_soon(ticks)
        got, _ = await ask(answer, seconds=0.5)
        assert isinstance(got, Refused)
        group.cancel_scope.cancel()
    assert longest < 1.0, "seconds; to unpack it all takes several"


def as_it_is(data: bytes) -> bytes:
    return data


def bare(data: bytes) -> bytes:
    """Deflate without the header and the sum that it should have."""
    return zlib.compress(data)[2:-4]


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate ": bare,
    "identity": as_it_is,
    "": as_it_is,
}


@pytest.mark.parametrize("kind", PACKED)
async def test_an_answer_may_be_packed(kind: str) -> None:
    packed = PACKED[kind](HELLO + STOP + DONE)

    async def answer(stream: ByteStream) -> None:
        await stream.send(HEAD % f"content-encoding: {kind}\r\n".encode() + chunk(packed[:9]) + chunk(packed[9:]) + END)

    got, told = await ask(answer)
    assert isinstance(got, Completion)
    assert (got.text, told) == ("Hello", [("text", "Hello")])


@pytest.mark.parametrize("kind", ["gzip", "deflate"])
@pytest.mark.parametrize("streamed", [True, False])
async def test_an_answer_that_is_garbled_is_none_and_leaves_nothing_open(kind: str, streamed: bool) -> None:
    async def answer(stream: ByteStream) -> None:
        head = HEAD % f"content-encoding: {kind}\r\n".encode()
        head = head if streamed else head.replace(b"text/event-stream", b"application/json")
        await stream.send(head + chunk(b"this is not packed") + END)

    got, _ = await ask(answer)
    assert isinstance(got, Refused)
    assert (got.status, got.body.partition(":")[0]) == (0, "DecodingError")
    gc.collect()


async def test_what_is_no_http_is_no_answer() -> None:
    async def answer(stream: ByteStream) -> None:
        await stream.send(b"220 smtp.example ready\r\n")

    got, _ = await ask(answer)
    assert isinstance(got, Refused)
    assert got.status in (0, -1)


async def test_another_charset_in_the_header_changes_nothing() -> None:
    async def answer(stream: ByteStream) -> None:
        head = (HEAD % b"").replace(b"event-stream", b"event-stream; charset=iso-8859-1")
        await stream.send(head + chunk(HELLO.replace(b"Hello", "日本".encode()) + STOP + DONE) + END)

    got, _ = await ask(answer)
    assert isinstance(got, Completion)
    assert got.text == "日本"
