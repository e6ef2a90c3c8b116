"""A million different runs, each step of which every law is asked: by hand, since it takes minutes."""

from __future__ import annotations

import resource
import sys
import time

import pytest

from machines.searched.play import SEARCH
from statecraft.cli.searching import walked

STATES = 1_000_000
SECONDS = 600
BYTES = 8 << 30


@pytest.mark.deep
def test_no_law_is_broken_in_a_million_runs_which_take_ten_minutes_and_8_gb_at_most() -> None:
    began = time.monotonic()
    found = walked([], [SEARCH], [], states=STATES)
    seconds = time.monotonic() - began
    states = sum(one.size for one in found.walks)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(*found.lines, f"{states:,} runs in {seconds:.0f} s, {most / (1 << 30):.1f} GiB", sep="\n")
    assert found.ok
    assert states >= STATES
    assert seconds <= SECONDS
    assert most <= BYTES
