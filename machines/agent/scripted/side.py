"""The server's side of a wire, as a value."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from ...events import Usage
from ..wire import Request
from .moves import Turn


@attrs.frozen
class Side:
    """How a server reads and writes a wire.

    `reply_of` takes a turn, the model's name, the ids of the turn's calls, what it cost and the number of the reply;
    `error_of` a status and a message.
    """

    path: str
    key_header: str
    request_in: Callable[[str, object], Request]
    reply_of: Callable[[Turn, str, list[str], Usage, int], bytes]
    error_of: Callable[[int, str], bytes]
