"""One declared wait, alone: each row, and its bounds on both sides."""

from __future__ import annotations

import attrs
import pytest

from machines.events import PollState, Result
from machines.wait import WAIT, OneWait, WaitState
from statecraft import Refused

OPEN = OneWait(tool="build", since=10.0, until=100.0)


@pytest.mark.parametrize(
    ("poll", "at", "target"),
    [
        (PollState.WAITING, 10.0, WaitState.WAITING),
        (PollState.WAITING, 99.9, WaitState.WAITING),
        (PollState.WAITING, 100.0, WaitState.EXPIRED),
        (PollState.TERMINAL, 99.9, WaitState.SETTLED),
        (PollState.TERMINAL, 100.0, WaitState.SETTLED),
        (PollState.UNRECOGNISED, 99.9, WaitState.UNRECOGNISED),
        (PollState.UNRECOGNISED, 100.0, WaitState.UNRECOGNISED),
    ],
)
def test_a_look_moves_it(poll: PollState, at: float, target: WaitState) -> None:
    left = WAIT.step(attrs.evolve(OPEN, now=at), Result(at, "1", poll=poll, poll_value="it")).run
    assert left.at is target
    goes_on = target is WaitState.WAITING
    assert (left.seconds, left.last) == ((0.0, None) if goes_on else (at - 10.0, "it"))


@pytest.mark.parametrize("state", [state for state in WaitState if state is not WaitState.WAITING])
def test_one_that_is_over_is_over(state: WaitState) -> None:
    over = OneWait(state)
    assert isinstance(WAIT.step(over, Result(11.0, "1", poll=PollState.WAITING)), Refused)
