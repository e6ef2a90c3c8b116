"""Whether a recorded run was judged well, by its end."""

from __future__ import annotations

import pytest

from machines.audit.label import Label, label_of


@pytest.mark.parametrize(
    "end",
    [
        "reward 1",
        "reward 1.0",
        "reward 2",
        "max_reward 1",
        "max_reward: 1.0",
        "is_resolved",
        "is_resolved true",
        "is_resolved=True",
        "resolved: 1",
        "CORRECT",
        "correct",
    ],
)
def test_it_was_judged_well(end: str) -> None:
    assert label_of(end) is Label.WELL


@pytest.mark.parametrize(
    "end",
    [
        "reward 0",
        "reward 0.0",
        "reward 0.999",
        "max_reward 0.67",
        "is_resolved false",
        "resolved=0",
        "INCORRECT",
        "HALTED",
        "reward nan",
    ],
)
def test_it_was_judged_not_well(end: str) -> None:
    assert label_of(end) is Label.NOT_WELL


@pytest.mark.parametrize(
    "end",
    [
        None,
        "",
        " ",
        "success",
        "submitted",
        "Submitted",
        "turn limit",
        "reward",
        "reward high",
        "is_resolved maybe",
        "reward 1 of 2",
        "correct answer",
        "score 1",
    ],
)
def test_nothing_is_known(end: str | None) -> None:
    assert label_of(end) is Label.UNKNOWN
