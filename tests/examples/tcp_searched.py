"""What a TCP connection never does, whatever its user, its peer and its clocks do, in whatever order.

Some laws are decided by the rows alone, and so proved for any guards. The others, and these again with what really was
delivered and sent, are searched for a counterexample. `tcp_connection` offers this search to `statecraft check`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Final

from statecraft.proofs import Crossing, Law, Search, Taken

from .tcp_connection import SEGMENT_LIFE, TCP, Connection, Most, Tcp
from .tcp_events import (
    Abort,
    Ack,
    Clock,
    Close,
    Data,
    Deliver,
    Emit,
    Event,
    Fin,
    Open,
    ResendDue,
    Rst,
    Send,
    Syn,
    SynAck,
    Tell,
)

Taking = Taken[Connection, Event]

PIECES: Final = 3
"""Outstanding pieces beyond which the user of this search sends no more: a SYN or data, and a FIN, in any order."""

ENDLESS: Final[Mapping[Most, int | None]] = dict.fromkeys(Most)
STARTS: Final[Mapping[str, Connection]] = {
    "as often as it likes": Connection(left=ENDLESS),
    "nothing again": Connection(left=dict.fromkeys(Most, 0) | {Most.NEWS: 1}),
    "again once": Connection(left=dict.fromkeys(Most, 1) | {Most.NEWS: 2, Most.ANSWER: 0}),
}


def moves(run: Connection) -> Iterator[Event]:
    """Every call, every segment and every clock; an acknowledgement of nothing, of one piece, of all, of too many."""
    yield from (Open(), Open(passive=True), Close(), Abort(), Syn(), SynAck(), Data(), Fin(run.since), Rst())
    yield from (Ack(pieces, run.since) for pieces in sorted({0, 1, run.outstanding, run.outstanding + 1}))
    yield from (ResendDue(), Clock(run.since + 2 * SEGMENT_LIFE - 1), Clock(run.since + 2 * SEGMENT_LIFE))
    if run.outstanding < PIECES:
        yield Send()


def key(run: Connection) -> Hashable:
    """All but the time: every move says it from when the connection began to wait."""
    flags = run.passive, run.fin_sent, run.fin_heard, run.reset
    return run.at, run.outstanding, *flags, *run.left.values()


def is_over(over: bool, step: Taking) -> bool:
    """Whether nothing more can come from the peer: a FIN or RST was heard, or RST sent, and the end listens no more."""
    ends = isinstance(step.event, Fin | Rst | Abort) and step.stepped and step.after.at is not Tcp.LISTEN
    return over or bool(ends)


def delivers_late(step: Taking, over: bool) -> str:
    """Says after what the user was given data, where that was the end of the peer's."""
    late = over and any(isinstance(one, Deliver) for one in step.commands)
    return f"delivered in {step.before.at.name}, after the end of the peer's data" if late else ""


def has_sent_fin(sent: bool, step: Taking) -> bool:
    """Whether the own FIN is on its way."""
    return sent or Emit("FIN") in step.commands


def sends_late(step: Taking, sent: bool) -> str:
    """Says where data was sent after the own FIN."""
    late = sent and Emit("data") in step.commands
    return f"data is sent in {step.before.at.name}, after the own FIN" if late else ""


def owes_less_than_nothing(step: Taking, _: object) -> str:
    """Says how many pieces are outstanding, where that is no number of pieces."""
    return f"{step.after.outstanding} pieces are outstanding" if step.after.outstanding < 0 else ""


def times_told(times: int, step: Taking) -> int:
    """How often the user was told of the connection, up to two."""
    return min(times + step.commands.count(Tell("connected")), 2)


def tells_twice(step: Taking, times: int) -> str:
    """Says where the user is told of the connection again."""
    return f"told of the connection again in {step.after.at.name}" if times_told(times, step) > 1 else ""


LATE: Final = "nothing is delivered after FIN or RST"
CLOSED: Final = "nothing new is sent after the own FIN"
WHY_LATE: Final = "the peer has said that there is no more"
WHY_CLOSED: Final = "the peer takes a FIN for the end"

LAWS: Final = (
    Law(LATE, WHY_LATE, delivers_late, False, is_over),
    Law(CLOSED, WHY_CLOSED, sends_late, False, has_sent_fin),
    Law("outstanding is never below 0", "nobody acknowledges what was not sent", owes_less_than_nothing),
    Law("the user is told of the connection once", "there is one", tells_twice, 0, times_told),
)


def over_after(over: bool, row: Crossing) -> bool:
    """Whether a row took a FIN or RST, or aborted, and the end listens no more."""
    return over or (row.event in (Fin, Rst, Abort) and row.target is not Tcp.LISTEN)


def may_deliver(row: Crossing, over: bool) -> str:
    """Says where a row may deliver that should not."""
    return f"{row.source.name} may deliver" if over and Deliver in row.asks else ""


def closed_after(closed: bool, row: Crossing) -> bool:
    """Whether the user has closed."""
    return closed or row.event is Close


def may_send(row: Crossing, closed: bool) -> str:
    """Says where a row takes new data that should not."""
    return f"{row.source.name} takes new data" if closed and row.event is Send else ""


SHAPE: Final = (
    Law(LATE, WHY_LATE, may_deliver, False, over_after),
    Law(CLOSED, WHY_CLOSED, may_send, False, closed_after),
)
SEARCH: Final = Search(TCP, STARTS, moves, key, LAWS, SHAPE)
