"""A million different runs, each step of which every law is asked: by hand, since it takes minutes."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from machines.searched.play import SEARCH
from statecraft.cli.searching import Walked, walked
from statecraft.cli.side_by_side import apart
from statecraft.proofs import Progress, Search

STATES = 1_000_000
ASKED = 1_001_000
"""A little more: what a start that closes leaves over may come too late for the others."""
SECONDS = 600
BYTES = 8 << 30


def by_two(
    searches: Sequence[Search[Any, Any]], states: int, tell: Callable[[Progress], None] | None
) -> Iterator[Walked]:
    return apart("machines", searches, states, 2, tell)


@pytest.mark.deep
def test_no_law_is_broken_in_a_million_runs_which_take_ten_minutes_and_8_gb_at_most() -> None:
    began = time.monotonic()
    found = walked([], [SEARCH], [], states=ASKED, apart=by_two)
    seconds = time.monotonic() - began
    states = sum(one.size for one in found.walks)
    unit = 1 if sys.platform == "darwin" else 1024
    # Of the processes together: twice what the larger one had at most.
    most = 2 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    print(*found.lines, f"{states:,} runs in {seconds:.0f} s, {most / (1 << 30):.1f} GiB", sep="\n")
    assert found.ok
    assert states >= STATES
    assert seconds <= SECONDS
    assert most <= BYTES
