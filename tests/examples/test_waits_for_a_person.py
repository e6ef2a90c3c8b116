"""The example runs, and waits for two days of its own clock."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest


def test_it_waits_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    left = runpy.run_path(str(Path(__file__).with_name("waits_for_a_person.py")))
    assert left["deployed"] == [7]
    assert left["result"].ok
    assert left["result"].account.seconds == pytest.approx(2 * 86_400, abs=5)
    assert capsys.readouterr().out == 'consent to deploy({"release":7}): approve or deny\nIt is live.\n'
