"""The roster as it is listed."""

from __future__ import annotations

import sys
from pathlib import Path

import attrs
import pytest

from machines.detectors.listed import incident_of, listed
from machines.detectors.roster import CHANTING, CONDENSING, ROSTER, SHAPES
from machines.policy import DEFAULT, Detectors
from machines.policy_file import policy_of, read_policy


def test_every_detector_of_the_policy_is_listed_once_in_the_order_in_which_it_is_asked() -> None:
    names = [each.name for each in listed(DEFAULT)]
    assert names == [detector.name for detector in ROSTER] + ["chanting", "vain_condensing"]
    assert sorted(names) == sorted(field.name for field in attrs.fields(Detectors))
    assert [each.shape for each in listed(DEFAULT)] == [SHAPES[name] for name in names]


def test_each_has_an_incident_of_one_sentence() -> None:
    incidents = [each.incident for each in listed(DEFAULT)]
    assert len(set(incidents)) == len(incidents) == 16
    for incident in incidents:
        assert len(incident) > 40
        assert incident.endswith(".")
        assert incident.count(". ") == 0
        assert "\n" not in incident


def test_an_incident_is_what_the_detectors_own_file_says() -> None:
    told = sys.modules[ROSTER[0].read.__module__].__doc__ or ""
    assert f"Incident: {incident_of(ROSTER[0])}" in " ".join(told.split())


def test_where_python_keeps_no_docstrings_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[CHANTING.read.__module__], "__doc__", None)
    assert incident_of(CHANTING) == ""
    assert incident_of(CONDENSING) != ""


def test_each_says_when_it_is_asked() -> None:
    asked = {each.name: each.asked for each in listed(DEFAULT)}
    early = {name for name, when in asked.items() if "before a call is run" in when}
    assert early == {detector.name for detector in ROSTER if detector.before is not None}
    assert asked["chanting"] == "while a reply streams"
    assert asked["cycle"] == "at the end of a turn"


def test_limits_are_the_policys_by_its_keys() -> None:
    policy = policy_of({"detectors": {"cycle": {"nudge": 9, "stop": "unlimited", "enabled": False}}}, "x")
    by_name = {each.name: each for each in listed(policy)}
    assert by_name["cycle"].limits == {
        "nudge": 9,
        "stop": None,
        "failing_nudge": 3,
        "failing_stop": 4,
        "max_period": 6,
    }
    assert [each.name for each in listed(policy) if not each.enabled] == ["cycle"]
    assert sum(each.enabled for each in listed(read_policy(Path("first-match")))) == 9
