"""A server of statuses on the loopback, which answers request after request as it is told."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import cast

import attrs

from machines.agent.scripted.loopback import Exchange, Loopback

RUNNING, DONE = b'{"status":"running"}', b'{"status":"success"}'


@attrs.frozen
class Reply:
    """What the server answers; `drop` closes the connection instead, `hang` keeps silent."""

    status: int = 200
    body: bytes = RUNNING
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    kind: str | None = "application/json"
    drop: bool = False
    hang: bool = False


@attrs.define
class Server:
    """Answers request after request with what `reply` says of its number; keeps what was asked and counts bytes."""

    reply: Callable[[int], Reply]
    url: str = ""
    asked: list[tuple[str, dict[str, str]]] = attrs.field(factory=list[tuple[str, dict[str, str]]])
    bodies: int = 0

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def sent(self, header: str) -> list[str | None]:
        return [headers.get(header) for _, headers in self.asked]


class Status(Exchange):
    """An exchange that is asked by GET."""

    def do_GET(self) -> None:  # noqa: N802  # the library's name for it
        cast(Loopback, self.server).answer(self, self.path, b"")


def listed(*replies: Reply) -> Callable[[int], Reply]:
    """The replies in their order; the last of them from then on."""
    return lambda number: replies[min(number, len(replies) - 1)]


@contextmanager
def serving(*replies: Reply, reply: Callable[[int], Reply] | None = None) -> Generator[Server, None, None]:
    server = Server(reply or listed(*replies))

    def answer(exchange: Exchange, path: str, _: bytes) -> None:
        said = server.reply(len(server.asked))
        server.asked.append((path, {name.lower(): value for name, value in exchange.headers.items()}))
        if said.hang:
            exchange.wait(30.0)
        if said.hang or said.drop:
            exchange.close_connection = True
            return
        exchange.send_response_only(said.status)
        for name, value in said.headers.items():
            exchange.send_header(name, value)
        if said.kind is not None:
            exchange.send_header("content-type", said.kind)
        body = b"" if said.status == 304 else said.body
        exchange.send_header("content-length", str(len(body)))
        exchange.end_headers()
        exchange.wfile.write(body)
        exchange.wfile.flush()
        server.bodies += len(body)

    loopback = Loopback(answer, Status)
    server.url = f"http://127.0.0.1:{loopback.server_port}"
    try:
        yield server
    finally:
        loopback.stop()
