"""An audit that is killed in the middle leaves a journal that is whole up to there, and can be explained."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from machines.cli import main
from statecraft.journal import verify

TURNS = 20_000


@pytest.fixture
def long_run(tmp_path: Path) -> Path:
    lines: list[dict[str, object]] = [{"t": "run", "format": "statecraft.trace/1", "id": "long"}]
    for turn in range(TURNS):
        call = {"id": f"c{turn}", "tool": "read", "args": {"page": turn}}
        lines.append({"t": "reply", "stop": "tool_use", "calls": [call]})
        lines.append({"t": "result", "call": f"c{turn}", "value": f"what page {turn} says"})
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("where", ["journals", "journals.db"])
def test_a_killed_audit_leaves_an_open_journal(
    root: Path, tmp_path: Path, long_run: Path, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / where
    process = subprocess.Popen(
        [sys.executable, "-m", "machines", "audit", str(long_run), "--journal", str(place)],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.DEVNULL,
    )
    journal = place if where.endswith(".db") else place / "long.jsonl"
    written = journal.with_name(journal.name + "-wal") if where.endswith(".db") else journal
    end = time.monotonic() + 60
    while time.monotonic() < end and not (written.exists() and written.stat().st_size > 400_000):
        time.sleep(0.01)
    assert process.poll() is None, "the audit was over before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    found = verify(journal)
    assert found.verdict == "open"
    assert found.lines > 10
    assert main(["verify", str(journal)]) == 1
    assert main(["explain", str(journal)]) == 0
    assert main(["replay", str(journal)]) == 0
    assert "no difference" in capsys.readouterr().out
