"""The server's side of a wire, as a value."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, unquote

import attrs

from ...events import Usage
from ..providers.fields import mapping, string
from ..wire import Request
from .moves import Turn


@attrs.frozen
class Side:
    """How a server reads and writes a wire.

    `path` is the end of its paths; with `{model}` in it, the model is named there and not in the body. `reply_of` takes
    a turn, the model's name, the ids of the turn's calls, what it cost and the number of the reply; `error_of` a status
    and a message.
    """

    path: str
    key_header: str
    request_in: Callable[[str, object], Request]
    reply_of: Callable[[Turn, str, list[str], Usage, int], bytes]
    error_of: Callable[[int, str], bytes]

    def speaks_at(self, path: str) -> bool:
        """Whether a request to this path is one of the wire, with or without `/v1` before it."""
        return path.endswith(self.path.rpartition("{model}")[2].removeprefix("/v1"))

    def model_in(self, path: str, body: object) -> str:
        """The model that is asked for."""
        _, named, end = self.path.partition("{model}")
        return unquote(path.removesuffix(end).rpartition("/")[2]) if named else string(mapping(body).get("model"))

    def address(self, model: str) -> str:
        """The path and the fragment under which a provider asks for this model."""
        name = quote(model, safe="")
        return self.path.replace("{model}", name) + f"#{name}"
