"""Answers that come after their turn was over: news all the same, and heard once."""

from __future__ import annotations

from typing import Any

import pytest

from machines._run_endings import MOST_UNANSWERED
from machines.commands import End
from machines.events import (
    Awaited,
    Awaits,
    Begin,
    Call,
    Cancel,
    Condensed,
    ErrorKind,
    Event,
    Reply,
    Result,
    Signal,
    StopReason,
    Text,
)
from machines.manifest import Kind, Tool
from machines.outcome import Fact
from machines.policy import DEFAULT, Budget, Policy
from machines.state import Phase, Run, new_run
from machines.supervisor import Moved, feed
from statecraft import Refused, Step

TEXT = Text("text", 4)
ONE, TWO, THREE = (Call(str(number), "read", b"sign-%d" % number, TEXT) for number in (1, 2, 3))
SAVE = Call("save", "write", b"sign-save", TEXT, target="a.txt")
NEW = new_run(
    "run",
    Policy(budget=Budget(turns=100, seconds=None, tokens=None, usd=None)),
    tools={"write": Tool(Kind.WRITE), "think": Tool(Kind.THINK)},
)


def after(run: Run, *events: Event) -> Run:
    for event in events:
        run = feed(run, event).run
    return run


def calling(*calls: Call) -> Reply:
    return Reply(1.0, StopReason.TOOL_USE, calls)


def result(call: str, digest: bytes | None, **more: Any) -> Result:
    return Result(1.0, call, digest, **more)


def evidence(run: Run, event: Event) -> list[tuple[str, dict[str, Any]]]:
    """What the questions saw that refused the event."""
    (move,) = feed(run, event).moves
    assert isinstance(move, Moved)
    assert isinstance(move.answer, Refused)
    assert (move.answer.run, move.answer.why) == (run, "")
    return [(found.name, dict(found.seen)) for found in move.answer.seen]


# One call of the first turn got no answer, and the second turn is under way with what is known already.
SECOND = after(NEW, Begin(0.0), calling(ONE, TWO), result("2", b"old"), calling(THREE))
BETWEEN = after(SECOND, result("3", b"old"))


def test_a_call_that_got_no_answer_is_remembered_and_one_that_got_one_is_not() -> None:
    assert (SECOND.at, SECOND.turn.number, SECOND.unanswered) == (Phase.ACTING, 2, (ONE,))
    assert (BETWEEN.at, BETWEEN.streaks.barren) == (Phase.ASKING, 1)
    assert after(SECOND, result("1", b"new")).unanswered == ()


@pytest.mark.parametrize(("digest", "signal"), [(b"new", "result"), (b"old", ""), (None, "")])
def test_a_late_answer_is_news_of_the_turn_under_way_if_it_is_new(digest: bytes | None, signal: str) -> None:
    run = after(SECOND, result("1", digest))
    assert (run.at, run.turn.open, run.turn.signal, run.turn.strong) == (Phase.ACTING, (THREE,), signal, False)
    assert after(run, result("3", b"old")).streaks.barren == (0 if signal else 1)


@pytest.mark.parametrize(("digest", "signal"), [(b"new", "result"), (b"old", "")])
def test_between_two_turns_a_late_answer_is_news_of_the_next(digest: bytes, signal: str) -> None:
    run = after(BETWEEN, result("1", digest))
    assert (run.at, run.turn.number, run.turn.signal) == (Phase.ASKING, 2, signal)
    run = after(run, calling(TWO))
    assert (run.turn.number, run.turn.signal) == (3, signal)
    assert after(run, result("2", b"old")).streaks.barren == (0 if signal else 2)


def test_an_old_answer_takes_no_news_from_a_turn() -> None:
    two_late = after(NEW, Begin(0.0), calling(ONE, TWO), calling(THREE))
    run = after(two_late, result("1", b"new"), result("2", b"new"))
    assert (run.turn.signal, run.unanswered) == ("result", ())


def test_a_late_answer_is_judged_as_the_answer_of_no_turn() -> None:
    run = after(SECOND, result("1", b"new", error=ErrorKind.TIMEOUT))
    assert run.turn.answers == ()


