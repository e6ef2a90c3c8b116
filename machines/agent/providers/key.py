"""A provider's key: taken from the environment, shown nowhere, and taken out of what a server says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import attrs

HIDDEN: Final = "[key]"
# A placeholder such as `none` or `placeholder`, which a local server is given, is no secret, and taking it out of a
# reply would change what the model wrote. The keys of all known providers are longer.
_SECRET: Final = 20


class NoKey(ValueError):
    """There is no usable key in the environment; the message names the variable and never shows a value."""


@attrs.frozen
class Key:
    """A key. It has no text of its own: `str` and `repr` show that there is one."""

    text: str = attrs.field(repr=False)

    def __str__(self) -> str:
        return repr(self)


def key_from(environ: Mapping[str, str], variable: str, model: str) -> Key:
    """The key in `variable`, without white space around it. NoKey where there is none or no header could hold it."""
    text = environ.get(variable, "").strip()
    if not text:
        raise NoKey(f"{model} needs a key: set {variable} in the environment")
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise NoKey(f"{variable} holds characters that no key has: expected visible ASCII without spaces")
    return Key(text)


def without_key(text: str, key: Key | None) -> str:
    """`text` with every spelling of the key replaced."""
    if key is not None:
        for spelling in _spellings(key):
            text = text.replace(spelling, HIDDEN)
    return text


def data_without_key(data: bytes, key: Key | None) -> bytes:
    """The body of a reply without the key, where that is long enough to be a secret."""
    if key is not None and len(key.text) >= _SECRET:
        for spelling in _spellings(key):
            data = data.replace(spelling.encode(), HIDDEN.encode())
    return data


def _spellings(key: Key) -> tuple[str, ...]:
    """As it is, as some servers write it in JSON, and as it stands in a URL. A longer spelling comes first."""
    text = key.text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    found = {text, escaped, escaped.replace("/", "\\/"), quote(text, safe="")}
    return tuple(sorted(found, key=lambda spelling: (-len(spelling), spelling)))
