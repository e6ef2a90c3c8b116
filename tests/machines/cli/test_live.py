"""The live view: on a terminal of any size it fits, survives a change of size, and leaves the news and nothing else."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from machines.agent.notices import (
    CallsNotice,
    Notice,
    PersonNotice,
    RecoveryNotice,
    ResultNotice,
    StateNotice,
    TextNotice,
    TodosNotice,
    VerdictNotice,
)
from machines.agent.scripted import Move, ScriptedServer, Stall, Turn, call
from machines.cli.live import BAR, WIDE, View, lines_of

BUDGETS = {"turns": (3.0, 60.0), "seconds": (12.4, 100.0), "tokens": (1_950_000.0, 2_000_000.0), "usd": (None, 5.0)}
PLAN = TodosNotice(({"content": "a", "status": "in_progress"},), 0, 1, "look\nat it")


@pytest.mark.parametrize(
    ("notice", "lines"),
    [
        (CallsNotice((("1", "a\nb", "{}"), ("2", "write_todos", "{}"))), ["call    a b {}"]),
        (ResultNotice("1", "read", "a\x1b[2J\nb", None), ["result  read: a\\x1b[2J b"]),
        (ResultNotice("1", "read", "no", "business"), ["result  read failed (business): no"]),
        (ResultNotice("1", "write_todos", "0 of 1 done", None), []),
        (
            ResultNotice("1", "write_todos", "no list", "validation"),
            ["result  write_todos failed (validation): no list"],
        ),
        (TextNotice("shown", checkpoint=True), ["note    shown"]),
        (TextNotice("beside a call"), ["note    beside a call"]),
        (VerdictNotice(0, "nudge", "empty", {}), ["nudge   by empty at turn 0"]),
        (VerdictNotice(3, "stop", "x", {"now": 4}), ["stop    by x at turn 3: now=4"]),
        (PersonNotice("wait", {"how": "unrecognised"}), ['person  should know of wait: how="unrecognised"']),
        (PLAN, ["plan    0 of 1 done: look at it"]),
        (RecoveryNotice("empty_replies", 1, 9), ["recover empty replies, attempt 1"]),
        (
            RecoveryNotice("refusals", 2, 9, 0, "no answer: refused", 1.5),
            ["recover refusals, attempt 2, in 1.5 s: no answer: refused"],
        ),
        (StateNotice("asking", 1, {}), []),
    ],
)
def test_each_notice_is_told_in_lines_that_nothing_can_forge(notice: Notice, lines: list[str]) -> None:
    assert lines_of(notice) == lines


@pytest.mark.parametrize(("chars", "shown"), [(10, "x" * 10), (11, "x" * 9 + "…")])
def test_a_long_text_is_cut_off_at_its_bound(chars: int, shown: str) -> None:
    assert lines_of(TextNotice("x" * chars, checkpoint=True), most=10) == [f"note    {shown}"]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def shown(view: View, width: int = 100, *, utf8: bool = True) -> list[str]:
    return [line.plain for line in view.lines(width, utf8=utf8)]


def test_the_view_shows_state_turn_verdict_plan_and_budgets() -> None:
    view = View()
    assert shown(view) == ["ready  turn 1  no verdict so far"]
    for notice in (StateNotice("acting", 3, BUDGETS), PLAN, VerdictNotice(3, "nudge", "x", {"now": 3})):
        view.take(notice)
    head, plan, *budgets = shown(view)
    assert (head, plan) == ("acting  turn 3  nudge   by x at turn 3: now=3", "plan    0 of 1 done: look at it")
    assert budgets == [
        f"turns   {'━' * 1}{'╌' * 23} 3 of 60",
        f"seconds {'━' * 2}{'╌' * 22} 12 of 100",
        f"tokens  {'━' * 23}{'╌' * 1} 1,950,000 of 2,000,000",
        f"usd     {'╌' * BAR} not known",
    ]
    view.take(StateNotice("asking", 3, BUDGETS))
    assert shown(view)[0].startswith("asking  turn 4  ")


def test_seconds_go_on_by_the_clock_in_whole_ones() -> None:
    clock = Clock()
    view = View(clock)
    view.take(StateNotice("acting", 1, {"seconds": (12.4, None)}))
    assert shown(view)[-1] == "seconds 12, no limit"
    clock.now += 0.7
    assert shown(view)[-1] == "seconds 13, no limit"
    clock.now += 100
    assert shown(view)[-1] == "seconds 113, no limit"


@pytest.mark.parametrize(("width", "bars"), [(WIDE, True), (WIDE - 1, False)])
def test_a_narrow_terminal_has_no_bars(width: int, bars: bool) -> None:
    view = View()
    view.take(StateNotice("acting", 3, BUDGETS))
    assert ("━" in "".join(shown(view, width))) is bars
    assert shown(view, width)[1].endswith("3 of 60")
    assert "━" not in "".join(shown(view, utf8=False))


SCRIPT: list[Move] = [
    Turn("One moment.", calls=(call("write_todos", {"todos": [{"content": "look", "status": "completed"}]}),)),
    Turn(calls=(call("list_files", {}),)),
    Stall(1.5, Turn(calls=(call("finish", {"kind": "final", "text": "All is well."}),))),
]
MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def size(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def watched(root: Path, here: Path, model: str, rows: int, columns: int, then: Callable[[int], None]) -> str:
    """What `statecraft run` writes to a terminal of that size; `then` is called once it waits for its last reply."""
    main, other = pty.openpty()
    size(other, rows, columns)
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    ran = subprocess.Popen(
        [sys.executable, "-m", "machines", "run", "look", "--model", model, "--folder", ".", "--name", "live"],
        stdin=other,
        stdout=other,
        stderr=other,
        cwd=here,
        env={**known, "PYTHONPATH": str(root), "TERM": "xterm-256color", "PYTHONUTF8": "1"},
    )
    said, done = b"", False
    while True:
        if not done and b"list_files: " in said:
            done = True
            then(other)
            os.close(other)
        try:
            piece = os.read(main, 1 << 16)
        except OSError:  # what Linux answers once nobody holds the other end
            break
        if not piece:
            break
        said += piece
    os.close(main)
    assert ran.wait(20) == 0
    return said.decode()


def screen(said: str, columns: int) -> list[str]:
    """The lines that are left, by the moves that the live view makes: up a line, the line cleared, its start."""
    lines, at = [""], 0
    for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", said):
        if piece == "\n":
            at += 1
            lines += [""] * (at + 1 - len(lines))
        elif piece == "\x1b[1A":
            at -= 1
            assert at >= 0, "the view went above its first line"
        elif piece == "\x1b[2K":
            lines[at] = ""
        elif not piece.startswith(("\x1b", "\r")):
            assert len(piece) <= columns, piece
            lines[at] += piece
    return [line.rstrip() for line in lines if line.strip()]


@pytest.mark.parametrize(("rows", "columns"), [(24, 100), (24, 40), (4, 100), (2, 30)])
def test_on_a_terminal_of_any_size_only_the_news_and_the_end_are_left(
    root: Path, here: Path, rows: int, columns: int
) -> None:
    with ScriptedServer(SCRIPT) as server:
        said = watched(root, here, server.model(), rows, columns, lambda terminal: None)
    left = screen(said, 1_000)
    assert "note    One moment." in left
    left = [line for line in left if not line.startswith("note")]
    assert left[:3] == [
        "plan    1 of 1 done",
        "call    list_files {}",
        "result  list_files: []",
    ]
    assert left[3:5] == ["All is well.", "completed: final_answer"]
    assert left[-1] == "journal: runs/live.jsonl"
    assert not [line for line in left if line.startswith(("asking", "turns", "seconds"))]
    assert "\x1b[?25l" in said
    assert said.rindex("\x1b[?25h") > said.rindex("\x1b[?25l")  # the cursor is back
    assert ("━" in said or "╌" in said) is (columns >= WIDE)
    shown = [line for line in MOVES.sub("", said.replace("\r", "\n")).split("\n") if line.startswith("asking")]
    assert shown
    assert max(map(len, shown)) <= columns


def test_a_change_of_size_is_followed(root: Path, here: Path) -> None:
    def narrower(terminal: int) -> None:
        time.sleep(0.3)
        size(terminal, 24, 30)

    with ScriptedServer(SCRIPT) as server:
        said = watched(root, here, server.model(), 24, 100, narrower)
    frames = [line for line in MOVES.sub("", said.replace("\r", "\n")).split("\n") if line.startswith("turns")]
    assert "╌" in frames[0]
    assert frames[-1].rstrip() == "turns   2 of 60"
