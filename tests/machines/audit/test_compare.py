"""One run under several policies: what each decided, and where they part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from machines.audit import judge, report
from machines.audit.again import kept
from machines.audit.compare import Side, as_json, compared, in_short, parts, sides, worst
from machines.policy import DEFAULT, Detectors, Policy, only
from machines.policy_file import policy_of
from machines.recent import Recent
from machines.traces.formats import open_trace

OFF = attrs.evolve(DEFAULT, detectors=only(Detectors()))


def alone(name: str, **limits: int) -> Policy:
    """One detector with these limits, the others off."""
    policy = policy_of({"detectors": {name: limits}}, "x")
    return attrs.evolve(policy, detectors=only(policy.detectors, name))


EARLY, LATER = alone("consecutive_duplicate"), alone("consecutive_duplicate", stop=6)
OTHER_RULE = alone("no_progress", nudge=2, stop=3)


def same(turns: int) -> list[dict[str, Any]]:
    return [
        line
        for n in range(turns)
        for line in (
            {"t": "reply", "stop": "tool_use", "calls": [{"id": f"c{n}", "tool": "search", "args": {"q": "x"}}]},
            {"t": "result", "call": f"c{n}", "value": "nothing"},
        )
    ]


@pytest.fixture
def beside(recorded: Callable[..., Path]) -> Callable[..., tuple[Side, ...]]:
    def give(lines: list[dict[str, Any]], *policies: Policy) -> tuple[Side, ...]:
        named = [(f"p{number}", policy) for number, policy in enumerate(policies)]
        (found,) = (sides(run, named) for run in open_trace(recorded(lines)))
        return found

    return give


Beside = Callable[..., tuple[Side, ...]]


def test_a_run_can_be_judged_again_from_its_first_line(recorded: Callable[..., Path]) -> None:
    for run in open_trace(recorded(same(5))):
        again = kept(run)
        assert judge(again()) == judge(again())
        assert judge(again()).first_stop == 4


def test_each_policy_answers_as_it_would_alone(beside: Beside, judged: Callable[..., Any]) -> None:
    found = beside(same(8), EARLY, LATER, OFF)
    assert [side.policy for side in found] == ["p0", "p1", "p2"]
    assert [side.judged for side in found] == [judged(same(8), policy) for policy in (EARLY, LATER, OFF)]


@pytest.mark.parametrize(
    ("policies", "turn"),
    [
        ((EARLY, EARLY), None),
        ((EARLY, LATER), 4),
        ((LATER, EARLY), 4),
        ((OFF, EARLY), 3),
        ((EARLY, EARLY, OFF), 3),
        ((EARLY, OTHER_RULE), None),
    ],
    ids=["equal", "a later stop", "in any order", "none at all", "one of three", "by another rule"],
)
def test_they_part_where_one_did_what_another_did_not(
    beside: Beside, policies: tuple[Policy, ...], turn: int | None
) -> None:
    assert parts(beside(same(8), *policies)) == turn


def test_a_run_says_in_short_what_was_done_first_and_by_which_rule(beside: Beside) -> None:
    found = beside(same(8), EARLY, LATER, OFF)
    assert compared(found).decided == (
        "nudge at 3, stop at 4 by consecutive_duplicate",
        "nudge at 3, stop at 6 by consecutive_duplicate",
        "continue",
    )
    assert [in_short(side.judged) for side in beside(same(3), EARLY)] == ["nudge at 3 by consecutive_duplicate"]
    assert [in_short(side.judged) for side in beside([], EARLY)] == ["continue (no replies)"]


def test_a_nudge_of_a_later_leg_is_not_told_before_the_stop(beside: Beside) -> None:
    calls = [{"id": f"b{n}", "tool": "search", "args": {"q": "x"}} for n in range(4)]
    batch = [
        {"t": "reply", "stop": "tool_use", "calls": calls},
        *({"t": "result", "call": call["id"], "value": "nothing"} for call in calls),
    ]
    (found,) = beside([*batch, {"t": "user", "text": "go on"}, *same(3)], EARLY)
    assert [(v.turn, v.verdict) for v in found.judged.verdicts] == [(1, "stop"), (4, "nudge")]
    assert in_short(found.judged) == "stop at 1 by consecutive_duplicate"


def test_the_gravest_verdict_of_all_counts(beside: Beside) -> None:
    assert worst(beside(same(8), OFF, EARLY)) == 2
    assert worst(beside(same(3), OFF, EARLY)) == 1
    assert worst(beside(same(2), OFF, EARLY)) == 0


def test_json_has_the_run_once_and_each_policys_whole_answer(beside: Beside, judged: Callable[..., Any]) -> None:
    plain = json.loads(as_json(beside(same(8), EARLY, OFF)))
    assert sorted(plain) == ["file", "format", "parts", "policies", "run", "turns"]
    assert (plain["run"], plain["turns"], plain["parts"]) == ("given", 8, 3)
    assert [(side["policy"], side["first_stop"], side["worst"]) for side in plain["policies"]] == [
        ("p0", 4, "stop"),
        ("p1", None, "continue"),
    ]
    assert {**json.loads(report.as_json(judged(same(8), EARLY), Recent())), "message": 0, "policy": "p0"} == {
        **plain["policies"][0],
        "message": 0,
    }
