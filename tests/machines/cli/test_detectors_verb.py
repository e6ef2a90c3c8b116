"""`detectors`: the roster, what was left out, and what each caught on recordings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.audit.caught import NAMES, Catches
from machines.cli.roster_shown import MOST_SHOWN, page_of
from machines.detectors.listed import listed
from machines.detectors.roster import SHAPES
from machines.policy import DEFAULT
from machines.traces.formats import FORMATS, open_trace

Statecraft = Callable[..., tuple[int, str, str]]
Recorded = Callable[..., Path]


def same(turns: int, end: str | None = None) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        line
        for n in range(turns)
        for line in (
            {"t": "reply", "stop": "tool_use", "calls": [{"id": f"c{n}", "tool": "search", "args": {"q": "x"}}]},
            {"t": "result", "call": f"c{n}", "value": "nothing"},
        )
    ]
    return lines if end is None else [*lines, {"t": "end", "status": end}]


def table(out: str) -> dict[str, list[int]]:
    """The numbers of each detector."""
    rows = [line.split() for line in out.partition("\ncaught\n")[2].splitlines()[1:]]
    return {row[0]: [int(cell) for cell in row[1:]] for row in rows if row and row[0] in NAMES}


def test_each_is_listed_with_its_limits_shape_and_incident(statecraft: Statecraft) -> None:
    code, out, err = statecraft("detectors")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:5] == [
        "asked at the end of a turn, and before a call is run",
        "  validation_error       on   nudge 3, stop 3",
        "    the same call refused for its arguments, or a tool that is not there, over and over",
        lines[3],
        "  empty_thought          on   nudge 2, stop 2",
    ]
    assert lines[3].startswith("    incident: a write without its content")
    assert "  redundant_check        on   nudge 1, stop unlimited" in lines
    assert [name for line in lines for name in line.split()[:1] if name in SHAPES] == list(SHAPES)
    assert "caught" not in lines


def test_what_was_left_out_and_what_none_sees_is_listed(statecraft: Statecraft) -> None:
    out = statecraft("detectors")[1]
    assert "\nleft out\n  sleep: a command that sleeps before it tries again\n" in out
    assert "    covered by spread_duplicate, fruitless_tool, same_tool; beside them a tool's idle time-out" in out
    unseen = out.partition("\nseen by none\n")[2]
    assert "  direction: steady, well-formed, wrong progress\n" in unseen
    assert "  the first act: " in unseen
    assert "  a tool that lies: " in unseen


def test_a_policy_says_the_limits_and_what_is_off(statecraft: Statecraft, here: Path) -> None:
    (here / "mine.toml").write_text("detectors.family.enabled = false\ndetectors.cycle.max_period = 9\n")
    out = statecraft("detectors", "--policy", "mine.toml")[1]
    assert "  family                 off  nudge 5, stop 12\n" in out
    assert "max_period 9" in out
    assert out.count("  off  ") == 1
    assert statecraft("detectors", "--policy", "first-match")[1].count("  off  ") == 7


def test_what_each_caught_is_a_table(statecraft: Statecraft, recorded: Recorded) -> None:
    recorded("runs/a.jsonl", same(9), id="a")
    recorded("runs/b.jsonl", same(3), id="b")
    recorded("runs/c.jsonl", same(6, "reward 1.0"), id="c")
    recorded("more.jsonl", same(2, "INCORRECT"))
    code, out, err = statecraft("detectors", "--on", "runs", "more.jsonl")
    assert (code, err) == (0, "")
    head = out.partition("\ncaught\n")[2].splitlines()[0]
    assert head.split() == ["detector", "nudged", "stopped", "first", "alone", "false", "stops"]
    found = table(out)
    assert list(found) == list(NAMES)
    assert found["consecutive_duplicate"] == [3, 2, 3, 2, 1]
    assert found["cycle"] == [0, 0, 0, 0, 0]
    assert out.splitlines()[-3:] == [
        "  false stop: c in runs/c.jsonl: at turn 4 of 6 by consecutive_duplicate; recorded end: reward 1.0",
        "4 runs, 20 turns: 3 nudged, 2 stopped; 1 judged well, 1 not",
        "no judgement known, and so no false stop: 2 runs of statecraft.trace/1",
    ]


def test_one_that_is_off_catches_nothing(statecraft: Statecraft, recorded: Recorded, here: Path) -> None:
    recorded("a.jsonl", same(9))
    (here / "mine.toml").write_text("detectors.consecutive_duplicate.enabled = false\n")
    found = table(statecraft("detectors", "--policy", "mine.toml", "--on", "a.jsonl")[1])
    assert found["consecutive_duplicate"] == [0, 0, 0, 0, 0]
    assert found["no_progress"][:3] == [1, 1, 1]


def test_json_is_one_object(statecraft: Statecraft, recorded: Recorded) -> None:
    code, out, err = statecraft("detectors", "--json")
    assert (code, err, out.count("\n")) == (0, "", 1)
    plain = json.loads(out)
    assert sorted(plain) == ["detectors", "left_out", "on", "policy", "unseen"]
    assert [each["name"] for each in plain["detectors"]] == list(SHAPES)
    assert sorted(plain["detectors"][0]) == ["asked", "enabled", "incident", "limits", "name", "shape"]
    assert plain["detectors"][13]["limits"] == {"nudge": 1, "stop": None}
    assert plain["left_out"][0]["name"] == "sleep"
    assert (plain["on"], plain["policy"], len(plain["unseen"])) == (None, None, 3)
    recorded("a.jsonl", same(6, "CORRECT"), id="one")
    plain = json.loads(statecraft("detectors", "--json", "--policy", "default", "--on", "a.jsonl")[1])
    assert plain["policy"] == "default"
    assert plain["detectors"][2]["caught"] == {
        "nudged": 1,
        "stopped": 1,
        "first": 1,
        "alone": 1,
        "false_stops": [
            {
                "run": "one",
                "file": "a.jsonl",
                "by": "consecutive_duplicate",
                "turn": 4,
                "turns": 6,
                "recorded_end": "CORRECT",
            }
        ],
    }
    assert {key: plain["on"][key] for key in ("runs", "turns", "nudged", "stopped", "false_stops")} == {
        "runs": 1,
        "turns": 6,
        "nudged": 1,
        "stopped": 1,
        "false_stops": 1,
    }
    assert (plain["on"]["judged_well"], plain["on"]["judged_not_well"], plain["on"]["not_judged"]) == (1, 0, {})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--on",), "detectors: no file given after --on; expected one path or more, or - for standard input"),
        (("--format", "x"), "detectors: found --format without --on, expected both"),
        (("--format", "x", "--on", "y"), "--format x: no such format; expected one of statecraft.trace/1, "),
        (("--policy", "strict"), "strict: No such file or directory, and no policy of that name; there are default, "),
        (("--policy", "strict", "--on", "y"), "strict: No such file or directory, and no policy of that name; "),
        (("here",), "detectors: "),
    ],
)
def test_what_cannot_be_meant_is_refused(statecraft: Statecraft, words: tuple[str, ...], said: str) -> None:
    code, out, err = statecraft("detectors", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"statecraft: {said}")


def test_what_cannot_be_read_is_named_and_the_rest_is_counted(
    statecraft: Statecraft, recorded: Recorded, here: Path
) -> None:
    recorded("a.jsonl", same(9))
    (here / "diary.txt").write_text("dear diary")
    code, out, err = statecraft("detectors", "--on", "diary.txt", "a.jsonl", "gone.jsonl")
    assert code == 2
    assert "\n1 run, 9 turns: 1 nudged, 1 stopped; 0 judged well, 0 not\n" in out
    assert err.splitlines() == [
        "statecraft: diary.txt: found text that begins with 'dear diary', which is no format of a recording",
        "statecraft: gone.jsonl: found no such file, expected a file",
        f"statecraft: 1 of the files are no recordings; the formats are {', '.join(FORMATS)}",
    ]


def test_a_policy_may_come_through_a_pipe(process: Callable[..., Any], recordings: Path) -> None:
    ran = process(
        f"echo detectors.no_progress.enabled=false | statecraft detectors --policy /dev/stdin --on {recordings}"
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"  no_progress            off  nudge 3" in ran.stdout
    assert table(ran.stdout.decode())["no_progress"] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("width", [72, 100, 400])
def test_on_a_terminal_no_line_is_wider_than_it(width: int, recorded: Recorded) -> None:
    catches = Catches(DEFAULT)
    for run in open_trace(recorded("a.jsonl", same(6, "CORRECT"))):
        catches.add(run)
    page = [text.plain for text in page_of(list(listed(DEFAULT)), catches, width)]
    assert max(map(len, page)) <= width
    whole = [text.plain for text in page_of(list(listed(DEFAULT)), catches, None)]
    assert (page == whole) is (width == 400)
    assert " ".join(" ".join(page).split()).count("incident:") == len(SHAPES)


@pytest.mark.parametrize(("more", "last"), [(0, "  false stop: "), (1, "  and 1 more false stop"), (2, "  and 2 more")])
def test_of_many_false_stops_the_first_are_shown(
    statecraft: Statecraft, recorded: Recorded, more: int, last: str
) -> None:
    for number in range(MOST_SHOWN + more):
        recorded(f"runs/{number:02}.jsonl", same(6, "CORRECT"))
    out = statecraft("detectors", "--on", "runs")[1]
    assert out.count("  false stop: ") == MOST_SHOWN
    assert out.splitlines()[-2].startswith(last)
