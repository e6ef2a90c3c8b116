"""h11's connection: each transition alone, both sides together, and the library itself as the judge of all of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, Never

import attrs
import pytest
from h11 import _events as said  # the library's own machine, which it keeps to itself
from h11 import _state as theirs
from h11._util import LocalProtocolError
from hypothesis import given
from hypothesis import strategies as st

from statecraft import BadTable, Evidence, Ignored, Refused, Row, Step, Table, ordered
from statecraft.diagrams import dot, mermaid
from statecraft.proofs import Bound, FreeCycle, Hop, ends, prove
from statecraft.table import Mark
from statecraft.testing import covered, step_one

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
    client_at,
    feed,
    last_cycle,
    move_client,
    pay,
    reuses,
)

AnyTable = Table[Any, Any, Any, Any]
C, S = Client, Server
START = Connection()
ENDLESS = pay(START, {Reuse.CLIENT: None, Reuse.SERVER: None})  # h11 itself counts no cycles

CONNECT = theirs._SWITCH_CONNECT  # pyright: ignore[reportPrivateUsage]
UPGRADE = theirs._SWITCH_UPGRADE  # pyright: ignore[reportPrivateUsage]
THEIR_NAMES: dict[type[Any], tuple[Any, type[Any]]] = {
    ClientData: (theirs.CLIENT, said.Data),
    ClientEnd: (theirs.CLIENT, said.EndOfMessage),
    ClientClosed: (theirs.CLIENT, said.ConnectionClosed),
    Informational: (theirs.SERVER, said.InformationalResponse),
    ServerData: (theirs.SERVER, said.Data),
    ServerEnd: (theirs.SERVER, said.EndOfMessage),
    ServerClosed: (theirs.SERVER, said.ConnectionClosed),
}

HEADS: list[Event] = [Request(*flags) for flags in product([True, False], repeat=3)]
PLAIN: list[Event] = [
    ClientData(),
    ClientEnd(),
    ClientClosed(),
    ClientFailed(),
    Informational(),
    Response(),
    Response(keep_alive=False),
    Upgraded(),
    Connected(),
    ServerData(),
    ServerEnd(),
    ServerClosed(),
    ServerFailed(),
    NextCycle(),
]
EVENTS = [*HEADS, *PLAIN]


@pytest.mark.parametrize(
    ("run", "event", "row", "target"),
    [
        (Connection(), Request(), 0, C.SEND_BODY),
        (Connection(C.SEND_BODY), ClientData(), 1, C.SEND_BODY),
        (Connection(C.SEND_BODY, S.SWITCHED_PROTOCOL, upgrade=True), ClientEnd(), 2, C.SWITCHED_PROTOCOL),
        (Connection(C.SEND_BODY, S.SEND_RESPONSE, connect=True), ClientEnd(), 3, C.MIGHT_SWITCH_PROTOCOL),
        (Connection(C.SEND_BODY, connect=True, keep_alive=False), ClientEnd(), 3, C.MIGHT_SWITCH_PROTOCOL),
        (Connection(C.SEND_BODY, keep_alive=False), ClientEnd(), 4, C.MUST_CLOSE),
        (Connection(C.SEND_BODY, S.CLOSED), ClientEnd(), 4, C.MUST_CLOSE),
        (Connection(C.SEND_BODY, S.ERROR), ClientEnd(), 4, C.MUST_CLOSE),
        (Connection(C.SEND_BODY), ClientEnd(), 5, C.DONE),
        (Connection(C.MIGHT_SWITCH_PROTOCOL), Upgraded(), 6, C.SWITCHED_PROTOCOL),
        (Connection(C.MIGHT_SWITCH_PROTOCOL), Connected(), 7, C.SWITCHED_PROTOCOL),
        (Connection(C.MIGHT_SWITCH_PROTOCOL, keep_alive=False), Response(), 8, C.MUST_CLOSE),
        (Connection(C.DONE, keep_alive=False), Response(), 8, C.MUST_CLOSE),
        (Connection(C.MIGHT_SWITCH_PROTOCOL), Response(), 9, C.DONE),
        (Connection(C.DONE, S.DONE), NextCycle(), 10, C.IDLE),
        (Connection(C.IDLE), ClientClosed(), 11, C.CLOSED),
        (Connection(C.CLOSED), ClientClosed(), 11, C.CLOSED),
        (Connection(C.IDLE), ServerClosed(), 12, C.MUST_CLOSE),
        (Connection(C.DONE), ServerFailed(), 13, C.MUST_CLOSE),
        (Connection(C.SWITCHED_PROTOCOL), ClientFailed(), 14, C.ERROR),
    ],
)
def test_the_client_takes_this_row(run: Connection, event: Event, row: int, target: Client) -> None:
    step_one(CLIENT, run, event, row=row, target=target, commands=[])


@pytest.mark.parametrize(
    ("run", "event", "row", "target"),
    [
        (Connection(), Request(), 0, S.SEND_RESPONSE),
        (Connection(C.DONE, S.SEND_RESPONSE), Informational(), 1, S.SEND_RESPONSE),
        (Connection(C.DONE, S.SEND_RESPONSE, upgrade=True), Upgraded(), 2, S.SWITCHED_PROTOCOL),
        (Connection(C.DONE, S.SEND_RESPONSE, connect=True), Connected(), 3, S.SWITCHED_PROTOCOL),
        (Connection(C.IDLE, S.IDLE), Response(), 4, S.SEND_BODY),
        (Connection(C.DONE, S.SEND_RESPONSE), Response(), 4, S.SEND_BODY),
        (Connection(C.DONE, S.SEND_BODY), ServerData(), 5, S.SEND_BODY),
        (Connection(C.MUST_CLOSE, S.SEND_BODY, keep_alive=False), ServerEnd(), 6, S.MUST_CLOSE),
        (Connection(C.CLOSED, S.SEND_BODY), ServerEnd(), 6, S.MUST_CLOSE),
        (Connection(C.DONE, S.SEND_BODY), ServerEnd(), 7, S.DONE),
        (Connection(C.DONE, S.DONE), NextCycle(), 8, S.IDLE),
        (Connection(C.MUST_CLOSE, S.MUST_CLOSE), ServerClosed(), 9, S.CLOSED),
        (Connection(C.IDLE, S.IDLE), ClientClosed(), 10, S.MUST_CLOSE),
        (Connection(C.SEND_BODY, S.DONE), ClientFailed(), 11, S.MUST_CLOSE),
        (Connection(C.DONE, S.SEND_BODY), ServerFailed(), 12, S.ERROR),
    ],
)
def test_the_server_takes_this_row(run: Connection, event: Event, row: int, target: Server) -> None:
    step_one(SERVER, run, event, row=row, target=target, commands=[])


def test_a_request_says_what_holds_for_its_cycle() -> None:
    step = step_one(CLIENT, START, Request(keep_alive=False, upgrade=True), row=0)
    assert (step.run.keep_alive, step.run.connect, step.run.upgrade) == (False, False, True)


def test_an_ordinary_response_declines_what_was_proposed() -> None:
    asked = Connection(C.MIGHT_SWITCH_PROTOCOL, S.SEND_RESPONSE, connect=True, upgrade=True)
    step = step_one(SERVER, asked, Response(), row=4)
    assert (step.run.keep_alive, step.run.connect, step.run.upgrade) == (True, False, False)


def test_a_switch_that_nobody_proposed_is_refused_with_its_evidence() -> None:
    answer = SERVER.step(Connection(C.DONE, S.SEND_RESPONSE, connect=True), Upgraded())
    assert isinstance(answer, Refused)
    assert answer.seen == (Evidence("upgrade_proposed", False, {"upgrade": False}),)


def test_a_side_may_not_act_out_of_turn_and_is_told_why() -> None:
    answer = CLIENT.step(START, ClientData())
    assert isinstance(answer, Refused)
    assert answer.why == "no request is being sent"


def test_what_the_other_side_does_is_ignored_where_it_does_not_matter() -> None:
    assert isinstance(CLIENT.step(Connection(C.SEND_BODY, S.SEND_BODY), ServerData()), Ignored)


def test_a_connection_is_used_again_as_often_as_its_budget_says_and_no_oftener() -> None:
    run, cycles = pay(START, {Reuse.CLIENT: 2, Reuse.SERVER: 2}), 0
    while True:
        for event in (Request(), ClientEnd(), Response(), ServerEnd()):
            run = fed(run, event)
        cycles += 1
        after = feed(run, NextCycle())
        if isinstance(after, Refused):
            break
        run = after
    assert cycles == 3
    assert after.run is run
    assert after.seen[0] == Evidence("server_reuses_left", False, {"left": 0})


def test_an_event_that_one_side_refuses_has_not_happened_to_the_other() -> None:
    run = Connection(C.SEND_BODY, S.DONE)
    assert isinstance(SERVER.step(run, ClientClosed()), Step)
    answer = feed(run, ClientClosed())
    assert isinstance(answer, Refused)
    assert answer.machine == "client"
    assert answer.run is run


def test_every_row_is_taken_and_every_guard_heard_both_ways_by_connections_that_can_be() -> None:
    spent = {Reuse.CLIENT: 0, Reuse.SERVER: 0}
    runs = [one for run in every_connection() for one in (run, pay(run, spent))]
    # A client in its part of a cycle is seen by the server, not by itself, when that is over.
    for table in (CLIENT, SERVER):
        pairs = [(event, table.step(run, event)) for run in runs for event in EVENTS]
        coverage = covered(table, pairs)
        assert coverage.rows == (len(table.rows), len(table.rows))
        assert coverage.whole, [(one.name, ways) for machine in coverage.machines for one, ways in machine.never_seen]


def test_a_connection_ends_because_it_may_be_used_again_only_so_often() -> None:
    report = prove([CLIENT, SERVER])
    assert report.ok
    assert [table.flaws for table in report.tables] == [(), ()]
    # 99 times four steps, three of the first cycle, and then closing: that it must, that it does, and an error after.
    for proved in report.tables:
        assert isinstance(proved.steps, Bound)
        assert proved.steps.number == 99 * 4 + 3 + 3


def test_without_that_budget_the_proof_finds_the_round_of_a_connection_that_is_kept_alive() -> None:
    found = ends(client_of(attrs.evolve(row, spends=None) for row in CLIENT.rows))
    assert isinstance(found, FreeCycle)
    assert found.hops == (
        Hop(0, "IDLE", "Request", "SEND_BODY", (), ()),
        Hop(5, "SEND_BODY", "ClientEnd", "DONE", (), ()),
        Hop(10, "DONE", "NextCycle", "IDLE", (), ()),
    )


def test_without_the_row_that_leads_there_the_check_finds_a_state_that_nothing_reaches() -> None:
    lost = client_of(row for row in CLIENT.rows if row.target is not C.MIGHT_SWITCH_PROTOCOL)
    report = prove([lost])
    assert not report.ok
    found = {str(flaw) for flaw in report.tables[0].flaws}
    assert "state MIGHT_SWITCH_PROTOCOL: unreachable state: no way from IDLE leads to it" in found
    assert sum("unreachable row" in flaw for flaw in found) == 2  # the two that agree to a switch


def test_a_side_that_goes_on_for_nothing_where_it_has_to_close_is_refused_and_marked_it_goes_round_for_ever() -> None:
    rows = list(CLIENT.rows)
    place = next(number for number, row in enumerate(rows) if row.event is NextCycle)
    rows.insert(place, attrs.evolve(rows[place], spends=None, guards=(last_cycle,)))
    with pytest.raises(BadTable, match=r"row 11 .* overlaps row 10 in cell DONE on NextCycle"):
        client_of(rows)
    found = ends(client_of(rows, ordered([C.DONE], [NextCycle], "a last cycle costs nothing")))
    assert isinstance(found, FreeCycle)
    assert found.lines == (
        "client can go round for ever:",
        "  row 0: IDLE Request -> SEND_BODY",
        "  row 5: SEND_BODY ClientEnd -> DONE",
        "  row 10: DONE NextCycle -> IDLE",
    )


def test_a_next_cycle_begins_only_on_a_connection_that_is_kept_alive_and_nothing_switches_unproposed() -> None:
    for run in every_connection():
        assert run.keep_alive or isinstance(feed(run, NextCycle()), Refused)
        switched = C.SWITCHED_PROTOCOL is run.client or S.SWITCHED_PROTOCOL is run.server
        assert not switched or run.connect or run.upgrade


@pytest.mark.parametrize("table", [CLIENT, SERVER], ids=lambda table: table.name)
@pytest.mark.parametrize("draw", [mermaid, dot])
def test_its_pictures_have_an_arrow_for_each_pair_of_states_that_a_row_connects(
    draw: Callable[[AnyTable], str], table: AnyTable
) -> None:
    drawn = [line.strip() for line in draw(table).splitlines() if not line.lstrip().startswith(("//", "%%"))]
    arrow = " --> " if draw is mermaid else " -> "
    names = {state.name for state in table.states}
    found = [tuple(line.split(" : ")[0].split(" [")[0].split(arrow)) for line in drawn if arrow in line]
    assert {pair for pair in found if set(pair) <= names} == {
        (source.name, row.target.name) for row in table.rows for source in row.sources
    }
    assert draw(table) == draw(table)


def test_its_picture_does_not_hang_on_the_objects_that_it_is_made_of() -> None:
    again = client_of(iter(CLIENT.rows))
    assert (mermaid(again), dot(again)) == (mermaid(CLIENT), dot(CLIENT))


@given(st.lists(st.sampled_from(EVENTS), max_size=40))
def test_any_story_goes_as_h11_tells_it(story: list[Event]) -> None:
    run, oracle = ENDLESS, theirs.ConnectionState()
    for event in story:
        run, oracle = both(run, oracle, event)


@given(st.data())
def test_any_story_of_events_that_are_allowed_goes_as_h11_tells_it(data: st.DataObject) -> None:
    run, oracle = ENDLESS, theirs.ConnectionState()
    for _ in range(data.draw(st.integers(1, 40))):
        allowed = [event for event in EVENTS if not isinstance(feed(run, event), Refused)]
        run, oracle = both(run, oracle, data.draw(st.sampled_from(allowed)))


def test_from_every_connection_that_can_be_every_event_does_what_it_does_in_h11() -> None:
    assert len(every_connection()) == 108  # `both` has compared each of them with h11


def test_an_oracle_that_is_told_something_else_disagrees() -> None:
    with pytest.raises(AssertionError):
        same(fed(ENDLESS, Request()), theirs.ConnectionState())


def client_of(
    rows: Iterable[Row[Connection, Client, Never]], *marks: Mark[Client]
) -> Table[Connection, Client, Event, Never]:
    """The client's machine with other rows, and more marks."""
    return Table(
        "client",
        [*rows, *CLIENT.marks, *marks],
        events=CLIENT.events,
        initial=C.IDLE,
        final=[],
        at=client_at,
        move=move_client,
        budgets={Reuse.CLIENT: 99},
        purse=reuses,
        pay=pay,
    )


