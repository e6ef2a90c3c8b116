"""What an application or a provider gives to a run: taken where it is of its type, else as nothing, and said.

An application is asked what it knows within a time. A provider that is not this project's is held to the types of a
reply: what is wrong in it would be found only later, in the journal.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from math import isfinite
from typing import Final, TypeVar, cast

import anyio
import attrs

from ..events import Facts, RefusalKind, StopReason, Usage
from .attempts import Failure, attempt
from .wire import CallPart, Completion, Refused, TextPart, ThinkingPart

T = TypeVar("T")

_LOG: Final = logging.getLogger("machines.agent")

ASKED_SECONDS = 30.0
"""Seconds that an application may take to say what it knows."""

# A union written in the call is made anew at each call.
_WORDS: Final = (TextPart, ThinkingPart)


async def known(what: str, ask: Callable[[], Awaitable[T | None]], fits: Callable[[object], bool]) -> T | None:
    """What the application knows, asked within its time; None where it raises, or answers with something else."""
    found = await attempt(ask, anyio.CancelScope(deadline=anyio.current_time() + ASKED_SECONDS))
    if isinstance(found, Failure):
        why = f"took more than {ASKED_SECONDS:g} s" if found.error is None else "raised"
        _LOG.error("%s %s; nothing is known of the run's", what, why, exc_info=found.error)
        return None
    if found is None or fits(found):
        return found
    _LOG.error("%s answered with a %s that does not fit; nothing is known", what, type(found).__name__)
    return None


def is_facts(found: object) -> bool:
    """Whether these are facts, each of its type."""
    if not isinstance(found, Facts):
        return False
    given = attrs.asdict(found)
    eligible = given.pop("eligible")
    counted = eligible is None or (isinstance(eligible, int) and not isinstance(eligible, bool) and eligible >= 0)
    return counted and all(value is None or isinstance(value, bool) for value in given.values())


def is_count(found: object) -> bool:
    """Whether this is a pair of numbers."""
    if not isinstance(found, tuple):
        return False
    numbers = cast("tuple[object, ...]", found)
    return len(numbers) == 2 and all(map(_is_number, numbers))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def is_sound(answer: Completion) -> bool:
    """Whether a provider that is not this project's kept to the types of a reply."""
    stop, usage, parts = cast("tuple[object, object, object]", (answer.stop, answer.usage, answer.parts))
    if not (isinstance(stop, StopReason) and isinstance(usage, Usage) and isinstance(parts, tuple)):
        return False
    counts = cast("tuple[object, ...]", (usage.input, usage.output, usage.cached))
    if not all(isinstance(count, int) and not isinstance(count, bool) for count in counts) or not _is_number(usage.usd):
        return False
    return all(map(_is_sound_part, cast("tuple[object, ...]", parts)))


def _is_sound_part(part: object) -> bool:
    if isinstance(part, CallPart):
        return all(map(_is_text, (part.id, part.name, part.args)))
    raw = cast("object", part.raw if isinstance(part, ThinkingPart) else None)
    return isinstance(part, _WORDS) and _is_text(part.text) and (raw is None or isinstance(raw, Mapping))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def is_sound_refusal(answer: Refused) -> bool:
    """As `is_sound`, of a refusal."""
    status, body, after = cast("tuple[object, object, object]", (answer.status, answer.body, answer.after))
    sizes = cast("tuple[object, ...]", (answer.limit, answer.size))
    if not all(size is None or (isinstance(size, int) and not isinstance(size, bool)) for size in sizes):
        return False
    kind, too_long = cast("tuple[object, object]", (answer.kind, answer.too_long))
    if not (isinstance(kind, RefusalKind) and isinstance(too_long, bool)) or isinstance(status, bool):
        return False
    return isinstance(status, int) and isinstance(body, str) and (after is None or _is_number(after))


def no_reply(answer: object) -> str:
    """What a provider did in place of a reply. Of an exception only the type: its text may hold a key."""
    if isinstance(answer, Failure) and answer.error is not None:
        return f"the provider raised {type(answer.error).__name__}"
    if isinstance(answer, Completion):
        kinds = {"stop": StopReason, "usage": Usage, "parts": tuple}
        given = {name: cast("object", getattr(answer, name)) for name in kinds}
        for name, kind in kinds.items():
            if not isinstance(given[name], kind):
                found = type(given[name]).__name__
                return f"the provider answered with a Completion: found {found} as its {name}, expected {kind.__name__}"
        return "the provider answered with a Completion: one of its parts, or a field of one, is of another type"
    return f"the provider answered with {type(answer).__name__}, which is no reply; expected Completion or Refused"
