"""One call that is held: it waits for something outside, and its turn with it.

What is waited for is a person's answer, a person's consent to the very call, or a signal by its name. It comes in one
of three ways, and they are kept apart: it was *answered* (a consent that is anything but approved is *denied*), nobody
answered in time (*expired*: that is no denial), or the question was *withdrawn*.

What counts is when the answer was given, not when the run heard of it: a run may have been put down all the while. An
approval that lasts for a time only is over after it, however late the run takes it up. What is given for another call,
or is none of the choices, is no answer: the call waits on.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import attrs

from statecraft import Evidence, Rows, Table, guard, keep, ordered, seen
from statecraft.evolve import evolve

from .commands import Command
from .events import Awaited, Call, Clock, Signal, Text, Values
from .ledger.work import digest8

FOREVER: Final = 1e10
"""Seconds after which a wait without an end is over: three hundred years. JSON has no infinity to show."""

HELD_CALL: Final = "held"
"""By what a person is told that something is asked of one."""

APPROVE: Final = "approve"
DENY: Final = "deny"
"""The two answers that a consent knows. Whatever is not the first is the second."""


class HeldState(Enum):
    """How a held call stands."""

    WAITING = "waiting"
    ANSWERED = "answered"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@attrs.frozen
class Held:
    """A call that waits since `since`, until `until` at the latest (seconds since the run began).

    `name` is what an answer calls it by, `question` and `choices` what a person is asked. `lasts`: seconds for which an
    approval may be used. Once it is over, `answer`, `value`, `by` and `when` say what came, from whom, and when.
    `told`: a person was told of it.
    """

    call: Call
    awaited: Awaited
    name: str
    since: float
    until: float
    at: HeldState = HeldState.WAITING
    question: Text | None = None
    choices: tuple[str, ...] = ()
    lasts: float | None = None
    answer: str | None = None
    value: Text | None = None
    by: str | None = None
    when: float = 0.0
    told: bool = False

    @property
    def key(self) -> str:
        """What a consent to this call names: its signature, and its arguments to the letter."""
        return consent_key(self.call).hex()

    @property
    def consented_until(self) -> float:
        """Until when a call like this one may run without another approval."""
        return self.when + (self.lasts or 0.0)


@guard
def came_late(run: Held, event: Signal) -> Evidence:
    """The answer was given when the time for it was over."""
    when = given_at(event)
    return seen("came_late", when >= run.until, when=when, until=run.until)


@guard
def stale(run: Held, event: Signal) -> Evidence:
    """The approval was for a time that is over."""
    consent = run.awaited is Awaited.CONSENT
    until = FOREVER if run.lasts is None or not consent else given_at(event) + run.lasts
    return seen("stale", event.at > until, now=event.at, until=until)


@guard
def other_question(run: Held, event: Signal) -> Evidence:
    """A consent is asked for, and this was given for another call, or before it was asked for at all."""
    when, to = given_at(event), event.consents_to
    holds = (
        run.awaited is Awaited.CONSENT and not event.withdrawn and (when < run.since if to is None else to != run.key)
    )
    return seen("other_question", holds, to=to, asked=run.key, when=when, since=run.since)


@guard
def not_offered(run: Held, event: Signal) -> Evidence:
    """There are choices, and this is none of them."""
    holds = run.awaited is Awaited.ANSWER and bool(run.choices) and event.answer not in run.choices
    return seen("not_offered", holds and not event.withdrawn, answer=event.answer, choices=len(run.choices))


@guard
def withdraws(run: Held, event: Signal) -> Evidence:
    """The question is withdrawn."""
    return seen("withdraws", event.withdrawn, name=event.name)


@guard
def denies(run: Held, event: Signal) -> Evidence:
    """A consent is asked for, and this does not give it."""
    holds = run.awaited is Awaited.CONSENT and event.answer != APPROVE
    return seen("denies", holds, awaited=run.awaited.value, answer=event.answer, by=event.by)


@guard
def time_over(run: Held, event: Clock) -> Evidence:
    """The time for an answer is over."""
    return seen("time_over", event.at >= run.until, now=event.at, until=run.until)


def consent_key(call: Call) -> bytes:
    """Eight bytes for one call. Its signature may leave arguments out; this is another for any other text of them."""
    return digest8(call.signature, call.args.digest.encode())


def given_at(event: Signal) -> float:
    """When the answer was given: at the latest when the run heard of it."""
    return event.at if event.when is None else min(event.when, event.at)


def take(run: Held, event: Signal) -> tuple[Held, tuple[()]]:
    """What came, from whom, and when."""
    return evolve(run, answer=event.answer, value=event.value, by=event.by, when=given_at(event)), ()


def run_out(run: Held, event: Clock) -> tuple[Held, tuple[()]]:
    """Nobody answered."""
    return evolve(run, when=run.until), ()


def told_of(held: Held) -> Values:
    """What is told of a held call, to a person and in a reason."""
    return (
        ("awaited", held.awaited.value),
        ("name", held.name),
        ("tool", held.call.tool),
        ("signature", held.key),
        ("until", round(held.until, 3)),
    )


def at(run: Held) -> HeldState:
    """How it stands."""
    return run.at


def move(run: Held, state: HeldState) -> Held:
    """The held call in another state."""
    return evolve(run, at=state)


H = HeldState
row = Rows[Held, HeldState, Command]()

HELD = Table[Held, HeldState, Signal | Clock, Command](
    "held",
    [
        row(H.WAITING, Signal, H.EXPIRED, take, came_late),
        row(H.WAITING, Signal, H.WAITING, keep, other_question),
        row(H.WAITING, Signal, H.WAITING, keep, not_offered),
        row(H.WAITING, Signal, H.WITHDRAWN, take, withdraws),
        row(H.WAITING, Signal, H.DENIED, take, denies),
        row(H.WAITING, Signal, H.EXPIRED, take, stale),
        row(H.WAITING, Signal, H.ANSWERED, take),
        row(H.WAITING, Clock, H.EXPIRED, run_out, time_over),
        row(H.WAITING, Clock, H.WAITING, keep),
        ordered([H.WAITING], [Signal], "what came too late says nothing, and a withdrawn question has no answer"),
    ],
    events=[Signal, Clock],
    initial=H.WAITING,
    final=[H.ANSWERED, H.DENIED, H.EXPIRED, H.WITHDRAWN],
    at=at,
    move=move,
)
