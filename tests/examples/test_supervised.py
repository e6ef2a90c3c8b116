"""The supervised loop: told of its repetition, then stopped by it."""

from __future__ import annotations

from machines.outcome import TerminalStatus

from .supervised import supervised


def test_failures_get_more_room_than_successes_and_end_all_the_same() -> None:
    run, told = supervised()
    assert [(tell.by, dict(tell.values)["now"]) for tell in told] == [
        ("consecutive_duplicate", 4),
        ("same_error", 6),
    ]
    assert run.outcome is not None
    assert run.outcome.status is TerminalStatus.BLOCKED
    assert run.outcome.reason.by == "consecutive_duplicate"
    assert dict(run.outcome.reason.values)["now"] == 7
