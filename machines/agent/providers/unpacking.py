"""The bytes of an answer, unpacked, from a connection that can be left at any moment.

The HTTP library's own unpacking is a generator above others: where a body is garbled it ends, they do not, and trio
warns of each.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import anyio
import anyio.lowlevel
import httpx

ACCEPTED: Final = "gzip, deflate"
"""What a request says that can be unpacked here."""

PIECE: Final = 65_536
"""Bytes that are unpacked at a time."""

_WINDOW: Final = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class Unpacked:
    """The chunks of an answer. DecodingError where they are garbled; `leave` ends them, wherever they stand."""

    def __init__(self, response: httpx.Response, *, packed: bool = True) -> None:
        self._raw = response.aiter_raw()
        window = _WINDOW.get(response.headers.get("content-encoding", "").strip().lower()) if packed else None
        self._packed = None if window is None else zlib.decompressobj(window)
        self._may_be_bare = window == zlib.MAX_WBITS  # some servers send deflate without the header that it should have

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        packed = self._packed
        if packed is not None and packed.unconsumed_tail:
            await anyio.lowlevel.checkpoint()  # a few packed bytes may hold millions: others want their turn
            return self._unpacked(packed, packed.unconsumed_tail)
        chunk = await anext(self._raw)
        bare, self._may_be_bare = self._may_be_bare, False
        if self._packed is None:
            return chunk
        try:
            return self._packed.decompress(chunk, PIECE)
        except zlib.error as error:
            if not bare:
                raise httpx.DecodingError(str(error)) from None
        self._packed = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._unpacked(self._packed, chunk)

    def _unpacked(self, packed: Any, data: bytes) -> bytes:
        try:
            piece: bytes = packed.decompress(data, PIECE)
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from None
        return piece

    async def drain(self) -> None:
        """Read what is left and throw it away."""
        with suppress(httpx.HTTPError, httpx.StreamError, OSError):  # nothing that is wanted is lost
            async for _ in self._raw:
                pass

    async def leave(self) -> None:
        """Read no more. The generators beneath end by being cancelled, since none of them can be closed from here."""
        with anyio.CancelScope() as scope:
            scope.cancel()
            await self.drain()
