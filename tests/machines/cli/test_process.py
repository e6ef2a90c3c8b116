"""The console script as a process: pipes that close, places that are full, terminals of any width."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from machines.audit.report import LEGEND

Process = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.mark.parametrize("words", ["--help", "policy"])
def test_a_reader_that_goes_away_ends_the_program_quietly(process: Process, words: str) -> None:
    # The pipe is closed at its reading end before anything is written, which `head` only sometimes is in time for.
    ran = process(f"statecraft {words} | true; exit ${{PIPESTATUS[0]}}")
    assert (ran.returncode, ran.stderr) == (141, b""), "as a shell has it, so that no verdict is taken for given"
    ran = process(f"set -o pipefail; statecraft {words} | head -1")
    assert (ran.returncode in (0, 141), ran.stderr) == (True, b"")
    assert ran.stdout.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said_of_the_output(process: Process) -> None:
    for words in ("policy", "check --json"):
        ran = process(f"statecraft {words} > /dev/full")
        assert (ran.returncode, ran.stderr) == (2, b"statecraft: output: No space left on device\n")


def test_a_closed_standard_output_is_said_in_one_line(process: Process) -> None:
    ran = process("statecraft check >&-")
    assert (ran.returncode, ran.stderr) == (
        2,
        b"statecraft: standard output: is closed; expected a place to write to\n",
    )
    assert process("statecraft policy 2>&- >/dev/null").returncode == 0


def test_a_recording_comes_through_a_pipe(process: Process, recordings: Path) -> None:
    ran = process(f"cat {recordings}/stuck.jsonl | statecraft audit --fail-on stop -")
    assert (ran.returncode, ran.stderr) == (1, b"")
    assert b"stop at 6 by no_progress" in ran.stdout


def test_a_fault_of_the_program_does_not_look_like_a_finding(process: Process) -> None:
    broken = "import machines.audit.lines as lines; lines.page = None; import sys; from machines.cli import main; "
    line = f'"{sys.executable}" -c "{broken} import machines.cli.shown as s; s.page = None; sys.exit(main())"'
    ran = process(f"{line} audit {Path(__file__).parents[3]}/machines/cli/recordings/stuck.jsonl")
    assert ran.returncode == 70
    assert ran.stderr.count(b"\n") == 1
    assert b"STATECRAFT_TRACEBACK=1" in ran.stderr


def terminal(root: Path, width: int, *words: str, **environment: str) -> str:
    """What the console script writes to a terminal of that width, as it wrote it."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    ran = subprocess.Popen(
        [sys.executable, "-m", "machines", *words],
        stdin=other,
        stdout=other,
        stderr=subprocess.PIPE,  # no terminal, so that no progress is shown
        env={**known, "PYTHONPATH": str(root), "TERM": "xterm-256color", **environment},
    )
    os.close(other)
    said = b""
    while True:
        try:
            piece = os.read(main, 1 << 16)
        except OSError:  # what Linux answers once nobody holds the other end
            piece = b""
        if not piece:
            break
        said += piece
    os.close(main)
    complaints = ran.communicate()[1]
    assert (ran.returncode, complaints) == (0, b"")
    return said.decode().replace("\r\n", "\n")


def bare(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).splitlines()


NAMES = ("edit-and-revert", "healthy", "only-narrates", "stuck")


@pytest.mark.parametrize("width", [60, 80, 140])
def test_on_a_terminal_of_any_width_every_run_keeps_its_name(root: Path, recordings: Path, width: int) -> None:
    lines = bare(terminal(root, width, "audit", *(str(recordings / f"{name}.jsonl") for name in NAMES)))
    assert max(map(len, lines)) <= width
    starts = [next((name for name in NAMES if line.startswith(name)), "") for line in lines]
    assert [name for name in starts if name] == list(NAMES)
    assert any(line.startswith("run ") for line in lines)
    strips = [marks for line in lines if re.search(marks := r"n?S-+$", line)]
    assert len(strips) == 3


def test_a_long_name_is_whole_at_eighty_columns(root: Path, recordings: Path, tmp_path: Path) -> None:
    name = "0f9a3c5e-1111-2222-3333-444455556666"
    text = (recordings / "stuck.jsonl").read_text().replace('"id": "stuck"', f'"id": "{name}"')
    assert name in text
    (tmp_path / "some-session.jsonl").write_text(text)
    lines = bare(terminal(root, 80, "audit", "--why", str(tmp_path / "some-session.jsonl")))
    assert lines[1].startswith(f"{name}  stop at 6 by no_progress  ....nS----")
    assert lines[2] == "  in some-session.jsonl"
    assert lines[3].startswith("  turn 5    nudge by no_progress: now=3, stop=4, failing=false,")
    assert LEGEND in lines
    assert max(map(len, lines)) <= 80


def test_colour_is_for_terminals_that_want_it(root: Path, recordings: Path) -> None:
    path = str(recordings / "stuck.jsonl")
    assert "\x1b[" in terminal(root, 100, "audit", path)
    assert "\x1b[" not in terminal(root, 100, "audit", path, NO_COLOR="1", TERM="dumb")
