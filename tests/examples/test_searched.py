"""The laws of the three machines that users know hold, and a search finds the mistake of a table that breaks one.

What is found is shown by the shortest way there, and by a test that fails on the broken table and passes on the right
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import attrs
import pytest

from statecraft import Row, Step, Table
from statecraft.cli.searching import STATES, counterexample
from statecraft.cli.searching import test_name as name_of_test  # pytest would take it for a test
from statecraft.proofs import Broken, Search, explore, skeleton
from statecraft.table import Mark

from . import document_searched, h11_searched, tcp_searched
from .document_approval import DAYS, DOCUMENT, Approve, AskChanges, Document, Publish, Submit, TellAuthor
from .h11_connection import (
    CLIENT,
    SERVER,
    ClientEnd,
    Connection,
    NextCycle,
    Request,
    Response,
    ServerEnd,
)
from .tcp_connection import TCP, Tcp
from .tcp_events import Data, Fin, Open, SynAck

AnyTable = Table[Any, Any, Any, Any]
AnySearch = Search[Any, Any]
S = Tcp
SEARCHES: Mapping[str, AnySearch] = {
    "h11": h11_searched.SEARCH,
    "tcp": tcp_searched.SEARCH,
    "document": document_searched.SEARCH,
}


def again(table: AnyTable, rows: Iterable[Row[Any, Any, Any]], marks: Iterable[Any]) -> AnyTable:
    """The table with other rows and marks."""
    return Table[Any, Any, Any, Any](
        table.name,
        [*rows, *marks],
        events=table.events,
        initial=table.initial,
        final=table.final,
        at=table.at,
        move=table.move,
        budgets=table.budgets,
        purse=table.left,
        pay=table.pay,
    )


def with_effect(table: AnyTable, name: str, effect: Any) -> AnyTable:
    """The table in which all rows with the effect of this name have another."""
    rows = [attrs.evolve(row, effect=effect) if row.effect.__name__ == name else row for row in table.rows]
    assert rows != list(table.rows)
    return again(table, rows, table.marks)


def give_back_with_approvals(run: Document, event: AskChanges) -> tuple[Document, list[TellAuthor]]:
    """Forgets that what was approved is no longer the document."""
    return attrs.evolve(run, due=event.at + DAYS), [TellAuthor(f"{event.by} asks for changes")]


def deaf(run: Connection, event: Response) -> tuple[Connection, tuple[()]]:
    """Does not hear `Connection: close` of the server."""
    return attrs.evolve(run, connect=False, upgrade=False), ()


def without(mark: Mark[Tcp]) -> Mark[Tcp]:
    """What is said of the cells, but of data in CLOSE-WAIT."""
    said = Tcp.CLOSE_WAIT in mark.states and Data in mark.events
    return attrs.evolve(mark, states=tuple(one for one in mark.states if one is not Tcp.CLOSE_WAIT)) if said else mark


RECEIVE = next(row for row in TCP.rows if row.event is Data)
LATE = again(
    TCP, [*TCP.rows, attrs.evolve(RECEIVE, sources=(S.CLOSE_WAIT,), target=S.CLOSE_WAIT)], map(without, TCP.marks)
)
KEEPING = with_effect(DOCUMENT, "give_back", give_back_with_approvals)
DEAF = with_effect(SERVER, "decline", deaf)


@attrs.frozen
class Fault:
    """A mistake in a table: the search of it, which law it breaks, the table's name here, and the right one."""

    search: AnySearch
    start: str
    law: str
    name: str
    right: AnyTable


FAULTS = {
    "tcp": Fault(
        attrs.evolve(tcp_searched.SEARCH, table=LATE),
        "as often as it likes",
        "nothing is delivered after FIN or RST",
        "LATE",
        TCP,
    ),
    "document": Fault(
        attrs.evolve(document_searched.SEARCH, table=KEEPING),
        "two of three",
        "what is published was approved as often as needed",
        "KEEPING",
        DOCUMENT,
    ),
    "h11": Fault(
        attrs.evolve(h11_searched.SEARCH, play=partial(h11_searched.stepped, CLIENT, DEAF)),
        "used as often as they like",
        "another cycle only while kept alive",
        "DEAF",
        SERVER,
    ),
}


def found(fault: Fault) -> Broken:
    """What the search finds: that law alone is broken."""
    (broken,) = explore(fault.search, fault.start, states=STATES, first=True).broken
    assert broken.law.name == fault.law
    return broken


def rows(broken: Broken) -> list[tuple[str, int]]:
    return [(step.answer.machine, step.answer.row) for step in broken.way.steps if isinstance(step.answer, Step)]


@pytest.mark.parametrize("name", SEARCHES)
def test_every_law_holds_of_all_runs_that_there_are(name: str) -> None:
    search = SEARCHES[name]
    for start in search.starts:
        seen = explore(search, start, states=STATES)
        assert (seen.broken, seen.closed) == ((), True)
    assert skeleton(search.table, search.shape).ok


def test_the_searches_come_to_every_row() -> None:
    taken = {
        path
        for search in SEARCHES.values()
        for start in search.starts
        for path, _ in explore(search, start, states=STATES).rows.items()
    }
    all_rows = {((table.name,), row) for table in (CLIENT, SERVER, TCP, DOCUMENT) for row in range(len(table.rows))}
    assert taken == all_rows


def test_data_that_is_delivered_after_the_end_of_the_peers_is_found() -> None:
    broken = found(FAULTS["tcp"])
    assert broken.problem == "delivered in CLOSE_WAIT, after the end of the peer's data"
    assert broken.way.events == (Open(), SynAck(), Fin(), Data())
    assert rows(broken) == [("tcp", 1), ("tcp", 4), ("tcp", 23), ("tcp", len(TCP.rows))]


def test_and_its_rows_alone_show_it() -> None:
    (shown,) = skeleton(LATE, tcp_searched.SHAPE).broken
    assert (shown.law.name, shown.problem) == ("nothing is delivered after FIN or RST", "CLOSE_WAIT may deliver")
    assert len(shown.way) == 4


def test_approvals_that_are_kept_when_changes_are_asked_for_are_found() -> None:
    broken = found(FAULTS["document"])
    assert broken.problem == "version 2 is approved by cid, and needs 2"
    assert broken.way.events == (
        Submit(0),
        Approve("bea", DAYS),
        AskChanges("bea", DAYS),
        Submit(2 * DAYS),
        Approve("cid", 3 * DAYS),
        Publish(),
    )
    assert rows(broken) == [("document", row) for row in (0, 2, 3, 0, 1, 12)]


def test_a_connection_that_is_used_again_after_close_is_found() -> None:
    broken = found(FAULTS["h11"])
    assert broken.problem == "another cycle of the server on a connection that closes"
    assert broken.way.events == (Request(), ClientEnd(), Response(keep_alive=False), ServerEnd(), NextCycle())
    way = [("server", 0), ("client", 0), ("client", 5), ("server", 4), ("client", 9), ("server", 7), ("server", 8)]
    assert rows(broken) == way


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_found_is_shown_by_a_test_that_fails_until_the_table_is_mended(name: str) -> None:
    fault = FAULTS[name]
    broken = found(fault)
    text = counterexample(fault.search, broken)
    assert "..." not in text
    known: dict[str, Any] = {}
    exec(text, known)
    test = known[name_of_test(fault.search.table, broken.law)]
    with pytest.raises(AssertionError):
        test()
    assert known[fault.name] is not fault.right
    known[fault.name] = fault.right
    test()
