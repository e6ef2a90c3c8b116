"""A status behind a URL, polled below the model over HTTP: one call, which lasts until what it tells of is over.

The rules: the server is asked for what changed since (`If-None-Match`, else `If-Modified-Since`), and a 304 means that
the last value stands. Its `Retry-After` puts the next look off. A broken connection, no answer in time, 408, 429 and
5xx are no end: it is looked again at the next gap, and so many in a row are an error. Every other status of 400 and
above ends it at once. Errors tell the status and the place, never a body, a query or a header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from typing import Any, Final

import anyio
import attrs
import msgspec

from ..events import ErrorKind
from ..manifest import Kind, Tool, Wait, wait_problems
from .address import Address, address, redirected
from .awaiting import LOOK, Looked, Poll, as_one_call, await_until
from .calling import time_left
from .providers.exact import NotJson, read, written
from .providers.http import Answer, Http, NoAnswer
from .providers.key import Key, data_without_key, hide_in_logs, without_key
from .providers.refusal import retry_after
from .tools import AgentTool, ToolError

MOST_BYTES: Final = 2**20
"""Bytes of a status that are read at most."""

MOST_MISSES: Final = 5
"""Looks in a row of which nothing came; the last of so many ends the wait with an error."""

MOST_REDIRECTS: Final = 3
"""Redirects that one look follows, all on the declared origin."""

# A server that closes an idle connection may say 408 first, and the next request on it reads that as its answer.
_PASSING: Final = frozenset({408, 429})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_KINDS: Final[Mapping[int, ErrorKind]] = {
    400: ErrorKind.VALIDATION,
    401: ErrorKind.PERMISSION,
    403: ErrorKind.PERMISSION,
    407: ErrorKind.PERMISSION,
    414: ErrorKind.VALIDATION,
    422: ErrorKind.VALIDATION,
}
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_JSON: Final = re.compile(r"[^;]+[/+]json\s*(;|$)", re.IGNORECASE)
_SECRET: Final = 4  # shorter parts of a header are no secret, and would be found in every text
_MOST_SAID: Final = 300


def polled_url(
    name: str,
    description: str,
    url: str,
    wait: Wait,
    poll: Poll | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    longest_look: float = LOOK,
) -> AgentTool:
    """A tool that asks for `url` until what is there is no waiting value, and gives it.

    `url` is the application's, as `https://ci.example/builds/{id}`: each gap is an argument of the tool, and fills no
    more than its place. `headers` are sent with each look, to that host alone. `longest_look` in seconds.
    Raises `ValueError` for a URL, a wait or headers that could not be. A call shares the HTTP client of its event loop
    with the model's provider, or has one for all its looks.
    """
    if problems := wait_problems(wait):
        raise ValueError("\n".join(f"tool {name}: wait.{problem}" for problem in problems))
    try:
        place, given = address(url), _checked(headers or {})
    except ValueError as error:
        raise ValueError(f"tool {name}: {error}") from None

    async def polled(**arguments: Any) -> object:
        http = Http()
        try:
            look = UrlLook(http, _filled(place, arguments), given, longest_look)
            return await await_until(look, wait, poll, left=time_left(), longest_look=inf)
        finally:
            await http.aclose()

    # A model may send a number for an identifier that is one.
    arguments = msgspec.defstruct(
        name, [(gap, str | int) for gap in place.names], forbid_unknown_fields=True, kw_only=True
    )
    manifest = Tool(kind=Kind.WAIT, required=place.names)
    return as_one_call(AgentTool(name, description, polled, arguments, manifest))


@attrs.define(eq=False)
class UrlLook:
    """The looks at one URL, for `await_until`; it remembers the last value, and by what the server knows it again.

    Raises `ToolError` for what ends the wait. `longest` in seconds; `missed` looks in a row had no answer.
    """

    http: Http
    url: str
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    longest: float = LOOK
    missed: int = 0
    _last: _Version | None = attrs.field(default=None, init=False)
    _keys: tuple[Key, ...] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        parts = {part for value in self.headers.values() for part in (value, *value.split()) if len(part) >= _SECRET}
        self._keys = tuple(Key(part) for part in sorted(parts, key=len, reverse=True))
        for key in self._keys:
            hide_in_logs(key)

    async def __call__(self) -> Looked:
        """Look once."""
        found: tuple[str, Answer] | NoAnswer = NoAnswer(f"no answer within {self.longest:g} s")
        with anyio.move_on_after(self.longest):
            found = await self._found()
        if isinstance(found, NoAnswer):
            if not found.again:
                raise self._error(ErrorKind.OTHER, found.why)
            return self._miss(found.why)
        url, answer = found
        after = retry_after(answer.headers)
        if answer.status in _PASSING or answer.status >= 500:
            return self._miss(f"HTTP {answer.status}", after)
        self.missed = 0
        known = self._known(url)
        if answer.status == 304 and known is not None:
            return Looked(known.value, after)
        if not 200 <= answer.status < 300:
            unasked = ErrorKind.OTHER if answer.status < 400 else ErrorKind.BUSINESS
            raise self._error(_KINDS.get(answer.status, unasked), f"HTTP {answer.status}")
        value = self._value(answer)
        self._last = _Version(url, value, _asking(answer.headers))
        return Looked(value, after)

    async def _found(self) -> tuple[str, Answer] | NoAnswer:
        """What a look comes to, and where: redirects are followed on the same origin."""
        url = self.url
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self.http.get(url, self._sent(url), MOST_BYTES)
            location = None if isinstance(answer, NoAnswer) else answer.headers.get("location")
            if isinstance(answer, NoAnswer):
                return answer
            if answer.status not in _REDIRECTS or location is None:
                return url, answer
            try:
                url = redirected(url, location)
            except ValueError as error:
                raise self._error(ErrorKind.OTHER, str(error)) from None
        raise self._error(ErrorKind.OTHER, f"more than {MOST_REDIRECTS} redirects")

    def _sent(self, url: str) -> dict[str, str]:
        sent = {"accept": "application/json, */*;q=0.5", **self.headers}
        known = self._known(url)
        return sent if known is None else {**sent, **known.asking}

    def _known(self, url: str) -> _Version | None:
        """What was read at this very URL: a redirect may lead elsewhere from one look to the next."""
        return self._last if self._last is not None and self._last.url == url else None

    def _value(self, answer: Answer) -> object:
        packed, kind = answer.headers.get("content-encoding", ""), answer.headers.get("content-type", "")
        if packed not in ("", "identity"):
            raise self._error(ErrorKind.OTHER, "a packed body, expected one that is not")
        body = answer.body
        for key in self._keys:
            body = data_without_key(body, key)
        if not kind or _JSON.match(kind):
            try:
                _, value = read(body)
                written(value)  # what is nested too deeply to be sent on is no answer
                return value
            except NotJson as error:
                if kind:
                    raise self._error(ErrorKind.OTHER, f"found {error}, expected JSON") from None
        return body.decode("utf-8", "replace")

    def _miss(self, why: str, after: float | None = None) -> Looked:
        self.missed += 1
        if self.missed >= MOST_MISSES:
            raise self._error(ErrorKind.TRANSIENT, f"{self.missed} looks in a row came to nothing; the last: {why}")
        return Looked(after=after, missed=True)

    def _error(self, kind: ErrorKind, why: str) -> ToolError:
        for key in self._keys:
            why = without_key(why, key)
        return ToolError(kind, f"{self.url.partition('?')[0]}: {why[:_MOST_SAID]}")


@attrs.frozen
class _Version:
    """A value that was read, where, and the headers that ask for what is newer."""

    url: str
    value: object
    asking: Mapping[str, str]


def _asking(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, header in (("etag", "if-none-match"), ("last-modified", "if-modified-since")):
        said = headers.get(name, "")
        if said and said.isascii() and said.isprintable():
            return {header: said}
    return {}


def _filled(place: Address, arguments: Mapping[str, object]) -> str:
    try:
        return place.url(arguments)
    except ValueError as error:
        raise ToolError(ErrorKind.VALIDATION, str(error)) from None


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, names in lower case. An error may tell a header's name, and never what may be its value."""
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise ValueError("headers: found a name that no HTTP header can have, expected letters, digits and hyphens")
        if not (value.isascii() and value.isprintable()) or value != value.strip():
            raise ValueError(f"headers: {name} holds what no header can, expected visible ASCII")
    return {name.lower(): value for name, value in headers.items()}
