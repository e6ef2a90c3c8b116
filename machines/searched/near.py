"""More runs to begin with: from each of them rows are near that the searched starts lead to only after very long.

Most have one detector alone, since where several are on, the one that is asked first speaks in place of the others; and
each has of the world's moves only those that lead to its rows. They are there for the walk to every row; what holds of
a run is searched from the other starts, with all moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import attrs

from statecraft.proofs import Near

from ..events import (
    Awaits,
    Begin,
    Clock,
    Condensed,
    Ended,
    Event,
    GoalMeasured,
    Measured,
    PlanChanged,
    Refusal,
    Reply,
    Result,
    Signal,
)
from ..manifest import Kind, Tool, Work
from ..policy import Detectors, Escalation, Messages, Plain, Policy, Progress, Waiting, only
from ..state import Phase, Run
from .moves import DIGESTS, moves
from .starts import ASK, FREE, NUDGES, OFF, POLL, READ, SEARCH, SMALL, THINK, TIGHT, WRITE, recovery, start_of

LOOK: Final = Tool(Kind.READ, look=True)
LONG: Final = attrs.evolve(FREE, turns=8)

Moves = Callable[[Run], Iterator[Event]]


def _among(*kinds: type[Event], which: Callable[[Run, Event], bool] | None = None) -> Moves:
    """Of the moves those of these kinds of which `which` holds."""

    def some(run: Run) -> Iterator[Event]:
        yield from (event for event in moves(run) if isinstance(event, kinds) and (which is None or which(run, event)))

    return some


def _of_turns(run: Run, event: Event) -> bool:
    """Of replies those with calls that can be run, and those that come though calls are still open."""
    if not isinstance(event, Reply) or run.at is Phase.ACTING:
        return True
    return bool(event.calls) and all(call.parsed and call.tool in run.tools for call in event.calls)


def _of_good_turns(run: Run, event: Event) -> bool:
    """The same, and of results those of calls that went well."""
    fails = isinstance(event, Result) and (event.error is not None or event.digest is None)
    return _of_turns(run, event) and not fails


def _of_laps(run: Run, event: Event) -> bool:
    """The same, with two calls a turn, whose answers are always the same."""
    if isinstance(event, Reply):
        return _of_turns(run, event) and len({call.tool for call in event.calls}) > 1
    return not isinstance(event, Result) or event.digest == DIGESTS[0]


WORDS: Final = _among(Begin, Reply)
TURNS: Final = _among(Begin, Reply, Result, which=_of_turns)
GOOD_TURNS: Final = _among(Begin, Reply, Result, which=_of_good_turns)
LAPS: Final = _among(Begin, Reply, Result, which=_of_laps)
PLANNING: Final = _among(Begin, Reply, Result, PlanChanged, which=_of_good_turns)
POLLS: Final = _among(Begin, Reply, Result, Clock, Signal, which=_of_good_turns)
ANSWERS: Final = _among(Begin, Reply, Result, Clock, Awaits, Signal, Ended, which=_of_good_turns)
PLANS: Final = _among(Begin, Reply, Result, Awaits, PlanChanged, GoalMeasured, Condensed, which=_of_good_turns)
CONDENSES: Final = _among(Begin, Reply, Result, Condensed, Measured, Refusal, Ended, which=_of_good_turns)


def _alone(name: str, limits: Detectors = TIGHT) -> Policy:
    """One detector alone, and turns enough for its stop; nudges of it are no stop however many they are."""
    return attrs.evolve(SMALL, budget=LONG, detectors=only(limits, name), escalation=Escalation(stops=False, rescues=1))


_ONE_CALL = attrs.evolve(FREE, calls_per_turn=1)
_ONCE = attrs.evolve(TIGHT, empty_thought=Plain(nudge=1, stop=1), redundant_check=Plain(nudge=1, stop=1))

# A plan that has changed lets an empty thought be run, and where results count for nothing it does not clear it.
_THINKS = attrs.evolve(
    _alone("empty_thought", _ONCE),
    recovery=attrs.evolve(recovery(0), unfinished_plan=1),
    progress=Progress(results=False),
)
_HELD = attrs.evolve(SMALL, budget=_ONE_CALL)

NEAR: Final[Mapping[str, Near[Run, Event]]] = {
    run.id: Near(run, some)
    for some, run in (
        (PLANNING, start_of("thinking", _THINKS, think=THINK)),
        (LAPS, start_of("going round", _alone("cycle"), read=READ, seek=READ)),
        (TURNS, start_of("refused", _alone("validation_error"), read=READ)),
        (TURNS, start_of("spread", _alone("spread_duplicate"), read=READ)),
        (TURNS, start_of("finding nothing", _alone("search_escalation"), search=SEARCH)),
        (TURNS, start_of("fruitless", _alone("fruitless_tool"), read=READ)),
        (TURNS, start_of("one tool", _alone("same_tool"), read=READ)),
        (TURNS, start_of("stalled", _alone("stalled_work"), Work.BUILD, ("a.txt",), read=READ)),
        (GOOD_TURNS, start_of("looking", _alone("redundant_check"), look=LOOK, write=WRITE)),
        (
            GOOD_TURNS,
            start_of("looking once", _alone("redundant_check", _ONCE), look=LOOK, write=WRITE),
        ),
        (POLLS, start_of("polling", attrs.evolve(SMALL, budget=attrs.evolve(LONG, seconds=900.0)), poll=POLL)),
        (
            POLLS,
            start_of(
                "polling late",
                attrs.evolve(SMALL, budget=attrs.evolve(LONG, seconds=100.0), waiting=Waiting(hold_back_seconds=5.0)),
                poll=POLL,
            ),
        ),
        (ANSWERS, start_of("held", _HELD, ask=ASK)),
        (ANSWERS, start_of("held twice", SMALL, ask=ASK)),
        (
            ANSWERS,
            start_of("held late", attrs.evolve(SMALL, budget=attrs.evolve(FREE, seconds=90.0)), ask=ASK, poll=POLL),
        ),
        (
            PLANS,
            start_of(
                "held and condensed",
                attrs.evolve(
                    _HELD,
                    recovery=attrs.evolve(recovery(0), condensed=1, unfinished_plan=1),
                    detectors=only(TIGHT, "vain_condensing"),
                ),
                ask=ASK,
            ),
        ),
        (
            CONDENSES,
            start_of(
                "nudged in vain",
                attrs.evolve(
                    SMALL,
                    budget=LONG,
                    recovery=attrs.evolve(recovery(0), condensed=1),
                    escalation=Escalation(within=8, rescues=0),
                    detectors=only(
                        attrs.evolve(NUDGES, vain_condensing=attrs.evolve(TIGHT.vain_condensing, stop=3)),
                        "no_progress",
                        "stalled_work",
                        "vain_condensing",
                    ),
                ),
                read=READ,
            ),
        ),
        (
            TURNS,
            start_of(
                "nudged on",
                attrs.evolve(
                    SMALL, budget=LONG, escalation=Escalation(within=8, stops=False, rescues=0), detectors=NUDGES
                ),
                read=READ,
            ),
        ),
        (
            CONDENSES,
            start_of(
                "condensing late",
                attrs.evolve(
                    SMALL,
                    budget=attrs.evolve(FREE, seconds=60.0),
                    recovery=attrs.evolve(recovery(0), refused=1, condensed=1, condensed_ahead=1),
                    detectors=OFF,
                ),
                read=READ,
            ),
        ),
        (WORDS, start_of("facts required", attrs.evolve(SMALL, messages=Messages(require_facts=True)), read=READ)),
        (
            WORDS,
            start_of("too poor", attrs.evolve(SMALL, budget=attrs.evolve(FREE, tokens=100, reply_tokens=200))),
        ),
    )
}
