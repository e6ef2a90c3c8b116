"""The plugin inside whole pytest sessions of a user's own project.

A long file: each option needs a session of its own, and what they share is long to say.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from statecraft import Table
from statecraft.testing import telling

LOADED = telling  # before any session inside this one, which would drop what it loads itself, and leave half of it

MACHINE = """
from enum import Enum, auto
from attrs import evolve, frozen
from statecraft import Rows, Table, inner, keep, seen

class Spring(Enum):
    SLACK = auto()
    WORN = auto()

class Door(Enum):
    SHUT = auto()
    OPEN = auto()

@frozen
class Push:
    force: int

@frozen
class Closer:
    at: Spring = Spring.SLACK

@frozen
class Hall:
    at: Door = Door.SHUT
    closer: Closer = Closer()

def strong(run, event):
    return seen("strong", event.force >= 5, force=event.force)

def at(run):
    return run.at

def move(run, state):
    return evolve(run, at=state)

spring, row = Rows(), Rows()
CLOSER = Table(
    "closer",
    [spring(Spring.SLACK, Push, Spring.WORN, keep, strong), spring(Spring.SLACK, Push, Spring.SLACK, keep)],
    events=[Push], initial=Spring.SLACK, final=[Spring.WORN], at=at, move=move,
)
INSIDE = inner(CLOSER, during=[Door.SHUT], get=lambda run, event: run.closer,
               put=lambda run, event, closer: evolve(run, closer=closer))
HALL = Table(
    "hall",
    [row(Door.SHUT, Push, Door.OPEN, keep, strong), row(Door.SHUT, Push, Door.SHUT, keep)],
    events=[Push], initial=Door.SHUT, final=[Door.OPEN], at=at, move=move, inners=[INSIDE],
)
"""
PUSHES = """
from halls import HALL, Hall, Push

def test_it(step_one):
{lines}
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, root: Path) -> Run:
    """Runs pytest on a user's project with the machine in `halls.py`, and a test that pushes the door as told."""
    monkeypatch.setenv("PYTHONPATH", str(root), prepend=os.pathsep)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(halls=MACHINE)
    # Where the project is not installed, its entry point is not there to load the plugin.
    installed = importlib.metadata.entry_points(group="pytest11", name="statecraft")
    load = [] if installed else ["-p", "statecraft.testing.plugin"]

    def run(*options: str, pushes: tuple[int, ...] = (), text: str = "", apart: bool = False) -> pytest.RunResult:
        lines = "\n".join(f"    step_one(HALL, Hall(), Push({force}))" for force in pushes) or "    pass"
        pytester.makepyfile(test_halls=text or PUSHES.format(lines=lines))
        if apart:
            return pytester.runpytest_subprocess(*load, *options)
        return pytester.runpytest_inprocess(*load, *options)

    return run


def told(result: pytest.RunResult, title: str = "statecraft coverage") -> list[str]:
    """The lines of the coverage report, or of another part."""
    lines = result.outlines
    (first,) = [number for number, line in enumerate(lines) if title in line]
    rest = [line for line in lines[first + 1 :] if line]
    return rest[: next(number for number, line in enumerate(rest) if line.startswith("=") or "short test" in line)]


def no_coverage(result: pytest.RunResult) -> bool:
    return not any("statecraft coverage" in line for line in result.outlines)


# The fixture


def test_the_fixture_steps_one_transition(run: Run) -> None:
    text = (
        "from halls import *\ndef test_it(step_one):\n    assert step_one(HALL, Hall(), Push(5)).target is Door.OPEN\n"
    )
    run(text=text).assert_outcomes(passed=1)


def test_the_fixture_fails_with_each_guard_and_its_values_at_the_line_of_the_test(run: Run) -> None:
    text = "from halls import *\ndef test_it(step_one):\n    step_one(HALL, Hall(), Push(4), row=0)\n"
    result = run(text=text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*step_one(HALL, Hall(), Push(4), row=0)",
            "E *AssertionError: expected row 0, found row 1",
            "E *hall, SHUT on Push(force=4): row 1 was taken, to SHUT",
            "E *row 0: SHUT Push -> OPEN: no, because of strong",
            "E *no  strong: force=4",
            "test_halls.py:3: AssertionError",
        ]
    )


# Coverage


def test_a_session_that_covers_all_passes_and_says_so(run: Run) -> None:
    result = run("--statecraft-cov", "--statecraft-cov-fail-under=100", pushes=(5, 4))
    assert result.ret == pytest.ExitCode.OK
    assert told(result) == [
        "hall: 2 of 2 rows taken (100.0 %), 1 of 1 guards seen every way (100.0 %)",
        "hall > closer: 2 of 2 rows taken (100.0 %), 1 of 1 guards seen every way (100.0 %)",
        "all: 4 of 4 rows taken (100.0 %), 2 of 2 guards seen every way (100.0 %)",
    ]


