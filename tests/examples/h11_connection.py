"""One HTTP/1.1 connection, as h11's documentation draws it: a machine for the client and one for the server.

The rules, in our own words:

* A cycle is one request and its response, each a head, any number of pieces of a body, and an end.
* A side that has said all of a cycle is DONE. When both are, the connection may be used for another cycle, unless one
  of them has said that it will not keep it alive; then each has to close once it has said all.
* A client that has proposed to speak another protocol waits with its answer after the end of its request. The server
  agrees, or answers as usual and so declines.
* A side that goes away, by closing or by an error, leaves the other nothing to do but to close, once that is DONE.
* The server may answer before it was asked (a timeout), or before the client has said all.

Both machines see every event. What the other side does matters to a side only where a row says so, and is ignored
elsewhere; what a side must not do itself is refused. `feed` steps both: an event that one refuses has not happened.

What must hold beside it: a next cycle begins only on a connection that is kept alive (`keep_alive`); and no side has
switched the protocol without a proposal of the cycle (`connect`, `upgrade`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Never

import attrs

from statecraft import Evidence, Refused, Rows, Table, guard, ignore, keep, ordered, refuse, seen


class Client(Enum):
    """The states of the client."""

    IDLE = "idle"
    SEND_BODY = "send_body"
    DONE = "done"
    MUST_CLOSE = "must_close"
    CLOSED = "closed"
    MIGHT_SWITCH_PROTOCOL = "might_switch_protocol"
    SWITCHED_PROTOCOL = "switched_protocol"
    ERROR = "error"


class Server(Enum):
    """The states of the server."""

    IDLE = "idle"
    SEND_RESPONSE = "send_response"
    SEND_BODY = "send_body"
    DONE = "done"
    MUST_CLOSE = "must_close"
    CLOSED = "closed"
    SWITCHED_PROTOCOL = "switched_protocol"
    ERROR = "error"


class Reuse(Enum):
    """How often each side is ready to use the connection again."""

    CLIENT = "client_reuses"
    SERVER = "server_reuses"


@attrs.frozen
class Request:
    """The client sends the head of a request, which may propose another protocol: a tunnel, or an upgrade."""

    keep_alive: bool = True
    connect: bool = False
    upgrade: bool = False


@attrs.frozen
class ClientData:
    """A piece of the request's body."""


@attrs.frozen
class ClientEnd:
    """The end of the request."""


@attrs.frozen
class ClientClosed:
    """The client closes its side."""


@attrs.frozen
class ClientFailed:
    """The client has broken the rules, or its side of the line is down."""


@attrs.frozen
class Informational:
    """An interim response (1xx)."""


@attrs.frozen
class Response:
    """The server sends the head of its response; where a switch was proposed, it declines."""

    keep_alive: bool = True


@attrs.frozen
class Upgraded:
    """The server agrees to upgrade (101)."""


@attrs.frozen
class Connected:
    """The server agrees to a tunnel (2xx to CONNECT)."""


@attrs.frozen
class ServerData:
    """A piece of the response's body."""


@attrs.frozen
class ServerEnd:
    """The end of the response."""


@attrs.frozen
class ServerClosed:
    """The server closes its side."""


@attrs.frozen
class ServerFailed:
    """The server has broken the rules, or its side of the line is down."""


@attrs.frozen
class NextCycle:
    """The application wants to use the connection again."""


Event = (
    Request
    | ClientData
    | ClientEnd
    | ClientClosed
    | ClientFailed
    | Informational
    | Response
    | Upgraded
    | Connected
    | ServerData
    | ServerEnd
    | ServerClosed
    | ServerFailed
    | NextCycle
)

FULL: Mapping[Reuse, int] = {Reuse.CLIENT: 99, Reuse.SERVER: 99}


@attrs.frozen
class Connection:
    """Both sides, what has been said about keeping the connection alive, and what is proposed to switch to."""

    client: Client = Client.IDLE
    server: Server = Server.IDLE
    keep_alive: bool = True
    connect: bool = False
    upgrade: bool = False
    reuses: Mapping[Reuse, int | None] = FULL


Next = tuple[Connection, tuple[()]]


@guard
def last_cycle(run: Connection, event: Event) -> Evidence:
    return seen("last_cycle", not run.keep_alive, keep_alive=run.keep_alive)


@guard
def proposed(run: Connection, event: Event) -> Evidence:
    return seen("proposed", run.connect or run.upgrade, connect=run.connect, upgrade=run.upgrade)


