"""What an event costs a run: its time, and a reply's tokens and money."""

from __future__ import annotations

import attrs

from .events import Event, Reply, Usage
from .state import Run


def at_time(run: Run, event: Event) -> Run:
    """The run at the event's time; one that claims to be earlier changes nothing."""
    return run if event.at <= run.spent.now else attrs.evolve(run, spent=attrs.evolve(run.spent, now=event.at))


def charge(run: Run, event: Reply) -> Run:
    """The run with the reply's cost. It counts at least one token, so that tokens bound turns."""
    had, cost = run.spent.usage, event.usage
    output = cost.output if cost.input + cost.output else 1
    usage = Usage(had.input + cost.input, had.output + output, had.cached + cost.cached, had.usd + cost.usd)
    now = max(event.at, run.spent.now)
    counted = cost.input + cost.output
    dearest = max(run.spent.dearest, cost.usd / counted if counted else 0.0)
    replies = run.spent.replies + 1
    return attrs.evolve(
        run, spent=attrs.evolve(run.spent, now=now, usage=usage, replies=replies, last=cost, dearest=dearest)
    )