def test_what_was_not_seen_is_named(run: Run) -> None:
    result = run("--statecraft-cov", pushes=(4,))
    assert result.ret == pytest.ExitCode.OK
    assert told(result) == [
        "hall: 1 of 2 rows taken (50.0 %), 0 of 1 guards seen every way (0.0 %)",
        "  never taken: row 0 SHUT Push [strong] -> OPEN keep",
        "  strong: never said yes, in row 0 SHUT Push [strong] -> OPEN keep",
        "hall > closer: 1 of 2 rows taken (50.0 %), 0 of 1 guards seen every way (0.0 %)",
        "  never taken: row 0 SLACK Push [strong] -> WORN keep",
        "  strong: never said yes, in row 0 SLACK Push [strong] -> WORN keep",
        "all: 2 of 4 rows taken (50.0 %), 0 of 2 guards seen every way (0.0 %)",
    ]


@pytest.mark.parametrize(("limit", "code"), [("50", 0), ("50.1", 1)])
def test_a_session_fails_below_the_limit_of_rows(run: Run, limit: str, code: int) -> None:
    result = run("--statecraft-cov", f"--statecraft-cov-fail-under={limit}", pushes=(4,))
    assert result.ret == code
    assert (f"FAIL: 50.0 % of the rows taken, expected at least {limit} %" in told(result)) is bool(code)


@pytest.mark.parametrize(("pushes", "limit", "code"), [((4,), "0", 0), ((4,), "0.1", 1), ((4, 5), "100", 0)])
def test_a_session_fails_below_the_limit_of_guards(run: Run, pushes: tuple[int, ...], limit: str, code: int) -> None:
    result = run("--statecraft-cov", f"--statecraft-cov-guards-fail-under={limit}", pushes=pushes)
    assert result.ret == code
    found = f"FAIL: 0.0 % of the guards seen every way, expected at least {limit} %" in told(result)
    assert found is bool(code)


def test_inner_rows_do_not_count_when_the_inner_table_is_stepped_alone(run: Run) -> None:
    text = "from halls import *\ndef test_it():\n    CLOSER.step(Closer(), Push(5))\n    HALL.step(Hall(), Push(4))\n"
    assert "  never taken: row 0 SLACK Push [strong] -> WORN keep" in told(run("--statecraft-cov=halls", text=text))


def test_a_named_module_shows_tables_that_no_test_steps(run: Run) -> None:
    result = run("--statecraft-cov=halls", "--statecraft-cov-fail-under=1")
    assert result.ret == 1
    assert told(result)[0] == "hall: 0 of 2 rows taken (0.0 %), 0 of 1 guards seen every way (0.0 %)"


def test_a_named_table_is_shown_alone(run: Run) -> None:
    text = "from halls import *\ndef test_it():\n    CLOSER.step(Closer(), Push(5))\n    HALL.step(Hall(), Push(4))\n"
    assert [line for line in told(run("--statecraft-cov=halls:CLOSER", text=text)) if line[0] != " "] == [
        "closer: 1 of 2 rows taken (50.0 %), 0 of 1 guards seen every way (0.0 %)"
    ]


