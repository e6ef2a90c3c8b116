"""A small server on the loopback for what is asked beside requests: what a model takes, and how large a prompt is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import attrs
import orjson

from machines.agent.scripted.loopback import Exchange, Loopback


@attrs.frozen
class Said:
    """What the server answers to one path; `hang` keeps silent, `drop` closes the connection halfway."""

    body: object = None
    status: int = 200
    hang: bool = False
    drop: bool = False


@attrs.frozen
class Ask:
    """What the server was asked."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body)


@attrs.define
class Server:
    """Where it is, and what it was asked."""

    url: str = ""
    asks: list[Ask] = attrs.field(factory=list[Ask])

    def paths(self) -> list[str]:
        return [f"{ask.method} {ask.path}" for ask in self.asks]


class Both(Exchange):
    """An exchange that is asked by GET too, and keeps the escapes in a path."""

    def do_GET(self) -> None:  # noqa: N802  # the library's name for it
        cast(Loopback, self.server).answer(self, self.path, b"")


@contextmanager
def answering(says: Mapping[str, Said] | Callable[[str], Said]) -> Generator[Server, None, None]:
    """A server that answers each path as `says` has it, and every other with 404."""
    server = Server()

    def answer(exchange: Exchange, path: str, body: bytes) -> None:
        headers = {name.lower(): value for name, value in exchange.headers.items()}
        server.asks.append(Ask(exchange.command, exchange.path, headers, body))
        said = says(path) if callable(says) else says.get(path, Said({"error": {"code": 404}}, 404))
        data = said.body if isinstance(said.body, bytes) else orjson.dumps(said.body)
        if said.hang:
            exchange.wait(30.0)
            exchange.close_connection = True
        elif said.drop:
            exchange.drop(data)
        else:
            exchange.send(said.status, data)

    loopback = Loopback(answer, Both)
    server.url = f"http://127.0.0.1:{loopback.server_port}"
    try:
        yield server
    finally:
        loopback.stop()
