"""Events in, commands out: when a turn has ended, when a leg begins, and what a fault of the machine comes to."""

from __future__ import annotations

import attrs
import pytest

from machines.commands import AnswerCalls, Ask
from machines.escalation import Ladder, Rung
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
    PlanItem,
    PollState,
    Refusal,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    TurnEnded,
    Usage,
)
from machines.outcome import Fact
from machines.run import RUN
from machines.state import Phase, Purse, Run, hand_on, new_run
from machines.supervisor import Fed, Moved, NewLeg, ended, feed, settle

from .histories import BY_A_PROGRAM, HI, NEW, ONE, TEXT, TOOLS, TWO, after, calling, final


def names(fed: Fed) -> list[str]:
    """What was stepped, by name."""
    return [type(move.event).__name__ if isinstance(move, Moved) else "NewLeg" for move in fed.moves]


BEGUN = after(Begin(0.0))
BOTH_OPEN = after(calling(ONE, TWO), run=BEGUN)
ONE_OPEN = after(Result(2.0, "2", b"digest-2"), run=BOTH_OPEN)
UNANSWERED = AnswerCalls(("1",), "no answer came before the turn was over")


# When a turn has ended.


def test_the_last_answer_ends_the_turn_and_none_before_it() -> None:
    first = feed(BOTH_OPEN, Result(2.0, "2", b"digest-2"))
    assert (names(first), first.run.at) == (["Result"], Phase.ACTING)
    last = feed(first.run, Result(3.0, "1", b"digest-1"))
    assert (names(last), last.run.at, last.commands) == (["Result", "TurnEnded"], Phase.ASKING, (Ask(),))
    assert last.moves[1] == Moved(
        TurnEnded(3.0), RUN.step(RUN.step(first.run, Result(3.0, "1", b"digest-1")).run, TurnEnded(3.0))
    )


def test_a_message_without_calls_is_a_turn_that_ends_at_once() -> None:
    fed = feed(BEGUN, Reply(1.0, StopReason.END_TURN, text=TEXT))
    assert (names(fed), fed.run.at) == (["Reply", "TurnEnded"], Phase.ASKING)


def test_an_answer_that_no_call_is_open_for_ends_nothing() -> None:
    fed = feed(BOTH_OPEN, Result(2.0, "3", b"digest"))
    assert (names(fed), fed.run) == (["Result"], BOTH_OPEN)


@pytest.mark.parametrize(
    ("event", "then"),
    [
        (calling(ONE, at=3.0), Phase.ACTING),
        (Chunk(3.0, "text", TEXT), Phase.ASKING),
        (Refusal(3.0, 529, TEXT), Phase.RECOVERING),
        (Ended(3.0, "ok"), Phase.ASKING),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, Phase) else one.value,
)
def test_what_shows_that_no_answer_will_come_ends_the_turn(event: Event, then: Phase) -> None:
    fed = feed(ONE_OPEN, event)
    assert names(fed) == ["TurnEnded", type(event).__name__]
    assert fed.commands[:2] == (UNANSWERED, Ask())
    assert fed.run.at is then
    assert fed.run.spent.now == 3.0


def test_a_person_ends_the_turn_and_begins_a_leg() -> None:
    fed = feed(ONE_OPEN, HI)
    assert names(fed) == ["TurnEnded", "NewLeg", "Said"]
    assert fed.commands[0] == UNANSWERED
    assert (fed.run.leg, fed.run.at) == (2, Phase.ASKING)


