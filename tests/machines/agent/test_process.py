"""`statecraft run` as a process: killed in the middle, and what it writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from machines.agent.scripted import EchoKey, ScriptedServer, Stall, Turn, call
from machines.cli import main
from statecraft.journal import verify

LISTED = Turn(calls=(call("list_files", {}),))


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "machines", "run", *words]


def environment(root: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(root), "NO_COLOR": "1", **(more or {})}


def test_a_run_killed_in_the_middle_leaves_an_open_journal_that_can_be_explained(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer([LISTED, Stall(60.0)]) as server:
        process = subprocess.Popen(
            command("look", "--model", server.model("killed"), "--folder", ".", "--name", "killed"),
            cwd=tmp_path,
            env=environment(root),
            stdout=subprocess.DEVNULL,
        )
        journal = tmp_path / "runs/killed.jsonl"
        end = time.monotonic() + 30
        while time.monotonic() < end and not (journal.exists() and journal.read_bytes().count(b"\n") >= 5):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    assert verify(journal).verdict == "open"
    assert main(["verify", str(journal)]) == 1
    assert main(["explain", str(journal)]) == 0
    assert "ASKING" in capsys.readouterr().out


def test_an_interrupt_closes_the_journal_as_cancelled(root: Path, tmp_path: Path) -> None:
    with ScriptedServer([LISTED, Stall(60.0)]) as server:
        process = subprocess.Popen(
            command("look", "--model", server.model("ended"), "--folder", ".", "--name", "ended"),
            cwd=tmp_path,
            env=environment(root),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        journal = tmp_path / "runs/ended.jsonl"
        end = time.monotonic() + 30
        while time.monotonic() < end and not (journal.exists() and journal.read_bytes().count(b"\n") >= 5):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert errors.decode().splitlines()[-2:] == ["cancelled", "journal: runs/ended.jsonl"]
    assert verify(journal).verdict == "whole"


DEBUG = "import logging; logging.basicConfig(level=0); import sys; from machines.cli import main; sys.exit(main())"


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses", "gemini"])
@pytest.mark.parametrize("status", [200, 401])
def test_no_key_is_in_anything_that_a_run_writes_or_logs(root: Path, tmp_path: Path, wire: str, status: int) -> None:
    key = "sk-scripted-4f1c0d5a9e7b"
    words = ["run", "look", "--model", f"{wire}:a-run", "--folder", ".", "--name", wire]
    with ScriptedServer([LISTED, EchoKey(status=status), EchoKey(), EchoKey()]) as server:
        done = subprocess.run(
            [sys.executable, "-c", DEBUG, *words],
            cwd=tmp_path,
            env=environment(root, server.environ(key)),
            capture_output=True,
            timeout=60,
            check=False,
        )
        sent = {received.key for received in server.requests()}
    assert sent == {key}  # it was there to be written, and came back in bodies and headers
    assert done.returncode == 1, done.stderr
    assert b"receive_response_headers.complete" in done.stderr
    assert b"this came as the key: [key]" in done.stdout + done.stderr
    assert key.encode() not in done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 4
    assert [path for path in written if key.encode() in path.read_bytes()] == []
    assert [path for path in written if b"[key]" in path.read_bytes()]
