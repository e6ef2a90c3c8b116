"""What a provider's refusal says, on every wire: compatible servers answer in the words of any.

Status and `too_long` are decided by HTTP's status and by structured codes alone; the words of a message are read for
its kind and its wait (`kinds.py`), where nothing structured says it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from ...refusals.fields import count, items, mapping, string
from ...refusals.kinds import Reason, reason_of
from ...refusals.waits import until_reset
from ..wire import Refused
from .exact import NotJson, read_text
from .key import Key, without_key

MOST_KEPT: Final = 65_536
"""Characters of a refusal's body that are kept: an error page may be of any length, and a journal keeps it."""

BAD_GATEWAY: Final = 502
"""The status of an answer that is none: a 200 that holds no reply, or an error that says nothing of its kind."""

# Anthropic's list of error types, and those of OpenAI and compatible servers that come inside a 200.
STATUS_OF: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "context_length_exceeded": 400,
    "exceed_context_size_error": 400,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}

TOO_LONG: Final = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
"""Codes of OpenAI, llama.cpp and Anthropic, in this order, that say that a request is too long."""

TOO_LARGE: Final = 413
RATE_LIMITED: Final = 429


def error_in(value: object) -> Mapping[str, Any] | None:
    """The error in a body, wherever this server keeps it: under `error`, in its first choice, or bare."""
    body = mapping(value)
    if body.get("error"):
        return mapping(body["error"]) or {"message": string(body["error"])}
    first = mapping(next(iter(items(body.get("choices"))), None))
    if first.get("error"):
        return mapping(first["error"])
    if body.get("type") == "error" or body.get("object") == "error":
        return body
    return None


def refused(
    status: int, headers: Mapping[str, str], body: str, error: Mapping[str, Any] | None, key: Key | None = None
) -> Refused:
    """The refusal that an answer is. A 2xx that holds an error takes the status of the error's code or type."""
    codes = [error.get(name) for name in ("code", "type", "status")] if error else []
    if 200 <= status < 300:
        status = next((found for found in map(_status, codes) if found), BAD_GATEWAY)
    shown = without_key(body, key)
    reason = reason_of(status, shown)
    return Refused(
        status=status,
        body=shown if len(shown) <= MOST_KEPT else shown[:MOST_KEPT] + " [cut]",
        after=_wait(status, headers, reason),
        too_long=status == TOO_LARGE or any(isinstance(code, str) and code in TOO_LONG for code in codes),
        request_id=request_id(headers, body, key),
        kind=reason.kind,
        limit=reason.limit,
        size=reason.size,
    )


def error_of(body: str) -> Mapping[str, Any] | None:
    """The error in the text of a body, None where it is no JSON or holds none."""
    try:
        value = read_text(body)
    except NotJson:
        return None
    return error_in(value) or mapping(value) or None


def request_id(headers: Mapping[str, str], body: str = "", key: Key | None = None) -> str | None:
    """The provider's own name for the exchange: Anthropic's header, then OpenAI's, then what an error body says."""
    found = headers.get("request-id") or headers.get("x-request-id")
    if not found and '"request_id"' in body:
        try:
            found = string(mapping(read_text(body)).get("request_id"))
        except NotJson:
            found = None
    return without_key(found, key) if found else None


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date. None where nothing is said.

    A date is measured from the answer's own `date`, since two clocks may differ, else from `now` (UTC).
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "").strip()
    seconds = _number(said)
    if seconds is not None or not said:
        return seconds
    until = _date(said)
    since = _date(headers.get("date", "")) or now or datetime.now(UTC)
    return None if until is None else max(0.0, (until - since).total_seconds())


def _wait(status: int, headers: Mapping[str, str], reason: Reason) -> float | None:
    after = retry_after(headers)
    after = reason.after if after is None else after
    if after is None and status == RATE_LIMITED:
        after = until_reset(headers, _date(headers.get("date", "")) or datetime.now(UTC))
    return after


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _status(code: object) -> int | None:
    if isinstance(code, str):
        found = STATUS_OF.get(code) or (int(code) if code.isdecimal() and len(code) == 3 else 0)
    else:
        found = count(code)
    return found if 400 <= found < 600 else None
