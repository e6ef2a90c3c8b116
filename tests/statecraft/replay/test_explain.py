"""Explain: every row of the cell in order, and what each guard answered, readings at rest included."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import (
    Evidence,
    Fault,
    Level,
    Reading,
    Refused,
    Rows,
    Step,
    Table,
    guard,
    keep,
    ordered,
    reaches,
)
from statecraft.codec import codec
from statecraft.journal import JournalError, MemoryStore
from statecraft.replay import Explanation, Heard, RowHeard, explain, explained, told
from statecraft.replay.heard import values_of


@pytest.fixture(scope="module")
def voyage(ferry: Any) -> MemoryStore:
    store = MemoryStore()
    ferry.sail(store)
    return store


def test_the_end_is_explained_by_the_step_that_reached_it(ferry: Any, voyage: MemoryStore) -> None:
    assert told(explain(voyage, ferry.JOURNALED)) == (
        "seq 22: ferry, DOCKED on Depart: row 2 was taken, to RETIRED\n"
        "  first, inside:\n"
        "    engine, WARM on Depart: row 1 was taken, to WARM\n"
        "      row 1: WARM Depart -> WARM: taken\n"
        "  row 1: DOCKED Depart -> SAILING: no, because of trips_left\n"
        "    no  trips_left: left=0\n"
        "    -   (warm & lucky): not asked\n"
        "      -   warm: not asked\n"
        "      -   lucky: not asked\n"
        "  row 2: DOCKED Depart -> RETIRED: taken"
    )


def test_a_step_shows_the_rows_before_it_that_said_no_and_those_after_it_that_were_not_asked(
    ferry: Any, voyage: MemoryStore
) -> None:
    found = explain(voyage, ferry.JOURNALED, 8)
    assert [(row.row, row.outcome, row.said_no) for row in found.rows] == [
        (4, "refused", "storms at stop"),
        (5, "taken", ""),
        (6, "not asked", ""),
    ]
    assert dict(found.rows[0].guards[0].values) == {"now": 1, "nudge": 1, "stop": 3, "most": 1000}
    assert found.rows[0].guards[0].level == "nudge"
    assert (found.kind, found.source, found.target, found.row, found.commands) == (
        "step",
        "SAILING",
        "SAILING",
        5,
        ("Log",),
    )


def test_a_reading_at_rest_is_shown_with_its_values(ferry: Any, voyage: MemoryStore) -> None:
    rows = explain(voyage, ferry.JOURNALED, 7).rows
    assert [guard.holds for row in rows for guard in row.guards] == [False, False]
    assert [guard.level for row in rows for guard in row.guards] == ["rest", "rest"]
    assert rows[0].guards[0].values["now"] == 0


def test_a_combination_shows_its_parts(ferry: Any, voyage: MemoryStore) -> None:
    guards = explain(voyage, ferry.JOURNALED, 5).rows[0].guards
    assert [(one.guard, one.depth, one.holds) for one in guards] == [
        ("trips_left", 0, True),
        ("(warm & lucky)", 0, True),
        ("warm", 1, True),
        ("lucky", 1, True),
    ]
    assert dict(guards[3].values) == {"aboard": 15, "ratio": 0.75}


def test_a_refusal_shows_who_said_no(ferry: Any, voyage: MemoryStore) -> None:
    by_guard, by_table, ended = (explain(voyage, ferry.JOURNALED, seq) for seq in (2, 6, 11))
    assert told(by_guard) == (
        "seq 2: ferry, DOCKED on Board: refused\n"
        "  row 0: DOCKED Board -> DOCKED: no, because of has_room\n"
        "    no  has_room: free=7, boarding=9"
    )
    assert told(by_table) == "seq 6: ferry, SAILING on Board: refused: nobody boards at sea"
    assert told(ended) == "seq 11: ferry, SUNK on Storm: refused: the run has ended: SUNK"


def test_a_fault_shows_what_was_heard_before_it(ferry: Any, voyage: MemoryStore) -> None:
    assert told(explain(voyage, ferry.JOURNALED, 3)) == (
        "seq 3: ferry, DOCKED on Depart: fault: lucky raised ArithmeticError: thirteen aboard\n"
        "  row 1: DOCKED Depart -> SAILING: fault\n"
        "    yes trips_left: left=4\n"
        "    -   (warm & lucky): not asked\n"
        "      yes warm: starts=1\n"
        "      -   lucky: not asked\n"
        "  row 2: DOCKED Depart -> RETIRED: not asked"
    )


def test_the_lines_without_an_event_are_explained_too(ferry: Any, voyage: MemoryStore) -> None:
    assert told(explain(voyage, ferry.JOURNALED, 12)) == (
        "seq 12: ferry, SUNK: leg: the run was handed on from SUNK, and begins again in DOCKED"
    )
    assert told(explain(voyage, ferry.JOURNALED, 23)) == (
        "seq 23: ferry, RETIRED: end: the journal was closed after 23 lines"
    )


def test_the_last_step_that_took_a_row_is_found(ferry: Any, voyage: MemoryStore) -> None:
    assert explain(voyage, ferry.JOURNALED, row=5).seq == 9
    assert explain(voyage, ferry.JOURNALED, row=1).seq == 20
    store = MemoryStore()
    ferry.sail(store, happenings=[ferry.Depart(0)])
    with pytest.raises(JournalError, match=r"has no step that took row 4; the rows that were taken are 1$"):
        explain(store, ferry.JOURNALED, row=4)


@pytest.mark.parametrize("seq", [0, 24, -1])
def test_a_line_that_is_not_there_is_an_error(ferry: Any, voyage: MemoryStore, seq: int) -> None:
    with pytest.raises(JournalError, match=f"has no seq {seq}; it has from seq 1 to seq 23"):
        explain(voyage, ferry.JOURNALED, seq)


def test_refusals_after_the_end_do_not_explain_it(ferry: Any) -> None:
    store = MemoryStore()
    ferry.sail(store, happenings=[ferry.Depart(0), *[ferry.Storm(n, n, bytes([n])) for n in range(9)]], end=False)
    found = explain(store, ferry.JOURNALED)
    assert (found.seq, found.target, found.row) == (5, "SUNK", 4)


def test_an_open_run_is_explained_by_its_last_line(ferry: Any) -> None:
    store = MemoryStore()
    ferry.sail(store, happenings=[ferry.Depart(0), ferry.Board(1, ())], end=False)
    assert explain(store, ferry.JOURNALED).why == "nobody boards at sea"


def test_a_step_that_was_just_made_is_explained_without_a_journal(ferry: Any) -> None:
    run, event = ferry.fresh(), ferry.Tick(0)
    assert explained(ferry.FERRY, run, event, ferry.FERRY.step(run, event)).why == "time alone moves no ship"
    event = ferry.Depart(0)
    assert explained(ferry.FERRY, run, event, ferry.FERRY.step(run, event)).row == 1


def unasked(row: int, *guards: str) -> RowHeard:
    heard = [Heard(name, None, {}, "", depth) for name in guards for depth in (0, 1)]
    return RowHeard(row, "SHUT Push -> OPEN", "not asked", tuple(heard))


def explanation(*rows: RowHeard, taken: int | None = 3) -> Explanation:
    kind = "fault" if taken is None else "step"
    return Explanation(None, kind, "hall", "SHUT", "Push", "OPEN", taken, "", rows, (), ())


def test_a_row_that_was_not_asked_shows_what_it_would_have_asked() -> None:
    assert told(explanation(unasked(4, "oiled", "(a & b)"), unasked(5))) == (
        "hall, SHUT on Push: row 3 was taken, to OPEN\n"
        "  row 4: SHUT Push -> OPEN [oiled, (a & b)]: not asked, as row 3 was taken\n"
        "  row 5: SHUT Push -> OPEN: not asked, as row 3 was taken"
    )


def test_more_than_three_rows_that_were_not_asked_are_told_in_one_line() -> None:
    three = explanation(*(unasked(row, "a") for row in (4, 5, 6)))
    assert told(three).count("[a]: not asked") == 3
    four = explanation(*(unasked(row, "a") for row in (4, 5, 6, 9)))
    assert told(four).splitlines()[1:] == ["  rows 4-6, 9: not asked, as row 3 was taken"]
    assert [row["row"] for row in codec().to_plain(four)["rows"]] == [4, 5, 6, 9]
    fault = explanation(*(unasked(row, "a") for row in (4, 5, 6, 7)), taken=None)
    assert told(fault).splitlines()[1:] == ["  rows 4-7: not asked"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (47.0, "47"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (1e-9, "1e-09"),
        (12345.678, "12345.678"),
        (999999999999999.0, "999999999999999"),
        (1e15, "1e+15"),
        (float("inf"), "inf"),
        (2**70, str(2**70)),
        (True, "true"),
        (None, "null"),
        ("47.0", '"47.0"'),
    ],
)
def test_numbers_are_shown_plainly(value: Any, shown: str) -> None:
    row = RowHeard(0, "SHUT Push -> OPEN", "taken", (Heard("g", True, {"value": value}, "", 0),))
    assert told(explanation(row, taken=0)).splitlines()[-1] == f"    yes g: value={shown}"


@pytest.mark.parametrize(("most", "shown"), [(10**9, ", most=1000000000"), (10**9 + 1, "")])
def test_what_a_reading_can_reach_is_left_out_where_nothing_bounds_it(most: int, shown: str) -> None:
    values = {"now": 4, "nudge": 3, "stop": 4, "most": most}
    row = RowHeard(0, "SHUT Push -> OPEN", "taken", (Heard("r at stop", True, values, "stop", 0),))
    assert (
        told(explanation(row, taken=0)).splitlines()[-1] == f"    yes r at stop (stop): now=4, nudge=3, stop=4{shown}"
    )
    row = RowHeard(0, "SHUT Push -> OPEN", "taken", (Heard("g", True, {"most": most}, "", 0),))
    assert told(explanation(row, taken=0)).splitlines()[-1] == f"    yes g: most={most}"


def test_the_numbers_of_a_reading_come_before_what_else_it_rests_on() -> None:
    values = values_of(Reading("r", 1, 2, 3, 4, {"last": "state"}))
    assert list(values) == ["now", "nudge", "stop", "most", "last"]


def test_an_event_outside_the_alphabet_is_explained_with_the_alphabet(ferry: Any) -> None:
    run, event = ferry.fresh(), Look()
    found = explained(ferry.FERRY, run, event, ferry.FERRY.step(run, event))
    assert told(found) == (
        "ferry, DOCKED on Look: fault: Look is not in the machine's alphabet, "
        "which is Board, Depart, Arrive, Storm, Tick"
    )


def test_a_fault_of_no_row_leaves_every_row_unasked(ferry: Any) -> None:
    fault = Fault("ferry", None, "put of engine", "raised KeyError: 'engine'")
    assert told(explained(ferry.FERRY, ferry.fresh(), ferry.Depart(0), fault)) == (
        "ferry, DOCKED on Depart: fault: put of engine raised KeyError: 'engine'\n"
        "  row 1: DOCKED Depart -> SAILING [trips_left, (warm & lucky)]: not asked\n"
        "  row 2: DOCKED Depart -> RETIRED: not asked"
    )


def test_a_fault_of_an_inner_machine_is_said_of_it(ferry: Any) -> None:
    fault = Fault("engine", 0, "start", "raised KeyError: 'oil'")
    found = explained(ferry.FERRY, ferry.fresh(), ferry.Depart(0), fault)
    assert told(found) == "ferry, DOCKED on Depart: fault: start raised KeyError: 'oil' (in engine)"


def test_what_happened_inside_a_refusal_is_said_to_be_undone() -> None:
    inside = Explanation(None, "step", "closer", "SLACK", "Push", "WORN", 0, "", (), (), ())
    found = Explanation(None, "refused", "hall", "SHUT", "Push", None, None, "", (), (inside,), ())
    assert told(found) == (
        "hall, SHUT on Push: refused\n"
        "  first, inside, undone as no row was taken:\n"
        "    closer, SLACK on Push: row 0 was taken, to WORN"
    )


@attrs.frozen
class Count:
    at: Any
    values: tuple[int, ...]


@attrs.frozen
class Look:
    pass


def test_the_answers_are_laid_over_any_rows_as_the_guards_give_them(ferry: Any) -> None:
    place = ferry.Place

    def evidence(index: int) -> Any:
        def question(run: Count, event: Look) -> Evidence:
            return Evidence(f"g{index}", run.values[index] > 0, {"value": run.values[index]})

        question.__name__ = f"g{index}"
        return guard(question)

    def reading(run: Count, event: Look) -> Reading:
        return Reading("r", run.values[0], 1, 2, 9)

    def raising(run: Count, event: Look) -> Evidence:
        if run.values[1] == 2:
            raise ZeroDivisionError
        return Evidence("raising", False)

    a, b, c = (evidence(index) for index in range(3))
    nudged, stopped = reaches(reading, Level.NUDGE), reaches(reading, Level.STOP)
    row = Rows[Count, Any, Any]()
    rows = [
        row(place.DOCKED, Look, place.SUNK, keep, stopped, a & b, raising),
        row(place.DOCKED, Look, place.SAILING, keep, ~(a | c), nudged),
        row(place.DOCKED, Look, place.SUNK, keep, ~nudged & (b | ~c), a & b),
        row(place.DOCKED, Look, place.SUNK, keep, b, ~nudged | ~a),
        row(place.DOCKED, Look, place.RETIRED, keep, c, stopped),
    ]

    def at(run: Count) -> Any:
        return run.at

    def move(run: Count, at: Any) -> Count:
        return attrs.evolve(run, at=at)

    table: Table[Count, Any, Look, Any] = Table(
        "count",
        [*rows, ordered([place.DOCKED], [Look], "the order is what is tested")],
        events=[Look],
        initial=place.DOCKED,
        final=[place.SAILING, place.SUNK, place.RETIRED],
        at=at,
        move=move,
    )

    for values in ((x, y, z) for x in range(3) for y in range(3) for z in range(2)):
        run = Count(place.DOCKED, values)
        fault = answer = None
        try:
            answer = table.step(run, Look())
        except Fault as raised:
            fault = raised
        answered = answer or fault
        assert answered is not None
        found = explained(table, run, Look(), answered)
        taken = answer.row if isinstance(answer, Step) else None
        assert isinstance(answer, Step | Refused) or found.rows[0].outcome == "fault"
        for heard_row, asked in zip(found.rows, rows, strict=True):
            top = [heard for heard in heard_row.guards if heard.depth == 0]
            for heard, question in zip(top, asked.guards, strict=True):
                if heard.holds is not None:
                    assert heard.holds == question(run, Look()).holds
            holds = [heard.holds for heard in top]
            if heard_row.outcome == "taken":
                assert heard_row.row == taken
                assert all(holds)
            elif heard_row.outcome == "refused":
                assert holds[: holds.index(False)] == [True] * holds.index(False)
                assert holds[holds.index(False) + 1 :] == [None] * (len(holds) - holds.index(False) - 1)
                assert heard_row.said_no == top[holds.index(False)].guard
            elif heard_row.outcome == "not asked":
                assert holds == [None] * len(holds)


@given(st.data())
def test_every_line_of_any_voyage_can_be_explained(ferry: Any, data: st.DataObject) -> None:
    kinds = [
        st.builds(ferry.Board, st.just(0), st.lists(st.text(max_size=2), max_size=9).map(tuple)),
        st.just(ferry.Depart(0)),
        st.just(ferry.Arrive(0)),
        st.builds(ferry.Storm, st.just(0), st.just(1), st.binary(max_size=1)),
        st.none(),
    ]
    store = MemoryStore()
    ferry.sail(store, happenings=data.draw(st.lists(st.one_of(kinds), max_size=10)))
    for seq in range(1, len(list(store.lines()))):
        found = explain(store, ferry.JOURNALED, seq)
        assert found.seq == seq
        outcomes = [row.outcome for row in found.rows]
        if found.kind == "step":
            assert outcomes.count("taken") == 1
        if found.kind == "refused":
            assert set(outcomes) <= {"refused"}
        assert all(row.said_no for row in found.rows if row.outcome == "refused")
        assert told(found).startswith(f"seq {seq}: ferry, ")
