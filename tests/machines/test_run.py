"""The run's table, row by row: one call on a frozen run, with no history played to get there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from machines.commands import (
    AnswerCalls,
    Ask,
    Command,
    Condense,
    End,
    RunCalls,
    Show,
    Tell,
    TellPerson,
    WaitUntil,
)
from machines.escalation import Ladder, Rung
from machines.events import (
    Begin,
    Call,
    Cancel,
    Clock,
    Condensed,
    Declared,
    Event,
    Facts,
    GoalMeasured,
    NoReply,
    PlanChanged,
    PlanItem,
    Refusal,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
    TurnEnded,
    Usage,
)
from machines.ledger.work import Ledger
from machines.outcome import Reason, TerminalStatus
from machines.policy import Budget, Policy
from machines.run import RUN
from machines.state import ENDINGS, OPEN, Phase, Purse, Run, Spent, Streaks, Turn, Waits, new_run
from statecraft.guards import name_of
from statecraft.testing import StepOne

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


ASKING, RECOVERING = at(Phase.ASKING), at(Phase.RECOVERING)
FINAL_ASK, STATUS = Ask(final=True), TerminalStatus
AGAIN = Turn(3, outcomes=(SAME,), ok=1, tool="read")
"""A turn with one answered call, of which `Streaks` may have seen more."""

CHANGED = Ledger(changes_in_all=1)
TOO_LARGE, PASSING, FINAL = Refusal(5.0, 413, TEXT), Refusal(5.0, 529, TEXT, after=7.0), Refusal(5.0, 401, TEXT)
TURN_ENDED = TurnEnded(5.0)

Case = tuple[str, Run, Event, Phase, Sequence[Command | type[Command]]]

BEGINNING: list[Case] = [
    ("begins", NEW, Begin(0.0), Phase.ASKING, [Ask()]),
    (
        "begins with no budget for a request",
        attrs.evolve(NEW, spent=SPENT_UP),
        Begin(0.0),
        Phase.CONCLUDING,
        [FINAL_ASK],
    ),
    ("begins by a person's word", NEW, Said(0.0, TEXT), Phase.ASKING, [Ask()]),
    (
        "hears a person with no turn left",
        attrs.evolve(NEW, purse=left(TURN=0)),
        Said(0.0, TEXT),
        Phase.CONCLUDING,
        [FINAL_ASK],
    ),
]

ANSWERED = "the reply was cut off, so its calls may be incomplete"
LIMIT = "the run has reached its limit"
CUT, WITHHELD, PAUSED = reply(StopReason.LENGTH, READ), reply(StopReason.REFUSAL, text=TEXT), reply(StopReason.PAUSE)
EMPTY, CALLS = reply(), reply(StopReason.TOOL_USE, READ, OTHER)

REPLIES: list[Case] = [
    ("the model refuses", ASKING, WITHHELD, Phase.BLOCKED, [End]),
    ("a filter withholds the reply", RECOVERING, reply(StopReason.CONTENT_FILTER), Phase.BLOCKED, [End]),
    (
        "cut at the limit",
        at(Phase.ASKING, spent=SPENT_UP),
        CUT,
        Phase.CONCLUDING,
        [AnswerCalls(("1",), LIMIT), FINAL_ASK],
    ),
    ("cut", ASKING, CUT, Phase.RECOVERING, [AnswerCalls(("1",), ANSWERED), Ask()]),
    ("cut again", RECOVERING, CUT, Phase.RECOVERING, [AnswerCalls(("1",), ANSWERED), Ask()]),
    (
        "cut once too often",
        at(Phase.RECOVERING, purse=left(TRUNCATED=0)),
        CUT,
        Phase.CONCLUDING,
        [AnswerCalls(("1",), ANSWERED), FINAL_ASK],
    ),
    ("paused", ASKING, PAUSED, Phase.RECOVERING, [Ask()]),
    ("paused once too often", at(Phase.RECOVERING, purse=left(PAUSED=0)), PAUSED, Phase.CONCLUDING, [FINAL_ASK]),
    ("empty", ASKING, EMPTY, Phase.RECOVERING, [Tell("empty"), Ask()]),
    ("empty once too often", at(Phase.RECOVERING, purse=left(EMPTY=0)), EMPTY, Phase.CONCLUDING, [FINAL_ASK]),
    ("calls", ASKING, CALLS, Phase.ACTING, [RunCalls(("1", "2"))]),
    (
        "calls with no turn left",
        at(Phase.ASKING, purse=left(TURN=0)),
        CALLS,
        Phase.CONCLUDING,
        [AnswerCalls(("1", "2"), LIMIT), FINAL_ASK],
    ),
    ("a final answer", ASKING, reply(text=TEXT, kind=Declared.FINAL), Phase.COMPLETED, [End]),
    ("a partial answer", ASKING, reply(text=TEXT, kind=Declared.PARTIAL), Phase.PARTIAL, [End]),
    ("a failure report", ASKING, reply(text=TEXT, kind=Declared.FAILURE), Phase.BLOCKED, [End]),
    ("a checkpoint", RECOVERING, reply(text=TEXT), Phase.ACTING, [Show(TEXT)]),
    (
        "a checkpoint with no turn left",
        at(Phase.ASKING, purse=left(TURN=0)),
        reply(text=TEXT),
        Phase.CONCLUDING,
        [FINAL_ASK],
    ),
]

OPENED = attrs.evolve(AGAIN, open=(OTHER,))
LATE = AnswerCalls(("2",), "no answer came before the turn was over")
THREE, FOUR = Streaks(same=SAME, same_count=2, same_ok=2), Streaks(same=SAME, same_count=3, same_ok=3)
TWO_NUDGES = Ladder(Rung.NUDGED_TWICE, older=1, newer=2)

TURNS: list[Case] = [
    ("an answer to an open call", acting(Turn(3, open=(READ, OTHER))), Result(5.0, "2", SAME), Phase.ACTING, []),
    ("the same outcome a fourth time", acting(OPENED, streaks=FOUR), TURN_ENDED, Phase.CONCLUDING, [LATE, FINAL_ASK]),
    (
        "nothing new for a fourth turn",
        acting(streaks=Streaks(barren=3, barren_ok=3)),
        TURN_ENDED,
        Phase.CONCLUDING,
        [FINAL_ASK],
    ),
    ("a third nudge", acting(AGAIN, streaks=THREE, ladder=TWO_NUDGES), TURN_ENDED, Phase.CONCLUDING, [FINAL_ASK]),
    ("no turn left", acting(purse=left(TURN=0)), TURN_ENDED, Phase.CONCLUDING, [FINAL_ASK]),
    ("a wait that expired", acting(Turn(3, wait_over="expired")), TURN_ENDED, Phase.ASKING, [Tell, Ask()]),
    (
        "a wait that nobody foresaw",
        acting(Turn(3, wait_over="unrecognised")),
        TURN_ENDED,
        Phase.ASKING,
        [TellPerson, Tell, Ask()],
    ),
    (
        "only a look at a wait",
        acting(Turn(3, polls=1), waits=Waits(next_at=9.0)),
        TURN_ENDED,
        Phase.WAITING,
        [WaitUntil(9.0)],
    ),
    ("the same outcome a third time", acting(OPENED, streaks=THREE), TURN_ENDED, Phase.ASKING, [LATE, Tell, Ask()]),
    (
        "nothing new for a third turn",
        acting(streaks=Streaks(barren=2, barren_ok=2)),
        TURN_ENDED,
        Phase.ASKING,
        [Tell, Ask()],
    ),
    ("progress", acting(Turn(3, signal="result"), purse=left(EMPTY=0)), TURN_ENDED, Phase.ASKING, [Ask()]),
    ("a turn like many", acting(), TURN_ENDED, Phase.ASKING, [Ask()]),
]

NEWS: list[tuple[str, Event]] = [
    ("the plan changes", PlanChanged(5.0, (PlanItem(TEXT, "pending"),))),
    ("the goal is measured", GoalMeasured(5.0, 1, 2)),
    ("somebody speaks", Said(5.0, TEXT)),
]
NOTED: list[Case] = [
    (f"{name} while {phase.value}", at(phase), event, phase, []) for phase in OPEN for name, event in NEWS
]

WAITING: list[Case] = [
    ("the time has come", at(Phase.WAITING), Clock(5.0), Phase.ASKING, [Ask()]),
    ("the time has come too late", at(Phase.WAITING), Clock(1_000.0), Phase.CONCLUDING, [FINAL_ASK]),
    ("a signal", at(Phase.WAITING), Signal(5.0, "approved"), Phase.ASKING, [Ask()]),
    ("a signal too late", at(Phase.WAITING), Signal(1_000.0, "approved"), Phase.CONCLUDING, [FINAL_ASK]),
]

REFUSALS: list[Case] = [
    ("refused for good", ASKING, FINAL, Phase.FAILED, [End]),
    ("refused at the limit", at(Phase.ASKING, spent=SPENT_UP), PASSING, Phase.CONCLUDING, [FINAL_ASK]),
    ("too long", RECOVERING, TOO_LARGE, Phase.CONDENSING, [Condense()]),
    ("too long, and condensed too often", at(Phase.ASKING, purse=left(CONDENSED=0)), TOO_LARGE, Phase.FAILED, [End]),
    ("refused for now", ASKING, PASSING, Phase.RECOVERING, [Ask(after=7.0)]),
    ("refused for now once too often", at(Phase.ASKING, purse=left(REFUSED=0)), PASSING, Phase.FAILED, [End]),
    ("refused as nobody knows why", ASKING, Refusal(5.0, 422, TEXT), Phase.FAILED, [End]),
    ("condensed", at(Phase.CONDENSING), Condensed(5.0, 100), Phase.RECOVERING, [Ask()]),
    ("no reply", RECOVERING, NoReply(5.0, "gone"), Phase.FAILED, [End]),
]

OVER = AnswerCalls(("1",), "the run is over: its last reply has no tools")

LAST: list[Case] = [
    ("last words after changes", concluding(ledger=CHANGED), reply(text=TEXT), Phase.PARTIAL, [End]),
    (
        "last words with a call after changes",
        concluding(ledger=CHANGED),
        reply(StopReason.TOOL_USE, READ),
        Phase.PARTIAL,
        [OVER, End],
    ),
    ("last words after nothing", concluding(), reply(text=TEXT), Phase.BLOCKED, [End]),
    ("no last words after changes", concluding(ledger=CHANGED), NoReply(5.0, "gone"), Phase.PARTIAL, [End]),
    ("no last words after nothing", concluding(), NoReply(5.0, "gone"), Phase.BLOCKED, [End]),
    ("last words refused after changes", concluding(ledger=CHANGED), PASSING, Phase.PARTIAL, [End]),
    ("last words refused after nothing", concluding(), FINAL, Phase.BLOCKED, [End]),
]

CANCELLED: list[Case] = [
    (f"cancelled while {phase.value}", at(phase), Cancel(5.0), Phase.CANCELLED, [End]) for phase in (Phase.READY, *OPEN)
]

CASES = [*BEGINNING, *REPLIES, *TURNS, *NOTED, *WAITING, *REFUSALS, *LAST, *CANCELLED]


@pytest.mark.parametrize(("run", "event", "target", "commands"), [pytest.param(*c[1:], id=c[0]) for c in CASES])
def test_one_call_takes_one_row(
    step_one: StepOne, run: Run, event: Event, target: Phase, commands: Sequence[Command | type[Command]]
) -> None:
    step = step_one(RUN, run, event, target=target, commands=commands)
    assert step.run.at is target
    assert (step.run.outcome is not None) == (target in ENDINGS)
    assert (step.run.stop is not None) == (target is Phase.CONCLUDING or run.stop is not None)


def test_every_row_is_taken_alone() -> None:
    taken = {RUN.step(run, event).row for _, run, event, _, _ in CASES}
    assert [str(row) for number, row in enumerate(RUN.rows) if number not in taken] == []


# Over the table: a checkpoint ends nothing.


def test_by_the_table_alone_only_what_is_more_than_a_checkpoint_ends_an_open_run() -> None:
    """A reply that is no forced candidate ends a run only as a kind of message that is an ending, or withheld."""
    for row in RUN.rows:
        if row.event is Reply and row.target in ENDINGS and Phase.CONCLUDING not in row.sources:
            (guard,) = map(name_of, row.guards)
            assert guard in ("is_final_answer", "is_partial_answer", "is_failure_report", "withheld"), str(row)


def test_by_the_table_alone_no_forced_stop_is_completed() -> None:
    for row in RUN.rows:
        if Phase.CONCLUDING in row.sources and row.target in ENDINGS:
            assert row.target in (Phase.PARTIAL, Phase.BLOCKED, Phase.CANCELLED), str(row)
        if row.target is Phase.COMPLETED:
            assert list(map(name_of, row.guards)) == ["is_final_answer"], str(row)


@pytest.mark.parametrize("phase", [Phase.ASKING, Phase.RECOVERING])
@pytest.mark.parametrize("kind", [None, Declared.CHECKPOINT, Declared.FINAL])
def test_a_checkpoint_never_ends_a_run(step_one: StepOne, phase: Phase, kind: Declared | None) -> None:
    # The last is declared final, but the host knows of no ground for it.
    facts = Facts(grounded=False) if kind is Declared.FINAL else Facts(grounded=True)
    step = step_one(RUN, at(phase), reply(text=TEXT, kind=kind, facts=facts), target=Phase.ACTING)
    assert step.run.purse == left(TURN=9)
