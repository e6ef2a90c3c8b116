from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.providers.refusal import refused
from machines.refusals.kinds import reason_of
from machines.refusals.waits import LONGEST, duration, told, until_reset

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
LATER = "2026-03-01T12:00:20Z"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 2.502s. Visit https://h", 2.502),
        ("Please try again in 174ms.", 0.174),
        ("Please try again in 1m12.5s.", 72.5),
        ("try again in 6m0s", 360.0),
        ("Please retry in 48.939935699s.", 48.939935699),
        ("Retry after 13 seconds", 13.0),
        ("Please wait 2 minutes and 5 seconds", 125.0),
        ("try again in 1h", 3600.0),
        ("Retrying in 35 seconds… (attempt 8/10)", 35.0),
        ("try again in 30 Seconds", 30.0),
        ("try again in 5 messages", None),
        ("try again in 5", None),
        ("try again later", None),
        ("wait a few minutes for the action", None),
        ("in 5 seconds", None),
        (f"try again in {LONGEST:.0f}s", LONGEST),
        (f"try again in {LONGEST + 1:.0f}s", None),
        ("", None),
    ],
)
def test_a_wait_is_read_in_prose(text: str, seconds: float | None) -> None:
    assert told(text) == (None if seconds is None else pytest.approx(seconds))


@given(st.text(max_size=80))
def test_no_text_breaks_the_reading_of_a_wait(text: str) -> None:
    assert duration(text) is None or text
    told("try again in " + text)


def headers(start: str, left: str, reset: str) -> dict[str, str]:
    first = start == "anthropic-ratelimit-"
    return {
        f"{start}tokens-remaining" if first else f"{start}remaining-tokens": left,
        f"{start}tokens-reset" if first else f"{start}reset-tokens": reset,
    }


@pytest.mark.parametrize(
    ("start", "left", "reset", "seconds"),
    [
        ("anthropic-ratelimit-", "0", LATER, 20.0),
        ("anthropic-ratelimit-", "1", LATER, None),
        ("anthropic-ratelimit-", "0", "2026-03-01T11:59:00Z", 0.0),
        ("anthropic-ratelimit-", "0", "2026-03-01T12:00:20", 20.0),
        ("anthropic-ratelimit-", "0", "2027-03-01T12:00:20Z", None),
        ("anthropic-ratelimit-", "0", "soon", None),
        ("anthropic-ratelimit-", "0", "", None),
        ("x-ratelimit-", "0", "6m0s", 360.0),
        ("x-ratelimit-", "0", "1ms", 0.001),
        ("x-ratelimit-", "9", "6m0s", None),
        ("x-ratelimit-", "0", "soon", None),
    ],
)
def test_what_is_used_up_is_waited_for_until_it_is_there_again(
    start: str, left: str, reset: str, seconds: float | None
) -> None:
    assert until_reset(headers(start, left, reset), NOW) == seconds


def test_the_last_of_several_is_waited_for() -> None:
    both = {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:05Z",
        **headers("anthropic-ratelimit-", "0", LATER),
    }
    assert until_reset(both, NOW) == 20.0


@pytest.mark.parametrize(
    ("status", "sent", "body", "after"),
    [
        (429, {"retry-after": "3", **headers("x-ratelimit-", "0", "9s")}, "try again in 5s", 3.0),
        (429, headers("x-ratelimit-", "0", "9s"), "try again in 5s", 5.0),
        (429, headers("x-ratelimit-", "0", "9s"), "no.", 9.0),
        (400, headers("x-ratelimit-", "0", "9s"), "no.", None),
        (503, {}, "try again in 5s", 5.0),
        (400, {}, "wrong, try again in 5s", None),
        (429, {}, '{"error":{"details":[{"retryDelay":"48s"}],"message":"retry in 48.9s"}}', 48.0),
    ],
)
def test_a_header_that_is_meant_for_it_comes_before_prose_and_prose_before_other_headers(
    status: int, sent: dict[str, str], body: str, after: float | None
) -> None:
    assert refused(status, sent, body, None).after == after


def test_a_request_that_can_never_pass_is_not_waited_for() -> None:
    assert reason_of(429, "Limit 30000, Requested 31538. Please try again in 5s.").after is None
