"""Deciding again: the same events under another policy, where the two runs part and how both end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from statecraft import Reading
from statecraft.journal import MemoryStore
from statecraft.replay import Ending, decide_again, told


@pytest.fixture(scope="module")
def voyage(ferry: Any) -> MemoryStore:
    store = MemoryStore()
    ferry.sail(store)
    return store


def stop_at(limit: int) -> Callable[[Any], Any]:
    def change(run: Any) -> Any:
        return attrs.evolve(run, stop_at=limit)

    return change


def unchanged(run: Any) -> Any:
    return run


def test_a_policy_that_changes_nothing_never_parts(ferry: Any, voyage: MemoryStore) -> None:
    found = decide_again(voyage, ferry.JOURNALED, unchanged)
    assert found.parting is None
    assert found.recorded == found.again == (Ending(10, "SUNK", True), Ending(22, "RETIRED", True))
    assert found.difference is None
    assert "the two never part" in told(found)


def test_a_limit_that_only_shows_in_numbers_is_no_parting(ferry: Any) -> None:
    store = MemoryStore()
    ferry.sail(store, happenings=[ferry.Depart(0), ferry.Storm(1, 1), ferry.Arrive(2)])
    found = decide_again(store, ferry.JOURNALED, stop_at(9))
    assert found.parting is None
    assert found.again == (Ending(3, "DOCKED", False),)


def test_a_lower_limit_parts_where_it_is_reached(ferry: Any, voyage: MemoryStore) -> None:
    found = decide_again(voyage, ferry.JOURNALED, stop_at(2))
    assert found.parting is not None
    assert (found.parting.seq, found.parting.event) == (9, "Storm")
    assert (found.parting.recorded.row, found.parting.again.row) == (5, 4)
    assert (found.parting.recorded.target, found.parting.again.target) == ("SAILING", "SUNK")
    assert [one.stop for one in found.parting.recorded.seen if isinstance(one, Reading)] == [3]
    assert [one.stop for one in found.parting.again.seen if isinstance(one, Reading)] == [2]
    assert found.recorded[0] == Ending(10, "SUNK", True)
    assert found.again[0] == Ending(9, "SUNK", True)
    assert told(found) == (
        "voyage (ferry), decided again\n"
        "  they part at seq 9, on Storm\n"
        "    recorded: row 5 (SAILING Storm -> SAILING), asks Log\n"
        "      storms (nudge): now=2, nudge=1, stop=3, most=1000\n"
        "    again: row 4 (SAILING Storm -> SUNK)\n"
        "      storms (stop): now=2, nudge=1, stop=2, most=1000\n"
        "  from here the recorded events are the other run's; what follows is no forecast\n"
        "  leg 1 recorded: ended in SUNK at seq 10\n"
        "  leg 1 again:    ended in SUNK at seq 9\n"
        "  leg 2 recorded: ended in RETIRED at seq 22\n"
        "  leg 2 again:    ended in RETIRED at seq 22"
    )


def storms(ferry: Any, count: int) -> MemoryStore:
    store = MemoryStore()
    ferry.sail(store, happenings=[ferry.Depart(0), *[ferry.Storm(n, n, bytes([n])) for n in range(count)]])
    return store


def test_a_higher_limit_parts_where_the_recorded_run_stopped_and_may_be_open(ferry: Any) -> None:
    found = decide_again(storms(ferry, 4), ferry.JOURNALED, stop_at(99))
    assert found.parting is not None
    assert found.parting.seq == 5
    assert found.recorded == (Ending(5, "SUNK", True),)
    assert found.again == (Ending(1, "SAILING", False),)
    assert "again:    open, in SAILING since seq 1" in told(found)


def test_what_comes_after_the_recorded_end_is_no_longer_the_other_runs(ferry: Any) -> None:
    found = decide_again(storms(ferry, 5), ferry.JOURNALED, stop_at(99))
    assert found.again == (Ending(1, "SAILING", False, fits=False),)
    assert len(found.run.forces) == 4
    assert "again:    not known; it stands in SAILING since seq 1, and no further recorded event fits it" in told(found)


def test_an_end_that_is_reached_by_an_event_that_fits_no_more_is_left_out(ferry: Any) -> None:
    # Recorded: no trips are left and the ship is retired. Again: it sails, and the storms of nobody would sink it.
    store = MemoryStore()
    happenings = [ferry.Depart(0), *[ferry.Storm(n, n, bytes([n])) for n in range(9)]]
    ferry.sail(store, happenings=happenings, run=ferry.fresh(trips=0))

    def a_trip(run: Any) -> Any:
        return attrs.evolve(run, purse={ferry.Trips.TRIP: 1})

    found = decide_again(store, ferry.JOURNALED, a_trip)
    assert found.parting is not None
    assert (found.parting.seq, found.parting.again.target) == (1, "SAILING")
    assert (found.recorded, found.again) == (
        (Ending(1, "RETIRED", True),),
        (Ending(1, "SAILING", False, fits=False),),
    )
    assert "SUNK" not in told(found)


def test_the_next_leg_begins_anew(ferry: Any) -> None:
    store = MemoryStore()
    gales = [ferry.Storm(n, n, bytes([n])) for n in range(9)]
    ferry.sail(store, happenings=[ferry.Depart(0), *gales, None, ferry.Depart(1)])
    found = decide_again(store, ferry.JOURNALED, stop_at(99))
    assert [ending.fits for ending in found.again] == [False, True]
    assert found.again[1] == Ending(12, "SAILING", False)


def test_a_run_that_has_ended_earlier_parts_from_one_that_goes_on(ferry: Any, voyage: MemoryStore) -> None:
    def no_trips(run: Any) -> Any:
        return attrs.evolve(run, purse={ferry.Trips.TRIP: 0})

    found = decide_again(voyage, ferry.JOURNALED, no_trips)
    assert found.parting is not None
    assert (found.parting.seq, found.parting.recorded.kind, found.parting.again.kind) == (3, "fault", "step")
    assert found.again[0] == Ending(3, "RETIRED", True)


def test_the_change_reaches_later_legs_through_what_is_handed_on(ferry: Any, voyage: MemoryStore) -> None:
    assert decide_again(voyage, ferry.JOURNALED, stop_at(2)).run.stop_at == 2


def test_legs_that_stand_in_their_lines_are_changed_each(ferry: Any) -> None:
    journaled = attrs.evolve(ferry.JOURNALED, hand_on=None)
    store = MemoryStore()
    ferry.sail(store, journaled)
    found = decide_again(store, journaled, stop_at(1))
    assert found.run.stop_at == 1
    assert found.parting is not None
    assert found.parting.seq == 8


def test_a_table_that_answers_otherwise_today_is_said(ferry: Any, voyage: MemoryStore) -> None:
    def whistle(run: Any, event: Any) -> Any:
        return run, [ferry.Whistle(99)]

    journaled = attrs.evolve(ferry.JOURNALED, table=ferry.build(leave=whistle))
    found = decide_again(voyage, journaled, unchanged)
    assert found.difference is not None
    assert (found.difference.seq, found.difference.what) == (5, "commands")
    assert "no longer answers as recorded, from seq 5 on" in told(found)
