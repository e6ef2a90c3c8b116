"""Laps of one to six turns, as multisets of calls with their results."""

from __future__ import annotations

import random
from itertools import chain

import pytest
from attrs import evolve

from machines.events import ErrorKind
from machines.policy import DEFAULT, Cycle, only

from .incidents import ASKED, pages, work
from .told import Call, Happening, Verdict, told

NAME = "cycle"
ALONE = only(DEFAULT.detectors, NAME)


def alone(*history: Happening) -> list[Verdict]:
    return [one.short for one in told(history, detectors=ALONE)]


def lap(period: int, calls: int = 2) -> list[list[Call]]:
    """Turns that are all different, of several calls each."""
    return [pages(*range(turn * calls, (turn + 1) * calls)) for turn in range(period)]


@pytest.mark.parametrize("calls", [1, 2, 5])
@pytest.mark.parametrize("period", [1, 2, 3, 4, 5, 6, 7])
def test_the_third_lap_is_told_and_the_fourth_is_a_stop(period: int, calls: int) -> None:
    found = alone(*lap(period, calls) * 4)
    own = period <= 6 and (period, calls) != (1, 1)  # of one call alone it is a duplicate, and left to that
    assert found == ([(3 * period, "nudge", NAME), (4 * period, "stop", NAME)] if own else [])


def test_the_laps_may_begin_anywhere() -> None:
    before = [work(number) for number in range(50)]
    found = alone(*before, *lap(3) * 4)
    assert found == [(59, "nudge", NAME), (62, "stop", NAME)]


def test_the_order_inside_a_turn_is_nothing_and_that_of_turns_is_all() -> None:
    shuffle = random.Random(1)
    laps = list(chain(*([shuffle.sample(turn, len(turn)) for turn in lap(3, 4)] for _ in range(4))))
    assert alone(*laps) == [(9, "nudge", NAME), (12, "stop", NAME)]
    one, two, three = lap(3)
    assert alone(*[one, two, three, two, one, three, one, three, two, three, one, two] * 1) == []


def test_a_call_more_or_less_is_another_turn() -> None:
    one, two = lap(2)
    grown: list[Happening] = [turn for n in range(8) for turn in (one, two * (n + 1) + pages(99))]
    assert alone(*grown) == []


def test_a_lap_with_other_results_is_another_lap() -> None:
    moving = [turn for n in range(8) for turn in ([("status", "{}", f"{n} of 8")], ASKED)]
    assert alone(*moving) == []
    frozen = [turn for _ in range(8) for turn in ([("status", "{}", "1 of 8")], ASKED)]
    assert alone(*frozen) == [(6, "nudge", NAME), (8, "stop", NAME)]


def test_words_between_end_no_lap() -> None:
    words: list[Call] = []
    found = alone(*chain(*((*turns, words) for turns in [lap(2)] * 4)))
    assert found == [(8, "nudge", NAME), (11, "stop", NAME)]


def test_a_batch_that_holds_its_lap_several_times_is_as_many_laps() -> None:
    assert alone(pages(1, 2) * 2) == []
    assert alone(pages(1, 2) * 3) == [(1, "nudge", NAME)]
    assert alone(pages(1, 2) * 4) == [(1, "stop", NAME)]
    assert alone(pages(1, 2) * 2, pages(2, 1) * 2) == [(2, "stop", NAME)]
    assert alone(pages(1, 2) * 3, pages(1, 2)) == [(1, "nudge", NAME), (2, "stop", NAME)]
    assert alone(pages(1, 1, 2)) == []
    assert alone(pages(1, 1, 2) * 4) == [(1, "stop", NAME)], "a lap may hold one call twice"


def test_a_lap_may_hold_a_turn_of_many_of_one_kind() -> None:
    assert alone(*[pages(1) * 3, pages(2)] * 4) == [(6, "nudge", NAME), (8, "stop", NAME)]
    assert alone(pages(1) * 30) == [], "alone, that is a duplicate"


def test_laps_of_failures_have_the_limits_of_the_policy_and_a_success_in_them_ends_these() -> None:
    failed: list[Call] = [("fetch", "{}", ErrorKind.TRANSIENT)]
    other: list[Call] = [("fetch", '{"n": 2}', ...)]
    detectors = evolve(ALONE, cycle=evolve(ALONE.cycle, failing_nudge=6, failing_stop=8))
    for lap, end in (([failed, ASKED], (8, "stop", NAME)), ([failed, other], (16, "stop", NAME))):
        assert next(one.short for one in told(lap * 8, detectors=detectors) if one.short[1] == "stop") == end


def test_the_longest_period_is_the_policys() -> None:
    for longest in (1, 2, 7):
        detectors = evolve(ALONE, cycle=Cycle(nudge=3, stop=4, failing_nudge=6, failing_stop=8, max_period=longest))
        for period in (2, 7):
            found = [one.short for one in told(lap(period) * 4, detectors=detectors)]
            assert bool(found) == (period <= longest)


def test_the_evidence_says_how_long_a_lap_is() -> None:
    for period in (2, 5):
        (nudge,) = told(lap(period) * 3, detectors=ALONE)
        assert (nudge.values["period"], nudge.values["now"], nudge.values["failing"]) == (period, 3, False)
