"""The README says what is so: its programs run, its picture is the one of its table, and it stays short."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from statecraft.diagrams import mermaid
from statecraft.journal import verify
from statecraft.testing import step_one

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
DRAWN = re.compile(r"<!-- diagram: (\w+) -->\n```mermaid\n(.*?)```\n<!-- end of diagram -->", re.DOTALL)


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the programs are run: one of them keeps a journal."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_programs(readme: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "readme"}
    for program in PYTHON.findall(readme):
        exec(compile(program, "README.md", "exec"), names)  # our own text, which is what is tested
    return names


def test_every_program_of_the_readme_runs(readme: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = run_programs(readme)
    assert capsys.readouterr().out == "They cost 5.30 together.\n"
    assert names["result"].ok
    assert names["notes"] == ["tea 4.20, sugar 1.10"]
    assert verify(here / "runs/shop.jsonl").verdict == "whole"
    names["test_a_strong_push_rings"](step_one)


def test_the_drawn_diagram_is_the_one_of_the_table(readme: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = run_programs(readme)
    capsys.readouterr()
    [(name, drawn)] = DRAWN.findall(readme)
    assert drawn == mermaid(names[name.upper()])


def test_the_readme_is_under_two_hundred_lines(readme: str) -> None:
    assert len(readme.splitlines()) < 200
