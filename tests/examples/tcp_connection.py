"""One end of a TCP connection, as the state diagram of RFC 9293 draws it.

The rules, in our own words:

* A connection is opened by a call: passively it listens for a SYN, actively it sends one. Two ends that send theirs at
  once meet as well. A listener whose caller hangs up with RST before the handshake is over listens again, a few times.
* What is sent (a SYN, a piece of data, a FIN) is outstanding until it is acknowledged. If its clock runs out it is sent
  again, a few times in a row; an acknowledgement of something new gives all these tries back.
* Each end closes its own direction with FIN. Who has closed may still receive; who has heard a FIN may still send.
* Whoever closes first stays in TIME-WAIT for twice the life of a segment, by the clock; a FIN that comes again begins
  that time anew. RST, and ABORT, end everything at once.
* A SYN in a connection that stands is answered with an ACK, so that who lost its memory resets it; so often, no more.

What must hold beside it: nothing is delivered after RST was heard or sent (`reset`), or after the peer's FIN
(`fin_heard`); no new data is sent after the own FIN (`fin_sent`); `outstanding` is never below 0.

The diagram's CLOSED is two states here: CLOSED before a connection, DELETED after it. Sequence numbers are left out: an
ACK says how many outstanding pieces it takes, and whether data fits the window is for who makes the event to know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import attrs

from statecraft import Evidence, Rows, Table, guard, ignore, keep, refuse, seen

from .tcp_events import (
    Abort,
    Ack,
    Clock,
    Close,
    Command,
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


class Tcp(Enum):
    """The states; the last is the ending."""

    CLOSED = "closed"
    LISTEN = "listen"
    SYN_SENT = "syn_sent"
    SYN_RECEIVED = "syn_received"
    ESTABLISHED = "established"
    FIN_WAIT_1 = "fin_wait_1"
    FIN_WAIT_2 = "fin_wait_2"
    CLOSE_WAIT = "close_wait"
    CLOSING = "closing"
    LAST_ACK = "last_ack"
    TIME_WAIT = "time_wait"
    DELETED = "deleted"


class Most(Enum):
    """How often a connection does what it may do again."""

    LISTEN = "listens_again"
    SEND = "sends"
    RECEIVE = "receives"
    NEWS = "news"
    RESEND = "resends"
    ANSWER = "answers"


# An acknowledgement can tell news of as many pieces as there are: the data, a SYN and a FIN.
OFTEN = {Most.SEND: 20, Most.RECEIVE: 20, Most.NEWS: 22}
FULL: Mapping[Most, int] = {**OFTEN, Most.LISTEN: 3, Most.RESEND: 5, Most.ANSWER: 10}
SEGMENT_LIFE = 120


@attrs.frozen
class Connection:
    """One end: its state, pieces sent and not acknowledged, and since when it waits (seconds, in TIME-WAIT alone)."""

    at: Tcp = Tcp.CLOSED
    passive: bool = False
    outstanding: int = 0
    since: int = 0
    fin_sent: bool = False
    fin_heard: bool = False
    reset: bool = False
    left: Mapping[Most, int | None] = FULL


Next = tuple[Connection, Sequence[Command]]


def asked_to_listen(run: Connection, event: Open) -> Evidence:
    return seen("asked_to_listen", event.passive, passive=event.passive)


def from_listen(run: Connection, event: Rst) -> Evidence:
    return seen("from_listen", run.passive, passive=run.passive)


@guard
def news(run: Connection, event: Ack) -> Evidence:
    return seen("news", 0 < event.pieces <= run.outstanding, pieces=event.pieces, outstanding=run.outstanding)


@guard
def takes_all(run: Connection, event: Ack) -> Evidence:
    """Also the FIN, which is sent last."""
    return seen("takes_all", event.pieces == run.outstanding, pieces=event.pieces, outstanding=run.outstanding)


def outstanding(run: Connection, event: ResendDue) -> Evidence:
    return seen("outstanding", run.outstanding > 0, outstanding=run.outstanding)


def waited(run: Connection, event: Clock) -> Evidence:
    passed = event.at - run.since
    return seen("waited", passed >= 2 * SEGMENT_LIFE, seconds=passed, needed=2 * SEGMENT_LIFE)


def listen(run: Connection, event: Open) -> Next:
    return attrs.evolve(run, passive=True), []


def connect(run: Connection, event: Open | Send) -> Next:
    return attrs.evolve(run, passive=False, outstanding=1), [Emit("SYN")]


def accept(run: Connection, event: Syn) -> Next:
    return attrs.evolve(run, outstanding=1), [Emit("SYN, ACK")]


def shake(run: Connection, event: SynAck) -> Next:
    return attrs.evolve(run, outstanding=0), [Emit("ACK"), Tell("connected")]


def shaken(run: Connection, event: Ack) -> Next:
    return attrs.evolve(run, outstanding=0), [Tell("connected")]


def send(run: Connection, event: Send) -> Next:
    return attrs.evolve(run, outstanding=run.outstanding + 1), [Emit("data")]


def resend(run: Connection, event: ResendDue) -> Next:
    return run, [Emit("the oldest piece again")]


def acked(run: Connection, event: Ack) -> Next:
    return attrs.evolve(run, outstanding=run.outstanding - event.pieces, since=event.at), []


def receive(run: Connection, event: Data) -> Next:
    return run, [Deliver(), Emit("ACK")]


def answer(run: Connection, event: Syn | SynAck | Fin) -> Next:
    return run, [Emit("ACK")]


def finish(run: Connection, event: Close) -> Next:
    return attrs.evolve(run, outstanding=run.outstanding + 1, fin_sent=True), [Emit("FIN")]


def hear_fin(run: Connection, event: Fin) -> Next:
    return attrs.evolve(run, fin_heard=True, since=event.at), [Emit("ACK")]


def listen_again(run: Connection, event: Rst) -> Next:
    return attrs.evolve(run, outstanding=0), []


def was_reset(run: Connection, event: Rst) -> Next:
    return attrs.evolve(run, outstanding=0, reset=True), [Tell("reset by the peer")]


def reset(run: Connection, event: Abort) -> Next:
    return attrs.evolve(run, outstanding=0, reset=True), [Emit("RST")]


def give_up(run: Connection, event: ResendDue) -> Next:
    return attrs.evolve(run, outstanding=0), [Tell("timed out")]


def at(run: Connection) -> Tcp:
    return run.at


def move(run: Connection, state: Tcp) -> Connection:
    return attrs.evolve(run, at=state)


def purse(run: Connection) -> Mapping[Most, int | None]:
    return run.left


def pay(run: Connection, left: Mapping[Most, int | None]) -> Connection:
    return attrs.evolve(run, left=left)


S = Tcp
OPENING = [S.SYN_SENT, S.SYN_RECEIVED]
SENDING = [S.ESTABLISHED, S.CLOSE_WAIT]
RECEIVING = [S.ESTABLISHED, S.FIN_WAIT_1, S.FIN_WAIT_2]
LEAVING = [S.FIN_WAIT_1, S.CLOSING, S.LAST_ACK]
FIN_HEARD = [S.CLOSE_WAIT, S.CLOSING, S.LAST_ACK, S.TIME_WAIT]
STANDING = [*RECEIVING, *FIN_HEARD]
NOTHING_YET = [S.CLOSED, S.LISTEN]
row = Rows[Connection, Tcp, Command]()


def but(*states: Tcp) -> list[Tcp]:
    """The open states but these."""
    return [state for state in S if state not in (*states, S.DELETED)]


TCP: Table[Connection, Tcp, Event, Command] = Table(
    "tcp",
    [
        row(S.CLOSED, Open, S.LISTEN, listen, asked_to_listen),
        row(S.CLOSED, Open, S.SYN_SENT, connect, asks=[Emit]),
        row(S.LISTEN, Send, S.SYN_SENT, connect, asks=[Emit]),
        row([S.LISTEN, S.SYN_SENT], Syn, S.SYN_RECEIVED, accept, asks=[Emit]),
        row(OPENING, SynAck, S.ESTABLISHED, shake, asks=[Emit, Tell], spends=Most.NEWS, refills=[Most.RESEND]),
        row(S.SYN_RECEIVED, Ack, S.ESTABLISHED, shaken, news, asks=[Tell], spends=Most.NEWS, refills=[Most.RESEND]),
        row(S.SYN_RECEIVED, Rst, S.LISTEN, listen_again, from_listen, spends=Most.LISTEN),
        row.stay(SENDING, Send, send, asks=[Emit], spends=Most.SEND),
        row.stay(RECEIVING, Data, receive, asks=[Deliver, Emit], spends=Most.RECEIVE),
        row(S.FIN_WAIT_1, Ack, S.FIN_WAIT_2, acked, takes_all, spends=Most.NEWS, refills=[Most.RESEND]),
        row(S.CLOSING, Ack, S.TIME_WAIT, acked, takes_all, spends=Most.NEWS, refills=[Most.RESEND]),
        row(S.LAST_ACK, Ack, S.DELETED, acked, takes_all),
        [row(state, Ack, state, acked, news, ~takes_all, spends=Most.NEWS, refills=[Most.RESEND]) for state in LEAVING],
        [row(state, Ack, state, acked, news, spends=Most.NEWS, refills=[Most.RESEND]) for state in SENDING],
        row([S.SYN_RECEIVED, S.ESTABLISHED], Close, S.FIN_WAIT_1, finish, asks=[Emit]),
        row(S.CLOSE_WAIT, Close, S.LAST_ACK, finish, asks=[Emit]),
        row([S.LISTEN, S.SYN_SENT], Close, S.DELETED, keep),
        row(S.ESTABLISHED, Fin, S.CLOSE_WAIT, hear_fin, asks=[Emit]),
        row(S.FIN_WAIT_1, Fin, S.CLOSING, hear_fin, asks=[Emit]),
        row(S.FIN_WAIT_2, Fin, S.TIME_WAIT, hear_fin, asks=[Emit]),
        row.stay(FIN_HEARD, Fin, hear_fin, asks=[Emit], spends=Most.ANSWER),
        row.stay(STANDING, Syn, answer, asks=[Emit], spends=Most.ANSWER),
        row.stay(STANDING, SynAck, answer, asks=[Emit], spends=Most.ANSWER),
        row(S.TIME_WAIT, Clock, S.DELETED, keep, waited),
        row.stay([*OPENING, *SENDING, *LEAVING], ResendDue, resend, outstanding, asks=[Emit], spends=Most.RESEND),
        row([*OPENING, *SENDING, *LEAVING], ResendDue, S.DELETED, give_up, outstanding, asks=[Tell]),
        row(but(*NOTHING_YET), Rst, S.DELETED, was_reset, asks=[Tell]),
        row([S.SYN_RECEIVED, *RECEIVING, S.CLOSE_WAIT], Abort, S.DELETED, reset, asks=[Emit]),
        row([S.LISTEN, S.SYN_SENT, S.CLOSING, S.LAST_ACK, S.TIME_WAIT], Abort, S.DELETED, keep),
        refuse(but(S.CLOSED), [Open], "the connection is open"),
        refuse([S.CLOSED], [Send, Close, Abort], "the connection is not open"),
        refuse(OPENING, [Send], "the handshake is not over"),
        refuse(but(*NOTHING_YET, *OPENING, *SENDING), [Send, Close], "the connection is closing"),
        ignore([S.CLOSED], [Syn, SynAck, Fin, Data], "there is no connection: who looks after the port answers"),
        ignore([S.LISTEN], [SynAck, Fin, Data], "they belong to no connection of this listener"),
        ignore(OPENING, [Fin, Data], "the handshake is not over"),
        ignore(NOTHING_YET, [Ack, Rst], "nothing was sent that they could be about"),
        ignore([S.SYN_SENT], [Ack], "the peer's SYN is missing"),
        ignore([S.SYN_RECEIVED], [Syn], "the peer has not heard the answer yet, which is sent again by the clock"),
        ignore([S.FIN_WAIT_2, S.TIME_WAIT], [Ack], "all is acknowledged"),
        ignore(FIN_HEARD, [Data], "the peer had said that there is no more"),
        ignore([*NOTHING_YET, S.FIN_WAIT_2, S.TIME_WAIT], [ResendDue], "a clock for what has been acknowledged"),
        ignore(but(S.TIME_WAIT), [Clock], "a clock of another connection"),
    ],
    events=[Open, Send, Close, Abort, Syn, SynAck, Ack, Data, Fin, Rst, ResendDue, Clock],
    initial=S.CLOSED,
    final=[S.DELETED],
    at=at,
    move=move,
    budgets=FULL,
    purse=purse,
    pay=pay,
)
SAMPLES: Mapping[str, Connection] = {"tcp": Connection()}
SEARCHES = ("tests.examples.tcp_searched:SEARCH",)
