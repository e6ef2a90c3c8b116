"""Waiting below the model: a tool that is polled until what it tells of is over, as one call.

A poll by the model costs a request with the whole conversation in it. Polled here, a build of twenty minutes is one
call, one turn and one line of the journal. The time of such a wait is the smallest of the tool's own and what the run
has left, less what is held back for the work after it.

The rules: with no time left nothing is asked. The gaps grow by a factor up to a cap; the last one ends at the deadline,
and then it is looked once more. A look may put the next one off, but never over the deadline. A value that nobody
declared, and an error, end it at once and are the answer.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from math import inf
from typing import Any, Final

import anyio
import attrs

from ..events import ErrorKind, PollState
from ..ledger.observe import poll_of
from ..manifest import Wait
from .calling import heartbeat, time_left
from .tools import AgentTool, ToolError

LOOK: Final = 30.0
"""Seconds that one look may take at most: less than what is held back for the work after a wait."""


LONGEST_AFTER: Final = 3600.0
"""Seconds by which a look can put the next one off at most: no server's word shall end a wait without a deadline."""


@attrs.frozen
class Looked:
    """What a look found, from one that has more to say than the value.

    `after`: seconds before which the next look shall not come, None where nothing was said. `missed`: nothing came of
    the look; whatever was seen before it stands, and the wait goes on.
    """

    value: object = None
    after: float | None = None
    missed: bool = False


@attrs.frozen
class Poll:
    """How often it is looked. Seconds: the first gap, the factor by which each grows, and the longest.

    `jitter`: the share by which a gap may be longer, by chance, so that many waits do not ask at once.
    """

    first: float = 5.0
    factor: float = 1.5
    cap: float = 30.0
    jitter: float = 0.0

    def __attrs_post_init__(self) -> None:
        for name, least in (("first", 0.001), ("factor", 1.0), ("cap", 0.001), ("jitter", 0.0)):
            found = getattr(self, name)
            if not isinstance(found, int | float) or not least <= found < inf:
                raise ValueError(f"Poll.{name}: found {found!r}, expected a number of at least {least:g}")

    def gaps(self, least: float = 0.0) -> Iterator[float]:
        """The gaps, one after another, before chance makes them longer; none shorter than `least`."""
        gap = self.first
        while True:
            yield max(gap, least)
            gap = min(gap * self.factor, self.cap)

    def spread(self, gap: float) -> float:
        """A gap, made longer by chance: this spreads load and hides nothing."""
        return gap * (1.0 + random.random() * self.jitter)


async def await_until(
    look: Callable[[], Awaitable[object]],
    wait: Wait,
    poll: Poll | None = None,
    *,
    left: float = inf,
    longest_look: float = LOOK,
    now: Callable[[], float] = anyio.current_time,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> object:
    """Look until the value is no waiting one, and give it; at the deadline `{status: "wait_timeout", ...}` instead.

    A look gives the value, or a `Looked` with it. An `after` of more than an hour is taken for an hour.

    `left`: seconds that there are at most. `waited_s` is the time that was really waited, `last_seen` the last value.
    Raises what `look` raises, and `TimeoutError` where one takes longer than `longest_look`.
    """
    began = now()
    longest = inf if wait.max_wait_seconds is None else wait.max_wait_seconds
    deadline = began + min(longest, left)
    if deadline <= began:
        return timed_out(0.0, None)
    poll, last = poll or Poll(), None
    for gap in poll.gaps(wait.min_interval_seconds or 0.0):
        with anyio.fail_after(longest_look):
            found = await look()
        looked = found if isinstance(found, Looked) else Looked(found)
        if not looked.missed:
            last = looked.value
            if poll_of(last, None, wait)[0] is not PollState.WAITING:
                return last
        heartbeat()
        if now() >= deadline:
            return timed_out(now() - began, last)
        await sleep(min(poll.spread(max(gap, min(looked.after or 0.0, LONGEST_AFTER))), deadline - now()))
    raise AssertionError("there is always another gap")


def timed_out(waited: float, last: object) -> dict[str, object]:
    """What is answered where the time is over before the wait is."""
    return {"status": "wait_timeout", "waited_s": round(waited), "last_seen": last}


def awaited(tool: AgentTool, poll: Poll | None = None, *, name: str | None = None) -> AgentTool:
    """A tool with a declared wait, as one call that lasts until the wait is over.

    Raises `ValueError` for a tool that declares none.
    """
    wait = tool.manifest.wait
    if wait is None:
        raise ValueError(f"tool {tool.name}: declares no wait, so it cannot be waited for")

    own = tool.manifest.timeout_seconds
    longest_look = LOOK if own is None else min(own, LOOK)

    async def blocking(**args: Any) -> object:
        try:
            return await await_until(
                lambda: tool.function(**args), wait, poll, left=time_left(), longest_look=longest_look
            )
        except TimeoutError:
            raise ToolError(ErrorKind.TIMEOUT, f"a look took more than {longest_look:g} s") from None

    return as_one_call(attrs.evolve(tool, name=name or tool.name, function=blocking))


def as_one_call(tool: AgentTool) -> AgentTool:
    """A tool whose function lasts until a wait is over, and watches its own time look by look."""
    manifest = attrs.evolve(tool.manifest, wait=None, timeout_seconds=inf, idle_seconds=None)
    said = f"{tool.description}\n\nThis call lasts until it is over, or its time is: there is no need to ask again."
    return attrs.evolve(tool, description=said, manifest=manifest)
