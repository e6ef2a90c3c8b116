"""Recordings of our own, written short, and how they are judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from machines.audit import Judged, judge
from machines.policy import DEFAULT, Policy
from machines.traces.formats import open_trace

Record = dict[str, Any]


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Path]:
    """Writes lines after a run line, which has `more`, to a file, and gives its path."""

    def write(lines: Iterable[Record], **more: Any) -> Path:
        path = tmp_path / "given.jsonl"
        first = {"t": "run", "format": "statecraft.trace/1", "id": "given", **more}
        with path.open("w", encoding="utf-8") as file:
            for line in (first, *lines):
                file.write(json.dumps(line) + "\n")
        return path

    return write


@pytest.fixture
def judged(recorded: Callable[..., Path]) -> Callable[..., Judged]:
    """Judges lines after a run line, which has `more`."""

    def judge_one(lines: Iterable[Record], policy: Policy = DEFAULT, **more: Any) -> Judged:
        (only,) = (judge(run, policy) for run in open_trace(recorded(lines, **more)))
        return only

    return judge_one
