"""A table tested by a list: ids, what is said where something else happens, and lists that cannot hold."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

import attrs
import pytest

from statecraft import Evidence, Fault, Ignored, Refused, Rows, Table, Unhandled, ignore, keep, seen
from statecraft.testing import Case, cases, table_test


class Door(Enum):
    SHUT = auto()
    OPEN = auto()


@attrs.frozen
class Push:
    force: int = 9


@attrs.frozen
class Wind:
    pass


@attrs.frozen
class Hail:
    pass


@attrs.frozen
class Hall:
    at: Door = Door.SHUT
    needed: int = 5
    signs: Mapping[str, str] = attrs.field(factory=dict[str, str])


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", 1 // event.force < 2 and event.force >= run.needed, force=event.force)


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, state: Door) -> Hall:
    return attrs.evolve(run, at=state)


row = Rows[Hall, Door, Any]()
HALL: Table[Hall, Door, Push | Wind, Any] = Table(
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep, strong),
        row(Door.OPEN, Push, Door.SHUT, keep),
        ignore([Door.SHUT, Door.OPEN], [Wind], "nobody feels it"),
    ],
    events=[Push, Wind],
    initial=Door.SHUT,
    final=[],
    at=at,
    move=move,
)
SHUT, OPEN = Hall(), Hall(Door.OPEN)
HAIL: Any = Hail()


def heavy() -> Hall:
    return Hall(needed=100)


test_every_entry_of_a_list_is_a_test = table_test(
    HALL,
    [
        (SHUT, Push(5), 0),
        (SHUT, Push(4), Refused),
        (SHUT, Push(6), Door.OPEN),
        (OPEN, Push(), 1),
        (heavy, Push(99), Refused),
        (lambda: Hall(needed=1), Push(1), Door.OPEN),
        (OPEN, Wind(), Ignored),
        (OPEN, HAIL, Unhandled),
    ],
)


@pytest.mark.parametrize("case", cases(HALL, [(SHUT, Push(5), 0), (SHUT, Push(4), Refused)]))
def test_the_entries_are_parameters_too(case: Case[Hall, Door, Push | Wind, Any]) -> None:
    case.check()


def ids(*entries: Any) -> list[str]:
    return [one.id for one in cases(HALL, entries)]


def test_an_id_is_the_state_the_event_and_what_is_expected() -> None:
    found = ids((SHUT, Push(5), 0), (OPEN, Push(5), Door.SHUT), (OPEN, Wind(), Ignored), (heavy, Push(), Refused))
    assert found == ["SHUT-Push-0", "OPEN-Push-SHUT", "OPEN-Wind-Ignored", "heavy-Push-Refused"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ((SHUT, Push(4), 0), "expected a step\nhall, SHUT on Push(force=4): refused"),
        ((OPEN, Push(4), Refused), "expected Refused, found row 1\nhall, OPEN on Push(force=4): row 1 was taken"),
        ((OPEN, Wind(), Refused), "expected Refused, found Ignored\nhall, OPEN on Wind()"),
        ((SHUT, Push(5), Ignored), "expected Ignored, found row 0"),
        ((heavy, Push(5), 0), "no  strong: force=5"),
    ],
)
def test_where_something_else_happens_every_guard_is_shown(entry: Any, said: str) -> None:
    (one,) = cases(HALL, [entry])
    case: Any = one.values[0]
    with pytest.raises(AssertionError) as found:
        case.check()
    assert said in str(found.value)


def test_a_fault_comes_through_even_where_no_row_is_expected() -> None:
    (one,) = cases(HALL, [(SHUT, Push(0), Refused)])
    case: Any = one.values[0]
    with pytest.raises(Fault, match="strong raised ZeroDivisionError"):
        case.check()


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([(SHUT, Push(5), 0), (SHUT, Push(5), 2)], "entry 1: there is no row 2, only 0 to 1"),
        ([(SHUT, Push(5), -1)], "entry 0: there is no row -1"),
        ([(SHUT, Push(5), 0), (OPEN, Push(5), 1), (Hall(), Push(5), Door.OPEN)], "entry 2, SHUT-Push-OPEN, says again"),
        ([(heavy, Push(5), Refused), (heavy, Push(5), 0)], "the run and on the event of entry 0"),
        ([(SHUT, Wind(), 0)], "entry 0: row 0 is for Push, not for Wind"),
        ([(OPEN, Push(5), 0)], "entry 0: row 0 leaves SHUT, not OPEN"),
        ([(SHUT, Push(5), Door.SHUT)], "reached by no row on Push from SHUT; there are OPEN"),
        ([(heavy, Wind(), Door.SHUT)], "reached by no row on Wind; there are none"),
        ([(SHUT, Push(5), True)], "found True"),
        ([(SHUT, Push(5), "OPEN")], "expected a row number, a state, Refused, Ignored or Unhandled, found 'OPEN'"),
        ([(SHUT, Push(5))], r"expected \(run, event, row\), found"),
        ([SHUT], r"expected \(run, event, row\), found Hall"),
    ],
)
def test_a_list_that_cannot_hold_is_refused_as_it_is_made(entries: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        table_test(HALL, entries)


def test_entries_that_differ_in_run_or_event_are_not_the_same() -> None:
    assert len(cases(HALL, [(SHUT, Push(5), 0), (SHUT, Push(6), 0), (Hall(needed=4), Push(5), 0)])) == 3