@pytest.mark.parametrize(
    "event",
    [
        BY_A_PROGRAM,
        PlanChanged(3.0, ()),
        GoalMeasured(3.0, 1, 2),
        Condensed(3.0, 5),
        Signal(3.0, "approved"),
        Clock(3.0),
        NoReply(3.0, "gone"),
        Cancel(3.0),
        Begin(3.0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_nothing_else_ends_a_turn_with_open_calls(event: Event) -> None:
    assert names(feed(ONE_OPEN, event)) == [type(event).__name__]


def test_settling_does_only_what_the_event_shows_of_the_turn_before_it() -> None:
    shows: list[Event] = [calling(ONE), Chunk(3.0, "text", TEXT), Refusal(3.0, 529, TEXT), Ended(3.0, "ok"), HI]
    shows_nothing: list[Event] = [BY_A_PROGRAM, Result(3.0, "1"), Clock(3.0), Cancel(3.0)]
    for event in shows:
        fed = settle(ONE_OPEN, event)
        assert (names(fed), fed.run.at) == (["TurnEnded"], Phase.ASKING)
        for run in (NEW, BEGUN):
            assert settle(run, event) == Fed(run, (), ())
    for event in shows_nothing:
        assert settle(ONE_OPEN, event) == Fed(ONE_OPEN, (), ())


@pytest.mark.parametrize("news", [PlanChanged(2.0, (PlanItem(TEXT, "completed"),)), GoalMeasured(2.0, 1, 2)])
def test_what_is_known_to_come_right_after_the_last_answer_belongs_to_the_turn(news: Event) -> None:
    waits = feed(ONE_OPEN, Result(2.0, "1", b"digest-2"), then=news)
    assert (names(waits), waits.run.at) == (["Result"], Phase.ACTING)
    fed = feed(waits.run, news)
    assert (names(fed), fed.run.at) == ([type(news).__name__, "TurnEnded"], Phase.ASKING)
    assert fed.run.streaks.last_signal_turn == 1
    for then in (None, calling(ONE), HI):
        assert feed(ONE_OPEN, Result(2.0, "1", b"digest-2"), then=then).run.at is Phase.ASKING


def test_an_answer_that_comes_after_its_turn_is_news_of_the_next() -> None:
    run = after(calling(TWO, at=3.0), run=ONE_OPEN)
    assert [call.id for call in run.unanswered] == ["1"]
    fed = feed(run, Result(4.0, "1", b"late"))
    assert (names(fed), fed.run.at, fed.run.unanswered) == (["Result"], Phase.ACTING, ())
    assert fed.run.turn.signal == "result"
    assert names(feed(fed.run, Result(4.0, "1", b"late again"))) == ["Result"]
    assert feed(fed.run, Result(4.0, "1", b"late again")).run is fed.run


def test_what_the_plan_says_between_two_turns_is_news_of_the_next() -> None:
    open_item, closed = (PlanChanged(2.0, (PlanItem(TEXT, status),)) for status in ("pending", "completed"))
    run = after(calling(ONE), Result(1.0, "1", b"digest"), open_item, closed, run=BEGUN)
    assert (run.at, run.turn.signal, run.turn.strong) == (Phase.ASKING, "plan", True)
    run = after(calling(ONE, at=3.0), run=run)
    assert (run.turn.number, run.turn.signal, run.turn.strong) == (2, "plan", True)
    run = after(Result(3.0, "1", b"digest"), run=run)
    assert (run.turn.signal, run.streaks.last_signal, run.streaks.last_signal_turn) == ("", "plan", 2)


# Waiting.

POLL = Call("3", "poll", b"sign-poll", TEXT)
WAITING = after(calling(POLL), Result(1.0, "3", b"digest", poll=PollState.WAITING), run=BEGUN)


@pytest.mark.parametrize("event", [calling(ONE, at=9.0), Chunk(9.0, "text", TEXT), Refusal(9.0, 529, TEXT)])
def test_a_recorded_run_that_asks_on_has_waited_long_enough(event: Event) -> None:
    assert WAITING.at is Phase.WAITING
    fed = feed(WAITING, event)
    assert names(fed) == ["Clock", type(event).__name__]
    assert fed.moves[0] == Moved(Clock(9.0), RUN.step(WAITING, Clock(9.0)))


def test_a_recorded_run_that_asks_on_has_condensed_by_itself() -> None:
    run = after(Refusal(1.0, 413, TEXT), run=BEGUN)
    assert run.at is Phase.CONDENSING
    fed = feed(run, calling(ONE, at=9.0))
    assert (names(fed), fed.run.at) == (["Condensed", "Reply"], Phase.ACTING)
    assert fed.moves[0] == Moved(Condensed(9.0, 0, counted=False), RUN.step(run, Condensed(9.0, 0, counted=False)))


def test_what_an_event_shows_of_a_wait_is_settled_with_the_turn() -> None:
    fed = settle(WAITING, calling(ONE, at=9.0))
    assert (names(fed), fed.run.at) == (["Clock"], Phase.ASKING)
    late = settle(WAITING, calling(ONE, at=1e6))
    assert (late.run.at, late.commands) == (Phase.CONCLUDING, (Ask(final=True),)), "its time was over before that reply"


# Legs.

ANSWERED = after(calling(ONE), Result(2.0, "1", b"digest-1"), final(), run=BEGUN)
STOPPED = after(*(event for n in range(5) for event in (calling(ONE), Result(2.0, "1", b"%d" % n))), run=BEGUN)


@pytest.mark.parametrize("run", [ANSWERED, STOPPED, after(NoReply(3.0, "gone"), run=STOPPED)])
def test_a_person_who_speaks_again_begins_a_leg(run: Run) -> None:
    fed = feed(run, HI)
    assert names(fed) == ["NewLeg", "Said"]
    assert fed.moves[0] == NewLeg(hand_on(run))
    assert fed.run.leg == 2
    assert fed.run.outcome is None


@pytest.mark.parametrize("run", [ANSWERED, STOPPED])
def test_a_program_in_a_persons_name_begins_none(run: Run) -> None:
    assert names(feed(run, BY_A_PROGRAM)) == ["Said"]


def test_before_the_first_reply_a_person_only_adds_to_what_was_said() -> None:
    assert names(feed(NEW, HI)) == ["Said"]
    fed = feed(BEGUN, HI)
    assert (names(fed), fed.run.leg, fed.commands) == (["Said"], 1, ())


def test_two_messages_of_a_person_in_a_row_begin_one_leg() -> None:
    run = after(HI, run=ANSWERED)
    fed = feed(run, Said(6.0, TEXT))
    assert (names(fed), fed.run.leg, fed.commands) == (["Said"], 2, ())


def test_a_person_who_breaks_into_a_turn_is_answered_by_one_request() -> None:
    commands = feed(ONE_OPEN, HI).commands
    assert [command for command in commands if isinstance(command, Ask)] == [Ask()]


def test_ledger_plan_spending_and_what_is_left_of_the_turns_go_on() -> None:
    plan = PlanChanged(1.0, (PlanItem(TEXT, "pending"),))
    costly = Reply(1.0, StopReason.TOOL_USE, (TWO,), usage=Usage(10, 5, 0, 0.5))
    wrote = Result(2.0, "2", b"digest", state=b"state", target="a.txt", wrote=True)
    run = after(plan, costly, wrote, final(4.0, usage=Usage(20, 5)), run=BEGUN)
    leg = hand_on(run)
    assert (leg.id, leg.at, leg.leg) == (run.id, Phase.READY, 2)
    assert (leg.policy, leg.tools, leg.work, leg.requires) == (run.policy, run.tools, run.work, run.requires)
    assert (leg.ledger.changes, leg.ledger.work) == (run.ledger.changes, run.ledger.work)
    assert leg.ledger.changes_in_all == 1
    assert leg.ledger.plan == plan.items
    assert leg.turn.number == 1
    assert leg.spent.usage == Usage(30, 10, 0, 0.5)
    assert leg.purse[Purse.TURN] == 4


def test_what_is_new_is_asked_afresh() -> None:
    first = after(calling(ONE), Result(2.0, "1", b"digest-1"), run=BEGUN)
    again = after(HI, calling(ONE), Result(6.0, "1", b"digest-1"), run=first)
    assert again.streaks.last_signal == "result"
    same_leg = after(calling(ONE), Result(6.0, "1", b"digest-1"), run=first)
    assert same_leg.streaks.barren == 1


def test_windows_streaks_counters_and_the_ending_begin_afresh() -> None:
    run = after(Reply(1.0, StopReason.LENGTH), calling(POLL), Result(1.0, "3", poll=PollState.WAITING), run=BEGUN)
    run = attrs.evolve(run, ladder=Ladder(Rung.NUDGED, 1, 1), told=True, facts=(Fact.TRUNCATED,))
    leg = hand_on(after(Cancel(2.0), run=run))
    fresh = new_run("run", NEW.policy, tools=TOOLS)
    for name in ("streaks", "ladder", "told", "waits", "stop", "facts", "outcome", "candidate"):
        assert getattr(leg, name) == getattr(fresh, name), name
    assert leg.purse == {**fresh.purse, Purse.TURN: 4}


def test_what_is_left_of_the_turns_bounds_the_next_leg() -> None:
    run = after(*(event for n in range(3) for event in (calling(ONE), Result(2.0, "1", b"%d" % n))), run=BEGUN)
    run = after(final(), HI, calling(ONE), Result(5.0, "1", b"new-1"), run=run)
    assert (run.leg, run.purse[Purse.TURN], run.at) == (2, 1, Phase.ASKING)
    run = after(calling(ONE), Result(5.0, "1", b"new-2"), run=run)
    assert (run.stop and run.stop.by) == "turns"
    # A leg with nothing left still gets its one reply.
    fed = feed(after(NoReply(5.0, "gone"), run=run), Said(6.0, TEXT))
    assert (fed.run.leg, fed.commands) == (3, (Ask(final=True),))


def test_the_time_in_which_a_person_thinks_is_nobodys() -> None:
    run = after(Said(1_000.0, TEXT), run=ANSWERED)  # the first leg took 4 seconds
    assert run.spent.seconds(1_010.0) == 14.0


def test_a_person_who_comes_back_late_is_answered() -> None:
    assert feed(ANSWERED, Said(1_000_000.0, TEXT)).commands == (Ask(),)


def test_a_run_has_ended_at_its_endings_only() -> None:
    assert [phase for phase in Phase if ended(attrs.evolve(NEW, at=phase))] == [
        Phase.COMPLETED,
        Phase.PARTIAL,
        Phase.BLOCKED,
        Phase.FAILED,
        Phase.CANCELLED,
    ]
