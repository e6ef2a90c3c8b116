"""Condensings that bring nothing: too little freed, or the same read anew after each."""

from __future__ import annotations

import attrs
import pytest

from machines.commands import Ask, Tell
from machines.events import Condensed, GoalMeasured, Said, Text
from machines.policy import DEFAULT, Condensings, only
from machines.run import RUN
from machines.state import Phase, new_run
from machines.streaks import Streaks

from .incidents import pages, work
from .told import Happening, Verdict, told

NAME = "vain_condensing"
ALONE = only(DEFAULT.detectors, NAME)
SHARE = 6_400
"""A twentieth of the default window of 128,000 tokens."""


def freed(tokens: int) -> Condensed:
    return Condensed(1.0, tokens)


def alone(*history: Happening, limits: Condensings = ALONE.vain_condensing) -> list[Verdict]:
    detectors = attrs.evolve(ALONE, vain_condensing=limits)
    return [one.short for one in told(history, detectors=detectors)]


def with_news(*tokens: int) -> list[Happening]:
    """Work that is new before each condensing."""
    return [one for number, free in enumerate(tokens) for one in (work(number), freed(free))]


@pytest.mark.parametrize(("tokens", "vain"), [(0, True), (SHARE - 1, True), (SHARE, False), (120_000, False)])
def test_what_frees_less_than_a_twentieth_of_the_window_is_in_vain(tokens: int, vain: bool) -> None:
    assert alone(*with_news(*[tokens] * 9)) == ([(2, "nudge", NAME), (3, "stop", NAME)] if vain else [])


def test_one_that_frees_with_work_done_since_clears_the_count() -> None:
    assert alone(*with_news(0, SHARE, 0, SHARE, 0, SHARE)) == []
    assert alone(*with_news(0, 0, SHARE, 0, 0)) == [(2, "nudge", NAME), (5, "nudge", NAME)]


@pytest.mark.parametrize(("share", "window", "least"), [(0.5, 1_000, 500), (0.0, 128_000, 0), (1.0, 200, 200)])
def test_share_and_window_are_the_policys(share: float, window: int, least: int) -> None:
    limits = Condensings(nudge=2, stop=3, share=share, window_tokens=window)
    assert alone(*with_news(*[least] * 9), limits=limits) == []
    if least:
        assert alone(*with_news(*[least - 1] * 9), limits=limits) != []


@pytest.mark.parametrize(("window", "least"), [(8_000, 400), (128_000, SHARE), (1_000_000, SHARE)])
def test_of_a_smaller_window_that_is_known_the_share_is_smaller(window: int, least: int) -> None:
    def lap(tokens: int) -> list[Happening]:
        one = attrs.evolve(freed(tokens), window=window)
        return [found for number in range(9) for found in (work(number), one)]

    assert alone(*lap(least)) == []
    assert alone(*lap(least - 1)) == [(2, "nudge", NAME), (3, "stop", NAME)]


def test_the_same_read_anew_after_each_is_in_vain_however_much_is_freed() -> None:
    lap: list[Happening] = [pages(1, 2, 3), freed(100_000)]
    assert alone(*lap * 2) == []
    assert alone(*lap * 4) == [(3, "nudge", NAME), (4, "stop", NAME)]
    one_more = [(pages(1, 2, 3 + number), freed(100_000)) for number in range(9)]
    assert alone(*(one for pair in one_more for one in pair)) == []


def test_two_condensings_with_nothing_between_are_in_vain() -> None:
    assert alone(work(0), freed(100_000), freed(100_000)) == []
    assert alone(work(0), *[freed(100_000)] * 4) == [(1, "nudge", NAME), (1, "stop", NAME)]


def test_what_moves_the_task_between_two_clears_the_count() -> None:
    before: list[Happening] = [GoalMeasured(1.0, 1, 9), *with_news(0)]
    assert alone(*before, work(8), freed(0)) == [(2, "nudge", NAME)]
    assert alone(*before, GoalMeasured(1.0, 2, 9), work(8), freed(0)) == []
    assert alone(*before, Said(1.0, Text("go on", 5)), work(8), freed(0)) == []
    assert alone(*before, Said(1.0, Text("go on", 5), synthetic=True), work(8), freed(0)) == [(2, "nudge", NAME)]


def test_what_was_told_once_is_not_told_again_while_the_request_waits_for_it() -> None:
    """The request that was too long is sent again all the same."""
    for names, told_again in (((), True), ((NAME,), False)):
        streaks = Streaks(vain=1, nudged=names)
        run = attrs.evolve(new_run("run", DEFAULT), at=Phase.CONDENSING, streaks=streaks)
        commands = RUN.step(run, freed(0)).commands
        assert any(isinstance(command, Tell) for command in commands) is told_again
        assert Ask() in commands
