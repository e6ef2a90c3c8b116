"""Many runs with every fault mixed in at random: each ends, and what has to hold of it holds."""

from __future__ import annotations

import pytest

from machines.reply import REPLY
from machines.request import REQUEST

from .checks import wrong_with
from .moves import MOVES
from .scenario import LOOPS, scenario
from .tally import Tally, play_one, run_all
from .trace import trace

FIRST = 0
"""The first of the seeds that every test run plays."""

EVERY_DAY, DEEP = 300, 10_000
"""Runs, half of them on each event loop."""


def told(tally: Tally) -> str:
    lines = [*tally.lines()]
    for seed, wrong in sorted(tally.wrong.items()):
        lines += [f"seed {seed}: {line}" for line in wrong]
        lines.append(f"  play it again: .venv/bin/pytest tests/machines/agent/faults --seed {seed} -s")
    return "\n".join(lines)


def seeds_of(loop: str, first: int, count: int) -> list[int]:
    return [seed for seed in range(first, first + count) if scenario(seed).loop == loop]


@pytest.mark.parametrize("loop", LOOPS)
def test_every_run_ends_as_it_should_whatever_it_meets(loop: str) -> None:
    tally = run_all(seeds_of(loop, FIRST, EVERY_DAY), loop)
    print(told(tally))
    assert not tally.wrong, f"seeds from {FIRST} on:\n{told(tally)}"
    assert tally.runs == EVERY_DAY // 2


@pytest.mark.deep
@pytest.mark.parametrize("loop", LOOPS)
def test_ten_thousand_runs_end_as_they_should_and_meet_every_move_and_row(loop: str) -> None:
    tally = run_all(seeds_of(loop, 1_000_000, DEEP), loop, deep=True)
    print(told(tally))
    assert not tally.wrong, told(tally)
    assert set(MOVES).difference(tally.counts["move"]) == set()
    for table, taken in ((REPLY, tally.counts["Mending"]), (REQUEST, tally.counts["Sending"])):
        rows = {name.split()[0] for name in taken}
        assert {str(row) for row in range(len(table.rows))}.difference(rows) == set(), table.name


def test_the_run_of_a_seed_can_be_played_alone_and_is_told_line_by_line(one_seed: int) -> None:
    record, found = play_one(one_seed)
    lines = [*trace(record)]
    print("\n".join(lines))
    assert [*wrong_with(record, found)] == []
    assert f"seed {one_seed}: {record.scenario.wire}" in lines[0]
    assert sum(" -> " in line for line in lines) >= len(found.steps)


def test_a_seed_is_the_same_scenario_every_time() -> None:
    assert [scenario(seed) for seed in range(50)] == [scenario(seed) for seed in range(50)]
    assert len({repr(scenario(seed)) for seed in range(50)}) == 50
