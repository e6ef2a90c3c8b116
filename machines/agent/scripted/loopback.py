"""An HTTP server on this machine's loopback that stops at once and leaves no thread and no connection behind."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast
from urllib.parse import urlsplit

HOST: Final = "127.0.0.1"
_BACKLOG: Final = 1024  # runs that begin at once must not wait for the kernel to try again
_LEAVING: Final = 5.0  # seconds that a thread may take to notice that its connection is gone


class Exchange(BaseHTTPRequestHandler):
    """One connection, and the request on it that is being answered."""

    protocol_version = "HTTP/1.1"  # connections are kept open, as real providers keep them
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave together

    def do_POST(self) -> None:
        """Read a request and have it answered."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        cast("Loopback", self.server).answer(self, urlsplit(self.path).path, body)

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Answer."""
        self._begin(status, body, headers or {})
        self.wfile.write(body)
        self.wfile.flush()

    def drop(self, body: bytes | None) -> None:
        """Close the connection, after half of `body` where there is one."""
        if body is not None:
            self._begin(200, body, {})
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
        self.close_connection = True

    def begin_stream(self, headers: Mapping[str, str]) -> None:
        """Answer with a stream of events, in chunks, since nobody knows how long it will be."""
        self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked", **headers})
        self.wfile.flush()

    def send_chunk(self, data: bytes) -> None:
        """Send some of a stream; nothing ends it."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def wait(self, seconds: float) -> bool:
        """Whether the time has passed with the server still there."""
        gone = cast("Loopback", self.server).stopping.wait(seconds)
        self.close_connection = self.close_connection or gone
        return not gone

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _begin(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._head(status, {"content-type": "application/json", "content-length": str(len(body)), **headers})

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


class Loopback(ThreadingHTTPServer):
    """The server; `answer` gets the exchange, the path and the body of each request, in a thread of its connection.

    `connections` counts those that were opened.

    `exchange` is the class of an exchange, for a server that is asked by other methods than POST.
    """

    daemon_threads = True
    request_queue_size = _BACKLOG

    def __init__(self, answer: Callable[[Exchange, str, bytes], None], exchange: type[Exchange] = Exchange) -> None:
        self.answer = answer
        self.stopping = threading.Event()
        self.connections = 0
        self._open: dict[socket.socket, threading.Thread] = {}
        self._ending: list[threading.Thread] = []  # their connections are closed, and they may still run
        self._lock = threading.Lock()
        super().__init__((HOST, 0), exchange)
        self._thread = threading.Thread(target=self._serve, name="scripted model server", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close every connection and wait until all threads have left."""
        self.stopping.set()
        with socket.create_connection((HOST, self.server_port)):  # wakes the one that waits for a connection
            self._thread.join()
        with self._lock:
            left, ending = list(self._open.items()), list(self._ending)
        for connection, _ in left:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # its client has left already
        for worker in (*ending, *(worker for _, worker in left)):
            worker.join(_LEAVING)
        self.server_close()

    def server_bind(self) -> None:
        """As the library's, which also looks the host's name up: that takes seconds on some machines."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.socket.getsockname()[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection its thread."""
        worker = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        with self._lock:
            self.connections += 1
            self._open[request] = worker
            self._ending = [one for one in self._ending if one.is_alive()]
        worker.start()

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            worker = self._open.pop(request, None)
            self._ending += [] if worker is None else [worker]
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: what fails here is a client that has left."""

    def _serve(self) -> None:
        while not self.stopping.is_set():
            self.handle_request()
