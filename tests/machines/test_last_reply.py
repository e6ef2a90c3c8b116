"""The last reply of a run that is stopped, and the switch that does without it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.commands import AnswerCalls, Ask, Command, End, RunCalls
from machines.events import (
    Begin,
    Call,
    Chunk,
    Declared,
    Ended,
    Event,
    NoReply,
    Refusal,
    Reply,
    Result,
    StopReason,
    Text,
    Usage,
)
from machines.manifest import Kind, Tool
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Policy
from machines.state import Phase, Run, new_run
from machines.supervisor import Fed, Moved, feed

TEXT = Text("text", 4)
CALL = Call("1", "write", b"signature", TEXT)
LAST_ASK = Ask(final=True)


def run_with(*events: Event, **budget: Any) -> Run:
    spare = Budget(turns=100, seconds=None, tokens=None, usd=None, reply_tokens=None)
    run = new_run("run", Policy(budget=attrs.evolve(spare, **budget)), tools={"write": Tool(Kind.WRITE)})
    for event in events:
        run = feed(run, event).run
    return run


def names(fed: Fed) -> list[str]:
    return [type(move.event).__name__ for move in fed.moves if isinstance(move, Moved)]


CALLING = Reply(1.0, StopReason.TOOL_USE, (CALL,))
ANSWER = Result(1.0, "1", b"digest")
THRICE: list[Event] = [CALLING, ANSWER] * 3
COSTLY = attrs.evolve(CALLING, usage=Usage(5_000, 0))
OVER = AnswerCalls(("1",), "the run has reached its limit")

# What stops the run, the events before it, the event, its budget, and what is asked besides the last reply.
STOPS: list[tuple[str, list[Event], Event, dict[str, Any], tuple[Command, ...]]] = [
    ("tokens", [], Begin(0.0), {"tokens": 1_000, "reply_tokens": 901}, ()),
    ("turns", [Begin(0.0), CALLING], ANSWER, {"turns": 1}, ()),
    ("tokens", [Begin(0.0)], COSTLY, {"tokens": 1_000}, (OVER,)),
    ("consecutive_duplicate", [Begin(0.0), *THRICE, CALLING], ANSWER, {}, ()),
    ("recovery_exhausted", [Begin(0.0), *[Reply(1.0, StopReason.PAUSE)] * 5], Reply(1.0, StopReason.PAUSE), {}, ()),
]


@pytest.mark.parametrize(
    ("by", "before", "event", "budget", "first"), STOPS, ids=[f"{s[0]}-{n}" for n, s in enumerate(STOPS)]
)
def test_a_stop_asks_for_one_last_reply_unless_that_is_switched_off(
    by: str, before: list[Event], event: Event, budget: dict[str, Any], first: tuple[Command, ...]
) -> None:
    asked = feed(run_with(*before, **budget), event)
    assert (asked.run.at, asked.commands) == (Phase.CONCLUDING, (*first, LAST_ASK))
    ended = feed(run_with(*before, **budget, final_reply=False), event)
    outcome = ended.run.outcome
    assert outcome is not None
    assert ended.commands == (*first, End(outcome))
    assert names(ended) == [*names(asked), "NoReply"]
    assert (outcome.status, outcome.reason.by, outcome.message) == (TerminalStatus.BLOCKED, by, None)
    # It is the ending of a run whose last reply did not come.
    gone = feed(asked.run, NoReply(event.at, "gone")).run.outcome
    assert outcome == gone


def test_without_a_last_reply_what_was_changed_makes_the_ending_partial() -> None:
    wrote = attrs.evolve(ANSWER, wrote=True, state=b"state")
    run = run_with(Begin(0.0), CALLING, wrote, turns=1, final_reply=False)
    assert run.outcome is not None
    assert (run.at, run.outcome.facts) == (Phase.PARTIAL, (Fact.LIMIT_REACHED,))


def test_a_run_that_is_not_stopped_never_meets_the_switch() -> None:
    final = Reply(2.0, StopReason.END_TURN, text=TEXT, kind=Declared.FINAL)
    for off in (False, True):
        run = run_with(Begin(0.0), CALLING, final_reply=not off)
        fed = feed(run, ANSWER)
        assert (names(fed), fed.commands) == (["Result", "TurnEnded"], (Ask(),))
        assert feed(fed.run, final).run.at is Phase.COMPLETED


@pytest.mark.parametrize(
    "event",
    [
        Reply(2.0, StopReason.TOOL_USE, (attrs.evolve(CALL, id="2"),)),
        Reply(2.0, StopReason.END_TURN, text=TEXT),
        Chunk(2.0, "text", TEXT),
        Refusal(2.0, 529, TEXT),
        Ended(2.0, "ok"),
    ],
    ids=["calls", "words", "a piece of a reply", "a refusal", "the recorded end"],
)
@pytest.mark.parametrize("off", [False, True])
def test_what_shows_that_the_last_turn_was_over_is_no_last_reply_where_that_is_switched_off(
    off: bool, event: Event
) -> None:
    fed = feed(run_with(Begin(0.0), CALLING, turns=1, final_reply=not off), event)
    assert (LAST_ASK in fed.commands) != off
    assert RunCalls(("2",)) not in fed.commands
    if off:
        assert names(fed)[:2] == ["TurnEnded", "NoReply"]
        assert fed.run.outcome is not None
        assert (fed.run.at, fed.run.outcome.message) == (Phase.BLOCKED, None)
