"""Recordings that a harness or a person judged: work that ended well is let work, what was stuck is caught.

A run of InterCode ends well at the turn in which its score is first whole; some go on repeating themselves after it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from machines.audit import Judged, judge
from machines.traces.formats import FORMATS, open_trace
from machines.traces.lines import GoalLine, ReplyLine
from machines.traces.recorded import Recorded

Label = Mapping[str, Any]

STUCK = ("ccs-030", "ccs-046", "cast-067", "mini1-009")
"""Files that a person looked at and found stuck, for a time or to the end."""

HEALTHY_WAITS = ("cast-070", "cast-073")


@attrs.frozen
class Seen:
    """A recorded run: its file, what it came to, its labels, and the turn in which it had done all there was to do."""

    file: str
    judged: Judged
    solved: bool
    crude: str | None
    score: float
    done_at: int | None

    @property
    def stopped_before_its_end(self) -> bool:
        stop, last = self.judged.first_stop, self.done_at or self.judged.turns
        return stop is not None and stop < last


def done_at(recorded: Recorded) -> int | None:
    replies = 0
    for _, line in recorded.lines:
        replies += isinstance(line, ReplyLine)
        if isinstance(line, GoalLine) and line.total and line.done >= line.total:
            return replies
    return None


def is_solved(run: Label, file: Label) -> bool:
    labels: Label = file.get("labels") or dict[str, Any]()
    harness: Label = labels.get("harness") or dict[str, Any]()
    return (
        run.get("reward") == 1
        or run.get("max_reward") == 1
        or run.get("outcome") == "CORRECT"
        or harness.get("reward") == 1
        or harness.get("is_resolved") is True
    )


def all_seen(corpus: Path) -> Iterator[Seen]:
    runs: dict[tuple[str, str], Label] = {}
    for text in (corpus / "runs.jsonl").read_text(encoding="utf-8").splitlines():
        record: Label = json.loads(text)
        runs[record["file"], record["run"]] = record
    for item in json.loads((corpus / "manifest.json").read_text(encoding="utf-8"))["items"]:
        if item["format"] not in FORMATS:
            continue
        path = corpus / item["path"]
        ends = {run.run.id: done_at(run) for run in open_trace(path)} if "intercode" in item["format"] else {}
        for recorded in open_trace(path):
            name = path.name.split(".")[0]
            record = runs.get((name, recorded.run.id), {})
            label: Label = record.get("label", {})
            yield Seen(
                name,
                judge(recorded),
                is_solved(label, item),
                record.get("verdict"),
                label.get("max_reward", 0),
                ends.get(recorded.run.id),
            )


@pytest.fixture(scope="module")
def seen(shared: Path) -> list[Seen]:
    return list(all_seen(shared / "corpus"))


def test_of_the_runs_that_ended_well_three_in_a_hundred_at_most_are_stopped_before_their_end(seen: list[Seen]) -> None:
    solved = [one for one in seen if one.solved]
    assert len(solved) > 400
    stopped = [(one.file, one.judged.run, one.judged.first_stop) for one in solved if one.stopped_before_its_end]
    assert len(stopped) <= 0.03 * len(solved), stopped


@pytest.mark.parametrize("file", STUCK)
def test_every_run_that_a_person_found_stuck_is_caught(seen: list[Seen], file: str) -> None:
    (one,) = [one for one in seen if one.file == file]
    assert one.judged.first_stop is not None


@pytest.mark.parametrize("file", HEALTHY_WAITS)
def test_a_run_that_a_person_found_waiting_in_good_health_is_not_stopped(seen: list[Seen], file: str) -> None:
    (one,) = [one for one in seen if one.file == file]
    assert one.judged.first_stop is None


def test_of_the_loops_that_did_not_solve_their_task_nine_in_ten_are_stopped(seen: list[Seen]) -> None:
    loops = [one for one in seen if one.crude == "loop" and one.score < 1 and one.file.startswith("ic-")]
    assert len(loops) > 150
    missed = [(one.file, one.judged.run) for one in loops if one.judged.first_stop is None]
    assert len(missed) <= 0.1 * len(loops), missed
