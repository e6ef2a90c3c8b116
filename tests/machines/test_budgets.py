"""The four budgets, each at its boundary on both sides: before a request with what it costs at most, and after it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.commands import AnswerCalls, Ask, Command, Condense, Discard, RunCalls, Tell
from machines.events import (
    Begin,
    Call,
    Clock,
    Condensed,
    Declared,
    Event,
    Refusal,
    Reply,
    Result,
    StopReason,
    Text,
    TurnEnded,
    Usage,
)
from machines.outcome import Fact
from machines.policy import Budget, Policy, Recovery
from machines.reply import Mend
from machines.run import RUN
from machines.state import Phase, Purse, Run, Spent, new_run
from machines.supervisor import feed
from machines.turn import Turn
from statecraft.proofs import Bound, FreeCycle, ends

TEXT = Text("text", 4)
NONE = Budget(turns=1_000, seconds=None, tokens=None, usd=None, reply_tokens=None)
"""Turns enough, and nothing else that could end a run."""

LAST_ASK = Ask(final=True)


def run_with(**budget: Any) -> Run:
    return new_run("run", Policy(budget=attrs.evolve(NONE, **budget)))


def acting(run: Run, spent: Spent = Spent()) -> Run:  # noqa: B008  # frozen
    """The run at the end of a turn like many, with so much spent."""
    return attrs.evolve(run, at=Phase.ACTING, turn=Turn(3, signal="result"), spent=spent)


def stopped_by(run: Run, event: Event) -> str | None:
    """The budget that the run is stopped by on this event, None where it asks on."""
    after = RUN.step(run, event).run
    if after.at is Phase.CONCLUDING:
        assert after.stop is not None
        assert Fact.LIMIT_REACHED in after.facts
        return after.stop.by
    assert after.at in (Phase.ASKING, Phase.RECOVERING)
    return None


def play(run: Run, *events: Event) -> tuple[Run, list[Command]]:
    commands: list[Command] = []
    for event in events:
        fed = feed(run, event)
        run, commands = fed.run, [*commands, *fed.commands]
    return run, commands


def turn(number: int, usage: Usage = Usage()) -> tuple[Event, Event]:  # noqa: B008  # frozen
    """A turn that brings something new. It ends at second `number`."""
    call = Call(f"id-{number}", "read", number.to_bytes(8, "big"), TEXT)
    return Reply(number, StopReason.TOOL_USE, (call,), usage=usage), Result(number, call.id, b"%d" % number)


# Turns.


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_a_run_has_exactly_its_turns_and_then_one_reply(turns: int) -> None:
    run, commands = play(run_with(turns=turns), Begin(0.0), *(event for n in range(1, turns) for event in turn(n)))
    assert run.at is Phase.ASKING
    assert LAST_ASK not in commands
    run, commands = play(run, *turn(turns))
    assert run.at is Phase.CONCLUDING
    assert [type(command) for command in commands] == [RunCalls, Ask]
    assert commands[-1] == LAST_ASK
    assert run.stop is not None
    assert (run.stop.by, run.turn.number) == ("turns", turns)


def test_a_checkpoint_is_a_turn_too() -> None:
    words = Reply(1.0, StopReason.END_TURN, text=TEXT)
    run, commands = play(run_with(turns=2), Begin(0.0), words, words)
    assert (run.at, commands[-1], run.purse[Purse.TURN]) == (Phase.CONCLUDING, LAST_ASK, 0)


def test_an_answer_needs_no_turn() -> None:
    final = Reply(9.0, StopReason.END_TURN, text=TEXT, kind=Declared.FINAL)
    run, _ = play(run_with(turns=1), Begin(0.0), final)
    assert (run.at, run.purse[Purse.TURN]) == (Phase.COMPLETED, 1)


# Seconds: used up at the limit, less a tenth of it (at most a minute) for the last reply.


@pytest.mark.parametrize(("limit", "held"), [(100.0, 10.0), (600.0, 60.0), (2_000.0, 60.0)])
def test_seconds_end_before_what_is_held_back(limit: float, held: float) -> None:
    run = acting(run_with(seconds=limit), Spent(now=1.0))
    assert stopped_by(run, TurnEnded(limit - held - 0.5)) is None
    assert stopped_by(run, TurnEnded(limit - held)) == "seconds"


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_share_held_back_is_the_policys(share: float) -> None:
    run = acting(run_with(seconds=100.0, hold_back=share))
    assert stopped_by(run, TurnEnded(100.0 * (1 - share) - 0.5)) is None
    assert stopped_by(run, TurnEnded(100.0 * (1 - share))) == "seconds"


def test_the_time_of_earlier_legs_counts_and_the_time_before_this_one_does_not() -> None:
    run = acting(run_with(seconds=100.0), Spent(before=50.0, began=1_000.0, now=1_000.0))
    assert stopped_by(run, TurnEnded(1_039.5)) is None
    assert stopped_by(run, TurnEnded(1_040.0)) == "seconds"


def test_a_refusal_that_asks_to_wait_takes_that_time_too() -> None:
    run = attrs.evolve(run_with(seconds=100.0), at=Phase.ASKING)
    assert stopped_by(run, Refusal(50.0, 529, TEXT, after=39.5)) is None
    assert stopped_by(run, Refusal(50.0, 529, TEXT, after=40.0)) == "seconds"


def test_a_clock_that_goes_back_gives_no_time_back() -> None:
    run = acting(run_with(seconds=100.0), Spent(now=90.0))
    assert stopped_by(run, TurnEnded(1.0)) == "seconds"
    assert RUN.step(run, TurnEnded(1.0)).run.spent.now == 90.0


# Tokens: what is used, and what the next request costs at most: all of the last one again, and a whole reply.

SOME = Usage(600, 100)


@pytest.mark.parametrize(("limit", "held"), [(10_000, 1_000), (400_000, 40_000), (2_000_000, 40_000)])
def test_tokens_end_when_the_next_request_might_not_fit(limit: int, held: int) -> None:
    run = run_with(tokens=limit, reply_tokens=300)
    fits = limit - held - 700 - 300
    assert stopped_by(acting(run, Spent(usage=Usage(fits, 0), last=SOME)), TurnEnded(1.0)) is None
    assert stopped_by(acting(run, Spent(usage=Usage(fits, 1), last=SOME)), TurnEnded(1.0)) == "tokens"


def test_where_the_size_of_a_reply_is_not_known_only_the_known_counts() -> None:
    run = run_with(tokens=10_000)
    assert stopped_by(acting(run, Spent(usage=Usage(8_300, 0), last=SOME)), TurnEnded(1.0)) is None
    assert stopped_by(acting(run, Spent(usage=Usage(8_301, 0), last=SOME)), TurnEnded(1.0)) == "tokens"


def test_tokens_used_up_end_the_run_though_nothing_is_known_of_the_next_request() -> None:
    run = run_with(tokens=10_000)
    assert stopped_by(acting(run, Spent(usage=Usage(8_999, 0))), TurnEnded(1.0)) is None
    assert stopped_by(acting(run, Spent(usage=Usage(9_000, 0))), TurnEnded(1.0)) == "tokens"


def test_a_run_whose_tokens_do_not_allow_one_request_asks_for_its_last_reply_at_once() -> None:
    for reply_tokens, at in ((900, Phase.ASKING), (901, Phase.CONCLUDING)):
        assert RUN.step(run_with(tokens=1_000, reply_tokens=reply_tokens), Begin(0.0)).run.at is at


def test_a_reply_that_says_nothing_of_its_cost_counts_one_token() -> None:
    run, _ = play(run_with(), Begin(0.0), *turn(1), *turn(2, Usage(10, 5)), *turn(3))
    assert run.spent.usage == Usage(10, 7)


@pytest.mark.parametrize(("limit", "ran"), [(1_556, True), (1_555, False)])
def test_the_calls_of_a_reply_that_leaves_no_room_for_another_are_not_run(limit: int, ran: bool) -> None:
    # 700 are spent, and 700 more may be at most what comes; a tenth is held back.
    run, commands = play(run_with(tokens=limit), Begin(0.0), turn(1, SOME)[0])
    if ran:
        assert (run.at, commands) == (Phase.ACTING, [Ask(), RunCalls(("id-1",))])
    else:
        assert commands == [Ask(), AnswerCalls(("id-1",), "the run has reached its limit"), LAST_ASK]
        assert (run.stop and run.stop.by) == "tokens"


# Dollars: the next request at the dearest price of a token so far.


def test_dollars_end_when_the_next_request_might_not_fit() -> None:
    run = run_with(usd=1.0, reply_tokens=300)  # 0.1 is held back, and 0.07 x 1000 / 700 is what comes at most: 0.1
    last = Usage(600, 100, usd=0.07)
    assert stopped_by(acting(run, Spent(usage=Usage(usd=0.79), last=last, dearest=1e-4)), TurnEnded(1.0)) is None
    assert stopped_by(acting(run, Spent(usage=Usage(usd=0.81), last=last, dearest=1e-4)), TurnEnded(1.0)) == "usd"


def test_the_dearest_price_that_was_seen_is_the_one_that_counts() -> None:
    dear, cheap = turn(1, Usage(1_000, 0, usd=0.1)), turn(2, Usage(1_000, 0, usd=0.01))
    run, _ = play(run_with(usd=1.0), Begin(0.0), *dear, *cheap)
    assert run.spent.dearest == 1e-4
    assert stopped_by(acting(run, attrs.evolve(run.spent, usage=Usage(usd=0.79))), TurnEnded(3.0)) is None
    assert stopped_by(acting(run, attrs.evolve(run.spent, usage=Usage(usd=0.81))), TurnEnded(3.0)) == "usd"


def test_dollars_used_up_end_the_run() -> None:
    run = run_with(usd=1.0)
    assert stopped_by(acting(run, Spent(usage=Usage(usd=0.89))), TurnEnded(1.0)) is None
    assert stopped_by(acting(run, Spent(usage=Usage(usd=0.9))), TurnEnded(1.0)) == "usd"


def test_a_price_without_tokens_is_taken_as_it_was() -> None:
    run = run_with(usd=1.0)
    last = Usage(usd=0.2)
    assert stopped_by(acting(run, Spent(usage=Usage(usd=0.69), last=last)), TurnEnded(1.0)) is None
    assert stopped_by(acting(run, Spent(usage=Usage(usd=0.71), last=last)), TurnEnded(1.0)) == "usd"


def test_no_more_than_the_amounts_named_is_held_back() -> None:
    run = run_with(usd=100.0)
    assert stopped_by(acting(run, Spent(usage=Usage(usd=99.74))), TurnEnded(1.0)) is None
    assert stopped_by(acting(run, Spent(usage=Usage(usd=99.76))), TurnEnded(1.0)) == "usd"


# Every way to another request is checked.

USED_UP = Spent(usage=Usage(95_000, 0))


@pytest.mark.parametrize(
    ("phase", "event"),
    [
        (Phase.READY, Begin(0.0)),
        (Phase.ACTING, TurnEnded(1.0)),
        (Phase.WAITING, Clock(1.0)),
        (Phase.ASKING, Reply(1.0, StopReason.LENGTH, text=TEXT)),
        (Phase.ASKING, Reply(1.0, StopReason.PAUSE, text=TEXT)),
        (Phase.RECOVERING, Reply(1.0, StopReason.END_TURN)),
        (Phase.RECOVERING, Refusal(1.0, 503, TEXT)),
        (Phase.ASKING, Refusal(1.0, 413, TEXT)),
    ],
    ids=lambda one: one.value if isinstance(one, Phase) else type(one).__name__,
)
def test_no_request_is_made_beyond_the_tokens(phase: Phase, event: Event) -> None:
    run = attrs.evolve(run_with(tokens=100_000), at=phase)
    assert Ask(final=True) not in RUN.step(run, event).commands
    answer = RUN.step(attrs.evolve(run, spent=USED_UP), event)
    assert answer.run.at is Phase.CONCLUDING
    assert LAST_ASK in answer.commands


@pytest.mark.parametrize("stop", [StopReason.LENGTH, StopReason.PAUSE, StopReason.END_TURN])
def test_the_cost_of_a_reply_that_went_wrong_counts_before_the_next_request(stop: StopReason) -> None:
    text = None if stop is StopReason.END_TURN else TEXT
    run = attrs.evolve(run_with(tokens=100_000), at=Phase.ASKING)
    assert stopped_by(run, Reply(1.0, stop, text=text, usage=Usage(95_000, 0))) == "tokens"


def test_the_time_that_condensing_took_counts_before_the_next_request() -> None:
    run = attrs.evolve(run_with(seconds=100.0), at=Phase.CONDENSING)
    assert stopped_by(run, Condensed(95.0, 10)) == "seconds"


# Which budgets a run may do without.


def test_a_run_by_tokens_alone_ends_and_has_as_many_turns_as_tokens() -> None:
    policy = Policy(budget=Budget(turns=None, seconds=None, tokens=20, usd=None, reply_tokens=None))
    run = new_run("run", policy)
    assert run.purse[Purse.TURN] == 20
    assert isinstance(ends(RUN, run), Bound)
    number, run = 0, feed(run, Begin(0.0)).run
    while run.at is Phase.ASKING:
        number += 1
        run, _ = play(run, *turn(number))
    assert (run.stop and run.stop.by, number) == ("tokens", 18)  # a tenth is held back


def test_a_run_without_turns_and_tokens_has_to_say_so() -> None:
    endless = Budget(turns=None, tokens=None)
    with pytest.raises(ValueError, match="unbounded = true"):
        new_run("run", Policy(budget=endless))
    run = new_run("run", Policy(budget=attrs.evolve(endless, unbounded=True, seconds=None, usd=None)))
    assert run.purse[Purse.TURN] is None
    assert isinstance(ends(RUN, run), FreeCycle)
    run, commands = play(run, Begin(0.0), *(event for number in range(1, 201) for event in turn(number)))
    assert run.at is Phase.ASKING
    assert LAST_ASK not in commands


# Recovery uses up no turn, and progress makes it full again.


def cut(at: float = 1.0) -> Reply:
    return Reply(at, StopReason.LENGTH, text=TEXT)


def test_recovering_uses_up_no_turn() -> None:
    wrong: list[Event] = [
        cut(),
        Reply(1.0, StopReason.PAUSE),
        Reply(1.0, StopReason.END_TURN),
        Refusal(1.0, 529, TEXT),
        Refusal(1.0, 413, TEXT),
        Condensed(1.0, 100),
    ]
    run, commands = play(run_with(turns=5), Begin(0.0), *wrong)
    assert (run.at, run.purse[Purse.TURN], run.turn.number) == (Phase.RECOVERING, 5, 0)
    assert [type(command) for command in commands] == [Ask, Tell, Ask, Ask, Discard, Tell, Ask, Ask, Condense, Ask]


@pytest.mark.parametrize(
    ("name", "event", "again"),
    [
        ("truncated", cut(), None),
        ("paused", Reply(1.0, StopReason.PAUSE), None),
        ("empty", Reply(1.0, StopReason.END_TURN), None),
        ("refused", Refusal(1.0, 529, TEXT), None),
        ("condensed", Refusal(1.0, 413, TEXT), Condensed(1.0, 100_000)),
    ],
)
@pytest.mark.parametrize("times", [0, 1, 3])
def test_each_incident_is_recovered_from_as_often_as_the_policy_says(
    name: str, event: Event, again: Event | None, times: int
) -> None:
    policy = Policy(budget=NONE, recovery=attrs.evolve(Recovery(), **{name: times}))
    run, _ = play(new_run("run", policy), Begin(0.0))
    for _ in range(times):
        run, _ = play(run, event, *([] if again is None else [again]))
        assert run.at is Phase.RECOVERING
    run, _ = play(run, event)
    assert run.at is (Phase.FAILED if name in ("refused", "condensed") else Phase.CONCLUDING)


def test_the_truncation_after_forty_productive_turns_is_a_first_one() -> None:
    run, _ = play(run_with(), Begin(0.0), *turn(1), cut(2.0), cut(2.0), cut(2.0))
    assert (run.at, run.reply.left[Mend.TRUNCATED]) == (Phase.RECOVERING, 0)
    tired, _ = play(run, cut(3.0))
    assert (tired.at, tired.stop and tired.stop.by) == (Phase.CONCLUDING, "recovery_exhausted")
    run, _ = play(run, *(event for number in range(3, 43) for event in turn(number)), cut(50.0))
    assert (run.at, run.reply.left[Mend.TRUNCATED]) == (Phase.RECOVERING, 2)


def test_a_turn_without_news_gives_nothing_back() -> None:
    reply, _ = turn(2)
    run, _ = play(run_with(), Begin(0.0), *turn(1), cut(2.0), cut(2.0), reply, Result(2.0, "id-2", b"1"))
    assert (run.at, run.reply.left[Mend.TRUNCATED]) == (Phase.ASKING, 1)


# Calls of one turn.


@pytest.mark.parametrize("most", [1, 3])
def test_a_turn_runs_no_more_calls_than_it_may_hold(most: int) -> None:
    run = attrs.evolve(run_with(calls_per_turn=most), at=Phase.ASKING)
    calls = tuple(Call(str(number), "read", b"signature", TEXT) for number in range(most + 1))
    fits = RUN.step(run, Reply(1.0, StopReason.TOOL_USE, calls[:most])).commands
    assert fits == (RunCalls(tuple(call.id for call in calls[:most])),)
    more = RUN.step(run, Reply(1.0, StopReason.TOOL_USE, calls)).commands
    assert more == (*fits, AnswerCalls((str(most),), f"a turn may hold {most} calls"))


def test_calls_that_do_not_parse_are_answered_and_take_no_place() -> None:
    run = attrs.evolve(run_with(calls_per_turn=1), at=Phase.ASKING)
    garbled = Call("garbled", "read", b"signature", TEXT, parsed=False)
    good = attrs.evolve(garbled, id="good", parsed=True)
    answer = AnswerCalls(("garbled",), "the arguments are not a JSON object")
    assert RUN.step(run, Reply(1.0, StopReason.TOOL_USE, (garbled, good))).commands == (RunCalls(("good",)), answer)
    assert RUN.step(run, Reply(1.0, StopReason.TOOL_USE, (garbled,))).commands == (answer,)


def test_calls_that_are_not_run_are_not_waited_for_and_count_as_failed() -> None:
    run = run_with(calls_per_turn=1)
    garbled = Call("garbled", "read", b"signature", TEXT, parsed=False)
    good, beyond = attrs.evolve(garbled, id="good", parsed=True), attrs.evolve(garbled, id="beyond", parsed=True)
    run, _ = play(run, Begin(0.0), Reply(1.0, StopReason.TOOL_USE, (garbled, good, beyond)))
    assert (run.at, run.turn.open) == (Phase.ACTING, (good,))
    assert [answer.barren for answer in run.turn.answers] == [True], "no more than a turn may hold"
    run, _ = play(run, Result(1.0, "good", b"digest"))
    assert run.at is Phase.ASKING


def test_a_turn_of_calls_that_do_not_parse_ends_at_once_and_is_judged() -> None:
    garbled = Call("garbled", "read", b"signature", TEXT, parsed=False)
    run, commands = play(run_with(), Begin(0.0), *[Reply(1.0, StopReason.TOOL_USE, (garbled,))] * 3)
    assert [type(command) for command in commands[-3:]] == [Ask, AnswerCalls, Ask]
    assert (run.stop and run.stop.by) == "validation_error", "a third turn of which nothing could be run"
