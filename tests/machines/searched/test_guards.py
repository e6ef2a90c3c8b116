"""What the searches of a run see of its guards: much in a moment, and every guard that is not named here in the end."""

from __future__ import annotations

import pytest

from machines.searched.play import SEARCH
from statecraft.proofs import explore
from statecraft.testing import SearchCoverage, SearchTally

# Guards of the run itself that six thousand runs from each start leave open, by what was not seen.
NEVER_NO = {"turns_left", "late_call", "asking_call", "held_calls_left"} | {
    f"{name}_unsaid" for name in ("empty_thought", "cycle", "monologue", "fruitless_tool")
}
NEVER_YES = {"heard"}
NOT_EVERY_LEVEL = {"empty_thought", "cycle", "redundant_check", "fruitless_tool", "same_tool"}
NEVER_ASKED = {"same_tool_unsaid", "redundant_check_unsaid", "spread_duplicate_unsaid"}


def searched(states: int) -> SearchCoverage:
    """What is seen within so many runs from each start."""
    tally = SearchTally()
    for start in SEARCH.starts:
        explore(tally.of(SEARCH), start, states=states)
    return tally.coverage(SEARCH)


def unseen(found: SearchCoverage, machine: str) -> set[str]:
    """The guards of a machine that did not answer every way."""
    (one,) = (one for one in found.coverage.machines if one.name == machine)
    return {asked.name for asked, _ in one.never_seen}


def test_a_small_search_sees_every_guard_of_a_refused_request_and_no_rows_that_overlap() -> None:
    found = searched(100)
    assert found.ok
    assert unseen(found, "run > request") == set()
    assert {"run", "run > message", "run > reply"} <= {both.name for both in found.both}


@pytest.mark.deep
def test_no_guard_of_a_run_is_dead_but_for_those_that_these_starts_do_not_lead_to() -> None:
    found = searched(6_000)
    assert found.ok
    assert unseen(found, "run") <= NEVER_NO | NEVER_YES | NOT_EVERY_LEVEL | NEVER_ASKED
    for machine in ("reply", "request", "escalation", "wait"):
        assert unseen(found, f"run > {machine}") == set()
    assert unseen(found, "run > message") <= {"facts_required"}
    assert unseen(found, "run > held") <= {"not_offered", "stale"}
