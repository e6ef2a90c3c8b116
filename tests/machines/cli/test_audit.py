"""`audit`: the table and the JSON, evidence, journals, folders, standard input, and what cannot be read."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from machines.audit import policy_for
from machines.audit.report import LEGEND, OPEN, SQUEEZED
from machines.cli.judging import OF_THE_RECORDING
from machines.policy import DEFAULT, Budget
from machines.traces.formats import FORMATS, open_trace
from statecraft.journal import runs_of, verify

Statecraft = Callable[..., tuple[int, str, str]]
Recorded = Callable[..., Path]


def turns(count: int, value: object = "nothing") -> list[dict[str, Any]]:
    return [
        line
        for number in range(count)
        for line in (
            {"t": "reply", "stop": "tool_use", "calls": [{"id": f"c{number}", "tool": "search", "args": {"q": "x"}}]},
            {"t": "result", "call": f"c{number}", "value": value if value == "nothing" else f"{value} {number}"},
        )
    ]


def test_the_table_has_a_head_and_a_legend_in_a_pipe_too(statecraft: Statecraft, recordings: Path) -> None:
    code, out, err = statecraft("audit", recordings)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "run              turns  decided                   ended      saved  verdicts, turn by turn",
        "edit-and-revert     16  stop at 7 by no_progress  partial        9  .....nS---------",
        "healthy              5  continue                  completed         .....",
        "only-narrates        5  stop at 4 by monologue    blocked        1  ..nS-",
        "stuck               10  stop at 6 by no_progress  blocked        4  ....nS----",
        LEGEND,
        "4 runs, 36 turns: 3 nudged, 3 stopped, 14 turns saved",
    ]


def test_why_shows_the_evidence_beneath_each_run(statecraft: Statecraft, recorded: Recorded) -> None:
    recorded("a.jsonl", turns(5), id="one")
    code, out, _ = statecraft("audit", "--why", "a.jsonl")
    assert code == 0
    seen = 'failing=false, signatures="..", tool="search"'
    assert re.sub("[0-9a-f]{16}", "..", out).splitlines()[1:4] == [
        "one  a.jsonl      5  stop at 4 by consecutive_duplicate  blocked      1  ..nS-",
        f"  turn 3    nudge by consecutive_duplicate: now=3, stop=4, {seen}, turn=3",
        f"  turn 4    stop by consecutive_duplicate: now=4, stop=4, {seen}, turn=4",
    ]


def test_what_needs_an_explanation_has_one(statecraft: Statecraft, recorded: Recorded) -> None:
    recorded("open.jsonl", turns(41, "found"))
    out = statecraft("audit", "open.jsonl")[1]
    assert OPEN in out
    assert SQUEEZED in out
    recorded("short.jsonl", turns(5))
    out = statecraft("audit", "short.jsonl")[1]
    assert OPEN not in out
    assert SQUEEZED not in out
    assert "\n1 run, 5 turns: 1 nudged, 1 stopped, 1 turn saved\n" in out


def test_a_run_without_replies_says_so(statecraft: Statecraft, recorded: Recorded) -> None:
    assert "continue (no replies)" in statecraft("audit", recorded("empty.jsonl"))[1]


def test_a_stop_after_many_nudges_is_shown(statecraft: Statecraft, recorded: Recorded) -> None:
    stuck = [line for lap in range(12) for line in (*turns(3), *turns(9, f"found {lap}"))]
    (path,) = [recorded("many.jsonl", [*stuck, *turns(6)])]
    code, out, _ = statecraft("audit", path)
    assert code == 0
    assert "stop at 148 by " in out
    assert len(json.loads(statecraft("audit", "--json", path)[1])["verdicts"]) > 8


def test_nothing_is_shown_where_nothing_could_be_read(statecraft: Statecraft, here: Path) -> None:
    (here / "notes.txt").write_text("dear diary")
    code, out, err = statecraft("audit", "notes.txt")
    assert (code, out) == (2, "")
    assert err == (
        f"statecraft: notes.txt: found text that begins with 'dear diary', expected one of the formats "
        f"{', '.join(FORMATS)}\n"
    )


def test_of_several_files_the_formats_are_listed_once(statecraft: Statecraft, recorded: Recorded, here: Path) -> None:
    recorded("runs/good.jsonl", turns(2))
    for name in ("a.txt", "b.txt"):
        (here / "runs" / name).write_text("dear diary")
    code, out, err = statecraft("audit", "runs", "gone.jsonl")
    assert code == 2
    assert "1 run, 2 turns" in out
    assert err.splitlines() == [
        "statecraft: runs/a.txt: found text that begins with 'dear diary', which is no format of a recording",
        "statecraft: runs/b.txt: found text that begins with 'dear diary', which is no format of a recording",
        "statecraft: gone.jsonl: found no such file, expected a file",
        f"statecraft: 2 of the files are no recordings; the formats are {', '.join(FORMATS)}",
    ]


def test_a_journal_is_named_as_one(statecraft: Statecraft, recordings: Path) -> None:
    assert statecraft("audit", "--journal", "kept", recordings / "stuck.jsonl")[0] == 0
    code, _, err = statecraft("audit", "kept")
    assert (code, err) == (
        2,
        "statecraft: kept/stuck.jsonl: found a journal, expected a recording; see statecraft explain --help\n",
    )


def test_standard_input_is_a_dash(statecraft: Statecraft, recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    give((recordings / "stuck.jsonl").read_bytes())
    code, out, _ = statecraft("audit", "--json", "-")
    found = json.loads(out)
    assert (code, found["run"], found["file"], found["first_stop"]) == (0, "stuck", "-", 6)
    give(b"dear diary")
    code, out, err = statecraft("audit", "-")
    assert (code, out) == (2, "")
    assert err.startswith("statecraft: -: found text that begins with 'dear diary', expected one of the formats ")
    monkeypatch.setattr(sys, "stdin", None)
    assert statecraft("audit", "-")[2] == "statecraft: standard input: is closed; expected a recording\n"


@pytest.mark.parametrize("where", ["kept", "kept.db"])
def test_a_journal_is_never_written_over_unasked(
    statecraft: Statecraft, recordings: Path, recorded: Recorded, where: str
) -> None:
    assert statecraft("audit", "--journal", where, recordings)[0] == 0
    recorded("new.jsonl", turns(2))
    code, out, err = statecraft("audit", "--journal", where, "new.jsonl", recordings / "stuck.jsonl")
    place = f"{where} (stuck)" if where.endswith(".db") else f"{where}/stuck.jsonl"
    assert (code, out) == (2, "")
    assert err == (
        f"statecraft: --journal {where}: {place} is already there; give another place, or --replace to write it anew\n"
    )
    names = runs_of(where) if where.endswith(".db") else [path.stem for path in Path(where).glob("*.jsonl")]
    assert "new" not in names, "nothing was judged"
    assert statecraft("audit", "--journal", where, "new.jsonl")[0] == 0


@pytest.mark.parametrize("where", ["kept", "kept.db"])
def test_a_journal_is_written_anew_where_that_is_asked_for(
    statecraft: Statecraft, recordings: Path, recorded: Recorded, where: str
) -> None:
    assert statecraft("audit", "--journal", where, recordings)[0] == 0
    recorded("stuck.jsonl", turns(2))
    assert statecraft("audit", "--journal", where, "--replace", "stuck.jsonl")[0] == 0
    found = verify(where, "stuck") if where.endswith(".db") else verify(f"{where}/stuck.jsonl")
    assert found.verdict == "open"
    assert statecraft("verify", where)[0] == 1
    other = verify(where, "healthy") if where.endswith(".db") else verify(f"{where}/healthy.jsonl")
    assert other.verdict == "whole"


def test_a_file_that_is_no_journal_is_not_replaced(statecraft: Statecraft, recordings: Path, here: Path) -> None:
    (here / "kept").mkdir()
    (here / "kept" / "stuck.jsonl").write_text("dear\ndiary\n")
    code, _, err = statecraft("audit", "--journal", "kept", "--replace", recordings / "stuck.jsonl")
    assert (code, err.count("\n")) == (2, 1)
    assert (here / "kept" / "stuck.jsonl").read_text() == "dear\ndiary\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--replace", "x"), "audit: found --replace without --journal, expected both"),
        ((), "audit: no file given; expected one path or more, or - for standard input"),
        (("--journal", "a.jsonl", "x"), "--journal a.jsonl: expected a folder, or a file named *.db, *.sqlite, "),
        (("--format", "x", "y"), "--format x: no such format; expected one of statecraft.trace/1, "),
    ],
)
def test_what_cannot_be_meant_is_refused(statecraft: Statecraft, words: tuple[str, ...], said: str) -> None:
    code, out, err = statecraft("audit", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"statecraft: {said}")


def test_a_budget_in_a_policy_is_said_not_to_be_used(statecraft: Statecraft, recordings: Path, here: Path) -> None:
    limits = "[detectors.stalled_work]\nstop = 5\n[detectors.no_progress]\nstop = 5\n"
    (here / "p.toml").write_text(f"[budget]\nturns = 2\nusd = 1.0\nhold_back = 0.2\n{limits}")
    code, out, err = statecraft("audit", "--policy", "p.toml", recordings / "stuck.jsonl")
    assert (code, "stop at 7" in out) == (0, True)
    assert err == (
        "statecraft: p.toml: budget.turns, budget.usd: not used, "
        "as a recorded run is judged by its own budget or by none\n"
    )
    (here / "p.toml").write_text("[budget]\nhold_back = 0.2\n")
    assert statecraft("audit", "--policy", "p.toml", recordings / "stuck.jsonl")[2] == ""


OTHER = Budget(
    turns=7,
    seconds=7.0,
    tokens=7,
    usd=7.0,
    calls_per_turn=7,
    reply_tokens=7,
    hold_back=0.7,
    hold_back_seconds=7.0,
    hold_back_tokens=7,
    hold_back_usd=7.0,
    unbounded=True,
    final_reply=False,
)


@pytest.mark.parametrize("key", [field.name for field in attrs.fields(Budget)])
def test_the_keys_that_are_said_not_to_be_used_are_not(key: str, recordings: Path) -> None:
    (recorded,) = open_trace(recordings / "stuck.jsonl")
    changed = attrs.evolve(DEFAULT, budget=attrs.evolve(DEFAULT.budget, **{key: getattr(OTHER, key)}))
    assert changed != DEFAULT
    assert (policy_for(recorded, changed) == policy_for(recorded, DEFAULT)) is (key in OF_THE_RECORDING)


@pytest.mark.parametrize(("verdict", "code"), [("stop", 1), ("nudge", 1), (None, 0)])
def test_fail_on_is_a_finding(statecraft: Statecraft, recordings: Path, verdict: str | None, code: int) -> None:
    more = () if verdict is None else ("--fail-on", verdict)
    assert statecraft("audit", *more, recordings / "stuck.jsonl")[0] == code
    assert statecraft("audit", *more, recordings / "healthy.jsonl")[0] == 0


def test_json_is_one_object_a_line_and_nothing_else(statecraft: Statecraft, recordings: Path) -> None:
    code, out, err = statecraft("audit", "--json", recordings)
    assert (code, err) == (0, "")
    assert [json.loads(line)["run"] for line in out.splitlines()] == [
        "edit-and-revert",
        "healthy",
        "only-narrates",
        "stuck",
    ]


def test_one_policy_twice_is_refused(statecraft: Statecraft, recordings: Path) -> None:
    code, _, err = statecraft("audit", "--policy", "default", "--policy", "default", recordings)
    assert (code, "expected each once" in err) == (2, True)


def test_a_limit_that_is_none_is_said_to_be(statecraft: Statecraft, recorded: Recorded) -> None:
    recorded("a.jsonl", turns(9), id="one")
    out = statecraft("audit", "--policy", "result-aware", "--why", "a.jsonl")[1]
    assert "stop=unlimited" in out
    assert "2147483647" not in out
