from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.limits import DEFAULT_OUTPUT, KnownLimits, LimitSource, ModelLimits
from machines.agent.reply_budget import FLOOR, MOST, reply_budget


@pytest.mark.parametrize(
    ("limits", "wanted", "prompt", "budget"),
    [
        # Nothing is wanted: the model's own limit, up to a cap.
        (ModelLimits(200_000, 31_999), None, None, 31_999),
        (ModelLimits(200_000, 32_000), None, None, 32_000),
        (ModelLimits(200_000, 64_000), None, None, 32_000),
        (ModelLimits(), None, None, 32_000),
        # What is wanted is a start, at most the model's limit, and may be above the cap.
        (ModelLimits(200_000, 64_000), 63_999, None, 63_999),
        (ModelLimits(200_000, 64_000), 64_001, None, 64_000),
        (ModelLimits(200_000, 64_000), 1, None, 1),
        (ModelLimits(200_000, 64_000), 0, None, 1),
        (ModelLimits(), 1_000_000, None, 1_000_000),
        # It fits into what the prompt leaves of the window.
        (ModelLimits(200_000, 64_000), None, 168_000, 32_000),
        (ModelLimits(200_000, 64_000), None, 168_001, 31_999),
        (ModelLimits(200_000, 64_000), 4_096, 195_904, 4_096),
        (ModelLimits(200_000, 64_000), 4_096, 195_905, 4_095),
        (ModelLimits(None, 64_000), None, 10**9, 32_000),
        # But a floor stands, where the window, the model and what is wanted have it.
        (ModelLimits(200_000, 64_000), None, 198_976, 1_024),
        (ModelLimits(200_000, 64_000), None, 198_977, 1_024),
        (ModelLimits(200_000, 64_000), None, 300_000, 1_024),
        (ModelLimits(200_000, 64_000), 100, 300_000, 100),
        (ModelLimits(200_000, 500), None, 300_000, 500),
        (ModelLimits(1_023, 64_000), None, 300_000, 1_023),
        (ModelLimits(1, 1), None, 1, 1),
        # A window that is smaller than a reply may be bounds it without a prompt too.
        (ModelLimits(2_048, 32_000), None, None, 2_048),
    ],
)
def test_a_budget_is_what_the_model_can_and_the_window_has_room_for(
    limits: ModelLimits, wanted: int | None, prompt: int | None, budget: int
) -> None:
    assert reply_budget(limits, wanted=wanted, prompt=prompt) == budget


def test_the_cap_is_what_a_model_that_nothing_knows_replies() -> None:
    assert MOST == DEFAULT_OUTPUT


TOKENS = st.integers(1, 2_000_000)


@given(st.builds(ModelLimits, st.none() | TOKENS, st.none() | TOKENS), st.none() | TOKENS, st.none() | TOKENS)
def test_a_budget_holds_every_bound(limits: ModelLimits, wanted: int | None, prompt: int | None) -> None:
    budget = reply_budget(limits, wanted=wanted, prompt=prompt)
    assert 1 <= budget <= (limits.max_output or budget)
    assert budget <= (limits.context_window or budget)
    assert budget <= (MOST if wanted is None else wanted)
    if limits.context_window is not None and prompt is not None:
        assert budget <= max(limits.context_window - prompt, FLOOR)


@given(TOKENS, TOKENS, st.none() | TOKENS, TOKENS, TOKENS)
def test_a_longer_prompt_never_gets_a_longer_reply(
    window: int, output: int, wanted: int | None, one: int, other: int
) -> None:
    limits = KnownLimits(window, output, LimitSource.TABLE, LimitSource.TABLE)
    less, more = sorted((one, other))
    assert reply_budget(limits, wanted=wanted, prompt=more) <= reply_budget(limits, wanted=wanted, prompt=less)
    assert reply_budget(limits, wanted=wanted, prompt=less) <= reply_budget(limits, wanted=wanted, prompt=None)
