"""What an event costs a run: its time, and a reply's tokens and money."""

from __future__ import annotations

from statecraft.evolve import evolve

from .events import Condensed, Event, Reply, together
from .state import Run, Spent


def at_time(run: Run, event: Event) -> Run:
    """The run at the event's time; one that claims to be earlier changes nothing."""
    return run if event.at <= run.spent.now else evolve(run, spent=timed(run.spent, event))


def timed(spent: Spent, event: Event) -> Spent:
    """What is spent at the event's time."""
    return spent if event.at <= spent.now else evolve(spent, now=event.at)


def with_summary(spent: Spent, event: Event) -> Spent:
    """What is spent with a condensing's cost, if the event is one; the prompt is shorter by what it freed."""
    if not isinstance(event, Condensed):
        return spent
    usage = together(spent.usage, event.usage)
    return evolve(spent, usage=usage, last=evolve(spent.last, input=max(0, spent.last.input - event.freed)))


def charge_summary(run: Run, event: Condensed) -> Run:
    """The run with a condensing's cost."""
    return evolve(run, spent=with_summary(run.spent, event))


def charge(run: Run, event: Reply) -> Run:
    """The run with the reply's cost."""
    return evolve(run, spent=charged(run.spent, event))


def charged(spent: Spent, event: Reply) -> Spent:
    """What is spent with the reply's cost. It counts at least one token, so that tokens bound turns."""
    cost = event.usage
    counted = cost.input + cost.output
    usage = together(spent.usage, cost if counted else evolve(cost, output=1))
    return evolve(
        spent,
        now=max(event.at, spent.now),
        usage=usage,
        replies=spent.replies + 1,
        last=cost,
        dearest=max(spent.dearest, cost.usd / counted if counted else 0.0),
    )
