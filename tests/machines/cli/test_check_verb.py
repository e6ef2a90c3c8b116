"""`check` with a policy: the bounds of a run as numbers with their way, and limits that a run has no room for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from machines.commands import Ask
from machines.policy import Budget, Policy
from machines.run import RUN
from machines.state import new_run
from statecraft.proofs import Bound, ends

Statecraft = Callable[..., tuple[int, str, str]]


def number(policy: Policy, asking: type[Ask] | None = None) -> int:
    found = ends(RUN, new_run("run", policy), asking)
    assert isinstance(found, Bound)
    return found.number


def test_the_bounds_of_the_default_policy_come_with_their_way(statecraft: Statecraft) -> None:
    code, out, _ = statecraft("check", "--bound")
    lines = out.splitlines()
    assert code == 0
    requests = lines.index(f"run: at most {number(Policy(), Ask)} rows that ask Ask")
    steps = lines.index(f"run: at most {number(Policy())} steps")
    assert requests == 0
    for at in (requests, steps):
        assert lines[at + 1] == "  1 by row 1, READY to ASKING"
        assert any("turns, 60, not refilled here" in line for line in lines[at:])
    assert any(line.startswith("run: readings: ") for line in lines)
    assert not any("can never be reached" in line for line in lines)


def test_a_policy_file_changes_bounds_and_limits(statecraft: Statecraft, here: Path) -> None:
    policy = Policy(budget=Budget(turns=60, tokens=None))
    (here / "mine.toml").write_text('[budget]\ntokens = "unlimited"\n[detectors.no_progress]\nstop = 80\n')
    code, out, _ = statecraft("check", "--bound", "--policy", "mine.toml")
    assert code == 1
    assert f"run: at most {number(policy, Ask)} rows that ask Ask" in out
    assert "run: can never be reached: no_progress stop 80: at most 60 can come" in out
    code, out, _ = statecraft("check", "--policy", "mine.toml")
    assert code == 1
    assert "run: NOT PROVED" in out
    assert "  can never be reached: no_progress stop 80: at most 60 can come" in out
    assert "request, inside run: ok" in out


def test_bounds_as_json_are_one_object(statecraft: Statecraft, here: Path) -> None:
    (here / "short.toml").write_text("[budget]\nturns = 20\n[recovery]\nrefused = 0\n")
    code, out, _ = statecraft("check", "--bound", "--policy", "short.toml", "--json")
    (table,) = json.loads(out)["tables"]
    assert code == 0
    assert (table["table"], table["requests"]["asking"], table["steps"]["asking"]) == ("run", "Ask", "")
    assert table["requests"]["number"] < table["steps"]["number"]
    assert {"what": "refused", "how": "off"}.items() <= next(
        one for one in table["limits"] if one["what"] == "refused"
    ).items()


def test_a_run_without_bounds_is_unproved(statecraft: Statecraft, here: Path) -> None:
    (here / "endless.toml").write_text('[budget]\nturns = "unlimited"\ntokens = "unlimited"\nunbounded = true\n')
    code, out, _ = statecraft("check", "--bound", "--policy", "endless.toml")
    assert (code, out.splitlines()[0]) == (1, "run: unproved")
    assert "turns has no limit, so it bounds nothing" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--policy", "none.toml"), "none.toml: No such file or directory"),
        (("--policy", "bad.toml"), "bad.toml: x: found an unknown key"),
        (("--policy", "nothing.toml"), "neither turns nor tokens end this run"),
        (("machines:WAIT", "--policy", "good.toml"), "--policy: wait: no table with a policy that a file could change"),
    ],
)
def test_a_file_that_is_no_policy_is_bad_input(
    statecraft: Statecraft, here: Path, words: tuple[str, ...], said: str
) -> None:
    (here / "bad.toml").write_text("x = 1\n")
    (here / "good.toml").write_text("")
    (here / "nothing.toml").write_text('[budget]\nturns = "unlimited"\ntokens = "unlimited"\n')
    code, out, err = statecraft("check", "--bound", *words)
    assert (code, out) == (2, "")
    assert said in err
