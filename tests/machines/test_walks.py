"""The small machines walked at random, each alone: what holds at every step, and that every row is come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from hypothesis import strategies as st

from machines.escalation import ESCALATION, Ladder, Rung
from machines.events import Awaited, Call, Declared, Facts, RefusalKind, Reply, StopReason, Text, TurnEnded, Usage
from machines.held import HELD, Held, HeldState, consent_key
from machines.manifest import Work
from machines.message import MESSAGE, Candidate, Message
from machines.policy import Recovery
from machines.reply import REPLY, Mend, Mending, mending
from machines.request import REQUEST, sending
from machines.wait import WAIT, OneWait
from statecraft import Step
from statecraft.proofs import Law, Taken
from statecraft.testing import events, events_by_type, likely, runs, walk

few = st.sampled_from
texts = few([None, Text("words", 12), Text("none", 0)])
times = st.integers(0, 12).map(lambda number: 10.0 * number)
three = few([None, None, False, True])
sources = few([None, 0, 2])
FACTS = st.one_of(
    st.builds(Facts, three, three, sources, three, three, three, three, three),
    st.builds(Facts, few([None, False]), blockers=three, recovering=three),
    st.builds(Facts, attempted=few([True]), eligible=sources, honest_no_source=few([True]), checks_passed=three),
    st.builds(Facts, grounded=few([True]), blockers=three, eligible=sources),
)
CALL = Call("1", "deploy", b"sign", Text("args", 4))
CALLS = few([(), (CALL,), (attrs.evolve(CALL, cut=True),), (attrs.evolve(CALL, tool=""),)])
REPLIES: Mapping[Any, Any] = {
    "at": 1.0,
    "stop": few([StopReason.END_TURN] * 9 + list(StopReason)),
    "text": texts,
    "facts": st.none() | FACTS,
    "kind": few([None, *Declared, Declared.FINAL]),
    "usage": few([Usage(), Usage(90, 9)]),
    **dict.fromkeys(["thinking", "agent", "parts", "draft", "budget", "most"]),
}
HELPED = [RefusalKind.REPLY_BUDGET, RefusalKind.RATE_LIMIT, RefusalKind.TRANSCRIPT, RefusalKind.BAD_CALL]
recoveries = runs(Recovery, {int: st.integers(0, 2)})


def is_checkpoint(step: Taken[Candidate, object], _: object) -> str:
    return "a checkpoint" if step.after.forced and step.after.at is Message.CHECKPOINT else ""


ENDS = Law("forced, it is no checkpoint", "the run ends with it", is_checkpoint)


def came_late(step: Taken[Held, object], _: object) -> str:
    return "late" if step.after.at is HeldState.ANSWERED and step.after.when >= step.after.until else ""


IN_TIME = Law("an answer came in time", "a late one says nothing", came_late)


def unpaid(step: Taken[Mending, object], _: object) -> str:
    spends = REPLY.rows[step.answer.row].spends if isinstance(step.answer, Step) else None
    full = {budget: size or 0 for budget, size in REPLY.full(step.after).items()}
    paid = not isinstance(spends, Mend) or (step.after.left[spends] or 0) < full[spends]
    return "" if paid else "nothing is gone of what it spends"


PAID = Law("what is mended was paid", "or it never ends", unpaid)


def test_a_message_comes_to_every_row() -> None:
    candidates = runs(
        Candidate,
        at=Message.CANDIDATE,
        work=few([Work.BUILD, Work.OTHER, Work.OTHER]),
        forced=few([False, False, True]),
        changes=few([0, 1]),
        unwritten=few([None, 0, 1]),
        open_items=few([0, 0, 1]),
    )
    seldom = {**REPLIES, "calls": CALLS, "added": None, "window": None, "capped": False}
    anything = events(MESSAGE, seldom, body=Text("body", 4))
    said = events_by_type(MESSAGE, {**seldom, "stop": StopReason.END_TURN, "text": Text("words", 12), "calls": ()})
    sent = st.integers(0, 6).flatmap(lambda number: said[Reply] if number else anything)
    walk(
        MESSAGE,
        candidates,
        sent,
        laws=[ENDS],
        steps=60,
        examples=40,
    )


def test_a_wait_comes_to_every_row() -> None:
    walk(WAIT, st.builds(OneWait, until=few([0.0, 50.0]), now=few([0.0, 50.0])), {"at": times}, steps=30, examples=12)


def test_a_held_call_comes_to_every_row() -> None:
    held = runs(
        Held,
        at=HeldState.WAITING,
        call=CALL,
        awaited=few([Awaited.CONSENT, *Awaited]),
        name="go",
        since=10.0,
        until=few([50.0, 80.0]),
        choices=few([(), ("yes",)]),
        lasts=few([None, 10.0]),
        **dict.fromkeys(["question", "answer", "value", "by"]),
    )
    signals = {
        "at": times,
        "when": few([None, 10.0, 20.0, 80.0]),
        "withdrawn": few([False, False, False, True]),
        "answer": few([None, "yes", "deny", *["approve"] * 4]),
        "consents_to": few([None, "other", *[consent_key(CALL).hex()] * 3]),
    }
    walk(
        HELD,
        held,
        {**signals, "value": None, "name": "go"},
        laws=[IN_TIME],
        steps=30,
        examples=60,
    )


def test_the_escalation_comes_to_every_row() -> None:
    ladders = runs(Ladder, at=few(Rung), older=few([0, 3]), newer=few([3, 5]), turn=few([5, 9, 12]), within=few([3, 7]))
    walk(
        ESCALATION, ladders, {Reply: Reply(1.0, StopReason.TOOL_USE), TurnEnded: TurnEnded(1.0)}, steps=6, examples=120
    )


def with_plan(policy: Recovery, open_items: int) -> Mending:
    return attrs.evolve(mending(policy), open_items=open_items)


def test_the_recovery_of_a_reply_comes_to_every_row() -> None:
    starts = st.builds(with_plan, recoveries, few([0, 1]))
    replies = {
        **REPLIES,
        "stop": few([StopReason.END_TURN, StopReason.PAUSE, StopReason.LENGTH] * 3 + list(StopReason)),
        "calls": st.just(()) | CALLS,
        "kind": few([None, Declared.FINAL, Declared.FINAL]),
        "facts": None,
        "added": few([None, None, 0, 4]),
        "window": few([None, 100]),
    }
    walk(
        REPLY,
        starts,
        replies,
        laws=[PAID],
        steps=15,
        examples=100,
    )


def test_the_recovery_of_a_request_comes_to_every_row() -> None:
    sizes = few([None, 200, 9_000])
    refused = {
        "at": 1.0,
        "status": few([-1, 400, 401, 413, 429]),
        "kind": few(HELPED * 4 + list(RefusalKind)),
        "body": Text("body", 4),
        "after": None,
        **dict.fromkeys(["limit", "size", "budget", "estimate", "window"], sizes),
        "Measured.estimate": few([50, 200]),
        "Measured.room": 100,
    }
    walk(REQUEST, recoveries.map(sending), likely(REQUEST, refused), steps=15, examples=100)
