"""A reply that went wrong: cut off, paused, empty, not to be read, or an answer that leaves the plan open.

The rules, in the order of the rows:

* What the model or the provider's filter withholds is withheld, and asking again is no cure.
* A reply is cut if it says so, if it used up its budget, or if a call's arguments end inside JSON: what providers call
  it is not asked. No call of it is run. It is continued, asked for again, or its history condensed, by what was cut.
* A paused one is sent back as it stands. One in which a call cannot be told is asked for anew.
* One without words while the plan is open, and a final answer that leaves it open, are reminded of it.
* One without words and without a call is told so; thinking alone is no word.

Each case has a budget of its own. All of them belong to one incident: the run's progress makes them full again. A reply
with nothing wrong takes no row, so what was spent stays spent until then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Final

import attrs

from statecraft import Evidence, Rows, Table, guard, keep, ordered, seen
from statecraft.evolve import evolve

from ._incident import sizes_of
from .commands import Command
from .events import Declared, Reply, StopReason
from .message import WITHHELD, was_cut
from .policy import Recovery


class ReplyState(Enum):
    """How the incident stands; the last four are ends."""

    SOUND = "sound"
    RECOVERING = "recovering"
    WITHHELD = "withheld"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    SPENT = "spent"

    __hash__ = object.__hash__


class ReplyCase(StrEnum):
    """What is done about the last reply that went wrong."""

    NONE = "none"
    CONTINUED = "continued"
    CUT_CALL = "cut_call"
    CUT_THOUGHT = "cut_thought"
    FULL = "full"
    RESUMED = "resumed"
    ASKED_AGAIN = "asked_again"
    REMINDED = "reminded"
    NUDGED = "nudged"


class Mend(Enum):
    """How often each case is recovered from, in one incident."""

    TRUNCATED = "truncated"
    PAUSED = "paused"
    MALFORMED = "malformed"
    PLAN = "unfinished_plan"
    EMPTY = "empty"

    __hash__ = object.__hash__


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Mending:
    """The recoveries of one incident: what is left of each, and what was done last.

    `open_items` of the plan are lent for the event at hand.
    """

    at: ReplyState = ReplyState.SOUND
    case: ReplyCase = ReplyCase.NONE
    policy: Recovery = Recovery()
    left: Mapping[Mend, int | None] = attrs.field(factory=dict[Mend, int | None])
    open_items: int = 0


FULL_AT: Final = 0.98
"""The share of a window from which on a reply that was cut is taken to have filled it: counts of tokens differ."""


def chars_of(event: Reply) -> int:
    """The characters that the reply itself said."""
    if event.added is not None:
        return event.added
    return event.text.chars if event.text else 0


@guard
def cut(run: Mending, event: Reply) -> Evidence:
    """The reply was cut off. Even a call in it that looks whole is not run: nobody knows what was still to come."""
    ends = sum(call.cut for call in event.calls)
    stop, calls = event.stop.value, len(event.calls)
    return seen("cut", was_cut(event), stop=stop, calls=calls, capped=event.capped, cut_calls=ends)


@guard
def fills_window(run: Mending, event: Reply) -> Evidence:
    """Prompt and reply fill the model's window: a larger budget helps nobody, a shorter history may."""
    used, window = event.usage.input + event.usage.output, event.window
    holds = event.stop is StopReason.CONTEXT_WINDOW or (window is not None and used >= FULL_AT * window)
    return seen("fills_window", holds, stop=event.stop.value, used=used, window=window)


@guard
def with_call(run: Mending, event: Reply) -> Evidence:
    """It was calling something."""
    return seen("with_call", bool(event.calls), calls=len(event.calls))


@guard
def with_words(run: Mending, event: Reply) -> Evidence:
    """It was saying something."""
    chars = chars_of(event)
    return seen("with_words", chars > 0, chars=chars)


@guard
def paused(run: Mending, event: Reply) -> Evidence:
    """The provider paused a long turn; sent back as it stands, it goes on."""
    holds = event.stop is StopReason.PAUSE and not event.calls
    return seen("paused", holds, stop=event.stop.value, calls=len(event.calls))


@guard
def unidentified(run: Mending, event: Reply) -> Evidence:
    """A call was made, and nobody can tell of what: it has no name, or the provider could not read it."""
    nameless = sum(not call.tool for call in event.calls)
    unread = event.stop is StopReason.MALFORMED_CALL and not event.calls
    holds = nameless > 0 or unread
    return seen("unidentified", holds, nameless=nameless, stop=event.stop.value, calls=len(event.calls))


@guard
def empty(run: Mending, event: Reply) -> Evidence:
    """No text and no call; thinking alone is empty too."""
    chars = chars_of(event)
    holds = chars == 0 and not event.calls and event.stop not in WITHHELD
    thinking = event.thinking is not None
    return seen("empty", holds, chars=chars, calls=len(event.calls), thinking=thinking, stop=event.stop.value)


