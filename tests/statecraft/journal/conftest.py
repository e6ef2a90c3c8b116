"""Fixtures for the tests of the journal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

FERRY = Path(__file__).resolve().parent.parent / "ferry.py"


Launch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def launch(root: Path) -> Iterator[Launch]:
    """Starts the tests' machine as a program, behind a shell's `before`; whatever still runs at the end is killed."""
    begun: list[subprocess.Popen[str]] = []

    def start(*args: str, before: str = "", seed: str = "0") -> subprocess.Popen[str]:
        command = [sys.executable, str(FERRY), *args]
        if before:
            command = ["/bin/sh", "-c", f'{before}; exec "$0" "$@"', *command]
        environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": seed}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        begun.append(process)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()
