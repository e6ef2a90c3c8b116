"""The shapes told in `shapes.py` and `timed_shapes.py`, judged: each with a verdict that is right, and in its time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from machines.audit import Judged

from .recordings import ANY, FINE, Shape, Timed, recorded
from .shapes import SHAPES
from .timed_shapes import TIMED

Judge = Callable[..., Judged]


def said(judged: Judged) -> list[tuple[int, str, str]]:
    return [(one.turn, one.verdict, one.by) for one in judged.verdicts]


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_the_worst_that_is_said_of_it_is_right_and_in_time(judged: Judge, shape: Shape) -> None:
    found = judged(recorded(shape.history, shape.every), **shape.more)
    assert found.worst in shape.accept.split(), said(found)
    if shape.by is not None:
        assert min(turn for turn, verdict, _ in said(found) if verdict == found.worst) <= shape.by
    if shape.accept == FINE:
        assert said(found) == []


def fits(turn: int | None, expected: tuple[int, int] | str | None) -> bool:
    if expected is None or turn is None:
        return turn is None and (expected is None or expected == ANY)
    return isinstance(expected, str) or expected[0] <= turn <= expected[1]


@pytest.mark.parametrize("shape", TIMED, ids=[shape.name for shape in TIMED])
def test_nudge_and_stop_fall_between_their_turns(judged: Judge, shape: Timed) -> None:
    found = judged(recorded(shape.history, shape.every), **shape.more)
    assert fits(found.first_nudge, shape.nudge), said(found)
    assert fits(found.first_stop, shape.stop), said(found)
    if shape.nudge != ANY and found.first_stop is not None:
        assert found.first_nudge is not None
        assert found.first_nudge < found.first_stop, "a run is told before it is stopped"


ALL: list[Shape | Timed] = [*SHAPES, *TIMED]


@pytest.mark.parametrize("shape", ALL, ids=[shape.name for shape in ALL])
def test_nothing_about_it_is_odd(judged: Judge, shape: Shape | Timed) -> None:
    assert judged(recorded(shape.history, shape.every), **shape.more).problems == ()


def test_there_is_enough_of_work_and_of_being_stuck() -> None:
    names = [shape.name for shape in ALL]
    assert len(set(names)) == len(names)
    fine = [shape for shape in SHAPES if shape.accept == FINE] + [one for one in TIMED if one.stop is one.nudge is None]
    assert len(fine) >= 30
    assert len(names) - len(fine) >= 50
