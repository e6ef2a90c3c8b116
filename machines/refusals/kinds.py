"""What a request was refused for: by structured codes first, then by the table of wordings, then by HTTP's status.

A wording may only say more of what a code says, never something else. What a provider quotes of the model's own reply
is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

import attrs

from .. import _re2
from ..events import RefusalKind
from ..ledger.canonical import loads
from .believed import believed
from .fields import count, items, string
from .waits import duration, told
from .wordings import WORDINGS, Wording, tokens

CODES: Final[Mapping[str, RefusalKind]] = {
    **dict.fromkeys(
        (
            "context_length_exceeded",
            "exceed_context_size_error",
            "request_too_large",
            "too_many_tokens",
            "string_above_max_length",
        ),
        RefusalKind.PROMPT_TOO_LONG,
    ),
    **dict.fromkeys(
        (
            "rate_limit_error",
            "rate_limit_exceeded",
            "ratelimitreached",
            "throttlingexception",
            "too_many_requests",
            "resource_exhausted",
        ),
        RefusalKind.RATE_LIMIT,
    ),
    **dict.fromkeys(
        ("overloaded_error", "server_is_overloaded", "slow_down", "unavailable", "serviceunavailableexception"),
        RefusalKind.OVERLOADED,
    ),
    **dict.fromkeys(("billing_error", "insufficient_quota", "billing_hard_limit_reached"), RefusalKind.BILLING),
    **dict.fromkeys(
        (
            "authentication_error",
            "permission_error",
            "invalid_api_key",
            "api_key_invalid",
            "unauthenticated",
            "permission_denied",
            "accessdeniedexception",
            "expiredtokenexception",
            "401",
        ),
        RefusalKind.AUTHENTICATION,
    ),
    "tool_use_failed": RefusalKind.BAD_CALL,
}
"""Codes, types and reasons, in lower case: of Anthropic, OpenAI, llama.cpp, Cohere, Azure, Bedrock, Google and Groq."""

STATUSES: Final[Mapping[int, RefusalKind]] = {
    401: RefusalKind.AUTHENTICATION,
    402: RefusalKind.BILLING,
    429: RefusalKind.RATE_LIMIT,
    529: RefusalKind.OVERLOADED,
}
"""Statuses that say as much as a code."""

VAGUE: Final[Mapping[int, RefusalKind]] = {
    403: RefusalKind.AUTHENTICATION,
    413: RefusalKind.PROMPT_TOO_LONG,
    503: RefusalKind.OVERLOADED,
}
"""Statuses that say something only where nothing else does."""

SAID_MORE: Final[Mapping[RefusalKind, frozenset[RefusalKind]]] = {
    RefusalKind.PROMPT_TOO_LONG: frozenset({RefusalKind.TOGETHER_TOO_LONG, RefusalKind.REPLY_BUDGET}),
    RefusalKind.RATE_LIMIT: frozenset({RefusalKind.OVER_QUOTA, RefusalKind.BILLING}),
}
"""What a wording may make of the kind that a code names."""

_CODED: Final = frozenset({"code", "type", "status", "error_type", "reason", "__type"})
_QUOTED: Final = frozenset({"failed_generation", "input", "messages"})
_LEVELS: Final = 8
_LONGEST: Final = 65_536  # characters that are read; no provider says it later


@attrs.frozen
class Reason:
    """Why a request was refused: the kind, tokens of the limit and of the prompt, and seconds to wait, where named."""

    kind: RefusalKind
    limit: int | None = None
    size: int | None = None
    after: float | None = None


def reason_of(status: int, body: str) -> Reason:
    """What an answer with this status and body was refused for. Pure, and linear in the body."""
    try:
        fields: list[tuple[str, object]] = list(_fields(loads(body), "", _LEVELS))
    except ValueError:
        fields = [("message", body)]
    codes = (string(value).lower() for key, value in fields if key in _CODED)
    coded = next((CODES[code] for code in codes if code in CODES), None) or STATUSES.get(status)
    text = "\n".join(value for key, value in fields if isinstance(value, str) and key not in _CODED)[:_LONGEST]
    wait = next((duration(value) for key, value in fields if key == "retrydelay" and isinstance(value, str)), None)
    wait = told(text) if wait is None else wait
    reason = _worded(text, coded, waits=wait is not None) or Reason(coded or VAGUE.get(status, RefusalKind.OTHER))
    if reason.kind is RefusalKind.PROMPT_TOO_LONG:
        numbers = {key: count(value) for key, value in fields}  # llama.cpp's own fields
        limit, size = numbers.get("n_ctx") or reason.limit, numbers.get("n_prompt_tokens") or reason.size
        reason = attrs.evolve(reason, limit=limit, size=size)
    reason = attrs.evolve(reason, limit=believed(reason.limit))
    waited = reason.kind in (RefusalKind.RATE_LIMIT, RefusalKind.OVERLOADED)
    return attrs.evolve(reason, after=wait) if waited else reason


def _worded(text: str, coded: RefusalKind | None, *, waits: bool) -> Reason | None:
    data = text.encode("utf-8", "replace")
    for wording in WORDINGS:
        if coded not in (None, wording.kind) and wording.kind not in SAID_MORE.get(coded, ()):
            continue
        if wording.kind is RefusalKind.BILLING and waits:  # Google words a limit of a minute like one of money
            continue
        found = _re2.groups(wording.pattern, data)
        if found is not None:
            return _reason(wording, found)
    return None


def _reason(wording: Wording, found: list[bytes | None]) -> Reason:
    there = ((name, text) for name, text in zip(wording.numbers, found, strict=True) if text is not None)
    named = {name: tokens(text.decode("latin-1")) for name, text in there}
    if None in named.values():  # another unit than tokens: none of its numbers can be used
        return Reason(wording.kind)
    limit, size, kind = named.get("limit"), named.get("size"), wording.kind
    if (above := named.get("above")) is not None:
        limit = above - 1
    if (over := named.get("over")) is not None and limit is not None:
        size = limit + over
    if limit is not None and size is not None and size > limit:
        # What is too long alone is not too long only together, and what is over a quota alone never passes.
        kind = {
            RefusalKind.TOGETHER_TOO_LONG: RefusalKind.PROMPT_TOO_LONG,
            RefusalKind.RATE_LIMIT: RefusalKind.OVER_QUOTA,
        }.get(kind, kind)
    return Reason(kind, limit, size)


def _fields(value: object, name: str, levels: int) -> Iterator[tuple[str, object]]:
    """Every scalar in a value with the name of its field in lower case, in order."""
    if isinstance(value, dict):
        members = list(cast("dict[str, object]", value).items())
    elif isinstance(value, list):
        members = [(name, one) for one in items(cast("object", value))]
    else:
        yield name, value
        return
    if levels:
        for key, one in members:
            if key.lower() not in _QUOTED:
                yield from _fields(one, key.lower(), levels - 1)
