"""The policy as a TOML file: read, written, and what is said of one that is wrong."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.policy import (
    DEFAULT,
    Budget,
    Condensings,
    Cycle,
    Detectors,
    Escalation,
    Limits,
    Messages,
    Plain,
    Policy,
    Progress,
    Recovery,
    Waiting,
    Windowed,
    problems_of,
)
from machines.policy_file import BadPolicy, policy_of, policy_toml, read_policy

counts = st.integers(1, 10**9)
amounts = st.floats(1e-6, 1e9)


def limits_of(on: bool, nudge: int, more: int, failing: int, still_more: int) -> Limits:
    return Limits(on, nudge, nudge + more, failing, failing + still_more)


limits = st.builds(limits_of, st.booleans(), counts, counts, counts, counts)


def windowed_of(n: int, f: int, more: int) -> Windowed:
    return Windowed(nudge=n, stop=n, failing_nudge=f, failing_stop=f, window=n + more, failing_window=f)


def plain_of(on: bool, n: int | None) -> Plain:
    return Plain(on, n, n)


def cycle_of(n: int, most: int) -> Cycle:
    return Cycle(nudge=n, stop=None, max_period=most)


def condensings_of(n: int, share: float) -> Condensings:
    return Condensings(nudge=n, stop=n, share=share)


policies = st.builds(
    Policy,
    st.builds(
        Budget,
        turns=st.none() | counts,
        seconds=st.none() | amounts,
        tokens=st.none() | counts,
        usd=st.none() | amounts,
        calls_per_turn=counts,
        final_reply=st.booleans(),
        reply_tokens=st.none() | counts,
        hold_back=st.floats(0, 0.99),
        hold_back_seconds=amounts,
        hold_back_tokens=counts,
        hold_back_usd=amounts,
        unbounded=st.just(True),
    ),
    st.builds(Recovery, *[st.integers(0, 99)] * 5),
    st.builds(Escalation, st.booleans(), counts),
    st.builds(
        Detectors,
        consecutive_duplicate=limits,
        spread_duplicate=st.builds(windowed_of, counts, counts, st.integers(0, 99)),
        no_progress=limits,
        same_error=st.builds(plain_of, st.booleans(), st.none() | counts),
        cycle=st.builds(cycle_of, st.integers(1, 4), counts),
        vain_condensing=st.builds(condensings_of, counts, st.floats(0, 1)),
    ),
    st.builds(Progress, counts),
    st.builds(Waiting, st.booleans(), amounts),
    st.builds(Messages, st.booleans()),
)


def wrong(plain: dict[str, Any]) -> str:
    with pytest.raises(BadPolicy) as caught:
        policy_of(plain, "my.toml")
    return str(caught.value)


@given(policies)
def test_a_policy_that_was_written_is_read_as_it_was(policy: Policy) -> None:
    assert problems_of(policy) == []
    assert policy_of(tomllib.loads(policy_toml(policy)), "x") == policy


def test_the_default_is_written_whole() -> None:
    written = tomllib.loads(policy_toml(DEFAULT))
    assert written == json.loads(json.dumps(attrs.asdict(DEFAULT)).replace("null", '"unlimited"'))
    for line in policy_toml(DEFAULT).splitlines():
        assert not line or " # " in line, "each key has a comment that says what it is"


def test_no_limit_is_written_unlimited() -> None:
    policy = Policy(budget=Budget(turns=None, seconds=None, usd=None, reply_tokens=None))
    written = tomllib.loads(policy_toml(policy))["budget"]
    assert [name for name, value in written.items() if value == "unlimited"] == [
        "turns",
        "seconds",
        "usd",
        "reply_tokens",
    ]
    assert policy_of({"budget": {"turns": "unlimited"}}, "x").budget.turns is None


def test_what_a_file_leaves_out_has_its_default_or_that_of_the_policy_it_is_laid_over(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[budget]\nturns = 7\n[detectors.no_progress]\nstop = 9\n")
    policy = read_policy(path)
    assert policy == attrs.evolve(
        DEFAULT,
        budget=Budget(turns=7),
        detectors=Detectors(no_progress=attrs.evolve(DEFAULT.detectors.no_progress, stop=9)),
    )
    base = Policy(budget=Budget(turns=3, calls_per_turn=2), messages=Messages(require_facts=True))
    over = read_policy(path, base)
    assert (over.budget, over.messages) == (Budget(turns=7, calls_per_turn=2), Messages(require_facts=True))
    path.write_text("")
    assert read_policy(path) == DEFAULT


def test_whole_numbers_serve_where_a_fraction_may_stand() -> None:
    assert policy_of({"budget": {"seconds": 10, "usd": 2}}, "x").budget.seconds == 10.0


@pytest.mark.parametrize(
    ("plain", "path", "nearest"),
    [
        ({"budgets": {}}, "budgets", "budget"),
        ({"budget": {"turn": 5}}, "budget.turn", "turns"),
        ({"recovery": {"trunkated": 1}}, "recovery.trunkated", "truncated"),
        ({"detectors": {"no_progres": {}}}, "detectors.no_progres", "no_progress"),
        ({"detectors": {"no_progress": {"nugde": 1}}}, "detectors.no_progress.nugde", "nudge"),
    ],
)
def test_a_key_that_does_not_exist_is_named_with_its_path_and_the_nearest_right_one(
    plain: dict[str, Any], path: str, nearest: str
) -> None:
    said = wrong(plain)
    assert said.startswith(f"my.toml: {path}: found ")
    assert nearest in said.partition("expected ")[2]


@pytest.mark.parametrize(
    ("plain", "path"),
    [
        ({"budget": 5}, "budget"),
        ({"budget": {"turns": "many"}}, "budget.turns"),
        ({"budget": {"turns": 1.5}}, "budget.turns"),
        ({"budget": {"turns": True}}, "budget.turns"),
        ({"budget": {"calls_per_turn": "unlimited"}}, "budget.calls_per_turn"),
        ({"escalation": {"nudges": "no"}}, "escalation.nudges"),
        ({"escalation": {"nudges": 1}}, "escalation.nudges"),
        ({"detectors": {"no_progress": {"stop": [4]}}}, "detectors.no_progress.stop"),
    ],
)
def test_a_wrong_type_is_named_with_its_path(plain: dict[str, Any], path: str) -> None:
    said = wrong(plain)
    assert said.startswith(f"my.toml: {path}: found ")
    assert ", expected " in said


def test_a_number_out_of_range_is_named_with_its_path() -> None:
    said = wrong({"budget": {"turns": 0}, "recovery": {"empty": -1}})
    assert said.splitlines() == [
        'my.toml: budget.turns: found 0, expected 1 or more, or "unlimited"',
        "my.toml: recovery.empty: found -1, expected 0 or more",
    ]


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert len(wrong({"budget": {"turn": 5, "seconds": "long"}}).splitlines()) == 2


@pytest.mark.parametrize("content", [b"[budget\n", b"turns = \n", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_what_is_no_toml_is_said_in_one_line_with_the_files_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(content)
    with pytest.raises(BadPolicy) as caught:
        read_policy(path)
    assert str(caught.value).startswith(f"{path}: not TOML: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["absent.toml", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadPolicy) as caught:
        read_policy(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path))


def test_no_limit_in_the_wrong_place_is_named_as_it_was_written() -> None:
    assert "null" not in wrong({"budget": {"calls_per_turn": "unlimited"}})
    assert "null" not in wrong({"budget": {"turns": 1.5}})
