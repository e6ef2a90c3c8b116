"""`statecraft run` with a real model."""

from __future__ import annotations

from pathlib import Path

import pytest

from machines.cli import main
from statecraft.journal import verify

pytestmark = pytest.mark.live


def test_the_verb_runs_a_real_model_and_says_how_it_ended_and_where_its_journal_is(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("[budget]\nreply_tokens = 3\n[recovery]\ntruncated = 1\n")
    words = ["run", "Count to seven.", "--model", address, "--policy", str(policy), "--journal", str(tmp_path)]
    assert main([*words, "--name", "verb"]) == 1
    said, errors = capsys.readouterr()
    assert said.startswith("The run ended as partial: recovery_exhausted")
    assert errors.endswith(f"partial: recovery_exhausted\njournal: {tmp_path / 'verb.jsonl'}\n")
    assert verify(tmp_path / "verb.jsonl").verdict == "whole"
