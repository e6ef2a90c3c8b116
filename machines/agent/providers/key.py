"""A provider's key: taken from the environment, shown nowhere, and taken out of what a server says, and of logs."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import attrs

HIDDEN: Final = "[key]"
# A placeholder such as `none` or `placeholder`, which a local server is given, is no secret, and taking it out of a
# reply would change what the model wrote. The keys of all known providers are longer.
_SECRET: Final = 20


LOGS: Final = ("httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))
"""The loggers of the HTTP libraries. At debug level they tell the headers that a server sent, and so what it echoes."""

# What providers begin their keys with, and no model's name does.
_KEY: Final = re.compile(r"(sk|pk|rk|gsk)[-_][A-Za-z0-9_-]{10,}|AIza[A-Za-z0-9_-]{10,}")
# In an error more is hidden: shorter ones, other beginnings, and texts too long for a name that somebody typed.
_LIKELY: Final = re.compile(r"\b((sk|pk|rk|gsk|xai|hf)[-_]|AIza)[A-Za-z0-9_-]{6,}|[A-Za-z0-9_-]{28,}")


class NoKey(ValueError):
    """There is no usable key in the environment; the message names the variable and never shows a value."""


@attrs.frozen
class Key:
    """A key. It has no text of its own: `str` and `repr` show that there is one."""

    text: str = attrs.field(repr=False)

    def __str__(self) -> str:
        return repr(self)


def key_from(environ: Mapping[str, str], variable: str, house: str) -> Key:
    """The key in `variable`, without white space around it. NoKey where there is none or no header could hold it."""
    text = environ.get(variable, "").strip()
    if not text:
        raise NoKey(f"{house} needs a key: set {variable} in the environment")
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise NoKey(f"{variable} holds characters that no key has: expected visible ASCII without spaces")
    return Key(text)


def without_key(text: str, key: Key | None) -> str:
    """`text` with every spelling of the key replaced."""
    if key is not None:
        for spelling in _spellings(key):
            text = text.replace(spelling, HIDDEN)
    return text


def looks_like_key(text: str) -> bool:
    """Whether a text that was given for something else may be a key, as its provider marks it."""
    return _KEY.match(text) is not None


def without_likely_keys(text: str) -> str:
    """`text`, as an error may show it, without what may be a key."""
    return _LIKELY.sub(HIDDEN, text)


def hide_in_logs(key: Key) -> None:
    """Take a key out of whatever the HTTP libraries log from now on, where it is long enough to be a secret."""
    if len(key.text) >= _SECRET:
        _FILTER.keys.add(key)
        for name in LOGS:
            logging.getLogger(name).addFilter(_FILTER)  # a second time does nothing


class _Filter(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self.keys: set[Key] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        said = shown = record.getMessage()
        for key in self.keys:
            shown = without_key(shown, key)
        if shown != said:
            record.msg, record.args = shown, ()
        return True


_FILTER: Final = _Filter()


def data_without_key(data: bytes, key: Key | None) -> bytes:
    """The body of a reply without the key, where that is long enough to be a secret."""
    for spelling in secrets_of(key):
        data = data.replace(spelling.encode(), HIDDEN.encode())
    return data


def secrets_of(key: Key | None) -> tuple[str, ...]:
    """The spellings of a key that is long enough to be a secret, none of another."""
    return _spellings(key) if key is not None and len(key.text) >= _SECRET else ()


def _spellings(key: Key) -> tuple[str, ...]:
    """As it is, as some servers write it in JSON, and as it stands in a URL. A longer spelling comes first."""
    text = key.text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    found = {text, escaped, escaped.replace("/", "\\/"), quote(text, safe="")}
    return tuple(sorted(found, key=lambda spelling: (-len(spelling), spelling)))
