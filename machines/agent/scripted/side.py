"""The server's side of a wire, as a value."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, unquote

import attrs

from ...events import Usage
from ...refusals.fields import mapping, string
from ..wire import Request
from .moves import Turn
from .streams import Event


@attrs.frozen
class Side:
    """How a server reads and writes a wire.

    `path` is the end of its paths; with `{model}` in it, the model is named there and not in the body. `reply_of` takes
    a turn, the model's name, the ids of the turn's calls, what it cost and the number of the reply; `error_of` a status
    and a message. `stream_of` and `error_event` are the same, streamed. A stream is asked for in the body, or, where
    there is a `stream_end`, at the path that ends so.
    """

    path: str
    key_header: str
    request_in: Callable[[str, object], Request]
    reply_of: Callable[[Turn, str, list[str], Usage, int], bytes]
    error_of: Callable[[int, str], bytes]
    stream_of: Callable[[Turn, str, list[str], Usage, int], list[Event]]
    error_event: Callable[[int, str], Event]
    stream_end: str = ""

    def speaks_at(self, path: str) -> bool:
        """Whether a request to this path is one of the wire, with or without `/v1` before it."""
        return self._end_of(path) is not None

    def streams(self, path: str, body: object) -> bool:
        """Whether a request asks for a stream."""
        return self._end_of(path) == self.stream_end if self.stream_end else mapping(body).get("stream") is True

    def model_in(self, path: str, body: object) -> str:
        """The model that is asked for."""
        if "{model}" not in self.path:
            return string(mapping(body).get("model"))
        return unquote(path.removesuffix(self._end_of(path) or "").rpartition("/")[2])

    def address(self, model: str) -> str:
        """The path and the fragment under which a provider asks for this model."""
        name = quote(model, safe="")
        return self.path.replace("{model}", name) + f"#{name}"

    def _end_of(self, path: str) -> str | None:
        """The end of this wire's paths that a path has."""
        ends = (self.path.rpartition("{model}")[2].removeprefix("/v1"), self.stream_end)
        return next((end for end in ends if end and path.endswith(end)), None)
