"""`check` on the machines that users know: each is proved to end, its laws are looked at, and all of it quickly."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclopts import App

from statecraft.cli import add_verbs, run

BOUNDS = {
    "h11_connection": ["client: ok", "  ends: at most 402 steps", "server: ok", "  ends: at most 402 steps"],
    "tcp_connection": ["tcp: ok", "  ends: at most 988 steps"],
    "document_approval": ["document: ok", "  ends: at most 20 steps"],
}
PROVED = {
    "h11_connection": ["a client that must close asks no more", "from a switch no row leads back to HTTP"],
    "tcp_connection": [
        "nothing is delivered after FIN or RST",
        "nothing new is sent after the own FIN",
        "from every place rows lead to an ending",
    ],
    "document_approval": [
        "what is published was approved",
        "reviewers are asked of what they were given",
        "from every place rows lead to an ending",
    ],
}
NOT_FOUND = {
    "h11_connection": [
        "no fault",
        "another cycle only while kept alive",
        "no switch without a proposal",
        "both begin a cycle together",
        "nothing but a last response goes before a request",
    ],
    "tcp_connection": [
        "no fault",
        "nothing is delivered after FIN or RST",
        "nothing new is sent after the own FIN",
        "outstanding is never below 0",
        "the user is told of the connection once",
    ],
    "document_approval": [
        "no fault",
        "what is published was approved as often as needed",
        "the last version is published",
        "reviewers alone review, the author alone withdraws",
        "an author can withdraw",
    ],
}
RUNS = {"h11_connection": [128, 256], "tcp_connection": [429, 190, 1_817], "document_approval": [278, 98, 98, 2, 23]}
SECONDS = 5.0


@pytest.fixture
def check(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], list[str]]:
    """The lines that `check` prints of an example, in which nothing is found."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", list(sys.path))
    app = App(name="statecraft", help_format="plaintext")
    add_verbs(app, journaled={}, tables="", folder="")

    def lines(name: str) -> list[str]:
        assert run(app, ["check", f"tests.examples.{name}"]) == 0
        return capsys.readouterr().out.splitlines()

    return lines


def test_each_is_proved_to_end_and_its_laws_are_looked_at_in_little_time(check: Callable[[str], list[str]]) -> None:
    began = time.process_time()
    for name in BOUNDS:
        lines = check(name)
        assert [line for line in lines if line.endswith(": ok") or line.startswith("  ends: ")] == BOUNDS[name]
        assert [line.removeprefix("    proved: ") for line in lines if "    proved: " in line] == PROVED[name]
        within = lines.index("    no counterexample within these to:")
        assert [line.strip() for line in lines[within + 1 :] if line.startswith("      ")] == NOT_FOUND[name]
        starts = [line for line in lines if line.startswith('  from "')]
        seen = [line.partition(": all of its ")[2].partition(" runs")[0] for line in starts]
        assert seen == [f"{runs:,}" for runs in RUNS[name]], "every search comes to its end"
    assert time.process_time() - began < SECONDS
