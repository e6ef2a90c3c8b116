"""Guard mutation inside whole pytest sessions of a user's own project."""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from statecraft.testing import rerun

MACHINE = """
from enum import Enum, auto
from attrs import evolve, frozen
from statecraft import Level, Reading, Rows, Table, keep, ordered, reaches, seen

class Door(Enum):
    SHUT = auto()
    AJAR = auto()
    OPEN = auto()

@frozen
class Push:
    force: int

@frozen
class Hall:
    at: Door = Door.SHUT

def strong(run, event):
    return seen("strong", event.force >= 5, force=event.force)

def fits(run, event):
    return Reading("fits", event.force, 2, 9, 10)

row = Rows()
HALL = Table(
    "hall",
    [row(Door.SHUT, Push, Door.OPEN, keep, strong), row(Door.SHUT, Push, Door.AJAR, keep, reaches(fits, Level.NUDGE)),
     row(Door.SHUT, Push, Door.SHUT, keep), ordered([Door.SHUT], [Push], "the strong push wins")],
    events=[Push], initial=Door.SHUT, final=[Door.OPEN, Door.AJAR], at=lambda run: run.at,
    move=lambda run, state: evolve(run, at=state),
)
"""
TESTS = """
import pytest
from halls import *

@pytest.mark.parametrize(("force", "target"), {cases})
def test_a_push_leads_where_it_should(force, target, step_one):
    step_one(HALL, Hall(), Push(force), target=Door[target])
"""
WEAK = [(7, "OPEN"), (3, "AJAR"), (0, "SHUT")]
STRONG = [(5, "OPEN"), (4, "AJAR"), (2, "AJAR"), (1, "SHUT")]


KINDS_LINE = (
    "made: a row removed, two rows in the other order, a guard negated or dropped, a limit moved by one, "
    "the size of a refilled budget; in these none: targets, effects, what is spent"
)
LIMITS = [f"not noticed: hall: fits: its nudge limit one {where}" for where in ("higher", "lower")]

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, root: Path) -> Run:
    """Runs pytest on a user's project with the machine in `halls.py`, and these cases or this text of tests."""
    monkeypatch.setenv("PYTHONPATH", str(root), prepend=os.pathsep)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(halls=MACHINE)
    # Where the project is not installed, its entry point is not there to load the plugin.
    installed = importlib.metadata.entry_points(group="pytest11", name="statecraft")
    load = [] if installed else ["-p", "statecraft.testing.plugin"]

    def run(
        *options: str, cases: list[tuple[int, str]] | None = None, text: str = "", apart: bool = False
    ) -> pytest.RunResult:
        pytester.makepyfile(test_halls=text or TESTS.format(cases=cases))
        if apart:
            return pytester.runpytest_subprocess(*load, *options)
        return pytester.runpytest_inprocess(*load, *options)

    return run


def told(result: pytest.RunResult) -> list[str]:
    """The lines of the report."""
    lines = result.outlines
    (first,) = [number for number, line in enumerate(lines) if "statecraft mutation ==" in line]
    rest = [line for line in lines[first + 1 :] if line]
    return rest[: next(number for number, line in enumerate(rest) if line.startswith("="))]


def survivors(result: pytest.RunResult) -> list[str]:
    return [line for line in told(result) if line.startswith("not noticed")]


def test_the_survivors_of_a_weak_suite_are_listed_with_the_test_that_came_by(run: Run) -> None:
    result = run("--statecraft-mutate", "--statecraft-mutate-fail-under=82", cases=WEAK)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3)
    assert told(result) == [
        "11 of 11 mutants, seed 0",
        KINDS_LINE,
        "hall: 9 of 11 mutants noticed (81.8 %)",
        "removed: 3 of 3 mutants noticed (100.0 %)",
        "swapped: 2 of 2 mutants noticed (100.0 %)",
        "negated: 2 of 2 mutants noticed (100.0 %)",
        "dropped: 2 of 2 mutants noticed (100.0 %)",
        "limit: 0 of 2 mutants noticed (0.0 %)",
        "all: 9 of 11 mutants noticed (81.8 %)",
        LIMITS[0],
        "  row 1 SHUT Push [fits at nudge] -> AJAR keep",
        "  in no test could it show; test_halls.py::test_a_push_leads_where_it_should[3-AJAR] takes this row",
        LIMITS[1],
        "  row 1 SHUT Push [fits at nudge] -> AJAR keep",
        "  in no test could it show; test_halls.py::test_a_push_leads_where_it_should[3-AJAR] takes this row",
        "FAIL: 81.8 % of the mutants noticed, expected at least 82 %",
    ]


def test_a_score_at_the_limit_passes(run: Run) -> None:
    assert run("--statecraft-mutate", "--statecraft-mutate-fail-under=81.8", cases=WEAK).ret == pytest.ExitCode.OK


