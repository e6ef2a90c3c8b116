"""`paths`: what it writes runs as it stands, what it does not reach is said, and nothing is written over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from statecraft.cli.loading import load
from statecraft.codec import codec
from statecraft.heard import AnyTable

Verb = Callable[..., tuple[int, str, str]]

LOCKS = """
from enum import Enum, auto

import attrs

from statecraft import Rows, Table, keep, seen
from statecraft.proofs import Search


class Lock(Enum):
    SHUT = auto()
    OPEN = auto()
    JAMMED = auto()


@attrs.frozen
class Turn:
    key: str


@attrs.frozen
class Kick:
    pass


@attrs.frozen
class Door:
    at: Lock = Lock.SHUT
    keys: tuple = ("brass",)


def fits(run, event):
    return seen("fits", event.key in run.keys, key=event.key)


row = Rows[Door, Lock, object]()
LOCK = Table(
    "lock",
    [
        row(Lock.SHUT, Turn, Lock.OPEN, keep, fits),
        row(Lock.SHUT, Kick, Lock.JAMMED, keep),
    ],
    events=[Turn, Kick],
    initial=Lock.SHUT,
    final=[Lock.OPEN, Lock.JAMMED],
    at=lambda run: run.at,
    move=lambda run, at: attrs.evolve(run, at=at),
)


def moves(run):
    return [Turn("iron"), Turn("brass"), Kick()]
"""
ALL = '\nSEARCHES = [Search(LOCK, {"at home": Door()}, moves, lambda run: run)]\n'
NO_KEY = '\nSEARCHES = [Search(LOCK, {"locked out": Door(keys=())}, moves, lambda run: run)]\n'


@pytest.fixture
def locks(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Writes the module `locks_of_tests`, with more at its end."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])

    def write(more: str) -> None:
        sys.modules.pop("locks_of_tests", None)
        (here / "locks_of_tests.py").write_text(LOCKS + more)

    yield write
    sys.modules.pop("locks_of_tests", None)


def test_the_figures_are_told_where_nothing_is_to_be_written(verb: Verb, locks: Callable[[str], None]) -> None:
    locks(ALL)
    code, out, err = verb("paths", "locks_of_tests")
    assert (code, err) == (0, "")
    assert out.startswith("lock: 2 of 2 rows, by 2 ways, the longest of 1 steps, 2 in all; ")


def test_rows_that_are_not_reached_are_listed_and_a_finding(verb: Verb, locks: Callable[[str], None]) -> None:
    locks(NO_KEY)
    code, out, err = verb("paths", "locks_of_tests:LOCK", "--as", "json")
    assert code == 1
    assert len(out.splitlines()) == 1, "what was reached is written all the same"
    assert err.splitlines()[1:] == ["  not reached: lock 0 SHUT Turn [fits] -> OPEN keep"]


def test_a_row_that_is_never_taken_is_told_with_its_reason(verb: Verb, locks: Callable[[str], None]) -> None:
    locks(NO_KEY.replace("lambda run: run)", 'lambda run: run, never={(("lock",), 0): "no key"})'))
    code, _, err = verb("paths", "locks_of_tests")
    assert (code, err) == (0, "  never taken: lock 0 SHUT Turn [fits] -> OPEN keep; no key\n")


def test_a_row_that_is_taken_though_none_was_to_is_a_finding(verb: Verb, locks: Callable[[str], None]) -> None:
    locks(ALL.replace("lambda run: run)", 'lambda run: run, never={(("lock",), 1): "no foot"})'))
    code, _, err = verb("paths", "locks_of_tests")
    assert code == 1
    assert err == "  reached, though no run was to take it: lock 1 SHUT Kick -> JAMMED keep\n"


def test_the_module_of_tests_runs_as_it_stands(verb: Verb, here: Path, locks: Callable[[str], None]) -> None:
    locks(ALL)
    code, out, _ = verb("paths", "locks_of_tests", "--as", "pytest", "--into", "made")
    assert (code, out) == (0, "made/test_lock_paths.py\n")
    made = here / "made" / "test_lock_paths.py"
    assert _pytest(here, made) == 0
    (here / "locks_of_tests.py").write_text(LOCKS.replace("event.key in", "event.key not in"))
    assert _pytest(here, made) == 1, "the machine has changed"


def _pytest(here: Path, file: Path) -> int:
    """Runs the module alone, without the plugins of this test run."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", str(file)]
    root = str(Path(__file__).parents[3])
    around = {**os.environ, "PYTHONPATH": os.pathsep.join((str(here), root)), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, cwd=here, env=around, capture_output=True, check=False).returncode


def test_an_object_of_json_is_a_way_that_can_be_stepped_again(verb: Verb, locks: Callable[[str], None]) -> None:
    locks(ALL)
    code, out, _ = verb("paths", "locks_of_tests", "--as", "json")
    ways = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [(way["table"], way["start"]) for way in ways] == [("lock", "at home")] * 2
    machines = load("locks_of_tests")
    table: AnyTable = machines.tables[0]
    events = codec().tagged(*table.events)
    for way in ways:
        run = machines.searches[0].starts[way["start"]]
        for plain, step in zip(way["events"], way["steps"], strict=True):
            answer = table.step(run, events.read(plain))
            assert step == {"event": plain["is"], "rows": [f"lock {answer.row}"]}
            run = answer.run


def test_files_are_written_over_only_where_that_is_said(verb: Verb, here: Path, locks: Callable[[str], None]) -> None:
    locks(ALL)
    words = ("paths", "locks_of_tests", "--as", "json", "--into", "made")
    assert verb(*words)[0] == 0
    (here / "made" / "lock_paths.jsonl").write_text("mine")
    code, out, err = verb(*words)
    assert (code, out) == (2, "")
    assert err == "statecraft: made/lock_paths.jsonl: is there already, expected none; --force writes over it\n"
    assert (here / "made" / "lock_paths.jsonl").read_text() == "mine"
    assert verb(*words, "--force")[0] == 0
    assert (here / "made" / "lock_paths.jsonl").read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--into", "made"), "paths: found --into without --as, expected both"),
        (("--as", "trace"), "--as trace: lock: no table whose runs have traces"),
        (
            ("--as", "trace", "--into", "made"),
            "--as trace: lock: no table whose runs have traces; such tables are: none",
        ),
        (("--as", "json", "--into", "locks_of_tests.py"), "locks_of_tests.py: found a file, expected a folder"),
        (("--states", "0"), 'invalid value "0" for --states'),
    ],
)
def test_what_cannot_be_done_is_bad_input(
    verb: Verb, locks: Callable[[str], None], words: tuple[str, ...], said: str
) -> None:
    locks(ALL)
    code, out, err = verb("paths", "locks_of_tests", *words)
    assert (code, out) == (2, "")
    assert said in err


def test_without_a_search_there_is_nothing_to_walk(verb: Verb, locks: Callable[[str], None]) -> None:
    locks("")
    code, out, err = verb("paths", "locks_of_tests")
    assert (code, out) == (2, "")
    assert err.startswith("statecraft: locks_of_tests: offers no search, expected a list SEARCHES beside the tables")


def test_what_cannot_be_written_as_python_is_bad_input(verb: Verb, here: Path, locks: Callable[[str], None]) -> None:
    locks(ALL.replace("Door()", 'Door(keys=("brass", object()))'))
    code, _, err = verb("paths", "locks_of_tests", "--as", "pytest", "--into", "made")
    assert code == 2
    assert err.startswith("statecraft: lock: cannot be written as Python; try --as json:")
    assert "the run 'at home'.keys[1]" in err
    assert not (here / "made").exists()
