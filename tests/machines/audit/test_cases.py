"""The shared cases: shapes of being stuck, and of work that looks like it, each with the verdicts that are right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from machines.audit import Judged, judge
from machines.audit.judge import RANK
from machines.outcome import message_of
from machines.traces.formats import open_trace

Record = dict[str, Any]


@attrs.frozen
class Case:
    """One case: what is expected of it, and what it came to."""

    name: str
    expected: Record
    judged: Judged
    before: int
    """Turns before the words from which on it is judged."""


def turns_before_the_last_person(path: Path) -> int:
    turns = before = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        record: Record = json.loads(line)
        turns += record["t"] == "reply"
        if record["t"] == "user" and not record.get("synthetic"):
            before = turns
    return before


def cases(folder: Path) -> Iterator[Case]:
    expected: dict[str, Record] = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    for name, what in expected.items():
        path = folder / f"{name}.jsonl"
        (judged,) = (judge(run) for run in open_trace(path))
        before = turns_before_the_last_person(path) if what.get("judge_from") == "last_user" else 0
        yield Case(name, what, judged, before)


@pytest.fixture(scope="module")
def told(shared: Path) -> list[Case]:
    return list(cases(shared / "cases"))


@pytest.fixture(scope="module")
def sequences(shared: Path) -> list[Case]:
    return list(cases(shared / "cases" / "sequences"))


def verdicts(case: Case) -> list[tuple[int, str, str]]:
    return [(one.turn, one.verdict, one.by) for one in case.judged.verdicts if one.turn > case.before]


def wrong(case: Case) -> str:
    """What is wrong with how the case was judged; empty where nothing is."""
    found = verdicts(case)
    worst = max((verdict for _, verdict, _ in found), key=RANK.__getitem__, default="continue")
    accepted, by = case.expected["accept"], case.expected.get("by")
    late = by is not None and worst != "continue" and min(turn for turn, verdict, _ in found if verdict == worst) > by
    return f"{case.name}: {found}, expected {accepted} by {by}" if worst not in accepted or late else ""


def wrong_in_time(case: Case) -> str:
    """The same for a sequence, whose first nudge and first stop have to fall between two turns."""

    def fits(turn: int | None, expected: object) -> bool:
        match expected:
            case [int(first), int(last)]:
                return turn is not None and first <= turn <= last
            case None:
                return turn is None
            case _:
                return True

    one, nudge, stop = case.judged, case.expected["nudge"], case.expected["stop"]
    unannounced = one.first_stop is not None and one.first_nudge is None and nudge != "any"
    if fits(one.first_nudge, nudge) and fits(one.first_stop, stop) and not unannounced:
        return ""
    return f"{case.name}: nudge {one.first_nudge}, stop {one.first_stop}, expected {nudge}, {stop}"


def test_every_case_is_judged_right(told: list[Case]) -> None:
    assert len(told) > 100
    assert [said for case in told if (said := wrong(case))] == []


def test_every_sequence_is_judged_right(sequences: list[Case]) -> None:
    assert len(sequences) > 30
    assert [said for case in sequences if (said := wrong_in_time(case))] == []


def test_work_is_never_stopped_and_never_nudged(told: list[Case], sequences: list[Case]) -> None:
    work = [case for case in told if case.expected["accept"] == ["continue"]]
    work += [case for case in sequences if case.expected["nudge"] is None and case.expected["stop"] is None]
    assert len(work) > 40
    assert [(case.name, verdicts(case)) for case in work if verdicts(case)] == []


def test_no_case_is_odd(told: list[Case], sequences: list[Case]) -> None:
    assert [(case.name, case.judged.problems) for case in (*told, *sequences) if case.judged.problems] == []


def test_an_ending_of_a_case_is_never_without_words(told: list[Case], sequences: list[Case]) -> None:
    endings = [(case.name, leg) for case in (*told, *sequences) for leg in case.judged.legs if leg is not None]
    assert len(endings) > 60
    assert [name for name, leg in endings if not message_of(leg, lambda text: None).strip()] == []