def test_a_strong_suite_notices_all(run: Run) -> None:
    result = run("--statecraft-mutate=halls:HALL", "--statecraft-mutate-fail-under=100", cases=STRONG, apart=True)
    assert result.ret == pytest.ExitCode.OK
    assert told(result)[-1] == "all: 11 of 11 mutants noticed (100.0 %)"


def test_a_row_that_no_test_takes_is_said_to_be_one(run: Run) -> None:
    lines = told(run("--statecraft-mutate", cases=WEAK[1:]))
    place = lines.index("not noticed: hall: the row removed")
    assert lines[place + 1 : place + 3] == ["  row 0 SHUT Push [strong] -> OPEN keep", "  no test takes this row"]


def test_nothing_is_mutated_where_the_tests_do_not_pass(run: Run) -> None:
    result = run("--statecraft-mutate", "--statecraft-mutate-fail-under=0", cases=[(7, "SHUT")])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert told(result) == ["no mutant was tried: the tests do not pass on the tables as they are"]


def test_a_seed_draws_the_same_sample_again_and_another_seed_another(run: Run) -> None:
    def sampled(seed: int) -> list[str]:
        options = ("--statecraft-mutate", "--statecraft-mutate-sample=3", f"--statecraft-mutate-seed={seed}")
        return told(run(*options, cases=WEAK))

    first = sampled(1)
    assert first[0] == "3 of 11 mutants, seed 1"
    assert sampled(1) == first
    assert sampled(3)[1:] != first[1:]


def test_a_test_that_does_not_come_back_has_noticed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerun, "GRACE", 0.2)  # a loop for a second is a second that others wait
    text = """
from halls import *

def test_it_opens_in_the_end():
    run = Hall()
    while run.at is not Door.OPEN:
        run = HALL.step(run, Push(7)).run if run.at is Door.SHUT else run
"""
    lines = told(run("--statecraft-mutate", text=text))
    assert (
        "noticed because a test did not come back: hall: the row removed: test_halls.py::test_it_opens_in_the_end"
        in lines
    )


def test_a_test_that_ends_its_process_has_noticed(run: Run) -> None:
    text = """
import os
from halls import *

def test_it_opens():
    if HALL.step(Hall(), Push(7)).run.at is not Door.OPEN:
        os.abort()
"""
    lines = told(run("--statecraft-mutate", text=text))
    assert "noticed because a test ended its process: hall: the row removed: test_halls.py::test_it_opens" in lines


SLOW = """
import time
from halls import *

def test_it_opens_slowly(step_one):
    time.sleep(0.05)
    step_one(HALL, Hall(), Push(7), row=0)
"""
SLOWER = """
def test_it_opens_more_slowly(step_one):
    time.sleep(0.1)
    step_one(HALL, Hall(), Push(7), row=0)

def test_it_opens_most_slowly(step_one):
    time.sleep(0.15)
    step_one(HALL, Hall(), Push(7), row=0)
"""


def test_the_most_telling_test_is_run_however_slow_it_is(run: Run) -> None:
    lines = told(run("--statecraft-mutate", "--statecraft-mutate-seconds=0.01", text=SLOW))
    assert "not noticed: hall: strong negated" not in lines
    assert not [line for line in lines if "not tried" in line]


def test_a_test_that_was_not_run_in_time_is_said_not_to_be_tried(run: Run) -> None:
    blind = SLOW.replace("step_one(HALL, Hall(), Push(7), row=0)", "HALL.step(Hall(), Push(7))")
    lines = told(run("--statecraft-mutate", "--statecraft-mutate-seconds=0.01", text=blind + SLOWER))
    place = lines.index("not noticed: hall: strong negated")
    assert lines[place + 2] == "  by test_halls.py::test_it_opens_slowly"
    assert re.fullmatch(
        r"  not tried: test_halls.py::test_it_opens_more_slowly takes 0\.1\d? s, and 1 more tests come this way; "
        "raise --statecraft-mutate-seconds",
        lines[place + 3],
    )
    given_time = told(run("--statecraft-mutate", "--statecraft-mutate-seconds=1", text=blind + SLOWER))
    assert "not noticed: hall: strong negated" not in given_time


def test_a_test_that_cannot_run_twice_notices_nothing(run: Run) -> None:
    text = """
from halls import *
ONCE = []

def test_it_opens_once():
    assert not ONCE
    ONCE.append(HALL.step(Hall(), Push(7)))
"""
    result = run("--statecraft-mutate", text=text)
    lines = told(result)
    assert lines[2] == (
        "left out, since it does not pass again on the tables as they are: test_halls.py::test_it_opens_once"
    )
    assert "all: 0 of 8 mutants noticed (0.0 %)" in lines
    assert "not in the score: 3 that could show only in tests that were left out" in lines
    assert len(survivors(result)) == 8
    assert not [line for line in lines if line.startswith("  by ")], "no mutant was met by any test"


