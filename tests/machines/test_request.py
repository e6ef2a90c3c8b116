"""What is done about a request that was refused, or would not fit: each case at both sides of its bound, and alone."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.events import Measured, Refusal, RefusalKind, Text
from machines.policy import Recovery
from machines.request import (
    ENDS,
    LEAST_REPLY,
    REQUEST,
    SIZES,
    RequestCase,
    RequestState,
    Retry,
    Sending,
    fitting,
    passed,
    sending,
)
from statecraft import Refused, Step
from statecraft.testing import step_one

S, C, K = RequestState, RequestCase, RefusalKind
FRESH = sending(Recovery())


def refusal(status: int = 400, kind: RefusalKind = K.OTHER, **more: Any) -> Refusal:
    return Refusal(5.0, status, Text("body", 4), kind=kind, **more)


def without(*budgets: Retry) -> Sending:
    return attrs.evolve(FRESH, left={**FRESH.left, **dict.fromkeys(budgets, 0)})


BUDGET = refusal(kind=K.REPLY_BUDGET, limit=8_192, budget=32_000)
LONG = refusal(kind=K.PROMPT_TOO_LONG, size=130_000, limit=128_000)
SHORT = refusal(kind=K.PROMPT_TOO_LONG, estimate=31_999, window=128_000)
CASES: list[tuple[str, Sending, Refusal | Measured, RequestState | RequestCase, Retry | None]] = [
    ("no key", FRESH, refusal(401), S.REFUSED, None),
    ("no money, whatever the status", FRESH, refusal(429, K.BILLING), S.REFUSED, None),
    ("a reply budget over the limit", FRESH, BUDGET, C.FITTED, Retry.FITTED),
    ("the same once too often", without(Retry.FITTED), BUDGET, S.REFUSED, None),
    ("a plainly short prompt", FRESH, SHORT, C.INSISTED, Retry.INSISTED),
    ("the same once more", without(Retry.INSISTED), SHORT, C.SHRUNK, Retry.SHRUNK),
    ("too long", FRESH, LONG, C.SHRUNK, Retry.SHRUNK),
    ("more than a quota", FRESH, refusal(429, K.OVER_QUOTA), C.SHRUNK, Retry.SHRUNK),
    ("too large by its status", FRESH, refusal(413), C.SHRUNK, Retry.SHRUNK),
    ("refused as nobody knows why", FRESH, refusal(400), C.SHRUNK, Retry.SHRUNK),
    ("too long once too often", without(Retry.SHRUNK), LONG, S.OVERFLOW, None),
    ("a transcript that is not taken", FRESH, refusal(kind=K.TRANSCRIPT), C.REPAIRED, Retry.REPAIRED),
    ("the same once more", without(Retry.REPAIRED), refusal(kind=K.TRANSCRIPT), S.REFUSED, None),
    ("a call that a server could not read", FRESH, refusal(kind=K.BAD_CALL), C.TOLD, Retry.TOLD),
    ("the same once too often", without(Retry.TOLD), refusal(kind=K.BAD_CALL), S.REFUSED, None),
    ("a limit of a minute", FRESH, refusal(429, K.RATE_LIMIT), C.RETRIED, Retry.RETRIED),
    ("overloaded", FRESH, refusal(503), C.RETRIED, Retry.RETRIED),
    ("no connection", FRESH, refusal(0), C.RETRIED, Retry.RETRIED),
    ("overloaded once too often", without(Retry.RETRIED), refusal(529), S.EXHAUSTED, None),
    ("nothing that anybody knows", FRESH, refusal(422), S.REFUSED, None),
    ("it would hardly fit", FRESH, Measured(5.0, 801, 800), C.SHRUNK, Retry.AHEAD),
]


@pytest.mark.parametrize(("run", "event", "state", "spends"), [pytest.param(*c[1:], id=c[0]) for c in CASES])
def test_one_refusal_takes_one_row(
    run: Sending, event: Refusal | Measured, state: RequestState | RequestCase, spends: Retry | None
) -> None:
    recovers = isinstance(state, RequestCase)
    after = step_one(REQUEST, run, event, target=S.RECOVERING if isinstance(state, RequestCase) else state).run
    assert after.case is (state if recovers else run.case)
    spent = {budget for budget in Retry if after.left[budget] != run.left[budget]}
    assert spent == ({spends} if spends else set())


@pytest.mark.parametrize("run", [FRESH, without(Retry.AHEAD)])
def test_a_request_that_fits_or_can_be_shortened_no_more_is_sent(run: Sending) -> None:
    estimate = 800 if run is FRESH else 801
    assert isinstance(REQUEST.step(run, Measured(5.0, estimate, 800)), Refused)


@pytest.mark.parametrize(
    ("estimate", "size", "window", "short"),
    [
        (24_999, None, 100_000, True),
        (25_000, None, 100_000, False),
        (10, 25_000, 100_000, False),  # the provider counted, and it counts
        (None, None, 100_000, False),
        (31_999, None, None, True),  # of a model of which nothing is known
        (32_000, None, None, False),
    ],
)
def test_a_prompt_is_plainly_short_below_a_quarter_of_the_window(
    estimate: int | None, size: int | None, window: int | None, short: bool
) -> None:
    event = refusal(kind=K.PROMPT_TOO_LONG, estimate=estimate, size=size, window=window)
    assert (REQUEST.step(FRESH, event).run.case is C.INSISTED) is short


def test_what_nobody_can_read_is_no_reason_to_shorten_a_prompt_that_is_plainly_short() -> None:
    for estimate, state in ((31_999, S.REFUSED), (32_000, S.RECOVERING), (None, S.RECOVERING)):
        assert REQUEST.step(FRESH, refusal(400, estimate=estimate)).run.at is state
    assert REQUEST.step(FRESH, refusal(413, estimate=10)).run.case is C.SHRUNK, "that status says so"


@pytest.mark.parametrize(
    ("event", "fits"),
    [
        (BUDGET, 8_192),
        (refusal(kind=K.REPLY_BUDGET, limit=8_192), 8_192),
        (refusal(kind=K.REPLY_BUDGET, limit=32_000, budget=32_000), None),  # it was no more than that
        (refusal(kind=K.REPLY_BUDGET, budget=32_000), 16_000),  # nobody names the limit
        (refusal(kind=K.REPLY_BUDGET), None),
        (refusal(kind=K.TOGETHER_TOO_LONG, limit=100_000, size=90_000, budget=32_000), 10_000),
        (refusal(kind=K.TOGETHER_TOO_LONG, limit=100_000, size=100_000 - LEAST_REPLY, budget=32_000), LEAST_REPLY),
        (refusal(kind=K.TOGETHER_TOO_LONG, limit=100_000, size=100_001 - LEAST_REPLY, budget=32_000), None),
        (refusal(kind=K.TOGETHER_TOO_LONG, budget=32_000), None),
        (LONG, None),
    ],
)
def test_a_smaller_reply_budget_is_tried_where_one_may_fit(event: Refusal, fits: int | None) -> None:
    assert fitting(event) == fits


@pytest.mark.parametrize(
    ("budget", "event"),
    [
        (Retry.FITTED, BUDGET),
        (Retry.SHRUNK, LONG),
        (Retry.REPAIRED, refusal(kind=K.TRANSCRIPT)),
        (Retry.TOLD, refusal(kind=K.BAD_CALL)),
        (Retry.RETRIED, refusal(503)),
    ],
)
@pytest.mark.parametrize("times", [0, 1, 3])
def test_each_case_is_recovered_from_as_often_as_the_policy_says(budget: Retry, event: Refusal, times: int) -> None:
    run = sending(attrs.evolve(Recovery(), **{budget.value: times}))
    for _ in range(times):
        run = REQUEST.step(run, event).run
        assert run.at not in ENDS
    assert REQUEST.step(run, event).run.at in ENDS


def test_a_request_that_went_through_ends_the_incident_but_for_what_is_allowed_once_a_run() -> None:
    run = REQUEST.step(REQUEST.step(FRESH, SHORT).run, refusal(503)).run
    after = passed(run)
    assert after.at is S.SENT
    assert after.left == {**FRESH.left, Retry.INSISTED: 0}
    assert passed(FRESH) is FRESH


def test_the_sizes_of_the_last_refusal_are_kept_for_the_account() -> None:
    run = REQUEST.step(FRESH, LONG).run
    assert (run.size, run.window, run.status, run.said) == (130_000, 128_000, 400, True)
    unknown = REQUEST.step(FRESH, refusal(400, estimate=5_000, window=8_192)).run
    assert (unknown.size, unknown.window, unknown.said) == (5_000, 8_192, False)
    quota = REQUEST.step(FRESH, refusal(429, K.OVER_QUOTA, limit=30_000, size=40_000, window=128_000)).run
    assert quota.window == 128_000, "a quota is no window"


@given(st.integers(0, 599), st.sampled_from(RefusalKind), st.booleans())
def test_every_refusal_takes_a_row(status: int, kind: RefusalKind, too_long: bool) -> None:
    assert isinstance(REQUEST.step(FRESH, refusal(status, kind, too_long=too_long)), Step)


def test_every_budget_has_the_size_that_the_policy_says() -> None:
    assert {budget.value: size(FRESH) for budget, size in SIZES.items()} == {
        "reply_budget": 2,
        "short_prompt": 1,
        "condensed": 2,
        "transcript": 1,
        "bad_call": 2,
        "refused": 8,
        "condensed_ahead": 3,
    }