@pytest.mark.parametrize(
    "options", [["--statecraft-cov=halls:CLOSER,other"], ["--statecraft-cov=halls:CLOSER", "--statecraft-cov=other"]]
)
def test_several_may_be_named(run: Run, pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makepyfile(other=MACHINE.replace('"hall"', '"other"').replace(", inners=[INSIDE]", ""))
    heads = [line.partition(":")[0] for line in told(run(*options)) if line[0] != " "]
    assert heads == ["closer", "closer", "other", "all"]


def test_without_a_step_the_limit_is_not_reached(run: Run) -> None:
    result = run("--statecraft-cov", "--statecraft-cov-fail-under=0")
    assert result.ret == 1
    assert told(result) == ["no table was stepped", "FAIL: a limit is asked for, but nothing was measured"]


def test_a_failing_session_keeps_its_own_exit_code(run: Run) -> None:
    limit = ("--statecraft-cov=halls", "--statecraft-cov-fail-under=100")
    assert run(*limit, text="def test_it():\n    assert False\n").ret == pytest.ExitCode.TESTS_FAILED
    assert run(*limit, text="there = 'no test'\n").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert run(*limit, text="import gone_of_tests\n").ret == pytest.ExitCode.INTERRUPTED


def test_collecting_alone_measures_nothing(run: Run) -> None:
    result = run("--statecraft-cov=halls", "--statecraft-cov-fail-under=100", "--collect-only")
    assert result.ret == pytest.ExitCode.OK
    assert no_coverage(result)


# Rows that hold at once

ORDERED = """
from halls import *
from statecraft import ordered

def heavy(run, event):
    return seen("heavy", event.force >= 9)

HALL = Table(
    "hall",
    [row(Door.SHUT, Push, Door.OPEN, keep, strong), row(Door.SHUT, Push, Door.OPEN, keep, heavy),
     row(Door.SHUT, Push, Door.SHUT, keep), ordered([Door.SHUT], [Push], "as they are tried")],
    events=[Push], initial=Door.SHUT, final=[Door.OPEN], at=at, move=move,
)

def test_it(step_one):
    step_one(HALL, Hall(), Push({force}))
"""


@pytest.mark.parametrize(("force", "limit", "seen"), [(8, "0", 0), (8, "0.1", 0), (9, "100", 1)])
def test_a_session_says_which_rows_held_at_once_and_fails_below_the_limit(
    run: Run, force: int, limit: str, seen: int
) -> None:
    options = ("--statecraft-cov", "--statecraft-cov-pairs", f"--statecraft-cov-pairs-fail-under={limit}")
    result = run(*options, text=ORDERED.format(force=force))
    percent = "100.0" if seen else "0.0"
    fails = limit == "0.1"
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if fails else pytest.ExitCode.OK)
    assert told(result, "statecraft pairs") == [
        f"hall: {seen} of 1 pairs of rows seen to hold at once ({percent} %)",
        *([] if seen else ["  SHUT on Push: 0 of 1", "    rows 0 and 1 hold at once: never seen"]),
        "a row without guards holds always, and is in no pair",
        *(["FAIL: 0.0 % of the pairs of rows seen to hold at once, expected at least 0.1 %"] if fails else []),
    ]


def test_without_the_option_no_pairs_are_told(run: Run) -> None:
    result = run("--statecraft-cov", text=ORDERED.format(force=9))
    assert not any("statecraft pairs" in line for line in result.outlines)


# Diagrams


