"""One HTTP client an event loop, which all providers in it share: making one costs milliseconds, a request does not.

The client is made at the first request in a loop and closed when the last provider that used it is closed. No type of
the HTTP library leaves this module, `event_stream.py` and `unpacking.py`.
"""

from __future__ import annotations

import functools
import ipaddress
import math
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, TypeVar, cast
from urllib.parse import urlsplit
from urllib.request import getproxies

import anyio
import attrs
import httpx
from anyio.lowlevel import RunVar

from .event_stream import MOST_STREAMED, Stream, broken, is_stream, read_stream, silent
from .unpacking import ACCEPTED, Unpacked

MOST_BYTES: Final = 32 * 2**20
"""Bytes of an answer, unpacked, that are read at most; Anthropic takes no larger request either."""

# Connections that stand open unused. There is no bound on those in use: runs side by side must not wait in a queue
# that counts against their time.
_KEPT: Final = 100
_Answered = TypeVar("_Answered")
_CLOSING = 2.0  # seconds that closing may take while the host is being cancelled


class BadProxy(ValueError):
    """The environment names a proxy that cannot be used; the message never shows it, as it may hold a password."""


@attrs.frozen
class Answer:
    """What a server answered. Names of headers are in lower case, `body` is unpacked (but not that of a `get`)."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@attrs.frozen
class NoAnswer:
    """Nothing that can be read came back: no connection, a broken one, or a body that is too large or garbled.

    `again` says whether another try may do better. `connected` is false where there was no connection at all, `soon`
    true where a server may only be starting: its machine answers that nobody listens there yet.
    """

    why: str
    again: bool = True
    connected: bool = True
    soon: bool = False


_IS_CLOSED: Final = NoAnswer("the provider is closed", again=False)


@attrs.define(eq=False)
class _Shared:
    """The clients of a loop: by whether the environment's proxies count."""

    clients: dict[bool, httpx.AsyncClient] = attrs.Factory(dict[bool, httpx.AsyncClient])
    users: set[Http] = attrs.Factory(set["Http"])


_SHARED: Final[RunVar[_Shared | None]] = RunVar("machines.agent.providers.http")


@attrs.define(eq=False)
class Http:
    """A provider's hold on the client of the loop that it runs in. Safe to use from many tasks, and in many loops.

    `reached` says whether anything ever answered it.
    """

    connect: float = 10.0
    reached: bool = False
    _closed: bool = attrs.field(default=False, init=False)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NoAnswer:
        """Send `body` and read the whole answer. Redirects are not followed: a key goes to the host it was meant for.

        `connect` seconds for the connection, no limit of its own on the rest: that is the caller's.
        """
        packed = {**headers, "accept-encoding": ACCEPTED}
        return await self._ask("POST", url, packed, body, lambda client, sent: _exchange(client, sent, MOST_BYTES))

    async def stream(
        self, url: str, headers: Mapping[str, str], body: bytes, idle: float, take: Callable[[str], bool]
    ) -> Answer | Stream | NoAnswer:
        """As `post`, and the data of each event is given to `take` as it comes, until that answers that none follows.

        `idle` seconds may pass without a byte, from the beginning. What is a refusal or no stream is read whole.
        What `take` raises comes through.
        """
        raised: list[Exception] = []

        def taken(data: str) -> bool:
            try:
                return take(data)
            except Exception as error:  # noqa: BLE001  # whoever hears the reply failed, which says nothing of the answer
                raised.append(error)
                return True

        # A stream that is packed is told late: the server may wait until there is enough to pack.
        plain = {**headers, "accept-encoding": "identity"}
        answer = await self._ask("POST", url, plain, body, lambda client, sent: _streamed(client, sent, idle, taken))
        if raised:
            raise raised[0]
        return _IS_CLOSED if self._closed and isinstance(answer, Stream) and answer.why else answer

    async def get(self, url: str, headers: Mapping[str, str], most: int) -> Answer | NoAnswer:
        """Ask for what is at `url`, at most `most` bytes of it; otherwise as `post`.

        It is asked for unpacked, and left as it comes: a few packed bytes can become more than memory holds.
        """
        whole = {**headers, "accept-encoding": "identity"}
        return await self._ask(
            "GET", url, whole, b"", lambda client, sent: _exchange(client, sent, most, unpacked=False)
        )

    async def _ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        exchange: Callable[[httpx.AsyncClient, httpx.Request], Awaitable[_Answered]],
    ) -> _Answered | NoAnswer:
        if self._closed:
            return _IS_CLOSED
        try:
            client = self._client(url)
            times = httpx.Timeout(None, connect=self.connect)
            request = client.build_request(method, url, headers=headers, content=body or None, timeout=times)
            request.stream = _Body(body)
            answer = await exchange(client, request)
        except BadProxy as error:
            return NoAnswer(str(error), again=False, connected=False)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            return _IS_CLOSED if self._closed else _unconnected(url, error, self.connect)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            if self._closed:
                return _IS_CLOSED
            return NoAnswer(broken(error))
        self.reached = True
        return answer

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
                for client in shared.clients.values():
                    await client.aclose()

    def _client(self, url: str) -> httpx.AsyncClient:
        shared = _SHARED.get(None)
        if shared is None:
            shared = _Shared()
            _SHARED.set(shared)
        shared.users.add(self)
        proxies = not on_this_machine(url)
        if proxies not in shared.clients:
            shared.clients[proxies] = _new_client(proxies)
        return shared.clients[proxies]


