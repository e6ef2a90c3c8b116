"""A run that stands still with something left to write is told so, twice, before it is stopped."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.manifest import Kind, Tool
from machines.policy import DEFAULT, Escalation, Policy, only

from .counted import COUNTED, Counted, silence
from .incidents import shell
from .told import Answered, Call, Told, policy_of, told

RESCUED = ("monologue", "no_progress", "stalled_work")
OUT = ("out.txt",)
TOOLS = {"save": Tool(kind=Kind.WRITE, target=("path",))}


def found(history: Any, detector: str, requires: tuple[str, ...] = OUT, **more: Any) -> list[Told]:
    return told(history, detectors=only(DEFAULT.detectors, detector), requires=requires, tools=TOOLS, **more)


def rescuing(rescues: int) -> Policy:
    return attrs.evolve(policy_of(only(DEFAULT.detectors, "no_progress")), escalation=Escalation(rescues=rescues))


def shorts(history: Any, detector: str, **more: Any) -> list[tuple[int, str, str]]:
    return [one.short for one in found(history, detector, **more)]


BARREN = [shell(number) for number in range(30)]


@pytest.mark.parametrize(
    ("detector", "history", "rescues", "stop"),
    [("no_progress", BARREN, [5, 9], 13), ("stalled_work", BARREN, [5, 9], 13), ("monologue", silence(30), [4, 8], 12)],
)
def test_it_is_rescued_twice_with_a_fresh_count_each_and_then_stopped(
    detector: str, history: Any, rescues: list[int], stop: int
) -> None:
    verdicts = found(history, detector)
    assert [one.turn for one in verdicts if one.by == "rescue"] == rescues
    assert verdicts[-1].short == (stop, "stop", detector)
    told_of = [one.values for one in verdicts if one.by == "rescue"]
    assert [(values["instead_of"], values["unwritten"], values["now"]) for values in told_of] == [
        (detector, "out.txt", 4)
    ] * 2


def test_what_is_left_to_write_is_named_and_what_is_written_is_not() -> None:
    save: list[Call] = [("save", '{"path": "a.txt"}', Answered(wrote=True, state="a"))]
    (first, *_) = [v for v in found([save, *BARREN], "no_progress", ("a.txt", "b.txt")) if v.by == "rescue"]
    assert first.values["unwritten"] == "b.txt"


def test_once_all_is_written_a_stop_is_a_stop() -> None:
    save: list[Call] = [("save", '{"path": "out.txt"}', Answered(wrote=True, state="a"))]
    assert shorts([save, *BARREN], "no_progress") == [(5, "nudge", "no_progress"), (6, "stop", "no_progress")]


def test_where_nothing_is_required_nobody_is_rescued() -> None:
    assert [one.by for one in found(BARREN, "no_progress", ())] == ["no_progress", "no_progress"]


@pytest.mark.parametrize("counted", [c for c in COUNTED if c.stop], ids=lambda c: c.name)
def test_only_what_stands_still_is_rescued(counted: Counted) -> None:
    detectors = only(DEFAULT.detectors, counted.detector)
    verdicts = told(counted.history(counted.stop), detectors=detectors, tools=counted.tools, requires=OUT)
    rescued = counted.detector in RESCUED
    assert (verdicts[-1].verdict, verdicts[-1].by) == (("nudge", "rescue") if rescued else ("stop", counted.detector))


@pytest.mark.parametrize("rescues", [0, 1, 3])
def test_the_policy_says_how_often(rescues: int) -> None:
    verdicts = found(BARREN, "no_progress", policy=rescuing(rescues))
    assert [one.by for one in verdicts].count("rescue") == rescues
    assert verdicts[-1].short == (5 + 4 * rescues, "stop", "no_progress")
