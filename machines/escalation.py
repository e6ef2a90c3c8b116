"""Nudge, nudge again, stop: how many nudges stand against a run just now.

The rules: a nudge counts from the reply that came after it. Progress since then takes all of them away: it was heeded.
A nudge older than the policy's window counts no longer. While two stand, the run's own table turns the next one,
whichever detector gives it, into a stop.
"""

from __future__ import annotations

from enum import Enum

import attrs

from statecraft import Evidence, Rows, Table, guard, ignore, keep, ordered, seen
from statecraft.evolve import evolve

from .commands import Command
from .events import Reply, TurnEnded


class Rung(Enum):
    """How many nudges stand."""

    CALM = "calm"
    NUDGED = "nudged"
    NUDGED_TWICE = "nudged_twice"


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Ladder:
    """The nudges that stand: the turns in which the older and the newer were given.

    `turn`, `progressed` and `within` are lent by the run for the event at hand.
    """

    at: Rung = Rung.CALM
    older: int = 0
    newer: int = 0
    turn: int = 0
    progressed: bool = False
    within: int = 10


@guard
def heeded(run: Ladder, event: TurnEnded) -> Evidence:
    """Something new came in since: the nudges were heeded."""
    return seen("heeded", run.progressed, progressed=run.progressed)


@guard
def newer_is_old(run: Ladder, event: TurnEnded) -> Evidence:
    """The window is `within` turns wide and ends with this one."""
    return seen("newer_is_old", run.turn - run.newer >= run.within, turn=run.turn, newer=run.newer, within=run.within)


@guard
def older_is_old(run: Ladder, event: TurnEnded) -> Evidence:
    """The older nudge is out of the window."""
    return seen("older_is_old", run.turn - run.older >= run.within, turn=run.turn, older=run.older, within=run.within)


def note(run: Ladder, event: Reply) -> tuple[Ladder, tuple[()]]:
    """The nudge given at the end of turn `turn` stands from now on."""
    return evolve(run, older=run.newer, newer=run.turn), ()


def at(run: Ladder) -> Rung:
    """The rung."""
    return run.at


def move(run: Ladder, state: Rung) -> Ladder:
    """The ladder on another rung."""
    return evolve(run, at=state)


_CALM, _ONCE, _TWICE = tuple(Rung)
row = Rows[Ladder, Rung, Command]()

ESCALATION = Table[Ladder, Rung, Reply | TurnEnded, Command](
    "escalation",
    [
        row(_CALM, Reply, _ONCE, note),
        row(_ONCE, Reply, _TWICE, note),
        row(_TWICE, Reply, _TWICE, note),
        row([_ONCE, _TWICE], TurnEnded, _CALM, keep, heeded),
        row([_ONCE, _TWICE], TurnEnded, _CALM, keep, newer_is_old),
        row(_TWICE, TurnEnded, _ONCE, keep, older_is_old),
        row(_ONCE, TurnEnded, _ONCE, keep),
        row(_TWICE, TurnEnded, _TWICE, keep),
        ignore([_CALM], [TurnEnded], "no nudge stands"),
        ordered([_ONCE, _TWICE], [TurnEnded], "progress takes every nudge away, age only those that it reached"),
    ],
    events=[Reply, TurnEnded],
    initial=_CALM,
    final=[],
    at=at,
    move=move,
)
