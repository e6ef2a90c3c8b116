"""Each detector earns its place: its incident is caught by it, and by none of the others, or by them later."""

from __future__ import annotations

import attrs
import pytest

from machines.detectors.roster import CHANTING, CONDENSING, ROSTER
from machines.policy import DEFAULT, Detectors, only

from .incidents import INCIDENTS, Incident, pages
from .told import Verdict, told

NAMES = [*(detector.name for detector in ROSTER), CHANTING.name, CONDENSING.name]
each = pytest.mark.parametrize("incident", INCIDENTS, ids=[f"{i.detector}: {i.shape}" for i in INCIDENTS])


def found(incident: Incident, detectors: Detectors) -> list[Verdict]:
    return [one.short for one in told(incident.history, detectors=detectors, tools=incident.tools)]


def without(name: str) -> Detectors:
    """The default without one detector."""
    return attrs.evolve(DEFAULT.detectors, **{name: attrs.evolve(getattr(DEFAULT.detectors, name), enabled=False)})


def test_every_detector_has_an_incident_and_limits() -> None:
    assert {incident.detector for incident in INCIDENTS} == set(NAMES)
    assert set(NAMES) == {field.name for field in attrs.fields(Detectors)}


def test_every_detector_has_an_incident_that_no_other_sees() -> None:
    assert {incident.detector for incident in INCIDENTS if not incident.others} == set(NAMES)


@each
def test_a_detector_catches_its_incident_by_itself(incident: Incident) -> None:
    assert found(incident, only(DEFAULT.detectors, incident.detector)) == list(incident.alone)


@each
def test_among_the_others_it_catches_the_same_as_early(incident: Incident) -> None:
    assert found(incident, DEFAULT.detectors) == list(incident.alone)


@each
def test_the_others_do_not_catch_it_without_that_detector_or_catch_it_later(incident: Incident) -> None:
    others = found(incident, without(incident.detector))
    assert others == list(incident.others)
    if others:
        assert incident.alone[0][0] < others[0][0], "the first word comes earlier"
        stops = [
            next((turn for turn, verdict, _ in one if verdict == "stop"), None) for one in (incident.alone, others)
        ]
        assert stops[1] is None or (stops[0] is not None and stops[0] <= stops[1])


def test_three_pages_in_turn_are_seen_by_what_stands_still_before_a_lap_is_a_cycle() -> None:
    """What `cycle` is not needed for: within so few pages none is news again."""
    laps = [pages(1), pages(2), pages(3)] * 4
    alone = [one.short for one in told(laps, detectors=only(DEFAULT.detectors, "cycle"))]
    assert alone == [(9, "nudge", "cycle"), (12, "stop", "cycle")]
    assert [one.short for one in told(laps)] == [(6, "nudge", "no_progress"), (7, "stop", "no_progress")]