@guard
def client_gone(run: Connection, event: Event) -> Evidence:
    return seen("client_gone", run.client in (Client.CLOSED, Client.ERROR), client=run.client.value)


@guard
def server_gone(run: Connection, event: Event) -> Evidence:
    return seen("server_gone", run.server in (Server.CLOSED, Server.ERROR), server=run.server.value)


def server_switched(run: Connection, event: ClientEnd) -> Evidence:
    return seen("server_switched", run.server is Server.SWITCHED_PROTOCOL, server=run.server.value)


def upgrade_proposed(run: Connection, event: Upgraded) -> Evidence:
    return seen("upgrade_proposed", run.upgrade, upgrade=run.upgrade)


def connect_proposed(run: Connection, event: Connected) -> Evidence:
    return seen("connect_proposed", run.connect, connect=run.connect)


def propose(run: Connection, event: Request) -> Next:
    """What the request says holds for its cycle; a connection that is not kept alive has no other."""
    keep_alive = run.keep_alive and event.keep_alive
    return attrs.evolve(run, keep_alive=keep_alive, connect=event.connect, upgrade=event.upgrade), ()


def decline(run: Connection, event: Response) -> Next:
    """An ordinary response: nothing is proposed any longer."""
    return attrs.evolve(run, keep_alive=run.keep_alive and event.keep_alive, connect=False, upgrade=False), ()


def client_at(run: Connection) -> Client:
    return run.client


def move_client(run: Connection, state: Client) -> Connection:
    return attrs.evolve(run, client=state)


def server_at(run: Connection) -> Server:
    return run.server


def move_server(run: Connection, state: Server) -> Connection:
    return attrs.evolve(run, server=state)


def reuses(run: Connection) -> Mapping[Reuse, int | None]:
    return run.reuses


def pay(run: Connection, left: Mapping[Reuse, int | None]) -> Connection:
    return attrs.evolve(run, reuses=left)


EVENTS: tuple[type[Event], ...] = (
    Request,
    ClientData,
    ClientEnd,
    ClientClosed,
    ClientFailed,
    Informational,
    Response,
    Upgraded,
    Connected,
    ServerData,
    ServerEnd,
    ServerClosed,
    ServerFailed,
    NextCycle,
)

C, S = Client, Server


def client_but(*states: Client) -> list[Client]:
    return [state for state in C if state not in states]


def server_but(*states: Server) -> list[Server]:
    return [state for state in S if state not in states]


client = Rows[Connection, Client, Never]()
server = Rows[Connection, Server, Never]()

CLIENT: Table[Connection, Client, Event, Never] = Table(
    "client",
    [
        client(C.IDLE, Request, C.SEND_BODY, propose),
        client(C.SEND_BODY, ClientData, C.SEND_BODY, keep),
        client(C.SEND_BODY, ClientEnd, C.SWITCHED_PROTOCOL, keep, server_switched),
        client(C.SEND_BODY, ClientEnd, C.MIGHT_SWITCH_PROTOCOL, keep, proposed),
        client(C.SEND_BODY, ClientEnd, C.MUST_CLOSE, keep, last_cycle | server_gone),
        client(C.SEND_BODY, ClientEnd, C.DONE, keep),
        client(C.MIGHT_SWITCH_PROTOCOL, Upgraded, C.SWITCHED_PROTOCOL, keep),
        client(C.MIGHT_SWITCH_PROTOCOL, Connected, C.SWITCHED_PROTOCOL, keep),
        client([C.MIGHT_SWITCH_PROTOCOL, C.DONE], Response, C.MUST_CLOSE, keep, last_cycle),
        client([C.MIGHT_SWITCH_PROTOCOL, C.DONE], Response, C.DONE, keep),
        client(C.DONE, NextCycle, C.IDLE, keep, spends=Reuse.CLIENT),
        client([C.IDLE, C.DONE, C.MUST_CLOSE, C.CLOSED], ClientClosed, C.CLOSED, keep),
        client([C.IDLE, C.DONE], ServerClosed, C.MUST_CLOSE, keep),
        client(C.DONE, ServerFailed, C.MUST_CLOSE, keep),
        client(C, ClientFailed, C.ERROR, keep),
        ordered([C.SEND_BODY], [ClientEnd], "a proposed switch goes before closing: it may still be declined"),
        refuse(client_but(C.IDLE), [Request], "there is one request a cycle, and nothing before it"),
        refuse(client_but(C.SEND_BODY), [ClientData, ClientEnd], "no request is being sent"),
        refuse([C.SEND_BODY], [ClientClosed], "the request is not at its end"),
        refuse([C.MIGHT_SWITCH_PROTOCOL], [ClientClosed], "the server's answer to the proposal is not known"),
        refuse([C.SWITCHED_PROTOCOL, C.ERROR], [ClientClosed], "HTTP has nothing more to say here"),
        refuse(client_but(C.DONE), [NextCycle], "the cycle is not over"),
        ignore(C, [Informational, ServerData, ServerEnd], "the server's part of the cycle"),
        ignore(client_but(C.MIGHT_SWITCH_PROTOCOL), [Upgraded, Connected], "the client learns it at the request's end"),
        ignore(
            client_but(C.MIGHT_SWITCH_PROTOCOL, C.DONE), [Response], "the client's part is not over, or is for good"
        ),
        ignore(client_but(C.IDLE, C.DONE), [ServerClosed], "the client's part is not over, or is for good"),
        ignore(client_but(C.DONE), [ServerFailed], "the client's part is not over, or is for good"),
    ],
    events=EVENTS,
    initial=C.IDLE,
    final=[],
    at=client_at,
    move=move_client,
    budgets={Reuse.CLIENT: FULL[Reuse.CLIENT]},
    purse=reuses,
    pay=pay,
)

