"""Files of our own making, and what is read from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.traces.formats import open_trace
from machines.traces.lines import Line

Records = list[dict[str, Any]]


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[[Records], Path]:
    """Writes records to a file, one a line, and gives its path."""

    def write(records: Records) -> Path:
        path = tmp_path / "given.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return write


@pytest.fixture
def lines_of() -> Callable[..., list[Line]]:
    """All lines of a file in one list, run lines too."""

    def read(path: Path, name: str | None = None) -> list[Line]:
        return [line for run in open_trace(path, name) for line in (run.run, *(line for _, line in run.lines))]

    return read
