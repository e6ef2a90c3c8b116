"""A call that waits for something outside: the table alone, each bound on both sides, then through a run."""

from __future__ import annotations

import attrs
import pytest
from rpds import HashTrieMap

from machines.commands import AnswerCalls, Ask, RunCalls, TellPerson, WaitUntil
from machines.events import (
    Awaited,
    Awaits,
    Begin,
    Call,
    Cancel,
    Clock,
    Ended,
    ErrorKind,
    Event,
    Refusal,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
)
from machines.held import APPROVE, HELD, Held, HeldState, consent_key
from machines.manifest import Consent, Kind, Tool
from machines.policy import Budget, Policy
from machines.run import RUN
from machines.state import Phase, Run, new_run
from machines.supervisor import Fed, feed
from statecraft import Refused

CALL = Call("1", "deploy", b"sign-one", Text("args", 4))
ASKED = Held(CALL, Awaited.ANSWER, "1", since=10.0, until=100.0)
CONSENT = attrs.evolve(ASKED, awaited=Awaited.CONSENT)
CHOICE = attrs.evolve(ASKED, choices=("red", "blue"))
HOURS = Policy(budget=Budget(seconds=100_000.0))


@pytest.mark.parametrize(
    ("held", "signal", "target"),
    [
        (ASKED, Signal(99.9, "1", answer="blue"), HeldState.ANSWERED),
        (ASKED, Signal(100.0, "1", answer="blue"), HeldState.EXPIRED),
        (ASKED, Signal(500.0, "1", answer="blue", when=99.9), HeldState.ANSWERED),
        (ASKED, Signal(500.0, "1", answer="blue", when=100.0), HeldState.EXPIRED),
        (ASKED, Signal(99.9, "1", answer="blue", when=500.0), HeldState.ANSWERED),  # nobody answers in the future
        (ASKED, Signal(99.9, "1", withdrawn=True), HeldState.WITHDRAWN),
        (ASKED, Signal(100.0, "1", withdrawn=True), HeldState.EXPIRED),
        (ASKED, Signal(99.9, "1", answer="deny"), HeldState.ANSWERED),
        (CONSENT, Signal(99.9, "1", answer=APPROVE), HeldState.ANSWERED),
        (CONSENT, Signal(99.9, "1", answer="Approve, please"), HeldState.DENIED),
        (CONSENT, Signal(99.9, "1"), HeldState.DENIED),
        (CONSENT, Signal(50.0, "1", answer=APPROVE, when=9.9), HeldState.WAITING),  # before it was asked for
        (CONSENT, Signal(50.0, "1", answer=APPROVE, when=10.0), HeldState.ANSWERED),
        (CONSENT, Signal(50.0, "1", answer=APPROVE, when=9.9, consents_to=CONSENT.key), HeldState.ANSWERED),
        (CONSENT, Signal(50.0, "1", answer=APPROVE, consents_to="another"), HeldState.WAITING),
        (CONSENT, Signal(50.0, "1", answer="deny", consents_to="another"), HeldState.WAITING),
        (CONSENT, Signal(50.0, "1", withdrawn=True, consents_to="another"), HeldState.WITHDRAWN),
        (CHOICE, Signal(50.0, "1", answer="blue"), HeldState.ANSWERED),
        (CHOICE, Signal(50.0, "1", answer="Blue"), HeldState.WAITING),
        (CHOICE, Signal(50.0, "1"), HeldState.WAITING),
        (CHOICE, Signal(50.0, "1", withdrawn=True), HeldState.WITHDRAWN),
        (ASKED, Signal(50.0, "1", answer="blue", when=9.9), HeldState.ANSWERED),
        (attrs.evolve(CONSENT, lasts=30.0), Signal(80.0, "1", answer=APPROVE, when=50.0), HeldState.ANSWERED),
        (attrs.evolve(CONSENT, lasts=30.0), Signal(80.1, "1", answer=APPROVE, when=50.0), HeldState.EXPIRED),
        (attrs.evolve(ASKED, lasts=30.0), Signal(80.1, "1", answer=APPROVE, when=50.0), HeldState.ANSWERED),
    ],
)
def test_what_comes_in_time_counts_by_when_it_was_given(held: Held, signal: Signal, target: HeldState) -> None:
    left = HELD.step(held, signal).run
    assert left.at is target
    taken = (None, None) if target is HeldState.WAITING else (signal.answer, signal.by)
    assert (left.answer, left.by) == taken


@pytest.mark.parametrize(("at", "target"), [(99.9, HeldState.WAITING), (100.0, HeldState.EXPIRED)])
def test_without_an_answer_it_expires(at: float, target: HeldState) -> None:
    assert HELD.step(ASKED, Clock(at)).run.at is target


