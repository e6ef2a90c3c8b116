"""Every row of a run is walked: the search reaches all that can be, as tests and as traces they say the same again.

The search takes some seven seconds of CPU, so the ordinary run has a part of it, from a few of the starts. All of it is
`deep`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from machines.audit.judge import judge
from machines.cli.app import application
from machines.cli.pathing import read_otherwise, traces_of
from machines.events import Event
from machines.policy_file import read_policy
from machines.run import RUN
from machines.searched.play import NEVER, SEARCH
from machines.state import Run
from machines.supervisor import Moved, NewLeg
from machines.traces.from_events import recording
from machines.traces.neutral import read
from statecraft import Step
from statecraft.cli import run as run_app
from statecraft.proofs import AIMED, Aimed, Paths, RowPath, Way, aim, aimed_paths, row_paths, rows_of, stretches
from statecraft.testing import path_module

SOME = ("going round", "polling", "held and condensed", "nudged in vain", "facts required")
PART = attrs.evolve(SEARCH, starts={"stuck": SEARCH.starts["stuck"]}, near={name: SEARCH.near[name] for name in SOME})
AnyWay = Way[Run, Event]


@pytest.fixture(scope="module")
def part() -> Aimed:
    """What is found when each start may find a few hundred runs."""
    return aim(PART, states=1_600)


@pytest.fixture(scope="module")
def found(part: Aimed) -> Paths:
    """The ways through it."""
    return aimed_paths(part)


def test_half_of_the_rows_are_near_to_a_few_starts(found: Paths) -> None:
    assert len(found.rows) >= 105
    assert not set(NEVER) & found.rows


def test_each_stretch_of_a_way_is_stepped_by_the_table_alone(found: Paths) -> None:
    for way in found.ways:
        for stretch in stretches(way):
            run = stretch.run
            for step in stretch.steps:
                answer = RUN.step(run, step.event)
                assert answer == step.answer
                run = answer.run


def test_all_of_it_can_be_written_as_tests(found: Paths) -> None:
    module = path_module(found)
    assert module.missing == ()
    assert module.paths >= len(found.ways)
    held: dict[str, Any] = {}
    exec(compile(module.text, "test_run_paths.py", "exec"), held)
    for param in held["PATHS"]:
        held["test_path"](*param.values)


def test_only_the_row_that_is_named_is_never_taken() -> None:
    ((path, number),) = NEVER
    row = RUN.rows[number]
    assert (path, row.guards, row.effect.__name__) == (("run",), (), "stop_at_limit_in_reply")


@pytest.fixture(scope="module")
def folder(found: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ways as traces, with the policies of their starts."""
    folder = tmp_path_factory.mktemp("traces")
    for name, data in traces_of(found.ways).files.items():
        (folder / name).write_bytes(data)
    return folder


def test_a_trace_that_leaves_nothing_out_is_judged_as_the_way_went(found: Paths, folder: Path) -> None:
    whole, walked = 0, set[RowPath]()
    for number, way in enumerate(found.ways, 1):
        rows = _audited(folder, way, number)
        walked |= {row for some in rows for row in some}
        if not recording(way.run, way.events).left_out and not read_otherwise(way):
            taken = _taken(way)
            # Where the way ends with a stop, an audit has the account speak: that is one row more.
            assert rows[: len(taken)] == taken, (way.start, number)
            assert len(rows) <= len(taken) + 1, (way.start, number)
            whole += 1
    assert whole >= len(found.ways) // 2
    assert len(walked) >= len(found.rows) * 2 // 3


def _audited(folder: Path, way: AnyWay, number: int) -> list[tuple[RowPath, ...]]:
    """The rows that an audit of the way's trace takes, step by step."""
    name, moves = way.start.replace(" ", "_"), list[Moved | NewLeg]()
    recorded = next(read(folder / f"{name}-{number:03d}.jsonl"))  # its lines are read as it is judged
    judge(recorded, read_policy(folder / f"{name}.toml"), watch=moves.append)
    steps = [move.answer for move in moves if isinstance(move, Moved)]
    return [tuple(rows_of(answer)) for answer in steps if isinstance(answer, Step)]


def _taken(way: AnyWay) -> list[tuple[RowPath, ...]]:
    return [tuple(rows_of(step.answer)) for step in way.steps if isinstance(step.answer, Step)]


def test_the_verb_judges_the_traces(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = sorted(folder.glob("going_round-*.jsonl"))
    words = ["audit", "--json", "--policy", folder / "going_round.toml", *traces]
    assert run_app(application(), [str(word) for word in words]) == 0
    assert '"by":"cycle"' in capsys.readouterr().out


@pytest.mark.deep
def test_every_row_of_a_run_is_walked() -> None:
    aimed = aim(SEARCH)
    assert aimed.missing == ()
    assert aimed.never == tuple(NEVER)
    assert aimed.states < AIMED, "it ends as soon as the last row is found"
    assert aimed_paths(aimed).rows == set(row_paths(RUN)) - set(NEVER)


def test_the_verb_writes_what_it_found_and_says_what_it_did_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["paths", "--as", "trace", "--states", "401", "--into", str(tmp_path)]
    assert run_app(application(), words) == 1
    said = capsys.readouterr()
    assert {Path(line).suffix for line in said.out.splitlines()} == {".jsonl", ".toml"}
    assert sorted(map(str, tmp_path.iterdir())) == sorted(said.out.splitlines())
    assert "  not reached: run/held 8 WAITING Clock -> WAITING keep\n" in said.err
    assert "judge the traces of a start by its policy: statecraft audit --policy START.toml START-*.jsonl\n" in said.err
