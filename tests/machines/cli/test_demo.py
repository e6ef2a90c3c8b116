"""`statecraft demo`: what it shows, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from statecraft.journal import verify

Statecraft = Callable[..., tuple[int, str, str]]


def test_the_recorded_runs_leave_whole_journals_and_may_be_shown_again(statecraft: Statecraft, tmp_path: Path) -> None:
    for _ in range(2):
        code, out, _ = statecraft("demo", "--recorded", "--into", tmp_path)
        assert code == 0
        assert "only-narrates: " in out
    assert {path.stem for path in tmp_path.glob("*.jsonl")} == {path.stem for path in tmp_path.glob("*.mmd")}
    assert all(verify(path).verdict == "whole" for path in tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize("words", [("demo",), ("demo", "--recorded")])
def test_what_is_no_journal_is_not_replaced(statecraft: Statecraft, tmp_path: Path, words: tuple[str, ...]) -> None:
    kept = tmp_path / "stuck.jsonl"
    kept.write_text('{"t": "run", "format": "statecraft.trace/1"}\n')
    (tmp_path / "well.jsonl").write_text("mine\n")
    code, _, err = statecraft(*words, "--into", tmp_path)
    assert (code, "found something that is no journal" in err) == (2, True)
    assert len(list(tmp_path.iterdir())) == 2


def test_two_kinds_of_demo_at_once_are_refused(statecraft: Statecraft) -> None:
    code, _, err = statecraft("demo", "--serve", "--recorded")
    assert (code, "expected one of them" in err) == (2, True)
