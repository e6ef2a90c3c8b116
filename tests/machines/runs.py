"""Runs as nothing led to them: each a frozen value that stands where a test of one row needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
from rpds import HashTrieMap

from machines.detectors.roster import ROSTER
from machines.events import Call, Reply, StopReason, Text, TurnEnded, Usage
from machines.ledger.work import Ledger
from machines.manifest import Tool
from machines.outcome import Reason
from machines.policy import DEFAULT, Budget, Policy, only
from machines.reply import Mend, ReplyState
from machines.state import Phase, Purse, Run, Spent, new_run
from machines.streaks import Circle, Streaks, ToolStreak
from machines.turn import Answer, Turn
from machines.window import AGAIN as AGAIN_FLAG
from machines.window import STALE as STALE_FLAG

POLICY = Policy(budget=Budget(turns=10, seconds=1_000.0, tokens=100_000, usd=None, reply_tokens=1_000))
NEW = new_run("run", POLICY)
TEXT = Text("words", 12)
READ, OTHER = Call("1", "read", b"sign-one", TEXT), Call("2", "read", b"sign-two", TEXT)
SAME = b"the-same"
"""The digest of a turn's only kind of call and its outcome."""

THIRD = Turn(3)
SPENT_UP = Spent(usage=Usage(90_000, 0))
"""No further request fits the tokens."""


def at(phase: Phase, **changes: Any) -> Run:
    """A run in this state, as nothing led to it."""
    return attrs.evolve(NEW, at=phase, **changes)


def left(**budgets: int) -> dict[Purse, int | None]:
    """A full purse, but for the budgets named."""
    return {**NEW.purse, **{Purse[name]: number for name, number in budgets.items()}}


def without(budget: str) -> Run:
    """A run that recovers and has nothing left of this budget."""
    return at(Phase.RECOVERING, purse=left(**{budget: 0}))


def spent_up(budget: Mend) -> Run:
    """A run that recovers and has nothing left of this recovery."""
    mending = attrs.evolve(NEW.reply, at=ReplyState.RECOVERING, left={**NEW.reply.left, budget: 0})
    return at(Phase.RECOVERING, reply=mending)


def reply(stop: StopReason = StopReason.END_TURN, *calls: Call, text: Text | None = None, **more: Any) -> Reply:
    return Reply(5.0, stop, calls, text, **more)


def acting(turn: Turn = THIRD, **changes: Any) -> Run:
    """A run whose turn is in hand; by default its third, with nothing in it."""
    return at(Phase.ACTING, turn=turn, **changes)


def concluding(changes: int = 0) -> Run:
    """A run that was stopped, after so many changes."""
    return at(Phase.CONCLUDING, stop=Reason("turns"), ledger=Ledger(changes_in_all=changes))


ENDED = TurnEnded(5.0)
AGAIN = Turn(3, answers=(Answer("read", b"sign-one", SAME),))
"""A turn with one answered call, of which `Streaks` may have seen more."""

LOOK = Answer("look", b"sign-look", b"seen")
ENTRY = b"outco" + b"call" + b"to"
KEPT: Mapping[str, Callable[[int], tuple[Turn, Streaks]]] = {
    "validation_error": lambda n: (THIRD, Streaks(invalid=b"wrong", invalid_count=n)),
    "empty_thought": lambda n: (THIRD, Streaks(thoughts=n)),
    "consecutive_duplicate": lambda n: (AGAIN, Streaks(same=SAME, same_count=n - 1, same_ok=n - 1)),
    "cycle": lambda n: (THIRD, Streaks(laps=b"1234567\0abcdefg\0" * n)),
    "spread_duplicate": lambda n: (THIRD, Streaks(window=(ENTRY + bytes((AGAIN_FLAG,))) * n)),
    "same_error": lambda n: (THIRD, Streaks(tools=HashTrieMap({"read": ToolStreak(failure=b"f", failures=n)}))),
    "search_escalation": lambda n: (THIRD, Streaks(searches=n)),
    "family": lambda n: (THIRD, Streaks(families=HashTrieMap({"news": Circle(count=n)}))),
    "monologue": lambda n: (THIRD, Streaks(silent=n - 1)),
    "no_progress": lambda n: (THIRD, Streaks(barren=n - 1, barren_ok=1)),
    "stalled_work": lambda n: (THIRD, Streaks(stalled=n - 1, stalled_ok=1)),
    "fruitless_tool": lambda n: (THIRD, Streaks(tools=HashTrieMap({"read": ToolStreak(barren=n, ok=1)}))),
    "same_tool": lambda n: (THIRD, Streaks(window=(ENTRY + bytes((STALE_FLAG,))) * n)),
    "redundant_check": lambda n: (attrs.evolve(THIRD, answers=(LOOK,) * n), Streaks(told="read")),
}
"""For each detector a turn, and what the turns before it left, that make its count `n`."""


def counting(name: str, count: int, **limits: int | None) -> Run:
    """A run whose turn is in hand, with this count of this detector, under these limits of it."""
    own = attrs.evolve(getattr(DEFAULT.detectors, name), **limits)
    detectors = only(attrs.evolve(DEFAULT.detectors, **{name: own}), name)
    policy = attrs.evolve(NEW.policy, detectors=detectors)
    turn, streaks = KEPT[name](count)
    return acting(turn, streaks=streaks, policy=policy, tools={"look": Tool(look=True)})


WIDE: Mapping[str, tuple[int, int]] = {
    d.name: (getattr(DEFAULT.detectors, d.name).nudge, getattr(DEFAULT.detectors, d.name).stop or 0) for d in ROSTER
}
"""Where each detector nudges and stops by default; 0: it never stops."""
