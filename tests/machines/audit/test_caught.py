"""What each detector catches: how often, first, alone, and wrongly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from machines.audit.caught import ESCALATION, Catches, FalseStop, without
from machines.policy import DEFAULT, Policy
from machines.policy_file import policy_of
from machines.traces.bad_trace import BadTrace
from machines.traces.formats import open_trace

Lines = list[dict[str, Any]]
SAME, BARREN = "consecutive_duplicate", "no_progress"


def calls(count: int, question: str = "x", start: int = 0, value: str = "nothing") -> Lines:
    return [
        line
        for n in range(start, start + count)
        for line in (
            {
                "t": "reply",
                "stop": "tool_use",
                "calls": [{"id": f"c{n}", "tool": "search", "args": {"q": question.format(n=n)}}],
            },
            {"t": "result", "call": f"c{n}", "value": value},
        )
    ]


REWORDED = "question {n}"


@pytest.fixture
def caught(recorded: Callable[..., Path]) -> Callable[..., Catches]:
    def give(*runs: Lines, policy: Policy = DEFAULT) -> Catches:
        catches = Catches(policy)
        for lines in runs:
            for run in open_trace(recorded(lines)):
                catches.add(run)
        return catches

    return give


Give = Callable[..., Catches]


def test_a_run_that_is_well_counts_for_no_detector(caught: Give) -> None:
    catches = caught(calls(2))
    assert (catches.runs, catches.turns, catches.nudged, catches.stopped) == (1, 2, 0, 0)
    assert all(one.nudged == one.stopped == one.first == one.alone == 0 for one in catches.by_name.values())


def test_a_run_is_counted_once_for_each_that_nudged_and_for_each_that_stopped(caught: Give) -> None:
    catches = caught(calls(9), calls(9), calls(3))
    one = catches.by_name[SAME]
    assert (one.nudged, one.stopped, one.first) == (3, 2, 3)
    assert (catches.nudged, catches.stopped) == (3, 2)


def test_it_is_alone_where_without_it_the_stop_comes_later(caught: Give) -> None:
    # Without it the same run has to stand still for a turn more.
    assert caught(calls(9)).by_name[SAME].alone == 1
    same_turn = policy_of({"detectors": {BARREN: {"nudge": 2, "stop": 3}}}, "x")
    assert caught(calls(9), policy=same_turn).by_name[SAME].alone == 0


def test_it_is_alone_where_without_it_there_is_no_stop(caught: Give) -> None:
    # Four equal calls and no more: what else would see it has not got so far.
    catches = caught(calls(4))
    assert (catches.by_name[SAME].stopped, catches.by_name[SAME].alone) == (1, 1)
    assert sum(one.alone for one in catches.by_name.values()) == 1


def test_one_that_only_nudged_is_alone_in_nothing(caught: Give) -> None:
    catches = caught(calls(3))
    assert (catches.by_name[SAME].nudged, catches.by_name[SAME].alone) == (1, 0)


def test_others_that_stop_as_early_leave_nobody_alone(caught: Give) -> None:
    catches = caught(calls(9, REWORDED))
    by_name = {name: one for name, one in catches.by_name.items() if one.nudged or one.stopped}
    assert by_name[BARREN].stopped == 1
    assert by_name[BARREN].alone == 0, "the distinct work stood still as long"


def test_a_later_leg_can_be_what_one_is_alone_in(caught: Give) -> None:
    # The first leg is stopped as early by another; the second is one's own.
    legs = [*calls(9, REWORDED), {"t": "user", "text": "go on"}, *calls(4, start=20, value="a hit")]
    catches = caught(legs)
    assert [name for name, one in catches.by_name.items() if one.alone] == [SAME]


def test_a_third_nudge_is_the_escalations_stop(caught: Give) -> None:
    never = {"stop": "unlimited", "failing_stop": "unlimited"}
    policy = policy_of(
        {"detectors": {SAME: never, BARREN: {"enabled": False}, "stalled_work": {"enabled": False}}}, "x"
    )
    policy = without(without(policy, "fruitless_tool"), "cycle")
    stuck = [line for n in range(4) for line in calls(3, f"q {n}", 3 * n)]
    catches = caught(stuck, policy=policy)
    assert (catches.by_name[SAME].nudged, catches.by_name[SAME].stopped, catches.by_name[SAME].alone) == (1, 0, 1)
    assert (catches.by_name[ESCALATION].stopped, catches.by_name[ESCALATION].alone) == (1, 1)


@pytest.mark.parametrize(
    ("end", "wrong"),
    [("reward 1.0", 1), ("CORRECT", 1), ("is_resolved true", 1), ("reward 0.5", 0), ("success", 0), (None, 0)],
)
def test_a_stop_is_false_where_the_recording_says_that_the_run_was_judged_well(
    caught: Give, end: str | None, wrong: int
) -> None:
    lines = calls(6) + ([] if end is None else [{"t": "end", "status": end}])
    catches = caught(lines)
    assert len(catches.false_stops) == wrong
    assert len(catches.by_name[SAME].false_stops) == wrong
    assert (catches.well, catches.not_well, sum(catches.unknown.values())) == (
        wrong,
        end == "reward 0.5",
        end in ("success", None),
    )
    if wrong and end is not None:
        (one,) = catches.false_stops
        assert one == FalseStop("given", one.file, SAME, 4, 6, end)


@pytest.mark.parametrize(("turns", "wrong"), [(4, 0), (5, 1)])
def test_a_stop_at_the_last_turn_that_was_recorded_cuts_nothing_off(caught: Give, turns: int, wrong: int) -> None:
    assert len(caught([*calls(turns), {"t": "end", "status": "reward 1"}]).false_stops) == wrong


def test_what_is_not_known_is_counted_by_format(caught: Give) -> None:
    assert dict(caught(calls(2), calls(2)).unknown) == {"statecraft.trace/1": 2}


def test_of_a_run_that_cannot_be_read_nothing_is_counted(caught: Give, recorded: Callable[..., Path]) -> None:
    catches = Catches(DEFAULT)
    for run in open_trace(recorded([*calls(2), {"t": "unheard of"}])):
        with pytest.raises(BadTrace):
            catches.add(run)
    assert catches == Catches(DEFAULT)


def test_one_detector_is_switched_off_and_nothing_else() -> None:
    off = without(DEFAULT, SAME)
    assert not off.detectors.consecutive_duplicate.enabled
    on = attrs.evolve(off.detectors.consecutive_duplicate, enabled=True)
    assert attrs.evolve(off, detectors=attrs.evolve(off.detectors, consecutive_duplicate=on)) == DEFAULT
    assert without(DEFAULT, ESCALATION) == attrs.evolve(
        DEFAULT, escalation=attrs.evolve(DEFAULT.escalation, stops=False)
    )
