"""`policy`: TOML that says what each key is, and can be read again."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from machines.policy import DEFAULT
from machines.policy_file import policy_of, read_policy
from machines.policy_shipped import head_of, names

Statecraft = Callable[..., tuple[int, str, str]]


def test_what_is_printed_can_be_read_again(statecraft: Statecraft, here: Path) -> None:
    code, out, _ = statecraft("policy")
    assert code == 0
    assert policy_of(tomllib.loads(out), "x") == DEFAULT
    (here / "mine.toml").write_text('[budget]\nusd = "unlimited"\n')
    code, out, _ = statecraft("policy", "mine.toml")
    assert code == 0
    assert policy_of(tomllib.loads(out), "x") == attrs.evolve(DEFAULT, budget=attrs.evolve(DEFAULT.budget, usd=None))


def test_every_key_has_a_comment_and_no_limit_is_told(statecraft: Statecraft) -> None:
    out = statecraft("policy")[1]
    keys = [line for line in out.splitlines() if " = " in line.partition("#")[0]]
    assert len(keys) > 20
    assert [line for line in keys if "  # " not in line] == []
    told = {line.split(" = ")[0] for line in keys if '"unlimited"' in line}
    assert told == {"turns", "seconds", "tokens", "usd", "reply_tokens", "window_tokens", "nudge", "stop"}


def test_a_policy_that_is_wrong_is_told_whole(statecraft: Statecraft, here: Path) -> None:
    (here / "mine.toml").write_text(
        '[budget]\nturns = 1.5\nusd = -1.0\ncalls_per_turn = "unlimited"\n'
        "[detectors.no_progress]\nnudge = 9\n[recovery]\nempty = -1\npaused = 'often'\n"
    )
    code, out, err = statecraft("policy", "mine.toml")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        'statecraft: mine.toml: budget.turns: found the number 1.5, expected an integer or "unlimited"',
        'statecraft: mine.toml: budget.calls_per_turn: found "unlimited", expected an integer',
        'statecraft: mine.toml: recovery.paused: found the text "often", expected an integer',
        'statecraft: mine.toml: budget.usd: found -1.0, expected a number above 0, or "unlimited"',
        "statecraft: mine.toml: recovery.empty: found -1, expected 0 or more",
        "statecraft: mine.toml: detectors.no_progress.stop: found 4, expected at least nudge, which is 9",
    ]


def test_the_policies_that_ship_are_listed_each_on_a_line(statecraft: Statecraft) -> None:
    code, out, err = statecraft("policy", "--list")
    assert (code, err) == (0, "")
    assert [line.split("  ")[0] for line in out.splitlines()] == list(names())
    assert "call-hash          A call whose signature comes again is a loop; results are not looked at.\n" in out
    code, out, err = statecraft("policy", "--list", "call-hash")
    assert (code, out) == (2, "")
    assert err == "statecraft: policy: found call-hash beside --list, expected one of them\n"


@pytest.mark.parametrize("name", names())
def test_a_policy_that_ships_is_printed_whole_with_its_head(statecraft: Statecraft, here: Path, name: str) -> None:
    code, out, err = statecraft("policy", name)
    assert (code, err) == (0, "")
    assert out.startswith(head_of(name))
    assert policy_of(tomllib.loads(out), "x") == read_policy(Path(name))
    (here / "mine.toml").write_text(out)
    assert statecraft("policy", "mine.toml")[1] == out.removeprefix(head_of(name) + "\n")


def test_a_name_that_is_none_is_bad_input(statecraft: Statecraft) -> None:
    code, out, err = statecraft("policy", "strict")
    assert (code, out) == (2, "")
    assert err.startswith(
        "statecraft: strict: No such file or directory, and no policy of that name; there are default,"
    )


def test_an_audit_takes_a_policy_by_its_name(statecraft: Statecraft, recordings: Path) -> None:
    out = statecraft("audit", "--policy", "first-match", recordings / "only-narrates.jsonl")[1]
    assert "continue" in out.splitlines()[1]
