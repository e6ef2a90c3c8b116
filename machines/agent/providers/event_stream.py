"""Server-sent events of an answer, while it comes. No type of the HTTP library goes beyond `http.py`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Final

import anyio
import attrs
import httpx
from httpx_sse import EventSource

from .unpacking import Unpacked

MOST_STREAMED: Final = 128 * 2**20
"""Bytes of a stream that are read at most. An event takes some hundred bytes for each token that it brings."""

# Seconds that the end of a stream is waited for when its last event is there, so that its connection can be used again.
# It comes with that event, or not at all: some servers leave the connection open.
_TAIL: Final = 0.25
# The events are always UTF-8, whatever an answer says of itself.
_SHOWN: Final = {"content-type": "text/event-stream; charset=utf-8"}
_STARTS: Final = (b"data:", b"event:", b":", b"id:", b"retry:")


@attrs.frozen
class Stream:
    """A stream that was read. `why` says how it broke off, None where it ended or its last event had come.

    `rest` is the last of what blank lines part: what stands behind the last event, if anything does. `again` says
    whether another try may do better.
    """

    status: int
    headers: Mapping[str, str]
    rest: bytes = b""
    why: str | None = None
    again: bool = True


BOM: Final = b"\xef\xbb\xbf"
"""The mark of the byte order in UTF-8, which some servers send before all else."""


def is_stream(headers: Mapping[str, str]) -> bool:
    """Whether an answer says that it is a stream of events."""
    return "text/event-stream" in headers.get("content-type", "").lower()


def looks_streamed(body: bytes) -> bool:
    """Whether a body is one, whatever its answer said."""
    return body.lstrip(b"\xef\xbb\xbf \r\n").startswith(_STARTS)


def events_in(body: bytes) -> Iterator[str]:
    """The data of each event in a whole body. One that is not closed counts: the last one often is not."""
    source = EventSource(httpx.Response(200, headers=_SHOWN, content=body.removeprefix(BOM) + b"\n\n"))
    return (event.data for event in source.iter_sse())


def last_block(body: bytes) -> bytes:
    """The last of what blank lines part: the last event, or what stands behind it and is none."""
    return body.replace(b"\r\n", b"\n").rstrip(b"\n").rpartition(b"\n\n")[2]


async def read_stream(response: httpx.Response, idle: float, most: int, take: Callable[[str], bool]) -> Stream:
    """Give the data of each event to `take` until that answers that nothing follows.

    At most `most` bytes are read, and `idle` seconds are waited for the next. Closes the answer in any case.
    """
    unpacked = Unpacked(response)
    chunks = _Chunks(unpacked, idle, most)
    events = EventSource(httpx.Response(200, headers=_SHOWN, stream=chunks)).aiter_sse()
    said_all = False
    try:
        async for event in events:
            chunks.since = chunks.since[-1:]
            if not said_all and take(event.data):
                said_all = chunks.ended = True
        if said_all:
            with anyio.move_on_after(_TAIL):
                await unpacked.drain()
    finally:
        # A generator that is left before its end warns on trio. These end as soon as there are no more chunks.
        chunks.ended = True
        async for _ in events:
            pass
        await unpacked.leave()
        await response.aclose()
    return Stream(response.status_code, dict(response.headers), chunks.rest(), chunks.why, chunks.again)


class _Chunks(httpx.AsyncByteStream):
    """The bytes of an answer as they come. They end where it breaks off too, and then `why` tells it.

    `since` are those that came since the last event, from the one that held its end.
    """

    def __init__(self, chunks: AsyncIterator[bytes], idle: float, most: int) -> None:
        self._chunks, self._idle, self._left = chunks, idle, most
        self._most = most
        self.ended, self.again = False, True
        self.why: str | None = None
        self.since: list[bytes] = []
        self._head: bytes | None = b""  # what came of a mark of the byte order, which belongs to no event

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self.ended:
            raise StopAsyncIteration
        chunk = b""
        with anyio.move_on_after(self._idle) as waiting:
            try:
                chunk = await anext(self._chunks)
            except StopAsyncIteration:
                self.ended = True
                return b"\n\n"  # closes an event that was left open
            except (httpx.HTTPError, httpx.StreamError, OSError) as error:
                self._break_off(broken(error))
        if waiting.cancelled_caught:
            self._break_off(silent(self._idle))
        self._left -= len(chunk)
        if self._left < 0:
            self._break_off(f"a stream of more than {self._most} bytes", again=False)
        if self.ended:
            raise StopAsyncIteration
        chunk = self._without_mark(chunk)
        self.since.append(chunk)
        return chunk

    def _without_mark(self, chunk: bytes) -> bytes:
        if self._head is None:
            return chunk
        self._head += chunk
        if len(self._head) < len(BOM) and BOM.startswith(self._head):
            return b""
        whole, self._head = self._head.removeprefix(BOM), None
        return whole

    def rest(self) -> bytes:
        """The last block."""
        return last_block(b"".join(self.since))

    def _break_off(self, why: str, *, again: bool = True) -> None:
        self.why, self.again, self.ended = why, again, True


def broken(error: Exception) -> str:
    """What an error of the HTTP library says."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def silent(idle: float) -> str:
    """What is said of a server from which nothing comes any more."""
    return f"nothing came for {idle:g} seconds"