def test_fixtures_parameters_and_methods_run_again(run: Run) -> None:
    text = """
import pytest
from halls import *

@pytest.fixture(scope="module")
def hall():
    yield Hall()

@pytest.fixture(params=[5, 9], ids=str)
def force(request, tmp_path):
    (tmp_path / "new").mkdir()
    return request.param

class TestHall:
    def setup_method(self):
        self.wanted = Door.OPEN

    def test_it_opens(self, hall, force, capsys):
        print("pushed")
        assert capsys.readouterr().out == "pushed\\n"
        assert HALL.step(hall, Push(force)).target is self.wanted
"""
    left = survivors(run("--statecraft-mutate", text=text))
    assert "not noticed: hall: strong negated" not in left
    assert len(left) == 11 - 3  # the row removed, its guard negated, tried after the next one


def test_what_hypothesis_finds_in_a_mutant_is_not_kept(run: Run, pytester: pytest.Pytester) -> None:
    text = """
from hypothesis import given, strategies as st
from halls import *

@given(st.integers(0, 9))
def test_a_push_leads_where_it_should(force):
    wanted = Door.OPEN if force >= 5 else Door.AJAR if force >= 2 else Door.SHUT
    assert HALL.step(Hall(), Push(force)).target is wanted
"""
    result = run("--statecraft-mutate", text=text, apart=True)
    assert told(result)[-1] == "all: 11 of 11 mutants noticed (100.0 %)"
    kept = pytester.path / ".hypothesis" / "examples"
    assert not [path for path in kept.rglob("*") if path.is_file()]


def test_nothing_of_a_mutant_is_left_in_the_session(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.hookimpl(trylast=True)
        def pytest_sessionfinish(session):
            from halls import HALL, Hall, Push
            print("THEN", [HALL.step(Hall(), Push(force)).row for force in (5, 2, 1)])
        """
    )
    result = run("--statecraft-mutate", "--statecraft-cov=halls", "-s", cases=STRONG)
    result.stdout.fnmatch_lines(["*THEN [[]0, 1, 2[]]*", "hall: 3 of 3 rows taken (100.0 %)*", "all: 11 of 11*"])


@pytest.mark.parametrize("option", ["sample=0", "sample=x", "seconds=0", "seconds=nan", "fail-under=101"])
def test_a_bad_number_is_refused(run: Run, option: str) -> None:
    result = run("--statecraft-mutate", f"--statecraft-mutate-{option}", cases=WEAK)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("option", ["sample=3", "seed=1", "seed=0", "seconds=3", "seconds=2", "fail-under=90"])
def test_an_option_without_mutation_is_refused(run: Run, option: str) -> None:
    result = run(f"--statecraft-mutate-{option}", cases=WEAK)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "needs --statecraft-mutate" in "\n".join(result.errlines)


def test_a_name_that_names_no_table_is_refused_before_any_test_runs(run: Run) -> None:
    result = run("--statecraft-mutate=halls:DOOR", cases=WEAK)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--statecraft-mutate=halls:DOOR: expected a table" in "\n".join(result.errlines)


def test_what_was_tried_is_told_where_the_user_interrupts(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from statecraft.testing import mutating

        class Interrupted(mutating.Trial):
            tried = 0

            def of(self, mutant):
                self.tried += 1
                if self.tried > 4:
                    raise KeyboardInterrupt
                return super().of(mutant)

        mutating.Trial = Interrupted
        """
    )
    result = run("--statecraft-mutate", cases=STRONG, apart=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert told(result)[:3] == ["11 of 11 mutants, seed 0", KINDS_LINE, "interrupted after 4"]
    assert "all: 4 of 4 mutants noticed (100.0 %)" in told(result)


def test_a_path_that_would_be_taken_for_a_name_is_refused(run: Run) -> None:
    result = run("--statecraft-mutate", "test_halls.py", cases=WEAK)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "expected --statecraft-mutate=MODULE, found a path" in "\n".join(result.errlines)


def test_the_help_names_the_mistakes_that_are_made_and_those_that_are_not(run: Run) -> None:
    helped = " ".join(" ".join(run("--help", cases=WEAK).outlines).split())
    assert "a guard negated or dropped, a limit moved by one" in helped
    assert "in these none: targets, effects, what is spent" in helped


def test_a_limit_is_not_met_where_no_mutant_could_be_tried(run: Run) -> None:
    text = """
from enum import Enum, auto
from attrs import evolve, frozen
from statecraft import Rows, Table, keep

class Lamp(Enum):
    ON = auto()
    OFF = auto()

@frozen
class Turn:
    pass

@frozen
class Light:
    at: Lamp = Lamp.OFF

LIGHT = Table(
    "light", [Rows()(Lamp.OFF, Turn, Lamp.ON, keep)], events=[Turn], initial=Lamp.OFF, final=[Lamp.ON],
    at=lambda run: run.at, move=lambda run, state: evolve(run, at=state),
)
ONCE = []

def test_it_is_turned_on_once():
    assert not ONCE
    ONCE.append(LIGHT.step(Light(), Turn()))
"""
    result = run("--statecraft-mutate", "--statecraft-mutate-fail-under=0", text=text)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert told(result)[-1] == "FAIL: a limit is asked for, but no mutant could be tried"
