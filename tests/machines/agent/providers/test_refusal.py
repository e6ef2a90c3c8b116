from __future__ import annotations

from datetime import UTC, datetime

import pytest

from machines.agent.providers.key import Key
from machines.agent.providers.refusal import MOST_KEPT, error_of, refused, retry_after
from machines.agent.wire import Refused
from machines.events import RefusalKind

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def refusal(status: int, body: str, **headers: str) -> Refused:
    return refused(status, {name.replace("_", "-"): value for name, value in headers.items()}, body, error_of(body))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "16"}, 16.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "2", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "2", "retry-after-ms": "?"}, 2.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:59:30 GMT"}, 0.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT", "date": "Sun, 01 Mar 2026 12:00:10 GMT"}, 20.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT", "date": "?"}, 30.0),
        ({"retry-after": "Sun, 99 Mar 2026 12:00:30 GMT"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=NOW) == seconds


@pytest.mark.parametrize(
    ("status", "body", "too_long"),
    [
        (400, '{"error":{"code":"context_length_exceeded","type":"invalid_request_error"}}', True),
        (400, '{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":256}}', True),
        (413, '{"type":"error","error":{"type":"request_too_large","message":"x"}}', True),
        (413, "<html>too large</html>", True),
        (400, '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}', False),
        (400, '{"error":{"message":"context_length_exceeded"}}', False),
        (500, '{"error":{"code":"context_length_exceeded"}}', True),
        (429, '{"type":"tokens","code":"rate_limit_exceeded"}', False),
        (400, '{"code":"context_length_exceeded"}', True),
        (400, "[1]", False),
        (400, "", False),
    ],
)
def test_too_long_is_decided_by_structured_codes_alone(status: int, body: str, too_long: bool) -> None:
    got = refusal(status, body)
    assert (got.status, got.too_long, got.body) == (status, too_long, body)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"type":"error","error":{"type":"overloaded_error"}}', 529),
        ('{"type":"error","error":{"type":"rate_limit_error"}}', 429),
        ('{"type":"error","error":{"type":"authentication_error"}}', 401),
        ('{"error":{"code":429,"message":"upstream"}}', 429),
        ('{"error":{"code":"503"}}', 503),
        ('{"error":{"code":"context_length_exceeded"}}', 400),
        ('{"error":{"code":null,"type":"server_error"}}', 500),
        ('{"error":{"code":200}}', 502),
        ('{"error":{"code":399}}', 502),
        ('{"error":{"code":600}}', 502),
        ('{"error":{"message":"something"}}', 502),
        ('{"error":"something"}', 502),
        ('{"object":"error","type":"invalid_request_error"}', 400),
        ('{"choices":[{"error":{"code":502}}]}', 502),
        ('{"choices":[{"error":{"code":429}}]}', 429),
    ],
)
def test_an_error_inside_a_200_has_the_status_of_its_code(body: str, status: int) -> None:
    assert refusal(200, body).status == status


def test_a_status_that_is_given_holds_over_the_code() -> None:
    assert refusal(500, '{"type":"error","error":{"type":"invalid_request_error"}}').status == 500


def test_the_name_of_the_exchange_is_found() -> None:
    assert refusal(400, "", request_id="req_1").request_id == "req_1"
    assert refusal(400, "", x_request_id="req_2").request_id == "req_2"
    assert refusal(400, '{"type":"error","error":{},"request_id":"req_3"}').request_id == "req_3"
    assert refusal(400, '{"request_id":"cut').request_id is None
    assert refusal(400, "").request_id is None


@pytest.mark.parametrize("size", [MOST_KEPT, MOST_KEPT + 1])
def test_a_body_is_kept_up_to_a_length(size: int) -> None:
    kept = refusal(500, "x" * size).body
    assert kept == ("x" * size if size <= MOST_KEPT else "x" * MOST_KEPT + " [cut]")


def test_a_key_that_is_said_back_is_taken_out() -> None:
    got = refused(401, {"request-id": "a sk-secret b"}, "bad key sk-secret", None, Key("sk-secret"))
    assert got == Refused(401, "bad key [key]", request_id="a [key] b", kind=RefusalKind.AUTHENTICATION)
