"""`check` on the machines that users know: each is proved to end, and quickly."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from cyclopts import App

from statecraft.cli import add_verbs, run

BOUNDS = {
    "h11_connection": ["client: ok", "  ends: at most 402 steps", "server: ok", "  ends: at most 402 steps"],
    "tcp_connection": ["tcp: ok", "  ends: at most 988 steps"],
    "document_approval": ["document: ok", "  ends: at most 20 steps"],
}
SECONDS = 2.0


def test_each_is_proved_to_end_with_its_bound_in_little_time(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", list(sys.path))
    app = App(name="statecraft", help_format="plaintext")
    add_verbs(app, journaled={}, tables="", folder="")
    began = time.process_time()
    found: dict[str, list[str]] = {}
    for name in BOUNDS:
        assert run(app, ["check", f"tests.examples.{name}"]) == 0
        lines = capsys.readouterr().out.splitlines()
        found[name] = [line for line in lines if line.endswith(": ok") or line.startswith("  ends: ")]
    assert found == BOUNDS
    assert time.process_time() - began < SECONDS
