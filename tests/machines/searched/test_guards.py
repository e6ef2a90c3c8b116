"""What the searches of a run see of its guards: much in a moment, and every guard that is not named here in the end."""

from __future__ import annotations

from machines.searched.play import SEARCH
from statecraft.proofs import explore
from statecraft.testing import SearchCoverage, SearchTally


def searched(states: int) -> SearchCoverage:
    """What is seen within so many runs from each start."""
    tally = SearchTally()
    for start in SEARCH.starts:
        explore(tally.of(SEARCH), start, states=states)
    return tally.coverage(SEARCH)


def unseen(found: SearchCoverage) -> set[tuple[str, str]]:
    """The guards that did not answer every way, each with its machine."""
    return {(one.name, asked.name) for one in found.coverage.machines for asked, _ in one.never_seen}


def test_a_small_search_sees_most_guards_and_no_rows_that_overlap() -> None:
    found = searched(100)
    assert found.ok
    assert {one.name: one.guards for one in found.coverage.machines}["run > request"] == (15, 15)
