"""Each detector can fire under the default policy: no limit lies beyond its window, or beyond the turns of a run."""

from __future__ import annotations

import attrs
import pytest

from machines.detectors.roster import CHANTING, CONDENSING, ROSTER
from machines.events import Chunk, Condensed, ErrorKind, Text, TurnEnded
from machines.policy import DEFAULT, Limits, Plain, Windowed, only, problems_of
from machines.state import new_run
from statecraft import Reading

from .counted import COUNTED, Counted
from .incidents import INCIDENTS, Incident, pages
from .told import Told, told

NAMES = [*(detector.name for detector in ROSTER), CHANTING.name, CONDENSING.name]
ONLY_STOPS = {"validation_error", "empty_thought", "stalled_work", "chanting"}
ONLY_NUDGES = {"redundant_check"}


def under_the_default(counted: Counted, count: int) -> list[Told]:
    """All of the default policy, budgets too, with one detector on."""
    policy = attrs.evolve(DEFAULT, detectors=only(DEFAULT.detectors, counted.detector))
    return told(counted.history(count), policy=policy, tools=counted.tools)


@pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.name)
def test_every_limit_is_reached_by_a_history(counted: Counted) -> None:
    found = [(one.verdict, one.by) for one in under_the_default(counted, counted.stop or counted.nudge)]
    nudge, stop = [("nudge", counted.detector)], [("stop", counted.detector)]
    if counted.detector in ONLY_STOPS:
        assert found == stop
    else:
        assert found == (nudge if counted.detector in ONLY_NUDGES else nudge + stop)


@pytest.mark.parametrize("name", NAMES)
def test_under_the_whole_default_a_detector_does_what_it_can(name: str) -> None:
    """With all the others on: nudge and stop, or what it has of the two."""

    def by(incident: Incident) -> set[str]:
        found = told(incident.history, policy=DEFAULT, tools=incident.tools)
        return {one.verdict for one in found if one.by == name}

    done = {verdict for incident in INCIDENTS if incident.detector == name for verdict in by(incident)}
    if name in ONLY_STOPS:
        assert done == {"stop"}
    elif name in ONLY_NUDGES or name == "same_tool":
        assert "nudge" in done
    else:
        assert done == {"nudge", "stop"}


@pytest.mark.parametrize("period", range(1, 7))
def test_the_longest_lap_reaches_the_widest_limits_within_the_turns(period: int) -> None:
    limits = DEFAULT.detectors.cycle
    assert DEFAULT.budget.turns is not None
    assert period <= limits.max_period
    lap = [pages(2 * turn, 2 * turn + 1) for turn in range(period)]
    failing = [[(tool, args, ErrorKind.OTHER) for tool, args, _ in turn] for turn in lap]
    policy = attrs.evolve(DEFAULT, detectors=only(DEFAULT.detectors, "cycle"))
    for turns, stop in ((lap, limits.stop), (failing, limits.failing_stop)):
        assert stop is not None
        assert period * stop <= DEFAULT.budget.turns
        assert told(turns * stop, policy=policy)[-1].short == (period * stop, "stop", "cycle")


# By the numbers alone.


def test_the_default_has_no_limit_that_no_count_reaches() -> None:
    assert problems_of(DEFAULT) == []


def readings() -> list[tuple[str, Reading]]:
    run = new_run("run", DEFAULT)
    ended = [(d.name, d.read(run, TurnEnded(0.0))) for d in ROSTER]
    chunk, condensed = Chunk(0.0, "text", Text("piece", 5)), Condensed(0.0, 0)
    return [*ended, (CHANTING.name, CHANTING.read(run, chunk)), (CONDENSING.name, CONDENSING.read(run, condensed))]


@pytest.mark.parametrize(("name", "reading"), readings())
def test_the_most_that_a_count_can_reach_is_no_less_than_its_limits(name: str, reading: Reading) -> None:
    limits: Plain = getattr(DEFAULT.detectors, name)
    reached = {limits.nudge, limits.stop}
    if isinstance(limits, Limits):
        reached |= {limits.failing_nudge, limits.failing_stop}
    windows = {limits.window, limits.failing_window} if isinstance(limits, Windowed) else {reading.most}
    assert {n for n in reached if n is not None and n > max(windows)} == set()
    assert limits.enabled
    assert limits.nudge is not None or limits.stop is not None