def test_each_machine_is_drawn_with_what_was_seen_of_it(run: Run, pytester: pytest.Pytester) -> None:
    result = run("--statecraft-cov=halls", "--statecraft-cov-diagram=here/drawn", pushes=(4,))
    folder = pytester.path / "here" / "drawn"
    assert f"drawn in {folder}: hall" in told(result)
    assert {path.name for path in folder.iterdir()} >= {"hall.dot", "hall.mmd"}
    assert "hall: 1 of 2 rows taken" in (folder / "hall.mmd").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_a_usage_error(run: Run, pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("taken").write_text("a file")
    result = run("--statecraft-cov", "--statecraft-cov-diagram=taken", pushes=(4,))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --statecraft-cov-diagram=taken: cannot be made a folder: *"])


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--statecraft-cov=halls:GONE"],
            "--statecraft-cov=halls:GONE: expected a table, found nothing of that name;*",
        ),
        (
            ["--statecraft-cov=gone_of_tests"],
            "--statecraft-cov=gone_of_tests: cannot import 'gone_of_tests' (ModuleNotFoundError*",
        ),
        (
            ["--statecraft-cov=test_halls"],
            "--statecraft-cov=test_halls: expected a module that holds tables, found none*",
        ),
        (["--statecraft-cov-fail-under=90"], "--statecraft-cov-fail-under needs --statecraft-cov"),
        (["--statecraft-cov-guards-fail-under=90"], "--statecraft-cov-guards-fail-under needs --statecraft-cov"),
        (["--statecraft-cov-diagram=here"], "--statecraft-cov-diagram needs --statecraft-cov"),
        (["--statecraft-cov-pairs"], "--statecraft-cov-pairs needs --statecraft-cov"),
        (
            ["--statecraft-cov", "--statecraft-cov-pairs-fail-under=9"],
            "--statecraft-cov-pairs-fail-under needs --statecraft-cov-pairs",
        ),
        (
            ["--statecraft-cov", "test_halls.py"],
            "--statecraft-cov test_halls.py: expected --statecraft-cov=MODULE, found a path*",
        ),
    ],
)
def test_a_wrong_option_is_a_usage_error_in_one_line(run: Run, options: list[str], message: str) -> None:
    result = run(*options, text="def test_it():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


@pytest.mark.parametrize("limit", ["101", "-1", "nan", "most"])
def test_a_limit_is_a_percentage(run: Run, limit: str) -> None:
    result = run("--statecraft-cov", f"--statecraft-cov-fail-under={limit}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = f"*argument --statecraft-cov-fail-under: expected a number from 0 to 100, found '{limit}'"
    result.stderr.fnmatch_lines([expected])


def test_several_processes_are_refused(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_addoption(parser):\n    parser.addoption('--dist', default='no')\n")
    assert run("--statecraft-cov", "--dist=no", pushes=(5,)).ret == pytest.ExitCode.OK
    result = run("--statecraft-cov", "--dist=load", pushes=(5,))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --statecraft-cov sees the steps of one process only: leave out -n and --dist*"]
    )


# Where a module is found


@pytest.fixture
def garage(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine at the root of a project whose tests lie in a folder that nothing is imported from."""
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder not in ("", str(pytester.path))])
    pytester.makeini("[pytest]\naddopts = --import-mode=importlib\n")
    pytester.path.joinpath("garage.py").write_text(MACHINE)
    folder = pytester.mkdir("checks")
    folder.joinpath("test_it.py").write_text(
        f"import sys\ndef test_it():\n    assert {str(pytester.path)!r} not in sys.path\n"
    )
    return folder


@pytest.mark.parametrize("called_in", ["root", "folder"])
def test_a_module_is_found_where_pytest_was_called_and_in_its_root(
    run: Run, garage: Path, monkeypatch: pytest.MonkeyPatch, called_in: str
) -> None:
    if called_in == "folder":
        monkeypatch.chdir(garage)
    before = list(sys.path)
    result = run("--statecraft-cov=garage", str(garage))
    assert result.ret == pytest.ExitCode.OK
    assert told(result)[0].startswith("hall: 0 of 2 rows taken")
    assert sys.path == before


def test_a_module_that_can_be_imported_already_is_taken_before_one_at_the_root(
    run: Run, garage: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    other.joinpath("garage.py").write_text(MACHINE.replace('"hall"', '"other"'))
    monkeypatch.setattr(sys, "path", [str(other), *sys.path])
    assert told(run("--statecraft-cov=garage", str(garage)))[0].startswith("other: ")


# Faults


def test_a_fault_is_shown_at_the_line_of_the_test_with_what_was_heard_and_without_the_engine(run: Run) -> None:
    result = run(text="from halls import *\ndef test_it(step_one):\n    step_one(HALL, Hall(), Push(None))\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">   *return seen(*strong*event.force >= 5*",
            "E *TypeError: '>=' not supported *",
            "The above exception was the direct cause of the following exception:",
            ">       step_one(HALL, Hall(), Push(None))",
            "E       statecraft.step.Fault: closer row 0: strong raised TypeError: *",
            "E         row 0: SLACK Push -> WORN: fault",
        ]
    )
    shown = result.stdout.str()
    assert not any(part in shown for part in ("_engine.py", "_stepping.py", "transitions", "stepping.py"))


# Nothing else changes


def test_a_session_without_the_option_records_nothing_and_loads_nothing(run: Run) -> None:
    text = """
import sys
from statecraft import Table

def test_it():
    assert Table.step.__module__ == "statecraft.table"
    loaded = {name for name in sys.modules if name.startswith("statecraft.testing")}
    options = "statecraft.testing.mutate_options"
    assert loaded == {"statecraft.testing", "statecraft.testing.plugin", options}
"""
    result = run(text=text, apart=True)
    result.assert_outcomes(passed=1)
    assert no_coverage(result)


def test_steps_are_as_they_were_after_the_session(run: Run) -> None:
    before: Any = Table[Any, Any, Any, Any].step
    text = "from statecraft import Table\ndef test_it():\n    assert 'listening' in Table.step.__qualname__\n"
    run("--statecraft-cov", text=text).assert_outcomes(passed=1)
    after: Any = Table[Any, Any, Any, Any].step
    assert after is before


def test_folders_of_a_user_with_our_names_stay_the_users(run: Run, pytester: pytest.Pytester) -> None:
    pytester.mkdir("statecraft").joinpath("notes.txt").write_text("a folder of data, no package")
    pytester.mkpydir("machines").joinpath("mine.py").write_text("THIS = 'mine'\n")
    text = "from machines.mine import THIS\ndef test_it():\n    assert THIS == 'mine'\n"
    run("--statecraft-cov", text=text, apart=True).assert_outcomes(passed=1)


@pytest.fixture
def users_machines(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's own package `machines`, in a session that has not imported ours."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "machines"]:
        monkeypatch.delitem(sys.modules, name)
    return pytester.mkpydir("machines")


def test_a_folder_that_hides_our_machines_is_named(run: Run, users_machines: Path) -> None:
    result = run("--statecraft-cov=machines", text="def test_it():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert re.search(
        rf"found none; looked in {re.escape(str(users_machines))}/__init__\.py; "
        rf"the folder {re.escape(str(users_machines))} hides statecraft's own machines",
        result.stderr.str(),
    )


def test_a_users_own_machines_can_be_measured(run: Run, users_machines: Path) -> None:
    users_machines.joinpath("halls.py").write_text(MACHINE)
    result = run("--statecraft-cov=machines", text="def test_it():\n    pass\n")
    assert told(result)[0].startswith("hall: 0 of 2 rows taken")
