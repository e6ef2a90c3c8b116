"""One declared wait: from the first look at it to its end. A run has one for each call by which it looks.

The rules: it waits while the answer's field holds a waiting value and its time is not over. A terminal value settles
it. A value in neither set, an error, or a missing field ends it as one that nobody foresaw: the exemption was given for
what was declared. Its time is the tool's own, and never more than the run has left.

A wait that is over has no way back: looking again is then a call like any other, until something changes in the world.
There is no `cancelled`: a run that ends takes its waits with it, and its account names those that were open.
"""

from __future__ import annotations

from enum import Enum

import attrs

from statecraft import Evidence, Rows, Table, guard, keep, ordered, seen
from statecraft.evolve import evolve

from .commands import Command
from .events import PollState, Result, Values


class WaitState(Enum):
    """How a wait stands."""

    WAITING = "waiting"
    SETTLED = "settled"
    EXPIRED = "expired"
    UNRECOGNISED = "unrecognised"


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class OneWait:
    """A wait of the tool `tool` that began at `since`.

    Once it is over, `seconds` says how long it took, `last` the value that ended it, `error` the failure. The run lends
    for the event at hand `now`, and `until`: the earlier of the tool's own limit and the run's.
    """

    at: WaitState = WaitState.WAITING
    tool: str = ""
    since: float = 0.0
    until: float = 0.0
    now: float = 0.0
    seconds: float = 0.0
    last: str | None = None
    error: str | None = None


@guard
def holds_waiting_value(run: OneWait, event: Result) -> Evidence:
    """The field holds a waiting value."""
    return seen("holds_waiting_value", event.poll is PollState.WAITING, value=event.poll_value)


@guard
def holds_terminal_value(run: OneWait, event: Result) -> Evidence:
    """The field holds a terminal value."""
    return seen("holds_terminal_value", event.poll is PollState.TERMINAL, value=event.poll_value)


@guard
def in_time(run: OneWait, event: Result) -> Evidence:
    """Time is left for it."""
    return seen("in_time", run.now < run.until, now=run.now, until=run.until)


def finish(run: OneWait, event: Result) -> tuple[OneWait, tuple[()]]:
    """How long it took, and the value that ended it."""
    error = None if event.error is None else event.error.value
    return evolve(run, seconds=run.now - run.since, last=event.poll_value, error=error), ()


def told_of(wait: OneWait) -> Values:
    """What is told of a wait that is over, to the model and to a person."""
    failed = (("error", wait.error),) if wait.error else ()
    return (*failed, ("how", wait.at.value), ("seconds", wait.seconds), ("tool", wait.tool), ("value", wait.last))


def urgency(wait: OneWait) -> tuple[bool, float, str, str]:
    """Of several waits that ended in one turn: what nobody foresaw before what expired, the longest first."""
    return wait.at is not WaitState.UNRECOGNISED, -wait.seconds, wait.tool, wait.last or ""


def at(run: OneWait) -> WaitState:
    """How it stands."""
    return run.at


def move(run: OneWait, state: WaitState) -> OneWait:
    """The wait in another state."""
    return evolve(run, at=state)


W = WaitState
row = Rows[OneWait, WaitState, Command]()

WAIT = Table[OneWait, WaitState, Result, Command](
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
