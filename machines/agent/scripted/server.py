"""A scripted model server on this machine's loopback: real HTTP, both wires, one script."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, TracebackType
from typing import Any, Final, Self
from urllib.parse import quote, urlsplit

import attrs

from ...events import Usage
from ..providers.exact import NotJson, read
from ..providers.fields import mapping, string
from ..wire import CallPart
from . import anthropic, openai
from .moves import Drop, EchoKey, Garbage, Move, Refuse, Stall, Turn
from .received import Received, broken_rule
from .script import Script, Stage

LOOPBACK: Final = "127.0.0.1"
_WIRES: Final[Mapping[str, ModuleType]] = {"anthropic": anthropic, "openai": openai}
_BACKLOG: Final = 1024  # runs that begin at once must not wait for the kernel to try again
_BYTES_A_TOKEN: Final = 4
_LEAVING: Final = 5.0  # seconds that a thread may take to notice that its connection is gone


class ScriptedServer:
    """Serves a script while it is entered, on a port of its own; all it holds is given up when it is left.

    One script is played from its start by every run, or a mapping gives each run its own. Runs are told apart by the
    model's name, or by `run_of`. `rules` refuses a transcript that providers would refuse; `keep` is how many requests
    of a run are kept, None for all. An exception in a script is a 500 and is raised again when the server is left.
    """

    def __init__(
        self,
        script: Script | Mapping[str, Script],
        *,
        run_of: Callable[[Received], str] | None = None,
        rules: bool = True,
        keep: int | None = None,
    ) -> None:
        self._stage = Stage(script, keep)
        self._run_of = run_of
        self._rules = rules
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        if self._server is None:
            raise RuntimeError("the server is not running: enter it first")
        return f"http://{LOOPBACK}:{self._server.server_port}"

    def model(self, run: str = "scripted", wire: str = "openai") -> str:
        """The name under which `provider_for` finds a run on this server; no key is needed."""
        return f"{self.url}{_WIRES[wire].PATH}#{quote(run, safe='')}"

    def environ(self, key: str) -> dict[str, str]:
        """The environment in which `anthropic:RUN` and `openai:RUN` are asked here, with this key."""
        return {
            "ANTHROPIC_API_KEY": key,
            "ANTHROPIC_BASE_URL": self.url,
            "OPENAI_API_KEY": key,
            "OPENAI_BASE_URL": f"{self.url}/v1",
        }

    def requests(self, run: str | None = None) -> tuple[Received, ...]:
        """The requests that were received, of one run or of all, each run's in order."""
        return self._stage.requests(run)

    def __enter__(self) -> Self:
        self._server = _Server(self._answer)
        self._thread = threading.Thread(target=self._server.serve, name="scripted model server", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, thread = self._server, self._thread
        assert server is not None
        assert thread is not None
        server.stop(thread)
        self._server = self._thread = None
        if error is None and self._stage.errors:
            raise self._stage.errors[0]

    def _answer(self, handler: _Handler, path: str, body: bytes) -> None:
        name = next((name for name, wire in _WIRES.items() if path.endswith(wire.PATH.removeprefix("/v1"))), None)
        if name is None:
            handler.send(404, openai.error_of(404, f"no such path: {path}"))
            return
        wire = _WIRES[name]
        try:
            text, value = read(body)
        except NotJson as bad:
            handler.send(400, wire.error_of(400, f"the body is not JSON: {bad}"))
            return
        received = self._received(name, handler, text, value)
        broken = broken_rule(received.request) if self._rules else None
        if broken:
            handler.send(400, wire.error_of(400, broken))
            return
        try:
            move = self._stage.move(received)
        except Exception as error:  # noqa: BLE001  # a script is the user's, and its errors belong to the user's thread
            self._stage.errors.append(error)
            move = Refuse(500, f"the script raised {type(error).__name__}: {error}")
        self._do(move, handler, wire, received, len(body))

    def _received(self, name: str, handler: _Handler, text: str, value: object) -> Received:
        wire = _WIRES[name]
        sent = {key.lower(): given for key, given in handler.headers.items()}
        model = string(mapping(value).get("model"))
        key = sent.get(wire.KEY, "").removeprefix("Bearer ") or None
        received = Received(name, model, model, 0, wire.request_in(text, value), key, sent)
        if self._run_of is not None:
            received = attrs.evolve(received, run=self._run_of(received))
        return self._stage.enter(received)

    def _do(self, move: Move, handler: _Handler, wire: ModuleType, received: Received, size: int) -> None:
        names = {"request-id": f"req_{received.number}", "x-request-id": f"req_{received.number}"}
        if isinstance(move, Stall):
            if handler.wait(move.seconds):
                self._do(move.then, handler, wire, received, size)
        elif isinstance(move, Turn):
            handler.send(200, self._reply(move, wire, received, size), names)
        elif isinstance(move, Refuse):
            body = move.body.encode() or wire.error_of(move.status, f"scripted refusal {move.status}")
            handler.send(move.status, body, {**names, **move.headers})
        elif isinstance(move, Garbage):
            handler.send(200, move.body, names)
        elif isinstance(move, EchoKey):
            said = f"this came as the key: {received.key}"
            body = self._reply(Turn(said), wire, received, size)
            if move.status != 200:
                body = wire.error_of(move.status, said)
            handler.send(move.status, body, dict.fromkeys(names, str(received.key)))
        else:
            handler.drop(self._reply(Turn("cut"), wire, received, size) if move.mid_body else None)

    def _reply(self, turn: Turn, wire: ModuleType, received: Received, size: int) -> bytes:
        numbered = iter(self._stage.ids(received.run, sum(not made.id for made in turn.calls)))
        ids = [made.id or next(numbered) for made in turn.calls]
        body: bytes = wire.reply_of(turn, received.model, ids, turn.usage or _counted(turn, size), received.number)
        return body


def _counted(turn: Turn, size: int) -> Usage:
    made = len(turn.text) + len(turn.thinking) + sum(map(_length, turn.calls))
    return Usage(input=size // _BYTES_A_TOKEN, output=made // _BYTES_A_TOKEN + 1)


def _length(made: CallPart) -> int:
    return len(made.name) + len(made.args)


class _Server(ThreadingHTTPServer):
    """The standard library's server, which here stops at once and leaves no thread and no connection behind."""

    daemon_threads = True
    request_queue_size = _BACKLOG

    def __init__(self, answer: Callable[[_Handler, str, bytes], None]) -> None:
        self.answer = answer
        self.stopping = threading.Event()
        self._open: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        super().__init__((LOOPBACK, 0), _Handler)

    def server_bind(self) -> None:
        # The library's own looks the host's name up, which takes seconds on some machines.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.socket.getsockname()[1]

    def serve(self) -> None:
        while not self.stopping.is_set():
            self.handle_request()

    def stop(self, thread: threading.Thread) -> None:
        self.stopping.set()
        with socket.create_connection((LOOPBACK, self.server_port)):  # wakes the one that waits for a connection
            thread.join()
        with self._lock:
            left = list(self._open.items())
        for connection, _ in left:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # its client has left already
        for _, worker in left:
            worker.join(_LEAVING)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        worker = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        with self._lock:
            self._open[request] = worker
        worker.start()

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: what fails here is a client that has left."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept open, as real providers keep them
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave together
    server: _Server

    def do_POST(self) -> None:  # noqa: N802  # the library's name
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.answer(self, urlsplit(self.path).path, body)

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._begin(status, body, headers or {})
        self.wfile.write(body)
        self.wfile.flush()

    def drop(self, body: bytes | None) -> None:
        if body is not None:
            self._begin(200, body, {})
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
        self.close_connection = True

    def wait(self, seconds: float) -> bool:
        """Whether the time has passed with the server still there."""
        gone = self.server.stopping.wait(seconds)
        self.close_connection = self.close_connection or gone
        return not gone

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _begin(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