def fed(run: Connection, event: Event) -> Connection:
    after = feed(run, event)
    assert isinstance(after, Connection)
    return after


def every_connection() -> list[Connection]:
    """Every connection that events can lead to. On the way each event is tried in each of them, here and in h11."""
    found = {key(ENDLESS): ENDLESS}
    todo = [(ENDLESS, theirs.ConnectionState())]
    while todo:
        run, oracle = todo.pop()
        for event in EVENTS:
            after, told = both(run, oracle, event)
            if key(after) not in found:
                found[key(after)] = after
                todo.append((after, told))
    return list(found.values())


def key(run: Connection) -> tuple[object, ...]:
    return run.client, run.server, run.keep_alive, run.connect, run.upgrade


def both(run: Connection, oracle: theirs.ConnectionState, event: Event) -> tuple[Connection, theirs.ConnectionState]:
    """One event on both sides: allowed here if it is there, and then with the same result; else nothing changes."""
    after, told = feed(run, event), hear(oracle, event)
    if told is None:
        assert isinstance(after, Refused), f"h11 refuses {event} after {run}, and we do not"
        assert after.run is run
        return run, oracle
    assert not isinstance(after, Refused), f"h11 allows {event} after {run}, and we do not"
    same(after, told)
    return after, told


def same(run: Connection, oracle: theirs.ConnectionState) -> None:
    states = {role.__name__.lower(): state.__name__ for role, state in oracle.states.items()}
    assert {"client": run.client.name, "server": run.server.name} == states
    assert run.keep_alive == oracle.keep_alive
    assert {CONNECT: run.connect, UPGRADE: run.upgrade} == {
        switch: switch in oracle.pending_switch_proposals for switch in (CONNECT, UPGRADE)
    }


