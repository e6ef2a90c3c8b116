"""Under a policy that does not look at results nothing that a call brings clears what is counted of its repetitions."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.events import ErrorKind
from machines.manifest import UNDECLARED, Tool
from machines.policy import DEFAULT, Policy, Progress
from machines.streaks import Streaks, closed
from machines.turn import Answer, Turn

BLIND = attrs.evolve(DEFAULT, progress=Progress(results=False))


def no_tool(name: str) -> Tool:
    return UNDECLARED


def after(policy: Policy, *turns: Turn) -> Streaks:
    streaks = Streaks()
    for turn in turns:
        streaks = closed(streaks, turn, policy, no_tool)
    return streaks


def turn(number: int, *, strong: bool = False, **more: Any) -> Turn:
    answer = Answer("read", b"call", b"call made", **more)
    signal = "state" if strong else "result" if answer.new else ""
    return Turn(number, answers=(answer,), signal=signal, strong=strong, grew=answer.new)


@pytest.mark.parametrize(
    "second",
    [turn(2), turn(2, new=True), turn(2, strong=True), turn(2, error=ErrorKind.TRANSIENT), turn(2, seen=False)],
    ids=["the same", "a new result", "a new state", "an error", "not seen"],
)
def test_whatever_it_brings_a_call_is_counted_as_the_same(second: Turn) -> None:
    first, found = after(BLIND, turn(1)), after(BLIND, turn(1), second)
    assert (found.same_count, found.same_ok) == (2, 2)
    assert (len(found.window), len(found.laps)) == (2 * len(first.window), 2 * len(first.laps))
    assert found.laps[: len(first.laps)] == found.laps[len(first.laps) :]


def test_a_success_after_a_failure_is_no_recovery() -> None:
    failing = turn(1, error=ErrorKind.TRANSIENT)
    assert after(DEFAULT, failing, turn(2)).recovered
    assert not after(BLIND, failing, turn(2)).recovered


def test_what_is_not_counted_by_calls_is_cleared_all_the_same() -> None:
    standing = (turn(1), turn(2), turn(3))
    assert after(BLIND, *standing).barren == 3
    assert after(BLIND, *standing).stalled == 3
    found = after(BLIND, *standing, turn(4, strong=True))
    assert (found.barren, found.stalled, found.silent) == (0, 0, 0)
    assert found.same_count == 4


def test_with_results_looked_at_a_new_state_clears_all() -> None:
    found = after(DEFAULT, turn(1), turn(2), turn(3, strong=True))
    assert (found.same_count, found.window, found.laps) == (0, b"", b"")
