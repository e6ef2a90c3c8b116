"""One HTTP client an event loop, which all providers in it share: making one costs milliseconds, a request does not.

The client is made at the first request in a loop and closed when the last provider that used it is closed. No type of
the HTTP library leaves this module.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import AsyncIterator, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import anyio
import attrs
import httpx
from anyio.lowlevel import RunVar

MOST_BYTES: Final = 32 * 2**20
"""Bytes of an answer, unpacked, that are read at most; Anthropic takes no larger request either."""

# Connections that stand open unused. There is no bound on those in use: runs side by side must not wait in a queue
# that counts against their time.
_KEPT: Final = 100
_CLOSING = 2.0  # seconds that closing may take while the host is being cancelled
# A model on this machine is never asked through a proxy, whatever the environment says of one.
_DIRECT: Final = ("all://127.0.0.1", "all://localhost", "all://[::1]")


@attrs.frozen
class Answer:
    """What a server answered. Names of headers are in lower case, `body` is unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@attrs.frozen
class NoAnswer:
    """Nothing that can be read came back: no connection, a broken one, or a body that is too large or garbled.

    `again` says whether another try may do better.
    """

    why: str
    again: bool = True


_IS_CLOSED: Final = NoAnswer("the provider is closed", again=False)


@attrs.define(eq=False)
class _Shared:
    client: httpx.AsyncClient
    users: set[Http] = attrs.Factory(set["Http"])


_SHARED: Final[RunVar[_Shared | None]] = RunVar("machines.agent.providers.http")


@attrs.define(eq=False)
class Http:
    """A provider's hold on the client of the loop that it runs in. Safe to use from many tasks, and in many loops."""

    connect: float = 10.0
    _closed: bool = attrs.field(default=False, init=False)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NoAnswer:
        """Send `body` and read the whole answer. Redirects are not followed: a key goes to the host it was meant for.

        `connect` seconds for the connection, no limit of its own on the rest: that is the caller's.
        """
        if self._closed:
            return _IS_CLOSED
        try:
            return await _exchange(self._client(), url, headers, body, self.connect)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            if self._closed:
                return _IS_CLOSED
            return NoAnswer(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    async def aclose(self) -> None:
        """Give up the hold. The last one closes the client; a request that is still out gets no answer."""
        self._closed = True
        shared = _SHARED.get(None)
        if shared is None or self not in shared.users:
            return
        shared.users.remove(self)
        if not shared.users:
            _SHARED.set(None)
            with anyio.move_on_after(_CLOSING, shield=True):
                await shared.client.aclose()

    def _client(self) -> httpx.AsyncClient:
        shared = _SHARED.get(None)
        if shared is None:
            shared = _Shared(_new_client())
            _SHARED.set(shared)
        shared.users.add(self)
        return shared.client


async def _exchange(
    client: httpx.AsyncClient, url: str, headers: Mapping[str, str], body: bytes, connect: float
) -> Answer | NoAnswer:
    times = httpx.Timeout(None, connect=connect)
    request = client.build_request("POST", url, headers=headers, content=body, timeout=times)
    request.stream = _Body(body)
    chunks: list[bytes] = []
    size = 0
    response = await client.send(request, stream=True)
    try:
        async for chunk in response.aiter_bytes():
            chunks.append(chunk)
            size += len(chunk)
            if size > MOST_BYTES:
                # To leave the loop here would leave the generators beneath it open. Closing makes them end.
                chunks.clear()
                await response.aclose()
    except httpx.HTTPError:
        if size <= MOST_BYTES:
            raise
    finally:
        await response.aclose()
    if size > MOST_BYTES:
        return NoAnswer(f"an answer of more than {MOST_BYTES} bytes", again=False)
    return Answer(response.status_code, dict(response.headers), b"".join(chunks))


class _Body(httpx.AsyncByteStream):
    """A body to send. The library's own is a generator, which a cancelled request leaves open; trio warns of that."""

    def __init__(self, body: bytes) -> None:
        self._left = [body]

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


def _new_client() -> httpx.AsyncClient:
    return httpx.AsyncClient(
        verify=_certificates(),
        headers={"user-agent": "statecraft"},
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=_KEPT),
        mounts=dict.fromkeys(_DIRECT),
        # Providers that share a client share no cookies.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The trusted authorities. Reading them is most of what a client costs, so that is done once a process."""
    return httpx.create_ssl_context()
