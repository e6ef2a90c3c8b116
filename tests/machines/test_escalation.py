"""Nudges and the window in which a third one is a stop: the ladder alone, and the same through a run."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import pytest

from machines.commands import Ask, Command, Tell
from machines.escalation import ESCALATION, Ladder, Rung
from machines.events import Begin, Call, Event, Reply, Result, StopReason, Text, TurnEnded
from machines.policy import Budget, Detectors, Escalation, Limits, Policy, only
from machines.run import RUN
from machines.state import Phase, Run, new_run
from machines.supervisor import feed
from machines.turn import Turn
from statecraft import Ignored, Step

NEVER = 1_000


def nudged(ladder: Ladder, turn: int) -> Ladder:
    """The reply after a nudge that was given at the end of `turn`."""
    answer = ESCALATION.step(attrs.evolve(ladder, turn=turn), Reply(1.0, StopReason.TOOL_USE))
    assert isinstance(answer, Step)
    return answer.run


def ended(ladder: Ladder, turn: int, *, progressed: bool = False) -> Ladder:
    answer = ESCALATION.step(attrs.evolve(ladder, turn=turn, progressed=progressed), TurnEnded(1.0))
    assert isinstance(answer, Ignored if ladder.at is Rung.CALM else Step)
    assert answer.commands == ()
    return answer.run


def test_a_nudge_stands_from_the_reply_after_it() -> None:
    once = nudged(Ladder(), 3)
    assert (once.at, once.newer) == (Rung.NUDGED, 3)
    twice = nudged(once, 7)
    assert (twice.at, twice.older, twice.newer) == (Rung.NUDGED_TWICE, 3, 7)


def test_a_nudge_while_two_stand_takes_the_place_of_the_older() -> None:
    ladder = nudged(nudged(nudged(Ladder(), 3), 7), 9)
    assert (ladder.at, ladder.older, ladder.newer) == (Rung.NUDGED_TWICE, 7, 9)


@pytest.mark.parametrize("within", [1, 2, 10])
def test_one_nudge_stands_for_as_many_turns_as_the_window_is_wide(within: int) -> None:
    ladder = nudged(Ladder(within=within), 5)
    for turn in range(6, 5 + within):
        assert ended(ladder, turn).at is Rung.NUDGED, turn
    assert ended(ladder, 5 + within).at is Rung.CALM


def test_of_two_nudges_only_the_older_ages_away_first() -> None:
    ladder = nudged(nudged(Ladder(), 2), 6)
    assert ended(ladder, 11).at is Rung.NUDGED_TWICE
    one_left = ended(ladder, 12)
    assert (one_left.at, one_left.newer) == (Rung.NUDGED, 6)
    assert ended(one_left, 15).at is Rung.NUDGED
    assert ended(one_left, 16).at is Rung.CALM


def test_two_nudges_that_both_are_old_are_both_gone() -> None:
    ladder = nudged(nudged(Ladder(), 2), 6)
    assert ended(ladder, 15).at is Rung.NUDGED
    assert ended(ladder, 16).at is Rung.CALM


@pytest.mark.parametrize("nudges", [(3,), (3, 5)])
def test_progress_takes_every_nudge_away(nudges: Iterable[int]) -> None:
    ladder = Ladder()
    for turn in nudges:
        ladder = nudged(ladder, turn)
    assert ended(ladder, 6, progressed=True).at is Rung.CALM
    assert ended(ladder, 6).at is not Rung.CALM


def test_after_a_heeded_nudge_counting_starts_afresh() -> None:
    ladder = ended(nudged(nudged(Ladder(), 3), 5), 6, progressed=True)
    again = nudged(ladder, 7)
    assert (again.at, again.newer) == (Rung.NUDGED, 7)
    # The one that was heeded is still inside the window, and counts no longer.
    assert ended(again, 8).at is Rung.NUDGED


def test_a_turn_changes_nothing_where_no_nudge_stands() -> None:
    for turn in (1, 50):
        for progressed in (False, True):
            assert ended(Ladder(), turn, progressed=progressed).at is Rung.CALM


# Through a run. Every call answers what its tool answered before, so nothing is progress unless it says so; the
# detector of equal calls nudges at the second of a pair and never stops by itself.


def policy(within: int = 10) -> Policy:
    pairs = Limits(nudge=2, stop=NEVER, failing_nudge=2, failing_stop=NEVER)
    return Policy(
        budget=Budget(turns=200, seconds=None, tokens=None, usd=None),
        detectors=only(Detectors(consecutive_duplicate=pairs), "consecutive_duplicate"),
        escalation=Escalation(within=within),
    )


def play(run: Run, events: Iterable[Event]) -> tuple[Run, list[tuple[int, Command]]]:
    """The run after the events, and the commands, each with the number of the turn that it came in."""
    commands: list[tuple[int, Command]] = []
    for event in events:
        fed = feed(run, event)
        run = fed.run
        commands += [(run.turn.number, command) for command in fed.commands]
    return run, commands


def turn(number: int, call: int, digest: bytes = b"the same") -> list[Event]:
    made = Call(f"id-{number}", "read", call.to_bytes(8, "big"), Text("args", 4))
    return [
        Reply(float(number), StopReason.TOOL_USE, (made,)),
        Result(float(number), made.id, digest, Text("value", 5)),
    ]


def run_with_nudges_at(nudges: Iterable[int], *, news: Iterable[int] = (), turns: int) -> list[Event]:
    """Turns of which each in `nudges` repeats the one before it; the first, and each in `news`, brings news."""
    events: list[Event] = [Begin(0.0)]
    for number in range(1, turns + 1):
        call = number - 1 if number in nudges else number
        events += turn(number, call, b"new %d" % number if number in news else b"the same")
    return events


def verdicts(nudges: Iterable[int], *, news: Iterable[int] = (), within: int = 10) -> tuple[list[int], int | None]:
    """The turns in which the model was told, and the turn in which the run was stopped."""
    nudges = tuple(nudges)
    events = run_with_nudges_at(nudges, news=news, turns=max(nudges))
    run, commands = play(new_run("ladder", policy(within)), events)
    told = [number for number, command in commands if isinstance(command, Tell)]
    stopped = [number for number, command in commands if command == Ask(final=True)]
    if stopped:
        assert run.stop is not None
        assert run.stop.by == "escalation"
        assert run.at is Phase.CONCLUDING
    return told, stopped[0] if stopped else None


@pytest.mark.parametrize(
    ("third", "stopped"), [(11, True), (12, True), (13, False), (14, False)], ids=["9 wide", "10", "11", "12"]
)
def test_a_third_nudge_within_ten_turns_is_a_stop(third: int, stopped: bool) -> None:
    told, stop = verdicts((3, 7, third))
    if stopped:
        assert (told, stop) == ([3, 7], third)
    else:
        assert (told, stop) == ([3, 7, third], None)


@pytest.mark.parametrize(("third", "stopped"), [(7, True), (8, False)])
def test_the_window_is_the_policys(third: int, stopped: bool) -> None:
    told, stop = verdicts((3, 5, third), within=5)
    assert stop == (third if stopped else None)
    assert len(told) == (2 if stopped else 3)


def test_when_the_oldest_is_too_old_the_two_after_it_still_count() -> None:
    told, stop = verdicts((3, 7, 13, 16))
    assert (told, stop) == ([3, 7, 13], 16)
    told, stop = verdicts((3, 7, 13, 17))
    assert (told, stop) == ([3, 7, 13, 17], None)


@pytest.mark.parametrize("news", [4, 8, 9])
def test_news_between_the_nudges_means_that_they_were_heeded(news: int) -> None:
    told, stop = verdicts((3, 7, 11), news=(news,))
    assert (told, stop) == ([3, 7, 11], None)


def test_after_news_it_takes_three_nudges_again() -> None:
    told, stop = verdicts((3, 7, 10, 12, 14), news=(8,))
    assert (told, stop) == ([3, 7, 10, 12], 14)


def test_a_nudge_in_the_turn_that_brings_news_is_a_first_one() -> None:
    events = run_with_nudges_at((3, 7), turns=10)
    call = [Call(f"last-{n}", "read", b"the last", Text("args", 4)) for n in (1, 2)]
    reply = Reply(11.0, StopReason.TOOL_USE, tuple(call))
    for digest, phase in ((b"unheard of", Phase.ASKING), (b"the same", Phase.CONCLUDING)):
        results = [Result(11.0, one.id, digest) for one in call]
        run, commands = play(new_run("ladder", policy()), [*events, reply, *results])
        assert run.at is phase
        assert isinstance(commands[-2][1], Tell) == (phase is Phase.ASKING)


def test_the_stop_names_the_detector_and_the_turns_of_the_nudges() -> None:
    events = run_with_nudges_at((3, 7, 11), turns=11)
    run, _ = play(new_run("ladder", policy()), events)
    assert run.stop is not None
    assert dict(run.stop.values) == {"detector": "consecutive_duplicate", "older": 3, "newer": 7, "turn": 11}


def test_two_detectors_climb_one_ladder() -> None:
    # A pair at turn 3, the fifth turn without news at 6, a pair again at 9.
    both = attrs.evolve(
        policy(),
        detectors=attrs.evolve(
            policy().detectors, no_progress=Limits(nudge=5, stop=NEVER, failing_nudge=5, failing_stop=NEVER)
        ),
    )
    run, commands = play(new_run("ladder", both), run_with_nudges_at((3, 9), turns=9))
    told = [(number, command.by) for number, command in commands if isinstance(command, Tell)]
    assert told == [(3, "consecutive_duplicate"), (6, "no_progress")]
    assert run.at is Phase.CONCLUDING
    assert run.stop is not None
    assert run.stop.by == "escalation"
    assert dict(run.stop.values)["detector"] == "consecutive_duplicate"


def test_one_turn_escalates_one_step_though_two_detectors_would_speak() -> None:
    both = attrs.evolve(policy(), detectors=attrs.evolve(policy().detectors, no_progress=Limits(nudge=2, stop=NEVER)))
    _, commands = play(new_run("ladder", both), run_with_nudges_at((3,), turns=3))
    assert [number for number, command in commands if isinstance(command, Tell)] == [3]


@pytest.mark.parametrize(("turns", "rung"), [(12, Rung.NUDGED), (13, Rung.CALM)])
def test_a_nudge_that_nobody_heeded_is_forgotten_with_its_age(turns: int, rung: Rung) -> None:
    run, _ = play(new_run("ladder", policy()), run_with_nudges_at((3,), turns=turns))
    assert run.ladder.at is rung


def test_a_reply_moves_the_ladder_only_if_the_model_was_told_something() -> None:
    run = attrs.evolve(
        new_run("ladder"), at=Phase.ASKING, ladder=Ladder(Rung.NUDGED_TWICE, older=3, newer=7), turn=Turn(9)
    )
    reply = Reply(1.0, StopReason.TOOL_USE, (Call("1", "read", b"signature", Text("args", 4)),))
    untold = RUN.step(run, reply).run
    assert (untold.ladder.older, untold.ladder.newer) == (3, 7)
    told = RUN.step(attrs.evolve(run, told=True), reply).run
    assert (told.ladder.older, told.ladder.newer, told.told) == (7, 9, False)
