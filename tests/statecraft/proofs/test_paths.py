"""A search that aims reaches every row that can be reached, and a small set of its ways takes all of them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import Reading, Rows, Step, Table, keep, reaches
from statecraft.guards import Level
from statecraft.proofs import (
    Aiming,
    Near,
    Search,
    Taken,
    Way,
    aim,
    aimed_paths,
    cover,
    explore,
    paths,
    row_paths,
    rows_on,
    stretches,
)

STOP = 12


class Mill(Enum):
    """Whether it grinds."""

    TURNING = auto()
    BROKEN = auto()
    HAUNTED = auto()


@attrs.frozen
class Grain:
    """How many sacks in a row were of one kind of corn; the dust tells every sack that there was."""

    at: Mill = Mill.TURNING
    kind: int = 0
    same: int = 0
    dust: int = 0


@attrs.frozen
class Sack:
    """A sack of one kind of corn."""

    kind: int


@attrs.frozen
class Ghost:
    """Nobody has ever seen one."""


def worn(run: Grain, event: Sack) -> Reading:
    now = run.same + 1 if event.kind == run.kind else 1
    return Reading("worn", now, STOP // 2, STOP, STOP)


def ground(run: Grain, event: Sack) -> tuple[Grain, tuple[()]]:
    same = run.same + 1 if event.kind == run.kind else 1
    return attrs.evolve(run, kind=event.kind, same=same, dust=run.dust * 6 + event.kind), ()


row = Rows[Grain, Mill, object]()
MILL = Table[Grain, Mill, Sack | Ghost, object](
    "mill",
    [
        row(Mill.TURNING, Sack, Mill.BROKEN, ground, reaches(worn, Level.STOP)),
        row(Mill.TURNING, Sack, Mill.TURNING, ground, reaches(worn, Level.NUDGE)),
        row(Mill.TURNING, Sack, Mill.TURNING, ground),
        row(Mill.TURNING, Ghost, Mill.HAUNTED, keep),
    ],
    events=[Sack, Ghost],
    initial=Mill.TURNING,
    final=[Mill.BROKEN, Mill.HAUNTED],
    at=lambda run: run.at,
    move=lambda run, state: attrs.evolve(run, at=state),
)
BREAKS, WEARS, GRINDS, HAUNTS = ((("mill",), number) for number in range(4))


def sacks(run: Grain) -> Iterator[Sack | Ghost]:
    yield from (Sack(kind) for kind in range(1, 6))


def ghosts(run: Grain) -> Iterator[Sack | Ghost]:
    yield Ghost()


GRINDING: Search[Grain, Sack | Ghost] = Search(MILL, {"empty": Grain()}, sacks, lambda run: run)
"""Five sorts a time, and twelve of one sort in a row to break it: 5 ** 12 runs lie before that."""


def test_a_row_that_lies_deep_is_aimed_at_where_breadth_first_does_not_come_to_it() -> None:
    broad = explore(GRINDING, "empty", states=2_000)
    assert BREAKS not in broad.rows
    aimed = aim(GRINDING, states=2_000)
    assert aimed.missing == (HAUNTS,)
    (found,) = aimed.found
    assert len(found.rows[BREAKS].events) >= STOP


def test_the_search_ends_as_soon_as_nothing_is_missing() -> None:
    aimed = aim(attrs.evolve(GRINDING, near={"haunted": Near(Grain(), ghosts)}), states=100_000)
    assert aimed.missing == ()
    assert aimed.states < 2_000
    assert aimed.found[0].start == "haunted", "where rows are near is looked at first"


def test_a_row_that_no_run_takes_is_not_missing_and_not_searched_for() -> None:
    aimed = aim(attrs.evolve(GRINDING, never={HAUNTS: "there are none"}), states=100_000)
    assert (aimed.missing, aimed.never) == ((), (HAUNTS,))
    assert aimed.states < 2_000


def test_a_row_that_was_said_never_to_be_taken_and_is_stands_among_the_found() -> None:
    aimed = aim(attrs.evolve(GRINDING, never={GRINDS: "it is said"}), states=1_000)
    assert aimed.never == ()
    assert GRINDS in aimed_paths(aimed).rows


@pytest.mark.parametrize("states", [2, 50, 500])
def test_no_more_runs_are_looked_at_than_were_allowed(states: int) -> None:
    told: list[Aiming] = []
    aimed = aim(GRINDING, states=states, tell=told.append)
    assert states <= aimed.states < states + 6, "the last run's moves are all made"
    assert told[-1].states == aimed.states


def test_the_ways_take_all_that_was_reached_and_the_rest_is_said() -> None:
    found = paths(MILL, [explore(GRINDING, "empty", states=100)])
    assert found.rows == {GRINDS}
    assert found.missing == (BREAKS, WEARS, HAUNTS)
    assert [len(way.events) for way in aimed_paths(aim(GRINDING, states=2_000)).ways] == [STOP], (
        "its beginnings are in it"
    )


def test_every_row_of_a_table_is_named_once_in_its_order() -> None:
    assert list(row_paths(MILL)) == [BREAKS, WEARS, GRINDS, HAUNTS]


def _way(rows: list[int]) -> Way[int, int]:
    steps = [Taken(n, n, Step(n, (), n, (), (), "mill", Mill.TURNING, Mill.TURNING), n) for n in rows]
    return Way("empty", 0, tuple(rows), tuple(steps))


@given(st.lists(st.lists(st.integers(0, 12), max_size=6).map(_way), max_size=12))
def test_a_cover_takes_every_row_and_none_of_its_ways_is_superfluous(ways: list[Way[int, int]]) -> None:
    chosen = cover(ways)
    everything = {row for way in ways for row in rows_on(way)}
    assert {row for way in chosen for row in rows_on(way)} == everything
    for way in chosen:
        assert {row for other in chosen if other is not way for row in rows_on(other)} != everything
    assert cover(ways) == chosen


def test_a_way_is_as_many_stretches_as_its_run_is_changed_between_two_steps() -> None:
    (way,) = aimed_paths(aim(GRINDING, states=2_000)).ways
    assert [one.steps for one in stretches(way)] == [way.steps]
    first, second, *rest = way.steps
    torn = attrs.evolve(way, steps=(first, attrs.evolve(second, before=Grain(dust=1)), *rest))
    assert [len(one.steps) for one in stretches(torn)] == [1, STOP - 1]
    assert stretches(torn)[1].run == Grain(dust=1)
