"""What a scripted model does when it is asked: a turn, or one of the things that go wrong between it and a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...events import StopReason, Usage
from ..providers.exact import written
from ..wire import CallPart


@attrs.frozen
class Turn:
    """One reply.

    A call whose id is empty gets one, numbered through the run. `stop` None is TOOL_USE where there are calls, else
    END_TURN; `usage` None is counted, a token for four bytes.
    """

    text: str = ""
    calls: tuple[CallPart, ...] = ()
    stop: StopReason | None = None
    usage: Usage | None = None
    thinking: str = ""


@attrs.frozen
class Refuse:
    """A refusal with this status. An empty body is the wire's own form of an error."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])


@attrs.frozen
class Stall:
    """Nothing for so many seconds, or until the server stops; then another move."""

    seconds: float
    then: Move = Turn()


@attrs.frozen
class Drop:
    """The connection is closed: before any answer, or (`mid_body`) when half of a reply has been sent."""

    mid_body: bool = False


@attrs.frozen
class Garbage:
    """A 200 with these bytes."""

    body: bytes = b"<html><body>It works!</body></html>"


@attrs.frozen
class EchoKey:
    """The key that came with the request, said back: in the body and in the headers, or in the text of a 200."""

    status: int = 401


@attrs.frozen
class CutStream:
    """A reply whose stream is cut when so many pieces have come: the connection is closed.

    `clean`: it ends as a whole one does, only without its end. Where no stream was asked for, `Drop(mid_body=True)`.
    """

    pieces: int = 1
    turn: Turn = Turn("It is cut here.")
    clean: bool = False


@attrs.frozen
class StallStream:
    """A reply whose stream goes on only after so many seconds when so many pieces have come.

    Where no stream was asked for, it is all of the reply that comes so late.
    """

    seconds: float
    pieces: int = 1
    turn: Turn = Turn("It goes on later.")


@attrs.frozen
class ErrorInStream:
    """A reply whose stream tells of an error, with this status, when so many pieces have come, and ends.

    Where no stream was asked for, a refusal with this status.
    """

    status: int = 529
    pieces: int = 1
    turn: Turn = Turn("It goes wrong here.")
    message: str = "scripted error in a stream"


@attrs.frozen
class Unstreamed:
    """A whole reply although a stream was asked for, as of a server that knows none."""

    turn: Turn = Turn("All at once.")


InStream = CutStream | StallStream | ErrorInStream
"""What can go wrong in the midst of a stream."""

Move = Turn | Refuse | Stall | Drop | Garbage | EchoKey | InStream | Unstreamed


def call(tool: str, args: Mapping[str, Any] | str | None = None, *, id: str = "") -> CallPart:
    """A call for a turn; `args` as an object, or as the text that the model is to send, well formed or not."""
    return CallPart(id, tool, args if isinstance(args, str) else written(args or {}).decode())
