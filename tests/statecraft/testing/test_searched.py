"""What searches see of guards and rows: refusals and inner machines too, and the evidence of rows that held at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import Evidence, Level, Reading, Table, guard, ordered, reaches, seen, value_is
from statecraft.proofs import Search, Taken, explore
from statecraft.testing import Both, SearchCoverage, SearchTally

from .halls import (
    IN_ORDER,
    QUIET,
    REST,
    Door,
    Hall,
    Push,
    Spring,
    Stock,
    Wind,
    closer,
    count,
    door,
    hall,
    inside,
    push,
    spring,
    strong,
)

Halls = Table[Hall, Door, Push | Wind, Any]


def heavy(run: object, event: Push) -> Evidence:
    return seen("heavy", event.force >= 9, force=event.force, wanted=9)


def never(run: object, event: Push) -> Evidence:
    return seen("never", False)


def always(run: object, event: Push) -> Evidence:
    return seen("always", True)


def tired(run: object, event: Push) -> Reading:
    return Reading("tired", event.force, nudge=3, stop=9, most=20)


def pushed(run: Hall, event: Push) -> Evidence:
    return seen("pushed", run.closer.pushes > 0, pushes=run.closer.pushes)


def search_of(table: Halls, *forces: int) -> Search[Hall, Push | Wind]:
    """Pushes of these forces, and wind, at a door that is shut."""
    events: list[Push | Wind] = [*map(Push, forces), Wind()]
    return Search(table, {"shut": Hall()}, lambda run: events, lambda run: (run.at, run.closer.at))


def searched(table: Halls, *forces: int) -> SearchCoverage:
    tally, search = SearchTally(), search_of(table, *forces)
    assert explore(tally.of(search), "shut").closed
    return tally.coverage(search)


def unseen(found: SearchCoverage) -> list[tuple[str, str, list[str]]]:
    return [
        (one.name, asked.name, [way.text for way in ways])
        for one in found.coverage.machines
        for asked, ways in one.never_seen
    ]


def test_guards_that_never_and_always_held_are_told_apart() -> None:
    table = door(push(never), push(always, strong), REST, IN_ORDER)
    found = searched(table, 4, 9)
    assert unseen(found) == [
        ("hall", "never", ["said yes"]),
        ("hall", "always", ["said no"]),
    ]
    assert found.coverage.machines[0].never_taken == (0,)
    assert (found.coverage.guards, found.coverage.rows) == ((1, 3), (2, 3))


def test_a_guard_behind_one_that_never_holds_is_never_asked() -> None:
    assert unseen(searched(door(push(never, heavy), push(strong), REST, IN_ORDER), 4, 9)) == [
        ("hall", "never", ["said yes"]),
        ("hall", "heavy", ["said yes", "said no"]),
    ]


@pytest.mark.parametrize(("forces", "missing"), [((2, 3), ["at stop"]), ((3, 9), ["at rest"]), ((2, 3, 9), [])])
def test_a_reading_is_seen_at_each_level_that_rows_ask(forces: tuple[int, ...], missing: list[str]) -> None:
    table = door(push(reaches(tired, Level.STOP)), push(reaches(tired, Level.NUDGE)), REST)
    assert unseen(searched(table, *forces)) == ([("hall", "tired", missing)] if missing else [])


def test_a_refusal_leads_to_no_new_run_and_counts() -> None:
    assert unseen(searched(door(push(strong)), 4, 5)) == []
    assert unseen(searched(door(push(strong)), 5)) == [("hall", "strong", ["said no"])]


def test_rows_that_held_at_once_have_the_first_event_and_the_evidence_of_both() -> None:
    found = searched(door(push(strong), push(heavy), REST, IN_ORDER), 8, 9, 10)
    assert found.both == (
        Both(
            "hall",
            "SHUT",
            "Push",
            (0, 1),
            "ordered",
            Hall(),
            Push(9),
            ((seen("strong", True, force=9),), (seen("heavy", True, force=9, wanted=9),)),
        ),
    )
    assert (found.pairs.count, found.ok) == ((1, 1), True)
    none = searched(door(push(strong), push(heavy), REST, IN_ORDER), 8)
    assert (none.both, none.pairs.count) == ((), (0, 1))


def test_the_plain_rest_of_a_row_holds_with_it_and_is_called_so() -> None:
    (both,) = searched(door(push(strong, heavy), push(strong), REST), 9).both
    assert (both.rows, both.why) == ((0, 1), "rest")


def test_evidence_has_the_values_of_readings_of_combinations_and_of_what_is_spent() -> None:
    either = guard(strong) & ~guard(heavy)
    table = door(push(either), push(reaches(tired, Level.NUDGE)), push(spends=Stock.OIL), REST, IN_ORDER)
    evidence = {both.rows: both.evidence for both in searched(table, 6).both}
    assert evidence[0, 1] == (
        (Evidence("(strong & ~heavy)", True, {"force": 6, "wanted": 9}),),
        (Evidence("tired at nudge", True, {"now": 6, "nudge": 3, "stop": 9, "most": 20}),),
    )
    assert evidence[1, 2][1] == (Evidence("oil_left", True, {"left": 5}),)


def test_a_value_that_two_parts_see_differently_is_kept_twice() -> None:
    def soft(run: object, event: Push) -> Evidence:
        return seen("soft", True, force="none")

    table = door(push(guard(strong) & soft), push(heavy), REST, IN_ORDER)
    (both,) = searched(table, 9).both
    assert both.evidence[0] == (Evidence("(strong & soft)", True, {"force": 9, "soft.force": "none"}),)


def test_an_inner_machine_is_seen_within_the_outer_one_and_outer_guards_see_it_stepped() -> None:
    rows = (spring(Spring.SLACK, Push, Spring.SLACK, count, one) for one in (strong, heavy))
    held = inside(closer(*rows, ordered([Spring.SLACK], [Push], "as they are tried")))
    found = searched(door(push(strong), push(pushed), REST, IN_ORDER, inners=[held]), 4, 9)
    assert [(both.name, both.rows, both.state) for both in found.both] == [
        ("hall", (0, 1), "SHUT"),
        ("hall > closer", (0, 1), "SLACK"),
    ]
    assert found.both[0].evidence[1] == (seen("pushed", True, pushes=1),)
    # No step asks the second row of either where it holds, as the first one is taken.
    assert unseen(found) == [("hall", "pushed", ["said yes"]), ("hall > closer", "heavy", ["said yes"])]


def honest(run: Hall, event: Push) -> Door:
    return Door.SHUT


def two_faced() -> Callable[[Hall, Push], Door]:
    """A value that is not what it was when it was asked before."""
    asked = list[Door]()

    def found(run: Hall, event: Push) -> Door:
        asked.append(Door.OPEN if len(asked) % 2 else Door.SHUT)
        return asked[-1]

    return found


def test_rows_that_only_say_that_they_are_apart_overlap_where_both_hold() -> None:
    cases: list[tuple[Callable[[Hall, Push], Door], list[Any]]] = [(honest, []), (two_faced(), [(0, 1)])]
    for found, overlaps in cases:
        shut, wide = value_is("shut", "door", found, Door.SHUT), value_is("wide", "door", found, Door.OPEN)
        seen_so = searched(door(push(shut), push(wide), REST), 1)
        assert [both.rows for both in seen_so.overlaps] == overlaps
        assert seen_so.ok == (not overlaps)
        assert seen_so.pairs.count == (0, 0)
        if overlaps:
            sides = (seen("shut", True, door=Door.SHUT.value),), (seen("wide", True, door=Door.OPEN.value),)
            assert seen_so.both[0].evidence == sides


def test_one_tally_hears_several_searches_and_only_the_table_that_is_searched() -> None:
    table, other = door(push(strong)), hall(REST, QUIET, name="other", final=[Door.OPEN, Door.GONE])

    def play(run: Hall, event: Push | Wind) -> Sequence[Taken[Hall, Push | Wind]]:
        answers = (other.step(run, event), table.step(run, event))
        return [Taken(run, event, answer, answer.run) for answer in answers]

    tally = SearchTally()
    for force in (4, 5):
        explore(tally.of(attrs.evolve(search_of(table, force), play=play)), "shut")
        assert unseen(tally.coverage(search_of(table))) == ([] if force == 5 else [("hall", "strong", ["said yes"])])


def test_a_search_that_is_heard_finds_what_it_finds_alone() -> None:
    search = search_of(door(push(strong), push(never), REST, IN_ORDER), 4, 9)
    alone, heard = explore(search, "shut"), explore(SearchTally().of(search), "shut")
    assert (alone.states, alone.steps, alone.rows) == (heard.states, heard.steps, heard.rows)


def bit(number: int) -> Any:
    def ask(run: object, event: Push) -> Evidence:
        return seen(f"bit{number}", bool(event.force >> number & 1))

    return ask


BITS = tuple(bit(number) for number in range(4))


@given(st.lists(st.frozensets(st.integers(0, 3), min_size=1), min_size=2, max_size=5), st.sets(st.integers(0, 15)))
def test_the_pairs_are_those_of_which_one_event_answers_both(rows: list[frozenset[int]], forces: set[int]) -> None:
    kept = [one for n, one in enumerate(rows) if not any(earlier <= one for earlier in rows[:n])]
    marks = [IN_ORDER] if any(not other <= one for one, other in combinations(kept, 2)) else []
    found = searched(
        door(*(push(*(BITS[number] for number in sorted(one))) for one in kept), REST, *marks), *sorted(forces)
    )
    asked = [sum(1 << number for number in one) for one in kept]
    assert {both.rows for both in found.both} == {
        (one, other)
        for one, other in combinations(range(len(kept)), 2)
        if any(force & (asked[one] | asked[other]) == asked[one] | asked[other] for force in forces)
    }
