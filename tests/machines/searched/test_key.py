"""Two runs of one key take the same rows, whatever comes next: or the search would leave out what it does not see."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

import attrs
import pytest

from machines.searched.key import key_of
from machines.searched.moves import moves
from machines.searched.play import SEARCH, play
from machines.state import Run
from statecraft.proofs import rows_of

STATES, EACH = 250, 6


def behaviour(run: Run) -> list[Hashable]:
    """What comes of each move, and the key of the run that it leads to."""
    found: list[Hashable] = []
    for event in moves(run):
        steps = play(run, event)
        after = steps[-1].after if steps else run
        found.append((type(event), tuple(tuple(rows_of(step.answer)) for step in steps), key_of(after)))
    return found


@pytest.mark.parametrize("start", SEARCH.starts)
def test_runs_of_one_key_take_the_same_rows_and_lead_to_the_same_keys(start: str) -> None:
    first = SEARCH.starts[start]
    known, todo, merged = {key_of(first): first}, deque([first]), 0
    while todo and len(known) < STATES:
        run = todo.popleft()
        for event in moves(run):
            steps = play(run, event)
            after = steps[-1].after if steps else run
            other = known.setdefault(key_of(after), after)
            if other is after:
                todo.append(after)
            elif other != after:
                merged += 1
                if merged % EACH == 0:
                    assert behaviour(after) == behaviour(other), attrs.asdict(after, recurse=False)
    assert merged >= EACH
