"""One declared wait, alone: each row, and its bounds on both sides."""

from __future__ import annotations

import pytest

from machines.events import PollState, Result
from machines.wait import WAIT, Waited, Waiting
from statecraft import Refused

OPEN = Waited(tool="build", since=10.0, until=100.0)


@pytest.mark.parametrize(
    ("poll", "at", "target"),
    [
        (PollState.WAITING, 10.0, Waiting.WAITING),
        (PollState.WAITING, 99.9, Waiting.WAITING),
        (PollState.WAITING, 100.0, Waiting.EXPIRED),
        (PollState.TERMINAL, 99.9, Waiting.SETTLED),
        (PollState.TERMINAL, 100.0, Waiting.SETTLED),
        (PollState.UNRECOGNISED, 99.9, Waiting.UNRECOGNISED),
        (PollState.UNRECOGNISED, 100.0, Waiting.UNRECOGNISED),
    ],
)
def test_a_look_moves_it(poll: PollState, at: float, target: Waiting) -> None:
    left = WAIT.step(OPEN, Result(at, "1", poll=poll, poll_value="it")).run
    assert left.at is target
    goes_on = target is Waiting.WAITING
    assert (left.seconds, left.last) == ((0.0, None) if goes_on else (at - 10.0, "it"))


@pytest.mark.parametrize("state", [state for state in Waiting if state is not Waiting.WAITING])
def test_one_that_is_over_is_over(state: Waiting) -> None:
    over = Waited(state)
    assert isinstance(WAIT.step(over, Result(11.0, "1", poll=PollState.WAITING)), Refused)