def test_a_late_write_is_a_change_and_clears_every_streak() -> None:
    run = after(NEW, Begin(0.0), calling(SAVE, TWO), result("2", b"old"), calling(THREE))
    run = after(run, result("save", b"saved", wrote=True, state=b"state"))
    assert (run.turn.signal, run.turn.strong) == ("state", True)
    assert (run.ledger.changes_in_all, "a.txt" in run.ledger.written) == (1, True)


def test_a_late_answer_is_heard_once() -> None:
    assert evidence(after(SECOND, result("1", b"new")), result("1", b"newer")) == [
        ("open_call", {"call": "1", "open": 1}),
        ("late_call", {"call": "1", "unanswered": 0}),
    ]
    assert evidence(after(BETWEEN, result("1", b"new")), result("1", b"newer")) == [
        ("late_call", {"call": "1", "unanswered": 0})
    ]


def test_a_call_of_this_turn_is_answered_before_one_of_an_earlier_turn_with_its_id() -> None:
    again = Call("1", "read", b"sign-again", TEXT)
    run = after(BETWEEN, calling(again, THREE), result("1", b"new"))
    assert (run.turn.open, run.unanswered) == ((THREE,), (ONE,))
    run = after(run, result("1", b"newer"))
    assert (run.turn.open, run.unanswered) == ((THREE,), ())


def test_the_newest_calls_without_an_answer_are_remembered() -> None:
    calls = tuple(Call(str(number), "read", b"sign-%d" % number, TEXT) for number in range(MOST_UNANSWERED + 1))
    policy = Policy(budget=Budget(turns=9, seconds=None, tokens=None, usd=None, calls_per_turn=len(calls)))
    run = after(new_run("run", policy), Begin(0.0), calling(*calls), calling(THREE))
    assert run.unanswered == calls[1:]
    assert evidence(run, result("0", b"new"))[1] == ("late_call", {"call": "0", "unanswered": MOST_UNANSWERED})
    (move,) = feed(run, result("1", b"new")).moves
    assert isinstance(move, Moved)
    assert isinstance(move.answer, Step)


def test_a_late_answer_confirms_what_its_call_did() -> None:
    run = after(NEW, Begin(0.0), calling(SAVE, TWO), result("2", b"old"), calling(THREE), result("3", b"old"))
    for one, facts, unanswered in (
        (run, (Fact.SIDE_EFFECTS_UNCONFIRMED,), ("save",)),
        (after(run, result("save", None)), (), ()),
    ):
        outcome = after(one, Cancel(2.0)).outcome
        assert outcome is not None
        assert (outcome.facts, outcome.account.unanswered) == (facts, unanswered)


def test_an_answer_after_the_end_is_not_heard() -> None:
    (move,) = feed(after(SECOND, Cancel(2.0)), result("1", b"new")).moves
    assert isinstance(move, Moved)
    assert isinstance(move.answer, Refused)
    assert move.answer.why


def held_back(*more: Event) -> Run:
    """A run that waits for the answer to its only call."""
    return after(NEW, Begin(0.0), calling(ONE), Awaits(1.0, "1", Awaited.ANSWER, "question"), *more)


VAIN = tuple(Condensed(1.0, 0) for _ in range(DEFAULT.detectors.vain_condensing.stop or 0))
ASKED_ANEW = (Signal(1.0, "question", answer="yes"), Awaits(1.0, "1", Awaited.ANSWER, "question"))


@pytest.mark.parametrize(
    "stopped",
    [
        pytest.param(after(NEW, Begin(0.0), calling(ONE), *VAIN), id="condensed in vain beside an open call"),
        pytest.param(held_back(*VAIN), id="condensed in vain beside a held call"),
        pytest.param(
            held_back(*ASKED_ANEW * (2 * NEW.policy.budget.calls_per_turn), Signal(1.0, "question", answer="yes")),
            id="held too often",
        ),
    ],
)
def test_a_stop_answers_its_calls_itself_and_nobody_answers_them_again(stopped: Run) -> None:
    assert stopped.at is Phase.CONCLUDING
    assert (stopped.turn.open, stopped.turn.held, stopped.unanswered) == ((), (), (ONE,))
    fed = feed(stopped, Cancel(2.0, "enough"))
    assert [type(command) for command in fed.commands] == [End]
    assert fed.run.outcome is not None
    assert fed.run.outcome.account.unanswered == ("1",)
