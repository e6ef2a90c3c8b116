"""A scripted model server on this machine's loopback: real HTTP, every wire, one script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self, TypeVar

import attrs

from ...events import Usage
from ..providers.exact import NotJson, read
from . import anthropic, gemini, openai, responses
from .loopback import HOST, Exchange, Loopback
from .moves import (
    CutStream,
    Drop,
    EchoKey,
    ErrorInStream,
    Garbage,
    InStream,
    Move,
    Refuse,
    Stall,
    StallStream,
    Turn,
    Unstreamed,
)
from .received import Received, broken_rule
from .script import Script, Stage
from .side import Side
from .streams import Event, before

SIDES: Final[Mapping[str, Side]] = {
    "anthropic": anthropic.SIDE,
    "openai": openai.SIDE,
    "openai-responses": responses.SIDE,
    "gemini": gemini.SIDE,
}
"""The wires that are spoken, each under its own path, with or without `/v1` before it."""

_BYTES_A_TOKEN: Final = 4
_T = TypeVar("_T")


class ScriptedServer:
    """Serves a script while it is entered, on a port of its own; all it holds is given up when it is left.

    Every run plays the script from its start (`by_run` gives each its own). Runs are told apart by the model's name, or
    by `run_of`. `rules` refuses a transcript that providers would refuse; `keep` is how many requests
    of a run are kept, None for all. An exception in a script is a 500 and is raised again when the server is left.
    """

    def __init__(
        self,
        script: Script,
        *,
        run_of: Callable[[Received], str] | None = None,
        rules: bool = True,
        keep: int | None = None,
    ) -> None:
        self._stage = Stage(script, keep)
        self._run_of = run_of
        self._rules = rules
        self._server: Loopback | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a path. RuntimeError while it is not entered."""
        return f"http://{HOST}:{self._running.server_port}"

    @property
    def connections(self) -> int:
        """How many connections were opened to it. RuntimeError while it is not entered."""
        return self._running.connections

    @property
    def _running(self) -> Loopback:
        if self._server is None:
            raise RuntimeError("the server is not running: enter it first")
        return self._server

    def model(self, run: str = "scripted", wire: str = "openai") -> str:
        """The name under which `provider_for` finds a run on this server; no key is needed."""
        return self.url + SIDES[wire].address(run)

    def environ(self, key: str) -> dict[str, str]:
        """The environment in which `anthropic:RUN`, `openai:RUN` and the others are asked here, with this key."""
        return {
            "ANTHROPIC_API_KEY": key,
            "ANTHROPIC_BASE_URL": self.url,
            "OPENAI_API_KEY": key,
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "GEMINI_API_KEY": key,
            "GOOGLE_GEMINI_BASE_URL": self.url,
        }

    def requests(self, run: str | None = None) -> tuple[Received, ...]:
        """The requests that were received, of one run or of all, each run's in order."""
        return self._stage.requests(run)

    def __enter__(self) -> Self:
        self._server = Loopback(self._answer)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None
        if error is None and self._stage.errors:
            raise self._stage.errors[0]

    def _answer(self, exchange: Exchange, path: str, body: bytes) -> None:
        wire = next((name for name, side in SIDES.items() if side.speaks_at(path)), None)
        if wire is None:
            exchange.send(404, openai.SIDE.error_of(404, f"no such path: {path}"))
            return
        side = SIDES[wire]
        try:
            received = self._received(wire, exchange, path, *read(body))
        except NotJson as bad:
            exchange.send(400, side.error_of(400, f"the body is not JSON: {bad}"))
            return
        broken = broken_rule(received.request) if self._rules else None
        if broken:
            exchange.send(400, side.error_of(400, broken))
            return
        self._do(self._stage.move(received), exchange, side, received, len(body))

    def _received(self, wire: str, exchange: Exchange, path: str, text: str, value: object) -> Received:
        sent = {name.lower(): given for name, given in exchange.headers.items()}
        model = SIDES[wire].model_in(path, value)
        key = sent.get(SIDES[wire].key_header, "").removeprefix("Bearer ") or None
        streamed = SIDES[wire].streams(path, value)
        received = Received(wire, model, model, 0, SIDES[wire].request_in(text, value), key, sent, streamed)
        if self._run_of is not None:
            received = attrs.evolve(received, run=self._run_of(received))
        return self._stage.enter(received)

    def _do(self, move: Move, exchange: Exchange, side: Side, received: Received, size: int) -> None:
        names = _names(f"req_{received.number}")
        if isinstance(move, Stall):
            if exchange.wait(move.seconds):
                self._do(move.then, exchange, side, received, size)
        elif isinstance(move, Turn) and received.streamed:
            _stream(exchange, self._events(move, side, received, size), names)
        elif isinstance(move, Turn | Unstreamed):
            turn = move.turn if isinstance(move, Unstreamed) else move
            exchange.send(200, self._reply(turn, side, received, size), names)
        elif isinstance(move, InStream):
            self._in_stream(move, exchange, side, received, size)
        elif isinstance(move, Refuse):
            body = move.body.encode() or side.error_of(move.status, f"scripted refusal {move.status}")
            exchange.send(move.status, body, {**names, **move.headers})
        elif isinstance(move, Garbage):
            exchange.send(200, move.body, names)
        elif isinstance(move, EchoKey):
            said = f"this came as the key: {received.key}"
            echo = _names(str(received.key))
            if move.status != 200:
                exchange.send(move.status, side.error_of(move.status, said), echo)
            elif received.streamed:
                _stream(exchange, self._events(Turn(said), side, received, size), echo)
            else:
                exchange.send(200, self._reply(Turn(said), side, received, size), echo)
        elif move.mid_body and received.streamed:
            self._in_stream(CutStream(), exchange, side, received, size)
        else:
            exchange.drop(self._reply(Turn("cut"), side, received, size) if move.mid_body else None)

    def _in_stream(self, move: InStream, exchange: Exchange, side: Side, received: Received, size: int) -> None:
        if not received.streamed:
            self._do(_unstreamed(move), exchange, side, received, size)
            return
        events = self._events(move.turn, side, received, size)
        first = before(events, move.pieces)
        names = _names(f"req_{received.number}")
        if isinstance(move, ErrorInStream):
            _stream(exchange, [*first, side.error_event(move.status, move.message)], names)
            return
        clean = isinstance(move, CutStream) and move.clean
        _stream(exchange, first, names, end=clean)
        if isinstance(move, StallStream) and exchange.wait(move.seconds):
            _send(exchange, events[len(first) :])
        elif not clean:
            exchange.close_connection = True

    def _events(self, turn: Turn, side: Side, received: Received, size: int) -> list[Event]:
        return self._made(side.stream_of, turn, received, size)

    def _reply(self, turn: Turn, side: Side, received: Received, size: int) -> bytes:
        return self._made(side.reply_of, turn, received, size)

    def _made(
        self, maker: Callable[[Turn, str, list[str], Usage, int], _T], turn: Turn, received: Received, size: int
    ) -> _T:
        numbered = iter(self._stage.ids(received.run, sum(not made.id for made in turn.calls)))
        ids = [made.id or next(numbered) for made in turn.calls]
        return maker(turn, received.model, ids, turn.usage or _counted(turn, size), received.number)


def _unstreamed(move: InStream) -> Move:
    """What goes wrong in its place where no stream was asked for."""
    if isinstance(move, StallStream):
        return Stall(move.seconds, move.turn)
    return Refuse(move.status) if isinstance(move, ErrorInStream) else Drop(mid_body=True)


def _stream(exchange: Exchange, events: Sequence[Event], headers: Mapping[str, str], *, end: bool = True) -> None:
    """Begin a stream with these events, and end it with them."""
    exchange.begin_stream(headers)
    _send(exchange, events, end=end)


def _send(exchange: Exchange, events: Sequence[Event], *, end: bool = True) -> None:
    for event in events:
        exchange.send_chunk(event.encoded())
    if end:
        exchange.send_chunk(b"")


def _names(name: str) -> dict[str, str]:
    """The exchange's name, in the header of any wire."""
    return {"request-id": name, "x-request-id": name}


def _counted(turn: Turn, size: int) -> Usage:
    made = len(turn.text) + len(turn.thinking) + sum(len(made.name) + len(made.args) for made in turn.calls)
    return Usage(input=size // _BYTES_A_TOKEN, output=made // _BYTES_A_TOKEN + 1)
