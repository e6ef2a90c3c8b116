"""Fixtures for the tests of the command line: the console script run in the test's own process, and as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from machines.cli import main

Ran = tuple[int, str, str]
RECORDINGS = Path(__file__).resolve().parents[3] / "machines" / "cli" / "recordings"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command is given."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def statecraft(here: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs the console script here; gives the exit code, standard output and standard error."""

    def give(*words: object) -> Ran:
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return give


@pytest.fixture
def recordings() -> Path:
    """The recordings that ship with the project."""
    return RECORDINGS


@pytest.fixture
def recorded(here: Path) -> Callable[..., Path]:
    """Writes a recording: a run line with `more`, and the lines given."""

    def write(name: str, lines: Iterable[dict[str, Any]] = (), **more: Any) -> Path:
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        first = {"t": "run", "format": "statecraft.trace/1", "id": path.stem, **more}
        path.write_text("".join(json.dumps(line) + "\n" for line in (first, *lines)))
        return path.relative_to(here)

    return write


@pytest.fixture
def process(root: Path, here: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs a line of a shell, in which `statecraft` is the console script."""

    def give(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        script = f'statecraft() {{ "{sys.executable}" -m machines "$@"; }}; {line}'
        return subprocess.run(
            ["/bin/bash", "-c", script],
            cwd=here,
            env={**os.environ, "PYTHONPATH": str(root), **environment},
            capture_output=True,
            check=False,
        )

    return give
