"""How fast recorded runs are judged, from the file to the line of JSON, and how much memory that takes."""

from __future__ import annotations

import gc
import hashlib
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from machines.audit import Judged, judge
from machines.audit.report import as_json
from machines.recent import Recent
from machines.traces.formats import open_trace

from .conftest import Bench

pytestmark = pytest.mark.benchmark

TURNS_A_SECOND = 5_000
RECORDED = ("claude-code-stream-json", "swe-agent-traj", "mini-swe-agent-v1", "mini-swe-agent-v2")

CODE = "".join(f"    def part_{line}(self, value: int) -> int:\n        return value + {line}\n" for line in range(12))
LOG = "".join(
    f"tests/test_part_{line}.py::test_that_part_{line}_of_the_package_is_what_it_says PASSED [{3 * line:3}%]\n"
    if line % 8
    else f"2026-03-17T09:{line:02}:44.{line * 7:03}Z INFO worker {line}: part {line} took {line} ms\n"
    for line in range(28)
)


def audited(paths: Iterable[Path]) -> Iterator[Judged]:
    """What `statecraft audit --json` does with files, without writing it out."""
    for path in paths:
        for recorded in open_trace(path):
            recent = Recent()
            judged = judge(recorded, keep=recent.keep)
            assert as_json(judged, recent)
            yield judged


def turns_of(paths: Iterable[Path]) -> int:
    return sum(judged.turns for judged in audited(paths))


def write_trace(path: Path, runs: int, turns: int, log: str = LOG) -> Path:
    """A neutral trace whose sizes are those of the recordings: replies of a few hundred letters with a call or two.

    An answer is a word, a piece of a file, or a log. Every turn brings something new, so all are judged.
    """
    with path.open("wb") as stream:
        for run in range(runs):
            for line in _run(run, turns, log):
                stream.write(orjson.dumps(line) + b"\n")
    return path


def _run(run: int, turns: int, log: str) -> Iterator[dict[str, Any]]:
    tools = {"read": {"kind": "read"}, "bash": {"kind": "command"}, "edit": {"kind": "write", "target": ["path"]}}
    yield {"t": "run", "format": "statecraft.trace/1", "id": f"made-{run}", "work": "edit", "tools": tools}
    yield {"t": "user", "text": "Make the tests of this project pass. " * 12, "at": 1}
    for turn in range(turns):
        at, calls = 10 * turn + 2, list(_calls(turn))
        text = f"Step {turn}: the next failure points at module {turn % 17}, so I look at what calls it. " * 3
        usage = {"input": 9_000 + 300 * (turn % 50), "output": 180, "cached": 8_000}
        yield {"t": "reply", "stop": "tool_use", "calls": calls, "text": text, "usage": usage, "at": at}
        for call in calls:
            yield {"t": "result", "call": call["id"], "at": at + 3, **_result(call["tool"], run, turn, log)}
    yield {"t": "end", "status": "success", "at": 10 * turns + 2}


def _calls(turn: int) -> Iterator[dict[str, Any]]:
    path = f"src/package/module_{turn % 17}.py"
    if turn % 3 == 0:
        yield {"id": f"c{turn}a", "tool": "read", "args": {"path": path, "from": turn, "lines": 40}}
    elif turn % 3 == 1:
        args = {"path": path, "old": CODE[:220], "new": CODE[:240] + f"# {turn}\n"}
        yield {"id": f"c{turn}a", "tool": "edit", "args": args}
    if turn % 3 == 2 or turn % 8 == 0:
        command = f"cd /workspace && python -m pytest tests/test_{turn % 17}.py -x -q --no-header 2>&1 | tail -40"
        yield {"id": f"c{turn}b", "tool": "bash", "args": {"command": command}}


def _result(tool: str, run: int, turn: int, log: str) -> dict[str, Any]:
    if tool == "edit":
        state = hashlib.sha256(b"%d %d" % (run, turn)).hexdigest()
        return {"value": f"ok, {turn} lines", "wrote": True, "state": state, "target": f"src/package/{turn % 17}.py"}
    if tool == "read":
        return {"value": f"{turn}: {CODE[: 300 + 7 * (turn % 40)]}"}
    return {"value": f"{log}{turn} failed, {turn % 5} passed in {turn % 9}.13s"}


def test_a_trace_of_the_usual_shape_is_judged_at_5_000_turns_a_second(tmp_path: Path, bench: Bench) -> None:
    path = write_trace(tmp_path / "made.jsonl", runs=30, turns=60)
    found = list(audited([path]))
    assert sum(judged.turns for judged in found) == 1_800
    assert {judged.worst for judged in found} == {"continue"}
    assert not any(judged.problems for judged in found)
    (spent,), factor = bench.race(lambda: turns_of([path]), rounds=7)
    bytes_a_turn = path.stat().st_size / 1_800
    beside = f"{bytes_a_turn:,.0f} bytes a turn"
    bench.hold(
        "audit, a made trace", 1e6 * 1_800 / spent, TURNS_A_SECOND / factor, "turns/s", beside=beside, at_least=True
    )


def test_the_recordings_are_judged_at_5_000_turns_a_second(shared: Path, bench: Bench) -> None:
    folders = [shared / "corpus" / "trajectory" / name for name in RECORDED]
    paths = [path for folder in folders for path in sorted(folder.iterdir())]
    turns = turns_of(paths)
    assert turns > 2_000
    (spent,), factor = bench.race(lambda: turns_of(paths), rounds=7)
    beside = f"{len(paths)} files, {turns} turns"
    bench.hold(
        "audit, the recordings", 1e6 * turns / spent, TURNS_A_SECOND / factor, "turns/s", beside=beside, at_least=True
    )


def peak(path: Path) -> int:
    """The most memory, in bytes, that auditing the file takes at once."""
    gc.collect()
    tracemalloc.start()
    try:
        for _ in audited([path]):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_file_of_more_runs_takes_no_more_memory(tmp_path: Path, bench: Bench) -> None:
    few = write_trace(tmp_path / "few.jsonl", runs=10, turns=60)
    many = write_trace(tmp_path / "many.jsonl", runs=80, turns=60)
    peak(few)  # what is remembered from one file to the next
    grown = (peak(many) - peak(few)) / 70
    beside = f"{many.stat().st_size / 80:,.0f} bytes in the file"
    bench.hold("memory, each run more", grown, 2_048, "bytes", beside=beside)


def test_a_longer_run_takes_no_more_memory_than_its_ledger_grows(tmp_path: Path, bench: Bench) -> None:
    short = write_trace(tmp_path / "short.jsonl", runs=1, turns=400)
    long = write_trace(tmp_path / "long.jsonl", runs=1, turns=2_400)
    peak(short)
    grown = (peak(long) - peak(short)) / 2_000
    beside = f"{long.stat().st_size / 2_400:,.0f} bytes in the file"
    bench.hold("memory, each turn more", grown, 200, "bytes", beside=beside)


def test_long_results_are_not_kept(tmp_path: Path, bench: Bench) -> None:
    log = LOG * 100
    few = write_trace(tmp_path / "few.jsonl", runs=1, turns=60, log=log)
    many = write_trace(tmp_path / "many.jsonl", runs=1, turns=240, log=log)
    peak(few)
    one, four = peak(few), peak(many)
    assert few.stat().st_size > 20 * len(log)
    beside = f"{one / 1e6:.1f} MB for 20 results of {len(log) / 1e6:.2f} MB"
    bench.hold("memory, 4 times as many long results", four / one, 1.6, "x", beside=beside)
