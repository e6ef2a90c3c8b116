"""A URL that an application declares, with gaps that the arguments of a call fill: `https://ci.example/builds/{id}`.

The rules: the host is the application's, for a gap stands after it. What fills a gap is one text, percent-encoded as a
whole: it adds no part to the path, no query and no host, and never steps up to another folder, even where a server
decodes it twice. A redirect may lead anywhere on the same scheme, host and port, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from keyword import iskeyword
from string import Formatter
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

import attrs

MOST_CHARS: Final = 2_048
"""Characters of a filled URL: some servers and proxies take no longer one."""

_ORIGIN: Final = re.compile(r"(https?://[^/?#@\\]+)/")
_PORTS: Final = {"http": 80, "https": 443}


@attrs.frozen
class Address:
    """A declared URL; `pieces` are its texts, each with the name of the gap that follows it, if one does."""

    pieces: tuple[tuple[str, str | None], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the gaps, each once, in their order."""
        return tuple(dict.fromkeys(name for _, name in self.pieces if name is not None))

    def filled(self, arguments: Mapping[str, object]) -> str:
        """The URL with its gaps filled. Raises `ValueError` for a text that none of them can take."""
        return "".join(text if name is None else text + _filling(name, arguments[name]) for text, name in self.pieces)

    def url(self, arguments: Mapping[str, object]) -> str:
        """As `filled`, and checked to be below what was declared."""
        url = self.filled(arguments)
        if len(url) > MOST_CHARS:
            raise ValueError(f"the URL: found {len(url)} characters, expected at most {MOST_CHARS}")
        path = urlsplit(url).path
        if any(part.partition(";")[0] in (".", "..") for part in re.split(r"[/\\]", _decoded(path))):
            raise ValueError("the path: found a step to another folder (. or ..), expected none")
        if not _decoded(url).isprintable():
            raise ValueError("the URL: found a character that cannot be printed, expected none")
        return url


def address(template: str) -> Address:
    """Read a declared URL. Raises `ValueError` where it is none, or where a gap stands before the path."""
    try:
        read = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"url: found braces that cannot be read ({error}), expected gaps such as {{id}}") from None
    pieces = tuple((text, name) for text, name, _, _ in read)
    odd = [name for _, name, spec, how in read if name is not None and (spec or how or not _is_name(name))]
    if odd:
        raise ValueError(f"url: found the gap {{{odd[0]}}}, expected a plain name such as {{id}}")
    start = _ORIGIN.match(pieces[0][0]) if pieces else None
    whole = "".join(text for text, _ in pieces)
    if start is None or not _is_origin(start[1]):
        raise ValueError("url: expected http:// or https://, a host without gaps, user or password, and a path")
    if not (whole.isascii() and whole.isprintable()) or re.search(r"[ #\\]", whole):
        raise ValueError("url: expected visible ASCII without spaces, backslashes and a fragment")
    made = Address(pieces)
    try:
        made.url(dict.fromkeys(made.names, "x"))
    except ValueError as error:
        raise ValueError(f"url: {error}") from None
    return made


def redirected(url: str, location: str) -> str:
    """Where a redirect leads. Raises `ValueError` where that is another origin, or cannot be read."""
    start = _ORIGIN.match(url)
    try:
        to = urlsplit(urljoin(url, location))
        here = start is not None and _origin(to) == _origin(urlsplit(url))
    except ValueError:
        here, to = False, None
    if start is None or to is None or not (location.isascii() and location.isprintable()) or " " in location:
        raise ValueError("a redirect that cannot be read")
    if not here:
        raise ValueError(f"a redirect to another origin ({to.scheme}://{to.hostname}), which is not followed")
    # Only path and query are the server's: two readers of one URL may disagree on where its host ends.
    return f"{start[1]}{to.path or '/'}" + (f"?{to.query}" if to.query else "")


def _filling(name: str, value: object) -> str:
    text = str(value)
    if not text:
        raise ValueError(f"{name}: found an empty text, expected what the URL needs there")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise ValueError(f"{name}: found half of a surrogate pair, expected whole characters") from None


def _decoded(text: str) -> str:
    """Decoded until there is nothing more to decode: a server behind a proxy may see it decoded twice."""
    while (once := unquote(text)) != text:
        text = once
    return text


def _is_name(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name)


def _is_origin(text: str) -> bool:
    try:
        return bool(urlsplit(text).hostname) and urlsplit(text).port != 0
    except ValueError:
        return False


def _origin(parts: SplitResult) -> tuple[object, ...]:
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme), parts.username, parts.password
