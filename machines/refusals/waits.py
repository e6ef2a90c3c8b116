"""How long a provider asks to wait, where no header that is meant for it says so: in prose, and in other headers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from .. import _re2

UNITS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3_600.0),
}
"""Seconds of each unit, as providers spell it."""

LONGEST: Final = 7 * 24 * 3_600.0
"""Seconds beyond which a wait is not believed: no limit of a provider lasts longer than a week."""

_TOLD: Final = _re2.pattern(
    r"(?:again|retry|retrying|wait|reset|resets)(?: again)?(?: in| after| for)? ?([0-9][^\n]{0,40})"
)
_PIECE: Final = _re2.pattern(r"^[ ,]{0,2}(?:and )?([0-9]{1,9}(?:\.[0-9]{1,12})?) ?([a-z]+)(.*)")
_RESETS: Final = ("requests", "tokens", "input-tokens", "output-tokens")


def told(text: str) -> float | None:
    """Seconds that a text asks to wait, such as "try again in 1m12.5s". None where it names none."""
    found = _re2.groups(_TOLD, text.encode("utf-8", "replace"))
    return None if found is None else duration((found[0] or b"").decode("latin-1"))


def duration(text: str) -> float | None:
    """Seconds of a duration at the beginning of a text: `174ms`, `6m0s`, `1 minute and 5 seconds`."""
    total, any_of_it, left = 0.0, False, text.encode("utf-8", "replace")
    while (piece := _re2.groups(_PIECE, left)) is not None:
        number, unit, rest = ((part or b"").decode("latin-1") for part in piece)
        if unit.lower() not in UNITS:
            break
        total, any_of_it, left = total + float(number) * UNITS[unit.lower()], True, rest.encode("latin-1")
    return total if any_of_it and total <= LONGEST else None


def until_reset(headers: Mapping[str, str], since: datetime) -> float | None:
    """Seconds until all that is used up is there again, by Anthropic's headers, or OpenAI's. None where nothing is."""
    waits = [
        wait
        for name in _RESETS
        for start in ("anthropic-ratelimit-", "x-ratelimit-")
        if (wait := _until(headers, start, name, since)) is not None
    ]
    return max(waits, default=None)


def _until(headers: Mapping[str, str], start: str, name: str, since: datetime) -> float | None:
    # Anthropic names what is limited first, OpenAI last.
    first = start.startswith("anthropic")
    left, reset = (f"{start}{name}-{what}" if first else f"{start}{what}-{name}" for what in ("remaining", "reset"))
    if headers.get(left, "").strip() != "0":
        return None
    said = headers.get(reset, "").strip()
    if not first:
        return duration(said)
    try:
        when = datetime.fromisoformat(said)
    except ValueError:
        return None
    seconds = ((when if when.tzinfo else when.replace(tzinfo=UTC)) - since).total_seconds()
    return max(0.0, seconds) if seconds <= LONGEST else None