def hear(oracle: theirs.ConnectionState, event: Event) -> theirs.ConnectionState | None:
    """h11's machine after the event, told of it as h11's `Connection` does; None where it does not allow it.

    It may have changed in part by then, so it is copied first. AttributeError: it meant to refuse a request that the
    server is not ready for, and failed over its own message.
    """
    told = copy.deepcopy(oracle)
    try:
        match event:
            case Request():
                for switch, proposed in ((CONNECT, event.connect), (UPGRADE, event.upgrade)):
                    if proposed:
                        told.process_client_switch_proposal(switch)
                told.process_event(theirs.CLIENT, said.Request)
            case Response():
                told.process_event(theirs.SERVER, said.Response)
            case Upgraded():
                told.process_event(theirs.SERVER, said.InformationalResponse, UPGRADE)
            case Connected():
                told.process_event(theirs.SERVER, said.Response, CONNECT)
            case ClientFailed():
                told.process_error(theirs.CLIENT)
            case ServerFailed():
                told.process_error(theirs.SERVER)
            case NextCycle():
                told.start_next_cycle()
            case _:
                role, kind = THEIR_NAMES[type(event)]
                told.process_event(role, kind)
    except (LocalProtocolError, AttributeError):
        return None
    if isinstance(event, Request | Response) and not event.keep_alive:
        told.process_keep_alive_disabled()
    return told
