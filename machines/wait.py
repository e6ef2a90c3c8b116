"""One declared wait: from the first look at it to its end. A run has one for each call by which it looks.

The rules: it waits while the answer's field holds a waiting value and its time is not over. A terminal value settles
it. A value in neither set, an error, or a missing field ends it as one that nobody foresaw: the exemption was given for
what was declared. Its time is the tool's own, and never more than the run has left.

A wait that is over has no way back: looking again is then a call like any other, until something changes in the world.
One that is still open when its run ends is named in the run's account.
"""

from __future__ import annotations

from enum import Enum

import attrs

from statecraft import Evidence, Rows, Table, guard, keep, ordered, seen
from statecraft.evolve import evolve

from .commands import Command
from .events import PollState, Result


class Waiting(Enum):
    """How a wait stands."""

    WAITING = "waiting"
    SETTLED = "settled"
    EXPIRED = "expired"
    UNRECOGNISED = "unrecognised"


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Waited:
    """A wait of the tool `tool` that began at `since`.

    Once it is over, `seconds` says how long it took, and `last` the value that ended it. `until` is lent by the run
    for the event at hand: the earlier of the tool's own limit and the run's.
    """

    at: Waiting = Waiting.WAITING
    tool: str = ""
    since: float = 0.0
    until: float = 0.0
    seconds: float = 0.0
    last: str | None = None


@guard
def holds_waiting_value(run: Waited, event: Result) -> Evidence:
    """The field holds a waiting value."""
    return seen("holds_waiting_value", event.poll is PollState.WAITING, value=event.poll_value)


@guard
def holds_terminal_value(run: Waited, event: Result) -> Evidence:
    """The field holds a terminal value."""
    return seen("holds_terminal_value", event.poll is PollState.TERMINAL, value=event.poll_value)


@guard
def in_time(run: Waited, event: Result) -> Evidence:
    """Time is left for it."""
    return seen("in_time", event.at < run.until, at=event.at, until=run.until)


def finish(run: Waited, event: Result) -> tuple[Waited, tuple[()]]:
    """What is told of it."""
    return evolve(run, seconds=event.at - run.since, last=event.poll_value), ()


def at(run: Waited) -> Waiting:
    """How it stands."""
    return run.at


def move(run: Waited, state: Waiting) -> Waited:
    """The wait in another state."""
    return evolve(run, at=state)


W = Waiting
row = Rows[Waited, Waiting, Command]()

WAIT = Table[Waited, Waiting, Result, Command](
    "wait",
    [
        row(W.WAITING, Result, W.WAITING, keep, holds_waiting_value, in_time),
        row(W.WAITING, Result, W.EXPIRED, finish, holds_waiting_value),
        row(W.WAITING, Result, W.SETTLED, finish, holds_terminal_value),
        row(W.WAITING, Result, W.UNRECOGNISED, finish),
        ordered([W.WAITING], [Result], "what was declared is recognised before what was not"),
    ],
    events=[Result],
    initial=W.WAITING,
    final=[W.SETTLED, W.EXPIRED, W.UNRECOGNISED],
    at=at,
    move=move,
)