@pytest.mark.parametrize("state", [state for state in HeldState if state is not HeldState.WAITING])
@pytest.mark.parametrize("event", [Signal(50.0, "1", answer=APPROVE), Clock(500.0)])
def test_what_is_over_is_over(state: HeldState, event: Signal | Clock) -> None:
    assert isinstance(HELD.step(attrs.evolve(ASKED, at=state), event), Refused)


def fed(run: Run, *events: Event) -> Fed:
    """The run after these events, with what the last one asked for."""
    made = Fed(run, (), ())
    for event in events:
        made = feed(made.run, event)
    return made


def deploying(consent: Consent, policy: Policy = HOURS, *calls: Call) -> Fed:
    """A run whose model calls `deploy`, each call of which wants a consent."""
    run = new_run("run", policy, tools={"deploy": Tool(kind=Kind.COMMAND, consent=consent)})
    return fed(run, Begin(0.0), Reply(1.0, StopReason.TOOL_USE, calls or (CALL,)))


def kinds(made: Fed) -> list[str]:
    return [type(command).__name__ for command in made.commands]


def test_a_call_that_wants_a_consent_does_not_run_before_it_is_given() -> None:
    asked = deploying(Consent())
    assert asked.run.at is Phase.WAITING
    assert kinds(asked) == ["TellPerson", "WaitUntil"]
    approved = fed(asked.run, Signal(4_000.0, "1", answer=APPROVE, by="ann"))
    assert approved.run.at is Phase.ACTING
    assert approved.commands == (RunCalls(("1",)),)
    done = fed(approved.run, Result(4_001.0, "1", b"digest", wrote=True))
    assert done.run.at is Phase.ASKING
    assert done.run.turn.number == 1


@pytest.mark.parametrize(
    ("event", "said", "error"),
    [
        (Signal(9.0, "1", answer="deny", by="ann"), "denied by ann", ErrorKind.PERMISSION),
        (Signal(9.0, "1", withdrawn=True), "withdrawn", ErrorKind.BUSINESS),
        (Clock(61.0), "no denial, and no approval either", ErrorKind.TIMEOUT),
    ],
)
def test_a_call_without_a_consent_is_answered_and_counts_as_failed(event: Event, said: str, error: ErrorKind) -> None:
    asked = deploying(Consent(wait_seconds=60.0))
    over = feed(asked.run, event)
    assert over.run.at is Phase.ASKING
    answer = over.commands[0]
    assert isinstance(answer, AnswerCalls)
    assert answer.calls == ("1",)
    assert said in answer.why
    assert not any(isinstance(command, RunCalls) for command in over.commands)
    assert over.run.streaks.barren == 1
    assert over.run.turn.answers == ()


def test_a_consent_is_for_the_very_call_and_for_its_time() -> None:
    approved = fed(deploying(Consent(lasts_seconds=600.0)).run, Signal(100.0, "1", answer=APPROVE)).run
    again = attrs.evolve(CALL, id="2")
    other = Call("3", "deploy", b"sign-two", Text("other", 5))
    answered = fed(approved, Result(101.0, "1", b"digest")).run
    assert kinds(fed(answered, Reply(699.9, StopReason.TOOL_USE, (again,)))) == ["RunCalls"]
    assert kinds(fed(answered, Reply(700.0, StopReason.TOOL_USE, (again,)))) == ["TellPerson", "WaitUntil"]
    assert kinds(fed(answered, Reply(110.0, StopReason.TOOL_USE, (other,)))) == ["TellPerson", "WaitUntil"]


def test_a_consent_without_a_time_is_for_one_call() -> None:
    approved = fed(deploying(Consent()).run, Signal(100.0, "1", answer=APPROVE)).run
    assert approved.outside.consents == HashTrieMap()
    answered = fed(approved, Result(101.0, "1", b"digest")).run
    again = fed(answered, Reply(102.0, StopReason.TOOL_USE, (attrs.evolve(CALL, id="2"),)))
    assert kinds(again) == ["TellPerson", "WaitUntil"]


@pytest.mark.parametrize(("when", "runs"), [(60.9, True), (61.0, False)])
def test_what_was_answered_while_nothing_ran_counts_by_its_own_time(when: float, runs: bool) -> None:
    asked = deploying(Consent(wait_seconds=60.0))
    over = feed(asked.run, Signal(9_000.0, "1", answer=APPROVE, when=when))
    assert (RunCalls(("1",)) in over.commands) is runs


@pytest.mark.parametrize(("at", "runs"), [(650.0, True), (650.1, False)])
def test_an_approval_that_was_for_a_time_runs_nothing_after_it(at: float, runs: bool) -> None:
    asked = deploying(Consent(lasts_seconds=600.0))
    over = feed(asked.run, Signal(at, "1", answer=APPROVE, when=50.0))
    assert (RunCalls(("1",)) in over.commands) is runs


