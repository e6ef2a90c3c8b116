"""How often, and after how long, a request is made again before its refusal is handed to the run.

The run's own machine retries too, and its waits are in the journal; so few and short ones are made here.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import attrs
import stamina

from ...events import RefusalKind
from ..wire import Completion, Refused

# The library warns of every retry. Without a handler Python would print that into the terminal of a live run; one
# that the host installs hears it as before.
logging.getLogger("stamina").addHandler(logging.NullHandler())

PASSING: Final = frozenset({0, 408, 409, 429})
"""Statuses, besides 500 and above, that a later request may not meet again; 0 is no answer at all."""

LASTING: Final = frozenset(RefusalKind) - {
    RefusalKind.RATE_LIMIT,
    RefusalKind.OVERLOADED,
    RefusalKind.BAD_CALL,
    RefusalKind.OTHER,
}
"""What the same request will meet again whatever its status: some proxies say 500 of a prompt that is too long."""


@attrs.frozen
class Retries:
    """How patient a provider is: `attempts` in all, waits in seconds.

    The wait doubles from `first` to `most`, with up to `jitter` on top. A server that names a wait is taken at its
    word, unless that is over `longest` or more than the time that is left: then the refusal is handed back at once.
    """

    attempts: int = attrs.field(default=2, validator=attrs.validators.ge(1))
    first: float = 0.5
    most: float = 8.0
    jitter: float = 1.0
    longest: float = 30.0


class _Again(Exception):
    """Carries a refusal to the retrying library; nobody else sees one."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(f"status {refused.status}")  # the library logs it: no body, which may be long
        self.refused = refused


async def with_retries(
    once: Callable[[], Awaitable[tuple[Completion | Refused, bool]]], retries: Retries, deadline: float
) -> Completion | Refused:
    """What `once` answers at last. It says itself whether asking again may help; `deadline` is on anyio's clock."""

    def wait(error: Exception) -> bool | float:
        if not isinstance(error, _Again):
            return False
        after = error.refused.after
        if after is None:
            return True
        if after > min(retries.longest, deadline - anyio.current_time()):
            return False
        return after + random.uniform(0, retries.jitter)

    attempts = stamina.retry_context(
        on=wait,
        attempts=retries.attempts,
        timeout=None,  # the caller's deadline holds
        wait_initial=retries.first,
        wait_max=retries.most,
        wait_jitter=retries.jitter,
    )
    try:
        async for attempt in attempts:
            # Outside of the `with`, so that a cancellation never passes through the library.
            answer, again = await once()
            with attempt:
                if again and isinstance(answer, Refused):
                    raise _Again(answer)
                return answer
    except _Again as last:
        return last.refused
    raise AssertionError("the library ends with an answer or an exception")


def passing(refused: Refused, should: str | None = None) -> bool:
    """Whether asking again may help. `should` is the server's `x-should-retry`, which is believed over its status."""
    if refused.kind in LASTING:
        return False
    if should in ("true", "false"):
        return should == "true"
    return refused.status in PASSING or refused.status >= 500
