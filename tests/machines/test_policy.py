"""Every threshold: its default, what is wrong with a number, and that every run ends with any switch off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.commands import Ask, Tell
from machines.events import Begin, Call, Event, Reply, Result, StopReason, Text
from machines.policy import (
    DEFAULT,
    Budget,
    Condensings,
    Cycle,
    Detectors,
    Escalation,
    Limits,
    Messages,
    Often,
    Plain,
    Policy,
    Progress,
    Recovery,
    Waiting,
    Windowed,
    only,
    problems_of,
)
from machines.run import RUN
from machines.state import Run, new_run, under
from machines.supervisor import feed
from machines.tables import TABLES
from statecraft.proofs import Bound, FreeCycle, ends, prove


def changed(policy: Policy, path: str, value: Any) -> Policy:
    """The policy with the value at a dotted path."""

    def put(whole: Any, names: list[str]) -> Any:
        name, *rest = names
        return attrs.evolve(whole, **{name: put(getattr(whole, name), rest) if rest else value})

    changed_policy: Policy = put(policy, path.split("."))
    return changed_policy


def test_the_default_sets_all_four_budgets_and_has_nothing_wrong() -> None:
    assert problems_of(DEFAULT) == []
    assert None not in (DEFAULT.budget.turns, DEFAULT.budget.seconds, DEFAULT.budget.tokens, DEFAULT.budget.usd)
    assert DEFAULT.budget.unbounded is False
    assert Policy(Budget(), Recovery(), Escalation(), Detectors(), Progress(), Waiting(), Messages()) == DEFAULT


def test_everything_is_on_by_default() -> None:
    assert DEFAULT.escalation.nudges
    assert DEFAULT.waiting.enabled
    assert DEFAULT.budget.final_reply
    assert all(limits.enabled for limits in attrs.astuple(DEFAULT.detectors, recurse=False))
    assert min(attrs.astuple(DEFAULT.recovery)) > 0


NAN, INF = float("nan"), float("inf")


def boundaries_of(limits: Plain) -> Iterator[tuple[str, Any, Any]]:
    """The boundaries of one detector: each limit from 1 on, a stop not before its nudge, a window with room for it."""
    yield "nudge", 1, 0
    yield "nudge", None, -1
    if (limits.nudge or 0) > 1:
        yield "stop", limits.nudge, (limits.nudge or 0) - 1
    yield "stop", None, 0
    if isinstance(limits, Windowed | Often):
        yield "window", limits.stop, (limits.stop or 0) - 1
    if isinstance(limits, Windowed):
        yield "failing_window", limits.failing_stop, (limits.failing_stop or 0) - 1
    if isinstance(limits, Limits):
        yield "failing_nudge", 1, 0
    if isinstance(limits, Cycle):
        yield "max_period", 1, 0
    if isinstance(limits, Condensings):
        yield "share", 1.0, 1.5
        yield "share", 0.0, NAN
        yield "window_tokens", 1, 0


# The path, the last value that is right, and the first that is wrong.
BOUNDARIES: list[tuple[str, Any, Any]] = [
    ("budget.turns", 1, 0),
    ("budget.tokens", 1, 0),
    ("budget.reply_tokens", 1, 0),
    ("budget.seconds", 5e-324, 0.0),
    ("budget.seconds", 1e308, INF),
    ("budget.seconds", 1.0, NAN),
    ("budget.usd", 5e-324, 0.0),
    ("budget.usd", 1e308, INF),
    ("budget.usd", 1.0, NAN),
    ("budget.hold_back", 0.0, -5e-324),
    ("budget.hold_back", 0.999, 1.0),
    ("budget.hold_back", 0.5, NAN),
    *(
        (path, right, wrong)
        for path in (
            "budget.hold_back_seconds",
            "budget.hold_back_tokens",
            "budget.hold_back_usd",
            "waiting.hold_back_seconds",
        )
        for right, wrong in ((0, -1), (10**9, INF), (1, NAN))
    ),
    ("budget.hold_back_seconds", 0.0, -5e-324),
    ("budget.hold_back_usd", 0.0, -5e-324),
    ("waiting.hold_back_seconds", 0.0, -5e-324),
    ("budget.calls_per_turn", 1, 0),
    *((f"recovery.{field.name}", 0, -1) for field in attrs.fields(Recovery)),
    ("escalation.within", 1, 0),
    ("progress.recent_results", 1, 0),
    *(
        (f"detectors.{field.name}.{name}", right, wrong)
        for field in attrs.fields(Detectors)
        for name, right, wrong in boundaries_of(getattr(DEFAULT.detectors, field.name))
    ),
    ("detectors.consecutive_duplicate.failing_stop", 4, 3),
    ("detectors.no_progress.failing_stop", 6, 5),
]


@pytest.mark.parametrize(("path", "right", "wrong"), BOUNDARIES, ids=[f"{b[0]}={b[2]}" for b in BOUNDARIES])
def test_each_number_has_a_boundary(path: str, right: Any, wrong: Any) -> None:
    assert problems_of(changed(DEFAULT, path, right)) == []
    problems = problems_of(changed(DEFAULT, path, wrong))
    assert len(problems) == 1
    assert problems[0].startswith(f"{path}: found {wrong}, expected ")


@pytest.mark.parametrize("path", ["budget.turns", "budget.tokens", "budget.seconds", "budget.usd"])
def test_each_budget_alone_may_be_without_limit(path: str) -> None:
    assert problems_of(changed(DEFAULT, path, None)) == []


def test_turns_or_tokens_have_to_end_a_run_unless_it_says_that_nothing_does() -> None:
    endless = attrs.evolve(DEFAULT, budget=Budget(turns=None, tokens=None))
    (problem,) = problems_of(endless)
    assert problem.startswith("budget: neither turns nor tokens")
    assert problems_of(changed(endless, "budget.unbounded", True)) == []


def test_all_that_is_wrong_is_said_at_once() -> None:
    wrong = changed(changed(DEFAULT, "budget.turns", 0), "recovery.empty", -1)
    assert [problem.split(":")[0] for problem in problems_of(wrong)] == ["budget.turns", "recovery.empty"]


def test_nothing_runs_by_a_policy_that_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"budget\.turns: found 0.*; escalation\.within: found 0"):
        new_run("run", changed(changed(DEFAULT, "budget.turns", 0), "escalation.within", 0))


def test_a_run_that_has_not_begun_can_be_put_under_another_policy() -> None:
    other = changed(DEFAULT, "budget.turns", 7)
    assert under(new_run("run"), other) == new_run("run", other)


# Each switch, off.

OFF = {
    "nudges": changed(DEFAULT, "escalation.nudges", False),
    "waiting": changed(DEFAULT, "waiting.enabled", False),
    "what is held back": changed(DEFAULT, "budget.hold_back", 0.0),
    "the last reply": changed(DEFAULT, "budget.final_reply", False),
    **{f"detector {f.name}": changed(DEFAULT, f"detectors.{f.name}.enabled", False) for f in attrs.fields(Detectors)},
    **{f"recovery {f.name}": changed(DEFAULT, f"recovery.{f.name}", 0) for f in attrs.fields(Recovery)},
}
ALL_OFF = Policy(
    recovery=Recovery(0, 0, 0, 0, 0),
    escalation=Escalation(nudges=False),
    detectors=only(Detectors()),
    waiting=Waiting(enabled=False),
)
WITHOUT = {
    "turns": changed(DEFAULT, "budget.turns", None),
    "tokens": changed(DEFAULT, "budget.tokens", None),
    "seconds": changed(DEFAULT, "budget.seconds", None),
    "dollars": changed(DEFAULT, "budget.usd", None),
}


@pytest.mark.parametrize(
    "policy",
    [DEFAULT, *OFF.values(), ALL_OFF, *WITHOUT.values()],
    ids=["default", *OFF, "all", *(f"no limit of {n}" for n in WITHOUT)],
)
def test_every_run_ends_with_any_switch_off(policy: Policy) -> None:
    report = prove(TABLES, {RUN.name: new_run("run", policy)})
    assert report.ok, report.lines


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(Recovery)])
def test_a_recovery_that_is_off_makes_the_bound_smaller(name: str) -> None:
    whole, less = (ends(RUN, new_run("run", policy)) for policy in (DEFAULT, OFF[f"recovery {name}"]))
    assert isinstance(whole, Bound)
    assert isinstance(less, Bound)
    # Once for each turn, before its reply. The bound takes each for the dearest, a condensing: two steps.
    most = 60 * 2 * getattr(DEFAULT.recovery, name)
    assert whole.number - less.number >= most if name == "condensed" else whole.number - less.number == most


def test_an_unbounded_policy_is_reported_as_unproved() -> None:
    endless = Policy(budget=Budget(turns=None, tokens=None, unbounded=True))
    found = ends(RUN, new_run("run", endless))
    assert isinstance(found, FreeCycle)
    assert found.unlimited == ("turns",)
    assert not prove(TABLES, {RUN.name: new_run("run", endless)}).ok


small = st.integers(0, 9)


@given(
    st.integers(1, 50) | st.none(), st.builds(Recovery, *[small] * len(attrs.fields(Recovery))), st.integers(1, 10**6)
)
@settings(max_examples=30, deadline=None)
def test_every_bounded_policy_has_a_bound(turns: int | None, recovery: Recovery, tokens: int) -> None:
    policy = Policy(budget=Budget(turns=turns, tokens=tokens), recovery=recovery)
    bound = ends(RUN, new_run("run", policy))
    assert isinstance(bound, Bound)
    whole = turns if turns is not None else tokens
    assert bound.number >= whole


# What a switch does that no detector's or budget's own test tries.


def stuck(policy: Policy) -> tuple[Run, list[type[Any]]]:
    """A run that asks the same four times, and the commands that it was given at the ends of its turns."""
    run, asked = feed(new_run("run", policy), Begin(0.0)).run, list[type[Any]]()
    for number in range(4):
        call = Call(str(number), "read", b"signature", Text("args", 4))
        events: Iterable[Event] = (Reply(1.0, StopReason.TOOL_USE, (call,)), Result(1.0, call.id, b"digest"))
        for event in events:
            fed = feed(run, event)
            run = fed.run
            asked += [type(command) for command in fed.commands if isinstance(command, Tell | Ask)]
    return run, asked


def test_with_nudges_off_nobody_is_told_and_the_stop_comes_as_it_would() -> None:
    run, asked = stuck(DEFAULT)
    assert (run.stop and run.stop.by, asked.count(Tell)) == ("consecutive_duplicate", 1)
    run, asked = stuck(OFF["nudges"])
    assert (run.stop and run.stop.by, asked) == ("consecutive_duplicate", [Ask] * 4)


def test_with_one_detector_off_the_other_still_speaks() -> None:
    run, _ = stuck(OFF["detector consecutive_duplicate"])
    assert run.stop is None, "its first turn was news, so it has had three"
    run, _ = stuck(changed(OFF["detector consecutive_duplicate"], "detectors.no_progress", Limits(nudge=2, stop=3)))
    assert run.stop is not None
    assert run.stop.by == "no_progress"