def test_only_a_call_of_the_turn_can_wait_for_something() -> None:
    asked = fed(new_run("run", HOURS), Begin(0.0), Reply(1.0, StopReason.TOOL_USE, (CALL,)))
    stranger = RUN.step(asked.run, Awaits(2.0, "9", Awaited.ANSWER, "9"))
    assert isinstance(stranger, Refused)
    assert stranger.run is asked.run


def test_the_time_of_a_wait_is_a_slice_of_the_runs_own() -> None:
    short = Policy(budget=Budget(seconds=1_000.0))
    asked = deploying(Consent(wait_seconds=5_000.0), short)
    wait = asked.commands[-1]
    assert isinstance(wait, WaitUntil)
    assert wait.at == 1_000.0 - short.waiting.hold_back_seconds
    own = deploying(Consent(wait_seconds=50.0), short).commands[-1]
    assert isinstance(own, WaitUntil)
    assert own.at == 51.0


def test_two_calls_of_a_turn_are_waited_for_together_and_answered_one_by_one() -> None:
    two = Call("2", "deploy", b"sign-two", Text("other", 5))
    asked = deploying(Consent(), HOURS, CALL, two)
    assert kinds(asked) == ["TellPerson", "TellPerson", "WaitUntil"]
    first = fed(asked.run, Signal(5.0, "2", answer=APPROVE))
    assert first.commands == (RunCalls(("2",)),)
    after = fed(first.run, Result(6.0, "2", b"digest"))
    assert kinds(after) == ["WaitUntil"]  # nobody is told of the other one twice
    assert after.run.at is Phase.WAITING
    last = fed(after.run, Signal(7.0, "1", answer="deny"))
    assert last.run.at is Phase.ASKING
    assert last.run.turn.held == ()


def test_one_signal_sent_twice_is_one_and_its_id_may_be_used_again_for_another_question() -> None:
    asked = deploying(Consent(), HOURS, CALL, attrs.evolve(CALL, id="2", signature=b"sign-two"))
    letter = Signal(5.0, "1", answer="deny", id="letter")
    once = fed(asked.run, letter)
    twice = fed(once.run, attrs.evolve(letter, at=6.0))
    assert twice.run.turn.held == once.run.turn.held
    other = fed(once.run, attrs.evolve(letter, at=6.0, name="2"))
    assert other.run.turn.held == ()


def test_a_question_is_held_beside_the_answers_of_its_turn_in_any_order() -> None:
    run = new_run("run", HOURS)
    read = Call("2", "read", b"sign-read", Text("args", 4))
    asked = fed(run, Begin(0.0), Reply(1.0, StopReason.TOOL_USE, (CALL, read)))
    question = Awaits(2.0, "1", Awaited.ANSWER, "1", until=500.0, question=Text("which", 6), choices=("a", "b"))
    orders: list[tuple[Event, ...]] = [
        (question, Result(3.0, "2", b"d")),
        (Result(2.0, "2", b"d"), attrs.evolve(question, at=3.0)),
    ]
    waiting = [fed(asked.run, *events) for events in orders]
    assert {made.run.at for made in waiting} == {Phase.WAITING}
    for made in waiting:
        answered = fed(made.run, Signal(400.0, "1", answer="a", by="ann"))
        assert answered.commands == (RunCalls(("1",)),)
        (came,) = answered.run.turn.came
        assert (came.answer, came.by, came.when) == ("a", "ann", 400.0)
        assert fed(answered.run, Result(401.0, "1", b"a")).run.turn.came == ()


def test_a_person_who_speaks_to_a_run_that_waits_for_one_withdraws_the_question() -> None:
    asked = deploying(Consent())
    spoke = feed(asked.run, Said(50.0, Text("never mind", 10)))
    assert spoke.run.at is Phase.ASKING
    assert spoke.run.leg == 2
    assert kinds(spoke) == ["AnswerCalls", "Ask"]


def test_a_cancelled_run_answers_what_it_held_and_names_it() -> None:
    over = feed(deploying(Consent()).run, Cancel(50.0))
    assert kinds(over) == ["AnswerCalls", "End"]
    outcome = over.run.outcome
    assert outcome is not None
    assert outcome.account.waiting_for == ("deploy",)
    assert outcome.account.unanswered == ("1",)
    assert outcome.facts == ()  # a call that was never run can have had no effect


