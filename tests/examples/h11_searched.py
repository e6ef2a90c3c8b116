"""What an HTTP/1.1 connection never does, whatever client, server and application do.

Both machines are stepped together, as `feed` does it, and the laws are asked of each side's step. `h11_connection`
offers this search to `statecraft check`; it goes by the name of its first machine.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Final

import attrs

from statecraft import Refused, Table
from statecraft.proofs import Crossing, Law, Search, Taken

from .h11_connection import (
    CLIENT,
    SERVER,
    Client,
    ClientClosed,
    ClientData,
    ClientEnd,
    ClientFailed,
    Connected,
    Connection,
    Event,
    Informational,
    NextCycle,
    Request,
    Response,
    Reuse,
    Server,
    ServerClosed,
    ServerData,
    ServerEnd,
    ServerFailed,
    Upgraded,
)

AnyTable = Table[Any, Any, Any, Any]
Taking = Taken[Connection, Event]

STARTS: Final[Mapping[str, Connection]] = {
    "used as often as they like": Connection(reuses=dict.fromkeys(Reuse)),
    "used twice": Connection(reuses=dict.fromkeys(Reuse, 1)),
}
MOVES: Final[tuple[Event, ...]] = (
    *(Request(*flags) for flags in product((True, False), (False, True), (False, True))),
    *(ClientData(), ClientEnd(), ClientClosed(), ClientFailed()),
    *(Informational(), Response(), Response(keep_alive=False), Upgraded(), Connected()),
    *(ServerData(), ServerEnd(), ServerClosed(), ServerFailed(), NextCycle()),
)


def moves(run: Connection) -> Sequence[Event]:
    """Either side does anything at any time."""
    return MOVES


def key(run: Connection) -> Hashable:
    """All of it."""
    return run.client, run.server, run.keep_alive, run.connect, run.upgrade, *run.reuses.values()


def stepped(client: AnyTable, server: AnyTable, run: Connection, event: Event) -> Sequence[Taking]:
    """The server's step and then the client's; what one of them refuses has not happened."""
    by_server = server.step(run, event)
    if isinstance(by_server, Refused):
        return (Taken(run, event, by_server, run),)
    by_client = client.step(by_server.run, event)
    if isinstance(by_client, Refused):
        return (Taken(run, event, attrs.evolve(by_client, run=run), run),)
    return Taken(run, event, by_server, by_server.run), Taken(by_server.run, event, by_client, by_client.run)


play: Final = partial(stepped, CLIENT, SERVER)


def said_close(closing: bool, step: Taking) -> bool:
    """Whether a side has said that it will not keep the connection alive."""
    event = step.event
    return closing or (isinstance(event, Request | Response) and not event.keep_alive and step.stepped is not None)


def reuses_closing(step: Taking, closing: bool) -> str:
    """Says which side begins another cycle on a connection that is not kept alive."""
    again = step.stepped if closing and isinstance(step.event, NextCycle) else None
    return f"another cycle of the {again.machine} on a connection that closes" if again else ""


def proposal(proposed: tuple[bool, bool], step: Taking) -> tuple[bool, bool]:
    """Whether a tunnel, and whether an upgrade, is proposed in this cycle and not declined."""
    if not step.stepped:
        return proposed
    match step.event:
        case Request(connect=connect, upgrade=upgrade):
            return connect, upgrade
        case Response() | NextCycle():
            return False, False
        case _:
            return proposed


def switches_unasked(step: Taking, proposed: tuple[bool, bool]) -> str:
    """Says which side switches the protocol to what nobody has proposed."""
    taken = step.stepped
    if taken is None or taken.target not in SWITCHED or taken.source in SWITCHED:
        return ""
    tunnel, upgrade = proposed
    agreed = (tunnel or not isinstance(step.event, Connected)) and (upgrade or not isinstance(step.event, Upgraded))
    return "" if agreed and (tunnel or upgrade) else f"the {taken.machine} has switched without a proposal"


def begins_alone(step: Taking, _: object) -> str:
    """Says how the sides stand where they do not begin a cycle together."""
    run, taken = step.after, step.stepped
    begun = isinstance(step.event, NextCycle) and taken is not None and taken.machine == CLIENT.name
    together = run.client is Client.IDLE and run.server is Server.IDLE
    return f"client {run.client.name}, server {run.server.name}" if begun and not together else ""


def answers_nothing(step: Taking, asked: bool) -> str:
    """Says where the server agrees to switch, or sends an interim response, and was not asked anything."""
    early = isinstance(step.event, Informational | Upgraded | Connected) and not asked and step.stepped
    return f"{type(step.event).__name__} before a request" if early else ""


def is_asked(asked: bool, step: Taking) -> bool:
    """Whether there was a request in this cycle."""
    if not step.stepped or not isinstance(step.event, Request | NextCycle):
        return asked
    return isinstance(step.event, Request)


SWITCHED: Final = (Client.SWITCHED_PROTOCOL, Server.SWITCHED_PROTOCOL)
LAWS: Final = (
    Law("another cycle only while kept alive", "who said close reads no further", reuses_closing, False, said_close),
    Law("no switch without a proposal", "the other goes on in HTTP", switches_unasked, (False, False), proposal),
    Law("both begin a cycle together", "else one hears the other's last cycle as its next", begins_alone),
    Law("nothing but a last response goes before a request", "only a timeout does", answers_nothing, False, is_asked),
)


def must_close(closing: bool, row: Crossing) -> bool:
    """Whether the client has come to where it must close."""
    return closing or row.target is Client.MUST_CLOSE


def requests_again(row: Crossing, closing: bool) -> str:
    """Says where a client that must close begins again."""
    return f"{row.source.name} sends a request" if closing and row.event is Request else ""


def leaves_switched(row: Crossing, _: object) -> str:
    """Says where a client goes from the other protocol, if not to its end by an error."""
    back = row.source is Client.SWITCHED_PROTOCOL and row.target not in (row.source, Client.ERROR)
    return f"from the other protocol to {row.target.name}" if back else ""


SHAPE: Final = (
    Law("a client that must close asks no more", "the server does not listen", requests_again, False, must_close),
    Law("from a switch no row leads back to HTTP", "the line speaks something else now", leaves_switched),
)
SEARCH: Final = Search(CLIENT, STARTS, moves, key, LAWS, SHAPE, play)
