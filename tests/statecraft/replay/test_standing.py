"""How a run stands: one headline, the step behind its end, and the end."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from statecraft.codec import codec
from statecraft.journal import MemoryStore
from statecraft.replay import Explanation, Standing, standing, told


def sailed(ferry: Any, happenings: list[Any], *, end: bool = True, **fresh: Any) -> MemoryStore:
    store = MemoryStore()
    ferry.sail(store, happenings=happenings, run=ferry.fresh(**fresh), end=end)
    return store


def gales(ferry: Any, count: int) -> list[Any]:
    return [ferry.Storm(n, n, bytes([n])) for n in range(count)]


def head(store: MemoryStore, ferry: Any) -> str:
    return told(standing(store, ferry.JOURNALED)).splitlines()[0]


def test_an_end_by_a_reading_at_its_limit_is_a_stop(ferry: Any) -> None:
    store = sailed(ferry, [ferry.Depart(0), *gales(ferry, 9)])
    found = standing(store, ferry.JOURNALED)
    assert (found.run, found.state, found.ended, found.journal) == ("voyage", "SUNK", True, "whole")
    assert found.came is not None
    assert found.last is not None
    assert (found.came.seq, found.came.target, found.last.seq) == (1, "SAILING", 5)
    assert head(store, ferry) == (
        "voyage: ended in SUNK, stopped by row 4 [storms at stop] on Storm (seq 5), "
        "after row 1 [trips_left, (warm & lucky)] on Depart (seq 1)"
    )


def test_both_steps_are_told_beneath_the_headline(ferry: Any) -> None:
    lines = told(standing(sailed(ferry, [ferry.Depart(0), *gales(ferry, 9)]), ferry.JOURNALED)).splitlines()
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == ["voyage", "seq 1", "seq 5"]


def test_an_end_by_no_limit_is_no_stop(ferry: Any) -> None:
    assert head(sailed(ferry, [ferry.Depart(0)], trips=0), ferry) == (
        "voyage: ended in RETIRED by row 2 on Depart (seq 1)"
    )


def test_the_stop_comes_first_where_it_only_led_to_the_end(ferry: Any) -> None:
    found = standing(sailed(ferry, [ferry.Depart(0), *gales(ferry, 9)]), ferry.JOURNALED)
    assert found.last is not None
    after = attrs.evolve(found, came=found.last, last=attrs.evolve(found.last, seq=6, row=2, rows=()))
    assert told(after).splitlines()[0] == (
        "voyage: ended in SUNK, stopped by row 4 [storms at stop] on Storm (seq 5), then by row 2 on Storm (seq 6)"
    )


def test_a_run_that_has_not_ended_says_where_it_stands_and_since_when(ferry: Any) -> None:
    store = sailed(ferry, [ferry.Depart(0), ferry.Storm(1, 1)], end=False)
    assert standing(store, ferry.JOURNALED).journal == "open"
    assert head(store, ferry) == (
        "voyage: has not ended; it stands in SAILING since row 1 [trips_left, (warm & lucky)] on Depart (seq 1)"
    )
    assert head(sailed(ferry, [ferry.Depart(0)], end=False), ferry).endswith("on Depart (seq 1)")


def test_a_run_that_has_not_begun_says_so(ferry: Any) -> None:
    assert told(standing(sailed(ferry, [], end=False), ferry.JOURNALED)) == (
        "voyage: has not ended; it stands in DOCKED, where it began"
    )
    leg = [ferry.Depart(0), ferry.Arrive(1), None]
    assert told(standing(sailed(ferry, leg, end=False), ferry.JOURNALED)).endswith("DOCKED, where it began")


def test_a_fault_is_said_in_the_headline(ferry: Any) -> None:
    store = sailed(ferry, [ferry.Board(0, ferry.crowd(13)), ferry.Depart(0)], end=False)
    assert head(store, ferry) == (
        "voyage: has not ended; it stands in DOCKED; the machine is at fault: "
        "lucky raised ArithmeticError: thirteen aboard (seq 2)"
    )


def test_refusals_after_the_end_change_nothing(ferry: Any) -> None:
    few, many = (standing(sailed(ferry, [ferry.Depart(0), *gales(ferry, n)]), ferry.JOURNALED) for n in (4, 9))
    assert few == many


def test_only_the_last_leg_counts(ferry: Any) -> None:
    found = standing(sailed(ferry, [ferry.Depart(0), *gales(ferry, 4), None, ferry.Depart(1)]), ferry.JOURNALED)
    assert (found.state, found.ended, found.came) == ("SAILING", False, None)
    assert found.last is not None
    assert found.last.seq == 7


def test_it_is_one_object_as_json(ferry: Any) -> None:
    plain = codec().to_plain(standing(sailed(ferry, [ferry.Depart(0), *gales(ferry, 9)]), ferry.JOURNALED))
    assert set(plain) == {"run", "machine", "state", "ended", "journal", "came", "last"}
    assert (plain["came"]["seq"], plain["last"]["seq"]) == (1, 5)


@pytest.mark.parametrize("ended", [True, False])
def test_a_last_event_that_took_no_row_is_told(ended: bool) -> None:
    refused = Explanation(3, "refused", "ferry", "DOCKED", "Board", None, None, "full", (), (), ())
    found = told(Standing("v", "ferry", "DOCKED", ended, "whole", None, refused)).splitlines()
    assert found[0] == ("v: ended in DOCKED; full" if ended else "v: has not ended; it stands in DOCKED")
    assert found[1] == "seq 3: ferry, DOCKED on Board: refused: full"
