"""The world around a run: it shows no flaw, each flaw is found in a table broken for it, and limits under policies."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.commands import Ask, RunCalls
from machines.events import Cancel, Clock, Result
from machines.policy import DEFAULT, Budget, Detectors, Escalation, Limits, Policy, Recovery, only
from machines.run import RUN
from machines.state import OPEN, Phase, Run, new_run
from machines.tables import SAMPLES, TABLES, WORLDS
from machines.world import RUN_WORLD
from statecraft import Row, Table
from statecraft.proofs import Limit, limits, outside, prove

from .rebuilt import rebuilt


def told(table: Table[Any, Any, Any, Any]) -> set[tuple[str, str | None]]:
    return {(flaw.what, flaw.state) for flaw in outside(table, RUN_WORLD)}


def test_a_run_has_no_flaw_in_its_world() -> None:
    assert outside(RUN, RUN_WORLD) == ()
    assert set(RUN_WORLD.answers) == {kind for row in RUN.rows for kind in row.asks}


def test_a_command_that_the_world_forgot_is_found() -> None:
    answers = {kind: events for kind, events in RUN_WORLD.answers.items() if kind is not Ask}
    found = outside(RUN, attrs.evolve(RUN_WORLD, answers=answers))
    assert {flaw.what for flaw in found} == {"unknown command Ask"}
    assert len(found) == sum(Ask in row.asks for row in RUN.rows)


def test_calls_whose_results_no_row_takes_are_found() -> None:
    assert told(rebuilt(RUN, lambda row: None if row.event is Result else row)) == set()  # a call may wait instead
    only_results = attrs.evolve(RUN_WORLD, answers={**RUN_WORLD.answers, RunCalls: (Result,)})
    deaf = rebuilt(RUN, lambda row: None if row.event is Result else row)
    assert {flaw.what for flaw in outside(deaf, only_results)} == {"no answer to RunCalls"}


def test_a_wait_that_time_does_not_end_is_found() -> None:
    def stays(row: Row[Any, Any, Any]) -> Row[Any, Any, Any]:
        return attrs.evolve(row, target=Phase.WAITING, asks=frozenset()) if row.event is Clock else row

    assert told(rebuilt(RUN, stays)) == {("no way out by time", "WAITING")}


@pytest.mark.parametrize("phase", [Phase.READY, *OPEN])
def test_a_state_that_cannot_be_cancelled_is_found(phase: Phase) -> None:
    def keeps(row: Row[Any, Any, Any]) -> Row[Any, Any, Any]:
        left = tuple(source for source in row.sources if source is not phase)
        return attrs.evolve(row, sources=left) if row.event is Cancel else row

    assert told(rebuilt(RUN, keeps)) == {("no way out by cancel", phase.name)}


def limits_under(policy: Policy) -> tuple[Limit, ...]:
    return limits(RUN, new_run("run", policy), RUN_WORLD)


def names(policy: Policy, how: str) -> set[tuple[str, int | None]]:
    return {(f"{one.what} {one.level}".strip(), one.at) for one in limits_under(policy) if one.how == how}


def test_no_limit_of_the_default_policy_is_vacuous_and_none_is_unknown() -> None:
    report = prove(TABLES, SAMPLES, worlds=WORLDS)
    assert report.ok
    assert {one.how for table in report.tables for one in table.limits} == {"reached", "off"}
    assert names(DEFAULT, "off") == {("redundant_check stop", 2**31 - 1)}


@pytest.mark.parametrize(("turns", "vacuous"), [(80, set[object]()), (79, {("no_progress stop", 80)})])
def test_a_stop_beyond_the_turns_of_a_run_can_never_fire(turns: int, vacuous: set[tuple[str, int]]) -> None:
    detectors = attrs.evolve(Detectors(), no_progress=Limits(nudge=3, stop=80))
    assert names(Policy(budget=Budget(turns=turns), detectors=detectors), "never") == vacuous


def test_both_pairs_of_limits_of_every_detector_that_has_two_are_seen() -> None:
    limited = {field.name for field in attrs.fields(Detectors) if isinstance(getattr(Detectors(), field.name), Limits)}
    pairs = {
        name: attrs.evolve(getattr(Detectors(), name), nudge=11, stop=12, failing_nudge=13, failing_stop=14)
        for name in limited
    }
    found = names(Policy(detectors=Detectors(**pairs)), "reached")
    for name in limited:
        assert {
            (f"{name} {level}", at) for level, at in (("nudge", 11), ("stop", 12), ("nudge", 13), ("stop", 14))
        } <= (found), name


def test_a_detector_that_is_off_is_off_and_a_budget_of_none_too() -> None:
    off = Policy(detectors=only(Detectors(), "no_progress"), escalation=Escalation(rescues=0))
    assert {name.split()[0] for name, _ in names(off, "reached")} == {"no_progress"}
    assert ("rescues", 0) in names(off, "off")
    report = prove(TABLES, {RUN.name: new_run("run", Policy(recovery=Recovery(truncated=0)))}, worlds=WORLDS)
    assert [one.what for table in report.tables if table.table == "reply" for one in table.limits] == ["truncated"]


@pytest.mark.parametrize(("rescues", "found"), [(2, set[object]()), (3, {("rescues", 3)})])
def test_rescues_that_a_run_has_no_turns_for_are_never_used_up(rescues: int, found: set[tuple[str, int]]) -> None:
    policy = Policy(budget=Budget(turns=3), escalation=Escalation(rescues=rescues))
    assert names(policy, "spare") == found


def test_a_run_is_not_changed_by_being_asked() -> None:
    run: Run = new_run("run")
    before = repr(run)
    limits(RUN, run, RUN_WORLD)
    assert repr(run) == before
