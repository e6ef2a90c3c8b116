"""What each state of a run makes of each kind of event: steps, or refuses or ignores it on purpose."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.commands import (
    AnswerCalls,
    End,
)
from machines.events import (
    Begin,
    Call,
    Cancel,
    Chunk,
    Clock,
    Condensed,
    Ended,
    Event,
    GoalMeasured,
    NoReply,
    PlanChanged,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
    Usage,
)
from machines.outcome import Reason
from machines.policy import Budget, Policy
from machines.run import RUN
from machines.state import ENDINGS, RECOVERIES, Phase, Purse, Run, Spent, Turn, new_run
from statecraft import Ignored, Refused, Step

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


def reply(stop: StopReason = StopReason.END_TURN, *calls: Call, text: Text | None = None, **more: Any) -> Reply:
    return Reply(5.0, stop, calls, text, **more)


def acting(turn: Turn = THIRD, **changes: Any) -> Run:
    """A run whose turn is in hand; by default its third, with nothing in it."""
    return at(Phase.ACTING, turn=turn, **changes)


def concluding(**changes: Any) -> Run:
    return at(Phase.CONCLUDING, stop=Reason("turns"), **changes)


# What each state makes of each kind of event: a row takes it (r), it is ignored (i) or refused (x) on purpose.
SAMPLES: dict[str, Event] = {
    "Begin": Begin(5.0),
    "Said": Said(5.0, TEXT),
    "Reply": reply(text=TEXT),
    "Result": Result(5.0, "1", SAME),
    "TurnEnded": TURN_ENDED,
    "Chunk": Chunk(5.0, "text", TEXT),
    "Plan": PlanChanged(5.0, ()),
    "Goal": GoalMeasured(5.0, 1, 2),
    "Refusal": PASSING,
    "Condensed": Condensed(5.0, 100),
    "Signal": Signal(5.0, "approved"),
    "Clock": Clock(5.0),
    "Cancel": Cancel(5.0),
    "NoReply": NoReply(5.0, "gone"),
    "Ended": Ended(5.0, "ok"),
}
GRID = """
            Begin Said Reply Result TurnEnded Chunk Plan Goal Refusal Condensed Signal Clock Cancel NoReply Ended
READY       r     r    x     x      x         x     x    x    x       x         x      x     r      x       i
ASKING      x     r    r     x      x         i     r    r    r       i         i      i     r      r       i
ACTING      x     r    x     r      r         x     r    r    x       i         i      i     r      x       i
WAITING     x     r    x     x      x         x     r    r    x       i         r      r     r      x       i
RECOVERING  x     r    r     x      x         i     r    r    r       i         i      i     r      r       i
CONDENSING  x     r    x     x      x         x     r    r    x       r         i      i     r      x       i
CONCLUDING  x     r    r     x      x         i     r    r    r       i         i      i     r      r       i
"""
COLUMNS, *LINES = [line.split() for line in GRID.strip().splitlines()]
CELLS = [(Phase[state], SAMPLES[name], how) for state, *hows in LINES for name, how in zip(COLUMNS, hows, strict=True)]


def test_the_grid_is_whole() -> None:
    assert {phase for phase, _, _ in CELLS} == {phase for phase in Phase if phase not in ENDINGS}
    assert [type(event) for event in SAMPLES.values()] == list(RUN.events)


@pytest.mark.parametrize(
    ("phase", "event", "how"),
    [pytest.param(*cell, id=f"{cell[0].value}-{type(cell[1]).__name__}") for cell in CELLS],
)
def test_every_cell_answers_as_it_is_meant_to(phase: Phase, event: Event, how: str) -> None:
    run = at(phase, turn=Turn(3, open=(READ,)) if phase is Phase.ACTING else Turn(3))
    answer = RUN.step(run, event)
    match how:
        case "r":
            assert isinstance(answer, Step)
        case "i":
            assert isinstance(answer, Ignored)
            assert answer.why
        case _:
            assert isinstance(answer, Refused)
            assert answer.why
    if how != "r":
        assert answer.run is run
        assert answer.commands == ()


@pytest.mark.parametrize("phase", ENDINGS)
@pytest.mark.parametrize("event", SAMPLES.values(), ids=SAMPLES)
def test_an_ending_refuses_everything(phase: Phase, event: Event) -> None:
    run = at(phase)
    answer = RUN.step(run, event)
    assert isinstance(answer, Refused)
    assert phase.name in answer.why
    assert answer.run is run


def test_an_answer_to_no_open_call_is_refused_with_what_is_open() -> None:
    run = acting(Turn(3, open=(READ, OTHER)))
    answer = RUN.step(run, Result(5.0, "3", SAME))
    assert isinstance(answer, Refused)
    assert answer.why == ""
    (found,) = answer.seen
    assert (getattr(found, "holds", None), dict(found.seen)) == (False, {"call": "3", "open": 2})
    assert answer.run is run


def test_a_call_is_answered_once() -> None:
    once = RUN.step(acting(Turn(3, open=(READ,))), Result(5.0, "1", SAME)).run
    assert isinstance(RUN.step(once, Result(6.0, "1", SAME)), Refused)


def test_a_cancelled_run_answers_its_open_calls_and_lists_them() -> None:
    answer = RUN.step(acting(Turn(3, open=(READ, OTHER))), Cancel(5.0, "enough"))
    assert len(answer.commands) == 2
    first, last = answer.commands
    assert isinstance(first, AnswerCalls)
    assert first.calls == ("1", "2")
    assert isinstance(last, End)
    assert last.outcome.account.unanswered == ("1", "2")
    assert last.outcome.reason == Reason("cancelled", (("why", "enough"),))


def test_progress_makes_every_recovery_full_again_and_leaves_the_turns() -> None:
    spent = left(**{budget.name: 0 for budget in RECOVERIES}, TURN=4)
    moved = RUN.step(acting(Turn(3, signal="result"), purse=spent), TURN_ENDED).run
    assert moved.purse == left(TURN=4)
    still = RUN.step(acting(purse=spent), TURN_ENDED).run
    assert still.purse == spent