SERVER: Table[Connection, Server, Event, Never] = Table(
    "server",
    [
        server(S.IDLE, Request, S.SEND_RESPONSE, keep),
        server(S.SEND_RESPONSE, Informational, S.SEND_RESPONSE, keep),
        server(S.SEND_RESPONSE, Upgraded, S.SWITCHED_PROTOCOL, keep, upgrade_proposed),
        server(S.SEND_RESPONSE, Connected, S.SWITCHED_PROTOCOL, keep, connect_proposed),
        server([S.IDLE, S.SEND_RESPONSE], Response, S.SEND_BODY, decline),
        server(S.SEND_BODY, ServerData, S.SEND_BODY, keep),
        server(S.SEND_BODY, ServerEnd, S.MUST_CLOSE, keep, last_cycle | client_gone),
        server(S.SEND_BODY, ServerEnd, S.DONE, keep),
        server(S.DONE, NextCycle, S.IDLE, keep, spends=Reuse.SERVER),
        server([S.IDLE, S.DONE, S.MUST_CLOSE, S.CLOSED], ServerClosed, S.CLOSED, keep),
        server([S.IDLE, S.DONE], ClientClosed, S.MUST_CLOSE, keep),
        server(S.DONE, ClientFailed, S.MUST_CLOSE, keep),
        server(S, ServerFailed, S.ERROR, keep),
        refuse(server_but(S.IDLE), [Request], "the server is not ready for a request"),
        refuse(server_but(S.SEND_RESPONSE), [Informational, Upgraded, Connected], "no request waits for an answer"),
        refuse(server_but(S.IDLE, S.SEND_RESPONSE), [Response], "there is one response a cycle"),
        refuse(server_but(S.SEND_BODY), [ServerData, ServerEnd], "no response is being sent"),
        refuse(server_but(S.DONE), [NextCycle], "the cycle is not over"),
        refuse([S.SEND_RESPONSE, S.SEND_BODY], [ServerClosed], "the response is not at its end"),
        refuse([S.SWITCHED_PROTOCOL, S.ERROR], [ServerClosed], "HTTP has nothing more to say here"),
        ignore(S, [ClientData, ClientEnd], "the client's part of the cycle"),
        ignore(server_but(S.IDLE, S.DONE), [ClientClosed], "the server's part is not over, or is for good"),
        ignore(server_but(S.DONE), [ClientFailed], "the server's part is not over, or is for good"),
    ],
    events=EVENTS,
    initial=S.IDLE,
    final=[],
    at=server_at,
    move=move_server,
    budgets={Reuse.SERVER: FULL[Reuse.SERVER]},
    purse=reuses,
    pay=pay,
)
SAMPLES: Mapping[str, Connection] = {"client": Connection(), "server": Connection()}
SEARCHES = ("tests.examples.h11_searched:SEARCH",)


def feed(run: Connection, event: Event) -> Connection | Refused[Connection]:
    """The connection after the event, or who refuses it and why; `run` is never changed.

    The server goes first: what a response says holds when the client hears it.
    """
    by_server = SERVER.step(run, event)
    if isinstance(by_server, Refused):
        return by_server
    by_client = CLIENT.step(by_server.run, event)
    if isinstance(by_client, Refused):
        return attrs.evolve(by_client, run=run)
    return by_client.run
