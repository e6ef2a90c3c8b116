"""`audit` under several policies: a line a run, what each would have done, and where they part."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from machines.audit.compare import Compared, compared, sides
from machines.audit.lines import GAP
from machines.cli import beside
from machines.policy_file import read_policy
from machines.traces.formats import open_trace

Statecraft = Callable[..., tuple[int, str, str]]
TWO = ("--policy", "default", "--policy", "call-hash")


def test_a_run_has_a_line_with_what_each_would_have_done(statecraft: Statecraft, recordings: Path) -> None:
    code, out, err = statecraft("audit", *TWO, recordings)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "run              turns  default                               call-hash                      they part",
        "edit-and-revert     16  nudge at 6, stop at 7 by no_progress  stop at 4 by spread_duplicate  at 4",
        "healthy              5  continue                              continue",
        "only-narrates        5  nudge at 3, stop at 4 by monologue    continue                       at 3",
        "stuck               10  nudge at 5, stop at 6 by no_progress  continue                       at 5",
        "default: 4 runs, 36 turns: 3 nudged, 3 stopped, 14 turns saved",
        "call-hash: 4 runs, 36 turns: 0 nudged, 1 stopped, 12 turns saved",
        "they part in 3 of 4 runs",
    ]


def test_one_policy_is_as_before(statecraft: Statecraft, recordings: Path) -> None:
    plain = statecraft("audit", recordings)
    assert statecraft("audit", "--policy", "default", recordings) == plain
    assert "they part" not in plain[1]
    assert statecraft("audit", "--json", "--policy", "default", recordings) == statecraft("audit", "--json", recordings)


def test_json_lists_all_of_them_one_object_a_run(statecraft: Statecraft, recordings: Path) -> None:
    code, out, err = statecraft("audit", "--json", *TWO, recordings)
    assert (code, err) == (0, "")
    found = [json.loads(line) for line in out.splitlines()]
    assert [(run["run"], run["parts"]) for run in found] == [
        ("edit-and-revert", 4),
        ("healthy", None),
        ("only-narrates", 3),
        ("stuck", 5),
    ]
    for run in found:
        assert [side["policy"] for side in run["policies"]] == ["default", "call-hash"]
    alone = [json.loads(line) for line in statecraft("audit", "--json", recordings)[1].splitlines()]
    assert [{**run["policies"][0]} for run in found] == [{**run, "policy": "default"} for run in alone]


def test_why_says_whose_evidence_it_is(statecraft: Statecraft, recordings: Path) -> None:
    out = statecraft("audit", "--why", *TWO, recordings / "edit-and-revert.jsonl")[1]
    assert [line.split(": ")[0] for line in out.splitlines()[2:5]] == ["  default", "  default", "  call-hash"]
    assert "turn 4    stop by spread_duplicate: now=2, stop=2" in out


@pytest.mark.parametrize("policies", [("default", "result-aware"), ("result-aware", "default")])
def test_fail_on_is_a_finding_under_any_of_them(
    statecraft: Statecraft, recordings: Path, policies: tuple[str, str]
) -> None:
    words = [word for name in policies for word in ("--policy", name)]
    assert statecraft("audit", "--fail-on", "stop", *words, recordings / "stuck.jsonl")[0] == 1
    assert statecraft("audit", "--fail-on", "stop", *words, recordings / "healthy.jsonl")[0] == 0


def test_a_journal_has_one_policy(statecraft: Statecraft, recordings: Path) -> None:
    code, out, err = statecraft("audit", *TWO, "--journal", "kept", recordings)
    assert (code, out) == (2, "")
    assert err == "statecraft: audit: found --journal with 2 policies, expected one policy at most\n"


def test_what_cannot_be_read_is_named_and_the_others_are_compared(
    statecraft: Statecraft, recordings: Path, here: Path
) -> None:
    (here / "diary.txt").write_text("dear diary")
    code, out, err = statecraft("audit", *TWO, "diary.txt", recordings / "stuck.jsonl")
    assert code == 2
    assert "they part in 1 of 1 run\n" in out
    assert err.startswith("statecraft: diary.txt: found text that begins with 'dear diary'")
    code, out, err = statecraft("audit", *TWO, "diary.txt")
    assert (code, out) == (2, "")
    code, out, err = statecraft("audit", *TWO, "--policy", "strict", recordings)
    assert (code, out) == (2, "")
    assert err.startswith("statecraft: strict: No such file or directory, and no policy of that name")


def test_what_is_odd_about_a_recording_is_told_once(statecraft: Statecraft, recorded: Callable[..., Path]) -> None:
    lines: list[dict[str, Any]] = [{"t": "result", "call": "never made", "value": 1}] * 5
    recorded("odd.jsonl", lines, id="one")
    told = statecraft("audit", "odd.jsonl")[1].splitlines()[2:6]
    out = statecraft("audit", *TWO, "odd.jsonl")[1].splitlines()
    assert out[0].startswith("run  file")
    assert out[2:6] == told
    assert told[3] == "  one: and 2 more"


@pytest.fixture
def found(recordings: Path) -> Sequence[Compared]:
    policies = [(name, read_policy(Path(name))) for name in ("default", "call-hash")]
    return [compared(sides(run, policies)) for path in sorted(recordings.glob("*.jsonl")) for run in open_trace(path)]


@pytest.mark.parametrize(("less", "columns"), [(0, True), (1, False)])
def test_on_a_narrow_terminal_each_policy_has_a_line_of_its_own(
    found: Sequence[Compared], less: int, columns: bool
) -> None:
    names = ["default", "call-hash"]
    wide = [text.plain for text in beside.page_of(names, found, None)]
    page = [text.plain for text in beside.page_of(names, found, len(wide[0]) - less)]
    assert (page == wide) is columns
    if not columns:
        assert page[:3] == [
            "edit-and-revert: 16 turns, they part at 4",
            f"  default  {GAP}nudge at 6, stop at 7 by no_progress",
            f"  call-hash{GAP}stop at 4 by spread_duplicate",
        ]
        assert page[3] == "healthy: 5 turns"
    assert all(len(line) <= len(wide[0]) for line in page)
