"""The bytes of an answer, unpacked, from a connection that can be left at any moment.

The HTTP library's own unpacking is a generator above others: where a body is garbled it ends, they do not, and trio
warns of each.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

import anyio
import httpx

ACCEPTED: Final = "gzip, deflate"
"""What a request says that can be unpacked here."""

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
        chunk = await anext(self._raw)
        bare, self._may_be_bare = self._may_be_bare, False
        if self._packed is None:
            return chunk
        try:
            return self._packed.decompress(chunk)
        except zlib.error as error:
            if not bare:
                raise httpx.DecodingError(str(error)) from None
        self._packed = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._packed.decompress(chunk)
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from None

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
