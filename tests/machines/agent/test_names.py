"""What an application imports from `machines.agent`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import machines.agent


def test_every_name_is_there_and_none_beside() -> None:
    for name in machines.agent.__all__:
        assert getattr(machines.agent, name) is not None
    assert dir(machines.agent) == sorted(machines.agent.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Agents'"):
        _ = machines.agent.Agents  # type: ignore[attr-defined]


def test_a_name_is_the_same_whatever_was_imported_before(root: Path) -> None:
    code = """
import pkgutil, types
import machines.agent as agent
for found in pkgutil.iter_modules(agent.__path__, "machines.agent."):
    __import__(found.name)
print(*(name for name in agent.__all__ if isinstance(getattr(agent, name), types.ModuleType)))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_a_command_that_asks_no_model_does_not_import_the_http_library(root: Path) -> None:
    code = "import sys; from machines.agent import Agent, tool, RunError; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