@guard
def final(run: Mending, event: Reply) -> Evidence:
    """The agent declares its message final."""
    holds = event.kind is Declared.FINAL and not event.calls
    return seen("final", holds, kind=event.kind.value if event.kind else None, calls=len(event.calls))


@guard
def plan_open(run: Mending, event: Reply) -> Evidence:
    """Items of the plan are open."""
    return seen("plan_open", run.open_items > 0, open_items=run.open_items)


@guard
def withheld(run: Mending, event: Reply) -> Evidence:
    """The model, or the provider's filter, refuses to answer."""
    holds = event.stop in WITHHELD and not event.calls
    return seen("withheld", holds, stop=event.stop.value, calls=len(event.calls))


def in_trouble(event: Reply) -> bool:
    """Whether a reply is no message, and no turn: it is cut, paused, empty, or cannot be read."""
    if was_cut(event) or event.stop is StopReason.PAUSE or event.stop is StopReason.MALFORMED_CALL:
        return any(ask(_ANY, event).holds for ask in (cut, paused, unidentified, empty))
    if event.calls:
        return not all(call.tool for call in event.calls)
    return empty(_ANY, event).holds


def concerns(run: Mending, event: Reply) -> bool:
    """Whether the table has a row for the reply, in whatever state: a sound one is asked nothing."""
    if in_trouble(event) or (event.stop in WITHHELD and not event.calls):
        return True
    return run.open_items > 0 and final(run, event).holds


_ANY: Final = Mending()


def _to(case: ReplyCase) -> Callable[[Mending, Reply], tuple[Mending, tuple[()]]]:
    """What is to be done about the reply."""

    def effect(run: Mending, event: Reply) -> tuple[Mending, tuple[()]]:
        return evolve(run, case=case), ()

    effect.__name__ = case.value
    return effect


SIZES: Final = sizes_of(Mend)
"""How full each budget is at the start of an incident, by the policy."""


@lru_cache(maxsize=64)
def mending(policy: Recovery) -> Mending:
    """A fresh incident; the same value for all runs of a policy."""
    fresh = Mending(policy=policy)
    return evolve(fresh, left={budget: size(fresh) for budget, size in SIZES.items()})


def _at(run: Mending) -> ReplyState:
    return run.at


def _move(run: Mending, state: ReplyState) -> Mending:
    return evolve(run, at=state)


def _left(run: Mending) -> Mapping[Mend, int | None]:
    return run.left


def _pay(run: Mending, left: Mapping[Mend, int | None]) -> Mending:
    return evolve(run, left=left)


S, C, M = ReplyState, ReplyCase, Mend
ENDS: Final = (S.WITHHELD, S.TRUNCATED, S.MALFORMED, S.SPENT)
_OPEN: Final = (S.SOUND, S.RECOVERING)
row = Rows[Mending, ReplyState, Command]()

REPLY = Table[Mending, ReplyState, Reply, Command](
    "reply",
    [
        row(_OPEN, Reply, S.WITHHELD, keep, withheld),
        row(_OPEN, Reply, S.RECOVERING, _to(C.FULL), cut, fills_window, spends=M.TRUNCATED),
        row(_OPEN, Reply, S.RECOVERING, _to(C.CUT_CALL), cut, with_call, spends=M.TRUNCATED),
        row(_OPEN, Reply, S.RECOVERING, _to(C.CONTINUED), cut, with_words, spends=M.TRUNCATED),
        row(_OPEN, Reply, S.RECOVERING, _to(C.CUT_THOUGHT), cut, spends=M.TRUNCATED),
        row(_OPEN, Reply, S.TRUNCATED, keep, cut),
        row(_OPEN, Reply, S.RECOVERING, _to(C.RESUMED), paused, spends=M.PAUSED),
        row(_OPEN, Reply, S.SPENT, keep, paused),
        row(_OPEN, Reply, S.RECOVERING, _to(C.ASKED_AGAIN), unidentified, spends=M.MALFORMED),
        row(_OPEN, Reply, S.MALFORMED, keep, unidentified),
        row(_OPEN, Reply, S.RECOVERING, _to(C.REMINDED), empty, plan_open, spends=M.PLAN),
        row(_OPEN, Reply, S.RECOVERING, _to(C.REMINDED), final, plan_open, spends=M.PLAN),
        row(_OPEN, Reply, S.RECOVERING, _to(C.NUDGED), empty, spends=M.EMPTY),
        row(_OPEN, Reply, S.SPENT, keep, empty),
        ordered(_OPEN, [Reply], "what was cut is decided before what is missing, and a bound after what it bounds"),
    ],
    events=[Reply],
    initial=S.SOUND,
    final=ENDS,
    at=_at,
    move=_move,
    budgets=SIZES,
    purse=_left,
    pay=_pay,
)
