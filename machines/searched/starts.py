"""Runs that the search begins with: each a small policy, under which one part of the machine can be seen whole.

Limits are as small as they can be without taking a behaviour away: a nudge before a stop, a window of four, three or
four turns. What holds here for every order of events holds the same way where the numbers are larger; that is the
reason for the choice, and not a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from ..manifest import Consent, Kind, Tool, Wait, Work
from ..policy import (
    Budget,
    Condensings,
    Cycle,
    Detectors,
    Escalation,
    Limits,
    Messages,
    Often,
    Plain,
    Policy,
    Recovery,
    Waiting,
    Windowed,
)
from ..state import Run, new_run

FREE: Final = Budget(turns=3, seconds=None, tokens=None, usd=None, reply_tokens=None, calls_per_turn=2)


def recovery(times: int) -> Recovery:
    """Every recovery so many times."""
    return Recovery(*[times] * len(attrs.fields(Recovery)))


def _limits(nudge: int) -> Limits:
    return Limits(True, nudge, nudge + 1, nudge, nudge + 1)


TIGHT: Final = Detectors(
    consecutive_duplicate=_limits(2),
    spread_duplicate=Windowed(nudge=2, stop=3, failing_nudge=2, failing_stop=3, window=4, failing_window=4),
    cycle=Cycle(nudge=2, stop=3, failing_nudge=2, failing_stop=3, max_period=2),
    no_progress=_limits(1),
    stalled_work=_limits(2),
    fruitless_tool=_limits(2),
    same_error=Plain(nudge=1, stop=2),
    validation_error=Plain(nudge=1, stop=2),
    search_escalation=Plain(nudge=1, stop=2),
    family=Plain(nudge=1, stop=2),
    same_tool=Often(nudge=2, stop=3, window=4),
    redundant_check=Plain(nudge=1, stop=None),
    empty_thought=Plain(nudge=1, stop=2),
    monologue=Plain(nudge=1, stop=2),
    chanting=Plain(nudge=2, stop=2),
    vain_condensing=Condensings(nudge=1, stop=2),
)
OFF: Final = Detectors(
    **{field.name: attrs.evolve(getattr(TIGHT, field.name), enabled=False) for field in attrs.fields(Detectors)}
)
NUDGES: Final = attrs.evolve(
    OFF,
    no_progress=Limits(nudge=1, stop=None, failing_nudge=1, failing_stop=None),
    stalled_work=Limits(nudge=2, stop=None, failing_nudge=2, failing_stop=None),
    fruitless_tool=Limits(nudge=3, stop=None, failing_nudge=3, failing_stop=None),
)
"""Detectors that only nudge, one turn after another: what makes a third nudge a stop is the ladder alone."""

READ: Final = Tool(Kind.READ)
WRITE: Final = Tool(Kind.WRITE, target=("path",))
POLL: Final = Tool(Kind.WAIT, wait=Wait("*", ("queued",), ("done",), 60.0, 5.0))
ASK: Final = Tool(Kind.OTHER, consent=Consent(30.0, 100.0))
SEARCH: Final = Tool(Kind.SEARCH, family="web", topic=("about",))
THINK: Final = Tool(Kind.THINK, may_be_empty=False)


def start_of(name: str, policy: Policy, work: Work = Work.OTHER, requires: tuple[str, ...] = (), **tools: Tool) -> Run:
    """A run before its first event."""
    return new_run(name, policy, tools=tools, work=work, requires=requires)


# How condensings are judged has a start of its own: they may come at any time, between any two other events.
_STUCK = attrs.evolve(TIGHT, vain_condensing=attrs.evolve(TIGHT.vain_condensing, enabled=False))
SMALL = Policy(FREE, recovery(0), Escalation(within=2, rescues=1), OFF)

STARTS: Final[Mapping[str, Run]] = {
    run.id: run
    for run in (
        start_of(
            "stuck",
            attrs.evolve(
                SMALL,
                budget=attrs.evolve(FREE, turns=4),
                recovery=attrs.evolve(recovery(0), empty=1),
                escalation=Escalation(within=3, rescues=1),
                detectors=_STUCK,
            ),
            read=READ,
            write=WRITE,
        ),
        start_of(
            "nudged",
            attrs.evolve(
                SMALL,
                budget=attrs.evolve(FREE, turns=4, calls_per_turn=1),
                recovery=attrs.evolve(recovery(0), empty=1),
                escalation=Escalation(within=4, rescues=0),
                detectors=NUDGES,
            ),
            read=READ,
        ),
        start_of("searching", attrs.evolve(SMALL, detectors=_STUCK), search=SEARCH, think=THINK),
        start_of(
            "recovering", attrs.evolve(SMALL, budget=attrs.evolve(FREE, turns=2), recovery=recovery(1)), read=READ
        ),
        start_of(
            "condensing",
            attrs.evolve(
                SMALL,
                budget=attrs.evolve(FREE, turns=2),
                recovery=attrs.evolve(recovery(0), condensed=1, condensed_ahead=1, truncated=1),
                detectors=attrs.evolve(OFF, vain_condensing=TIGHT.vain_condensing),
            ),
            read=READ,
        ),
        start_of(
            "waiting",
            attrs.evolve(
                SMALL, budget=attrs.evolve(FREE, turns=2, seconds=120.0), waiting=Waiting(hold_back_seconds=10.0)
            ),
            poll=POLL,
            ask=ASK,
        ),
        start_of("paying", attrs.evolve(SMALL, budget=attrs.evolve(FREE, tokens=1_000, usd=1.0)), read=READ),
        start_of(
            "building",
            attrs.evolve(SMALL, detectors=_STUCK, messages=Messages(require_facts=True)),
            Work.BUILD,
            ("a.txt",),
            write=WRITE,
        ),
        start_of(
            "switched off",
            attrs.evolve(
                SMALL,
                budget=attrs.evolve(FREE, final_reply=False),
                escalation=Escalation(nudges=False, stops=False, rescues=0),
                waiting=Waiting(enabled=False),
            ),
            read=READ,
            poll=POLL,
        ),
        # Last, since what the others leave over is its own: everything at once, of which no end is in sight.
        start_of(
            "everything",
            attrs.evolve(
                SMALL,
                budget=attrs.evolve(FREE, turns=8),
                recovery=recovery(2),
                escalation=Escalation(within=4, rescues=1),
                detectors=TIGHT,
            ),
            read=READ,
            write=WRITE,
            poll=POLL,
            search=SEARCH,
            ask=ASK,
        ),
    )
}