def test_consents_outlive_the_leg_in_which_they_were_given() -> None:
    approved = fed(deploying(Consent(lasts_seconds=600.0)).run, Signal(100.0, "1", answer=APPROVE)).run
    leg = feed(approved, Said(110.0, Text("go on", 5))).run
    assert leg.outside.consents[consent_key(CALL)] == 700.0


def test_a_wait_that_has_no_time_left_is_over_at_once() -> None:
    policy = Policy(budget=Budget(seconds=100.0))
    asked = deploying(Consent(), policy)  # 100 s, and 120 s are held back
    wait = asked.commands[-1]
    assert isinstance(wait, WaitUntil)
    assert wait.at == 1.0
    assert isinstance(feed(asked.run, Clock(1.0)).commands[0], AnswerCalls)


def test_who_waits_is_told_by_tool_and_signature() -> None:
    tell = deploying(Consent()).commands[0]
    assert isinstance(tell, TellPerson)
    values = dict(tell.values)
    assert (values["tool"], values["signature"], values["awaited"]) == ("deploy", consent_key(CALL).hex(), "consent")
    assert Ask() not in deploying(Consent()).commands


MIXED = Call("2", "run", b"sign-run", Text("other", 5))
"""A call that needs no consent, beside one that does."""


@pytest.mark.parametrize(
    "event",
    [
        Reply(20.0, StopReason.END_TURN, text=Text("words", 5)),
        Refusal(20.0, 500, Text("body", 4)),
        Ended(20.0, "ok"),
        Said(20.0, Text("never mind", 10)),
    ],
    ids=lambda event: type(event).__name__,
)
def test_a_turn_with_a_held_call_and_an_open_one_is_over_when_the_world_goes_on(event: Event) -> None:
    over = feed(deploying(Consent(), HOURS, CALL, MIXED).run, event)
    answered = [id for command in over.commands if isinstance(command, AnswerCalls) for id in command.calls]
    assert sorted(answered) == ["1", "2"]
    assert over.run.turn.held == ()
    assert over.run.turn.open == ()
    assert "WaitUntil" not in kinds(over)  # nobody is asked for what is withdrawn
    assert "TellPerson" not in kinds(over)


def test_two_held_calls_of_one_id_are_two() -> None:
    other = attrs.evolve(CALL, args=Text("others", 6))
    asked = deploying(Consent(), HOURS, CALL, other)
    first, second = asked.run.turn.held
    approved = fed(asked.run, Signal(5.0, "1", answer=APPROVE, consents_to=first.key))
    assert approved.commands == (RunCalls(("1",)),)
    assert [one.key for one in approved.run.turn.held] == [second.key]


def test_a_signal_for_something_else_is_not_used_up_while_a_call_is_held() -> None:
    asked = deploying(Consent())
    early = Signal(5.0, "paid", id="letter")
    later = fed(asked.run, early, Signal(6.0, "1", answer="deny"))
    again = fed(later.run, Reply(7.0, StopReason.TOOL_USE, (attrs.evolve(MIXED, id="9"),)))
    held = fed(again.run, Awaits(8.0, "9", Awaited.SIGNAL, "paid"))
    assert held.run.at is Phase.WAITING
    assert fed(held.run, attrs.evolve(early, at=9.0)).commands == (RunCalls(("9",)),)


@pytest.mark.parametrize(
    ("consent", "signal", "said"),
    [
        (
            Consent(lasts_seconds=600.0),
            Signal(700.0, "1", answer=APPROVE, by="ann", when=50.0),
            "was to hold for 600 s",
        ),
        (Consent(wait_seconds=60.0), Signal(65.0, "1", answer=APPROVE, by="ann"), "an answer was given by ann"),
        (Consent(wait_seconds=60.0), Clock(65.0), "no denial, and no approval either"),
    ],
)
def test_what_came_too_late_is_told_apart_from_what_never_came(consent: Consent, signal: Event, said: str) -> None:
    answer = feed(deploying(consent).run, signal).commands[0]
    assert isinstance(answer, AnswerCalls)
    assert said in answer.why


def test_what_is_no_answer_to_the_question_leaves_it_open() -> None:
    asked = deploying(Consent())
    other = feed(asked.run, Signal(5.0, "1", answer=APPROVE, consents_to="another call"))
    assert (other.run.at, other.commands) == (Phase.WAITING, ())
    run = new_run("run", HOURS)
    question = Awaits(2.0, "1", Awaited.ANSWER, "1", choices=("red", "blue"))
    chosen = fed(run, Begin(0.0), Reply(1.0, StopReason.TOOL_USE, (CALL,)), question)
    green = feed(chosen.run, Signal(5.0, "1", answer="green"))
    assert (green.run.at, green.commands) == (Phase.WAITING, ())
    assert feed(green.run, Signal(6.0, "1", answer="blue")).commands == (RunCalls(("1",)),)