async def _exchange(
    client: httpx.AsyncClient, request: httpx.Request, most: int, *, unpacked: bool = True
) -> Answer | NoAnswer:
    return await _read(await client.send(request, stream=True), most, unpacked=unpacked)


async def _streamed(
    client: httpx.AsyncClient, request: httpx.Request, idle: float, take: Callable[[str], bool]
) -> Answer | Stream | NoAnswer:
    with anyio.move_on_after(idle) as silence:
        response = await client.send(request, stream=True)
        silence.deadline = math.inf  # from here on it is counted anew for each piece
        if 200 <= response.status_code < 300 and is_stream(response.headers):
            return await read_stream(response, idle, MOST_STREAMED, take)
        return await _read(response, MOST_BYTES)
    return NoAnswer(silent(idle))


async def _read(response: httpx.Response, most: int, *, unpacked: bool = True) -> Answer | NoAnswer:
    chunks: list[bytes] = []
    size = 0
    body = Unpacked(response, packed=unpacked)
    try:
        async for chunk in body:
            chunks.append(chunk)
            size += len(chunk)
            if size > most:
                return NoAnswer(f"an answer of more than {most} bytes", again=False)
    finally:
        await body.leave()
        await response.aclose()
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


def on_this_machine(url: str) -> bool:
    """Whether the address is this machine's own: a model there is never asked through a proxy."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_proxies(url: str) -> None:
    """Raise `BadProxy` where the environment names a proxy for this address that no request can go through."""
    if not on_this_machine(url):
        _proxies_are_usable(tuple(sorted(getproxies().items())))


@functools.lru_cache(maxsize=1)
def _proxies_are_usable(proxies: tuple[tuple[str, str], ...]) -> None:
    """Asked once for each environment: the library says it only by making a client, which costs milliseconds."""
    if proxies:
        _new_client(proxies=True)


def _new_client(proxies: bool) -> httpx.AsyncClient:
    try:
        return httpx.AsyncClient(
            verify=_certificates(),
            headers={"user-agent": "statecraft"},
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=_KEPT),
            trust_env=proxies,
            # Providers that share a client share no cookies.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        names = ", ".join(f"{name}_proxy" for name in sorted(getproxies()) if name in ("http", "https", "all"))
        socks = "; SOCKS needs the package socksio" if isinstance(error, ImportError) else ""
        raise BadProxy(
            f"the proxy that the environment names ({names}) cannot be used: expected http:// or https://{socks}"
        ) from None


def _unconnected(url: str, error: httpx.HTTPError, connect: float) -> NoAnswer:
    parts = urlsplit(url)
    where = f"no connection to {parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    if isinstance(error, httpx.ConnectTimeout):
        return NoAnswer(f"{where}: nothing answered within {connect:g} seconds", connected=False)
    system = next((found for found in _causes(error) if isinstance(found, OSError) and found.errno is not None), None)
    why = (_told(system) if system is not None else None) or str(error) or type(error).__name__
    return NoAnswer(f"{where}: {why}", connected=False, soon=isinstance(system, ConnectionRefusedError))


def _told(error: OSError) -> str | None:
    """The system's own words: the event loops put theirs in place of them, but not where a name or TLS is at fault."""
    if isinstance(error, (socket.gaierror, ssl.SSLError)) or error.errno is None:
        return error.strerror
    return os.strerror(error.errno)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all that led to it, the deepest last; of several attempts, each."""
    seen: list[BaseException] = [error]
    for found in seen:
        yield found
        group = cast("BaseExceptionGroup[BaseException]", found) if isinstance(found, BaseExceptionGroup) else None
        several = () if group is None else group.exceptions
        more = (found.__cause__, found.__context__, *several)
        seen.extend(one for one in more if one is not None and one not in seen)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The trusted authorities. Reading them is most of what a client costs, so that is done once a process."""
    return httpx.create_ssl_context()
