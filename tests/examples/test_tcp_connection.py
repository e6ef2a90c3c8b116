"""The TCP connection: each transition alone, two ends that talk, what is proved, and faults that the checks find."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import BadTable, Evidence, Ignored, Refused, Row, Step, Table, ignore
from statecraft.proofs import Bound, FreeCycle, ends, prove
from statecraft.table import Mark
from statecraft.testing import covered, step_one

from .tcp_connection import FULL, SEGMENT_LIFE, TCP, Connection, Most, Tcp, at, move, pay, purse
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

AnyTable = Table[Any, Any, Any, Any]
S = Tcp
SPENT: dict[Most, int | None] = dict.fromkeys(Most, 0)
OVER = 2 * SEGMENT_LIFE

EVENTS: list[Event] = [
    Open(),
    Open(passive=True),
    Send(),
    Close(),
    Abort(),
    Syn(),
    SynAck(),
    Ack(0),
    Ack(1),
    Ack(2),
    Data(),
    Fin(),
    Rst(),
    ResendDue(),
    Clock(OVER - 1),
    Clock(OVER),
]


def in_state(at: Tcp, **more: Any) -> Connection:
    """A connection in this state, with one piece outstanding."""
    return attrs.evolve(Connection(at, outstanding=1), **more)


@pytest.mark.parametrize(
    ("run", "event", "target", "commands"),
    [
        (Connection(), Open(passive=True), S.LISTEN, []),
        (Connection(), Open(), S.SYN_SENT, [Emit("SYN")]),
        (in_state(S.LISTEN, passive=True), Send(), S.SYN_SENT, [Emit("SYN")]),
        (in_state(S.LISTEN, passive=True), Syn(), S.SYN_RECEIVED, [Emit("SYN, ACK")]),
        (in_state(S.SYN_SENT), Syn(), S.SYN_RECEIVED, [Emit("SYN, ACK")]),
        (in_state(S.SYN_SENT), SynAck(), S.ESTABLISHED, [Emit("ACK"), Tell("connected")]),
        (in_state(S.SYN_RECEIVED), Ack(), S.ESTABLISHED, [Tell("connected")]),
        (in_state(S.SYN_RECEIVED, passive=True), Rst(), S.LISTEN, []),
        (in_state(S.SYN_RECEIVED), Rst(), S.DELETED, [Tell("reset by the peer")]),
        (in_state(S.SYN_RECEIVED, passive=True, left=SPENT), Rst(), S.DELETED, [Tell("reset by the peer")]),
        (in_state(S.ESTABLISHED), Close(), S.FIN_WAIT_1, [Emit("FIN")]),
        (in_state(S.ESTABLISHED), Fin(), S.CLOSE_WAIT, [Emit("ACK")]),
        (in_state(S.FIN_WAIT_1, outstanding=2), Ack(1), S.FIN_WAIT_1, []),
        (in_state(S.FIN_WAIT_1, outstanding=2), Ack(2), S.FIN_WAIT_2, []),
        (in_state(S.FIN_WAIT_1), Fin(), S.CLOSING, [Emit("ACK")]),
        (in_state(S.FIN_WAIT_2), Fin(), S.TIME_WAIT, [Emit("ACK")]),
        (in_state(S.CLOSING), Ack(), S.TIME_WAIT, []),
        (in_state(S.CLOSE_WAIT), Close(), S.LAST_ACK, [Emit("FIN")]),
        (in_state(S.LAST_ACK), Ack(), S.DELETED, []),
        (in_state(S.TIME_WAIT), Clock(OVER), S.DELETED, []),
        (in_state(S.ESTABLISHED), ResendDue(), S.ESTABLISHED, [Emit("the oldest piece again")]),
        (in_state(S.ESTABLISHED, left=SPENT), ResendDue(), S.DELETED, [Tell("timed out")]),
        (in_state(S.ESTABLISHED), Syn(), S.ESTABLISHED, [Emit("ACK")]),
        (in_state(S.ESTABLISHED), Abort(), S.DELETED, [Emit("RST")]),
        (in_state(S.TIME_WAIT), Abort(), S.DELETED, []),
    ],
)
def test_a_connection_takes_this_step(run: Connection, event: Event, target: Tcp, commands: list[Command]) -> None:
    step_one(TCP, run, event, target=target, commands=commands)


DIAGRAM = """
CLOSED LISTEN, CLOSED SYN_SENT, LISTEN SYN_RECEIVED, LISTEN SYN_SENT, LISTEN DELETED, SYN_SENT SYN_RECEIVED,
SYN_SENT ESTABLISHED, SYN_SENT DELETED, SYN_RECEIVED LISTEN, SYN_RECEIVED ESTABLISHED, SYN_RECEIVED FIN_WAIT_1,
ESTABLISHED FIN_WAIT_1, ESTABLISHED CLOSE_WAIT, FIN_WAIT_1 FIN_WAIT_2, FIN_WAIT_1 CLOSING, FIN_WAIT_2 TIME_WAIT,
CLOSING TIME_WAIT, CLOSE_WAIT LAST_ACK, LAST_ACK DELETED, TIME_WAIT DELETED
"""


def test_its_ways_are_those_of_the_diagram_and_beside_them_only_abrupt_ends() -> None:
    # The diagram's way from FIN-WAIT-1 to TIME-WAIT, of a FIN that acknowledges as well, is an ACK and a FIN here.
    drawn = {tuple(pair.split()) for pair in DIAGRAM.split(",")}
    ways = {(source.name, row.target.name) for row in TCP.rows for source in row.sources if source is not row.target}
    assert drawn <= ways
    assert {target for _, target in ways - drawn} == {"DELETED"}
    abrupt = {row.event for row in TCP.rows for one in row.sources if (one.name, row.target.name) in ways - drawn}
    assert abrupt == {Rst, Abort, ResendDue}


def test_time_wait_lasts_twice_the_life_of_a_segment_and_a_fin_that_comes_again_begins_it_anew() -> None:
    waiting = step_one(TCP, in_state(S.FIN_WAIT_2), Fin(at=10), target=S.TIME_WAIT).run
    early = TCP.step(waiting, Clock(10 + OVER - 1))
    assert isinstance(early, Refused)
    assert early.seen == (Evidence("waited", False, {"seconds": OVER - 1, "needed": OVER}),)
    again = step_one(TCP, waiting, Fin(at=100), target=S.TIME_WAIT).run
    assert isinstance(TCP.step(again, Clock(10 + OVER)), Refused)
    step_one(TCP, again, Clock(100 + OVER), target=S.DELETED)


def test_an_acknowledgement_of_something_new_gives_all_tries_back_and_an_old_one_none() -> None:
    tired = in_state(S.ESTABLISHED, left={**FULL, Most.RESEND: 0})
    assert step_one(TCP, tired, Ack(1), target=S.ESTABLISHED).run.left[Most.RESEND] == FULL[Most.RESEND]
    assert isinstance(TCP.step(tired, Ack(0)), Refused)


def test_data_is_no_longer_heard_of_a_peer_that_has_sent_its_fin() -> None:
    assert isinstance(TCP.step(in_state(S.CLOSE_WAIT), Data()), Ignored)


def test_every_row_is_taken_and_every_guard_heard_both_ways() -> None:
    runs = [
        Connection(state, passive, outstanding, left=left)
        for state, passive, outstanding, left in product(S, (True, False), (0, 1, 2), (FULL, SPENT))
    ]
    coverage = covered(TCP, [(event, TCP.step(run, event)) for run, event in product(runs, EVENTS)])
    assert coverage.rows == (len(TCP.rows), len(TCP.rows))
    assert coverage.whole, [(one.name, ways) for machine in coverage.machines for one, ways in machine.never_seen]


SEGMENTS: dict[str, Event] = {"SYN": Syn(), "SYN, ACK": SynAck(), "ACK": Ack(), "data": Data(), "FIN": Fin()}
BOTH_CLOSE: list[tuple[str, Event]] = [("a", Close()), ("b", Close())]


@pytest.mark.parametrize(
    ("calls", "last"),
    [
        ([("b", Open(passive=True)), ("a", Open()), ("a", Send()), *BOTH_CLOSE], (S.TIME_WAIT, S.DELETED)),
        ([("b", Open(passive=True)), ("a", Open()), ("b", Send()), *BOTH_CLOSE[::-1]], (S.DELETED, S.TIME_WAIT)),
    ],
)
def test_two_ends_that_talk_meet_and_part(calls: list[tuple[str, Event]], last: tuple[Tcp, Tcp]) -> None:
    ends_of = {"a": Connection(), "b": Connection()}
    for call in calls:
        line = [call]
        while line:
            who, event = line.pop(0)
            step = step_one(TCP, ends_of[who], event)
            ends_of[who] = step.run
            peer = "b" if who == "a" else "a"
            line += [(peer, SEGMENTS[one.what]) for one in step.commands if isinstance(one, Emit)]
    assert (ends_of["a"].at, ends_of["b"].at) == last
    assert [end.outstanding for end in ends_of.values()] == [0, 0]


def test_two_ends_that_close_at_once_both_wait_out_the_life_of_their_segments() -> None:
    both = [in_state(S.ESTABLISHED, outstanding=0)] * 2
    for event in (Close(), Fin(), Ack()):
        both = [step_one(TCP, end, event).run for end in both]
    assert [end.at for end in both] == [S.TIME_WAIT, S.TIME_WAIT]


@given(st.lists(st.sampled_from(EVENTS), max_size=80), st.booleans())
def test_no_story_breaks_what_must_hold_or_takes_more_steps_than_are_proved(story: list[Event], passive: bool) -> None:
    run, steps = step_one(TCP, Connection(), Open(passive)).run, 1
    for event in story:
        answer = TCP.step(run, event)
        for command in answer.commands:
            assert not (isinstance(command, Deliver) and (run.reset or run.fin_heard))
            assert not (command == Emit("data") and run.fin_sent)
        took_news = isinstance(event, Ack) and 0 < event.pieces <= run.outstanding and run.at is not S.DELETED
        assert not (took_news and isinstance(answer, Refused)), "news is never refused: its budget is large enough"
        run, steps = answer.run, steps + isinstance(answer, Step)
        assert run.outstanding >= 0
    assert steps <= 988


def test_a_connection_ends_and_delivers_only_so_often() -> None:
    report = prove([TCP])
    assert report.ok
    (proved,) = report.tables
    assert isinstance(proved.steps, Bound)
    assert proved.steps.number == 988
    assert {one.asking: one.number for one in proved.requests}["Deliver"] == FULL[Most.RECEIVE]


def test_time_wait_without_its_clock_cannot_be_built() -> None:
    with pytest.raises(BadTable, match="cell TIME_WAIT on Clock is blank: add a row, or say ignore"):
        without_the_clock()


def test_and_where_nothing_else_leads_out_it_is_found_to_have_no_way_to_an_ending() -> None:
    (proved,) = prove([without_the_clock(ignore([S.TIME_WAIT], [Clock], "forgotten"), alone=True)]).tables
    assert [str(flaw) for flaw in proved.flaws] == [
        "state TIME_WAIT: no way to an ending: no rows lead from it to any of DELETED"
    ]


def test_a_retransmission_that_fills_its_own_budget_again_is_found_to_go_round_for_ever() -> None:
    found = ends(with_tries_that_never_end())
    assert isinstance(found, FreeCycle)
    assert found.payable
    assert found.lines == (
        "tcp can go round for ever:",
        "  row 47: ESTABLISHED ResendDue -> ESTABLISHED, spends resends, refills resends",
        "reached by:",
        "  row 1: CLOSED Open -> SYN_SENT",
        "  row 4: SYN_SENT SynAck -> ESTABLISHED, spends news, refills resends",
    )


def test_so_it_is_where_any_acknowledgement_gives_the_tries_back() -> None:
    found = ends(with_old_news())
    assert isinstance(found, FreeCycle)
    assert "news" not in "".join(found.lines)
    assert not prove([with_old_news()]).ok


def without_the_clock(*marks: Mark[Tcp], alone: bool = False) -> AnyTable:
    """A fault: nobody set a clock for TIME-WAIT; `alone`: and RST and ABORT say nothing there either."""
    rows = [row for row in TCP.rows if row.event is not Clock]
    if not alone:
        return tcp_of(rows, *marks)
    fewer = [
        attrs.evolve(row, sources=tuple(state for state in row.sources if state is not S.TIME_WAIT))
        if row.target is S.DELETED
        else row
        for row in rows
    ]
    return tcp_of(fewer, *marks, ignore([S.TIME_WAIT], [Rst, Abort], "forgotten"))


def with_tries_that_never_end() -> AnyTable:
    """A fault: sending again counts as progress."""
    return tcp_of(
        attrs.evolve(row, refills=frozenset({Most.RESEND}))
        if row.spends is Most.RESEND and row.target is S.ESTABLISHED
        else row
        for row in TCP.rows
    )


def with_old_news() -> AnyTable:
    """A fault: whatever acknowledges, also what was acknowledged before, gives the tries back."""
    return tcp_of(attrs.evolve(row, spends=None) if row.spends is Most.NEWS else row for row in TCP.rows)


def tcp_of(rows: Iterable[Row[Connection, Tcp, Command]], *marks: Mark[Tcp]) -> AnyTable:
    """The same machine with other rows, and more marks."""
    return Table[Connection, Tcp, Event, Command](
        "tcp",
        [*rows, *TCP.marks, *marks],
        events=TCP.events,
        initial=S.CLOSED,
        final=TCP.final,
        at=at,
        move=move,
        budgets=FULL,
        purse=purse,
        pay=pay,
    )
