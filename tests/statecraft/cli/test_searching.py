"""`check` with laws of a user's own: what is proved, what is searched, what is broken, and what cannot be asked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from statecraft import Fault

Verb = Callable[..., tuple[int, str, str]]
Gates = Callable[..., None]

CHEAP = "PRICE = 1\n"


SUMMARY = """
looked at whole:
  gate, whatever its guards say: 6 places, 10 rows between them
    proved: a coin opens it
    proved: from every place rows lead to an ending
gate, searched with its guards, where the world may do anything at every step:
  from "new": all of its 14 runs, none more than 7 events away, 42 steps
    no counterexample within these to:
      no fault
      nobody passes for less
"""
BROKEN = """
looked at whole:
  gate, whatever its guards say: 6 places, 10 rows between them
    proved: a coin opens it
    proved: from every place rows lead to an ending
gate, searched with its guards, where the world may do anything at every step:
  from "new": all of its 18 runs, none more than 9 events away, 54 steps
    BROKEN: nobody passes for less
      passed for 1 (it costs two)
      from "new":
      1. Coin(worth=1): row 0, SHUT -> OPEN
      2. Push(): row 2, OPEN -> SHUT
      as a test:
        from gates_of_tests import GATE, Coin, Gate, Push, paid_after, unpaid
        from statecraft.proofs import Taken


        def test_gate_nobody_passes_for_less() -> None:
            \"\"\"nobody passes for less: passed for 1.\"\"\"
            run = Gate()
            memory = 0
            # row 0, SHUT -> OPEN
            event = Coin()
            answer = GATE.step(run, event)
            memory = paid_after(memory, Taken(run, event, answer, answer.run))
            run = answer.run
            # row 2, OPEN -> SHUT
            event = Push()
            answer = GATE.step(run, event)
            assert not unpaid(Taken(run, event, answer, answer.run), memory)
    no counterexample within these to:
      no fault
"""
SHAPELESS = """
looked at whole:
  gate, whatever its guards say: 6 places, 10 rows between them
    BROKEN: nothing opens it
      opened by Coin (it is broken)
      1. row 0: SHUT Coin -> OPEN
    proved: from every place rows lead to an ending
gate, searched with its guards, where the world may do anything at every step:
  from "new": all of its 14 runs, none more than 7 events away, 42 steps
    no counterexample within these to:
      no fault
"""
NEVER_OPEN = """
def never(crossing, _):
    return f"opened by {crossing.event.__name__}" if crossing.target is At.OPEN else ""


SEARCHES = [Search(GATE, {"new": Gate()}, moves, key, (), [Law("nothing opens it", "it is broken", never)])]
"""
FACTS = """
def none_free(step, _):
    return "free" if step.stepped and step.event.worth < 1 else ""


FREE = Law("nothing is free", "it costs two", none_free)
COINS = Facts(GATE, lambda: [Gate(), Gate(paid=1)], lambda: [Coin(worth) for worth in WORTHS], [FREE])
SEARCHES, FACTS = [], [COINS]
"""


def walks_of(out: str) -> str:
    """What is told of the walks, without the seconds."""
    told = out[out.index("looked at whole:") :].partition("gate: guards: ")[0]
    return "\n" + re.sub(r",? in \d+\.\d s$", "", told, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [("", 0, SUMMARY), (CHEAP, 1, BROKEN), (NEVER_OPEN, 1, SHAPELESS)],
    ids=["right", "cheap", "shapeless"],
)
def test_laws_are_told_as_proved_or_not_found_broken_or_broken(
    verb: Verb, gates: Gates, more: str, code: int, told: str
) -> None:
    gates(more)
    found, out, err = verb("check", "gates_of_tests")
    assert (found, err) == (code, "")
    assert walks_of(out) == told


def test_a_search_that_is_cut_short_says_how_far_it_came(verb: Verb, gates: Gates) -> None:
    gates(CHEAP)
    code, out, _ = verb("check", "gates_of_tests", "--states", 2)
    assert code == 0, "the second event was not looked at"
    assert 'from "new": the first 3 runs, every way of 0 events, 3 steps' in walks_of(out)
    assert "nobody passes for less" in out.partition("no counterexample within these to:")[2]


@pytest.mark.parametrize(("worths", "code"), [("(1, 2)", 0), ("(0, 1)", 1)])
def test_a_table_of_facts_is_decided_whole(verb: Verb, gates: Gates, worths: str, code: int) -> None:
    gates(f"WORTHS = {worths}\n{FACTS}")
    found, out, _ = verb("check", "gates_of_tests")
    assert found == code
    told = walks_of(out)
    assert "gate, on every combination of facts: 4 decisions" in told
    assert ("    proved: nothing is free" in told) is (code == 0)
    assert ("    BROKEN: nothing is free\n      free (it costs two)" in told) is (code == 1)


def test_without_states_and_beside_the_bound_nothing_is_searched(verb: Verb, gates: Gates) -> None:
    gates(CHEAP)
    code, out, _ = verb("check", "gates_of_tests", "--states", 0)
    assert (code, "proved: a coin opens it" in out) == (0, True)
    assert out.splitlines()[-1] == "not searched: no states are asked for"
    code, out, _ = verb("check", "gates_of_tests", "--bound")
    assert (code, "proved: " in out, "searched" in out) == (0, False, False)
    code, out, _ = verb("check", "gates_of_tests", "--bound", "--json")
    assert (code, "walks" in json.loads(out)) == (0, False)


def test_less_than_no_states_is_bad_input(verb: Verb, gates: Gates) -> None:
    gates()
    code, out, err = verb("check", "gates_of_tests", "--states", -1)
    assert (code, out) == (2, "")
    assert "--states" in err


def test_a_program_is_given_the_walks(verb: Verb, gates: Gates) -> None:
    gates(CHEAP)
    code, out, _ = verb("check", "gates_of_tests", "--json")
    skeleton, search = json.loads(out)["walks"]
    assert (code, skeleton["how"], skeleton["closed"], skeleton["broken"]) == (1, "skeleton", True, [])
    assert (search["how"], search["of"], search["size"], search["laws"]) == (
        "search",
        "new",
        18,
        ["no fault", "nobody passes for less"],
    )
    (broken,) = search["broken"]
    assert (broken["law"], broken["problem"], len(broken["way"])) == ("nobody passes for less", "passed for 1", 2)
    assert "def test_gate_nobody_passes_for_less() -> None:" in broken["test"]


def test_what_breaks_a_law_is_written_as_a_test_that_fails_and_as_a_diagram(
    verb: Verb, gates: Gates, here: Path
) -> None:
    gates(CHEAP)
    code, _, err = verb("check", "gates_of_tests", "--into", "broken")
    name = "broken/test_gate_nobody_passes_for_less"
    assert (code, err.splitlines()) == (1, [f"{name}.py", f"{name}.mmd"])
    assert "gate: 2 rows taken, stands in SHUT" in (here / f"{name}.mmd").read_text()
    assert "1 failed" in pytest_on(here, f"{name}.py")
    gates()
    known: dict[str, Any] = {}
    exec((here / f"{name}.py").read_text(), known)
    known["test_gate_nobody_passes_for_less"]()


def pytest_on(here: Path, test: str) -> str:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join((str(here), *sys.path)), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, cwd=here, env=path, capture_output=True, text=True, check=False).stdout


def test_where_nothing_is_broken_nothing_is_written(verb: Verb, gates: Gates, here: Path) -> None:
    gates()
    assert verb("check", "gates_of_tests", "--into", "broken")[::2] == (0, "")
    assert not (here / "broken").exists()


FAULT = """
def jams(run, event):
    raise RuntimeError("jammed")


GATE = Table(
    "gate",
    [attrs.evolve(one, effect=jams) if one.target is At.GONE else one for one in GATE.rows] + list(GATE.marks),
    events=[Coin, Push, Remove], initial=At.SHUT, final=[At.GONE],
    at=at, move=move, budgets={Purse.COINS: 4}, purse=purse, pay=spend,
)
TABLES, SEARCHES = [GATE], [Search(GATE, {"new": Gate()}, moves, key)]
"""


def test_a_fault_of_the_machine_is_a_broken_law_and_its_test_fails(verb: Verb, gates: Gates, here: Path) -> None:
    gates(FAULT)
    code, out, _ = verb("check", "gates_of_tests", "--into", "broken")
    assert code == 1
    assert "BROKEN: no fault\n      a fault: gate row 3: jams raised RuntimeError: jammed" in out
    known: dict[str, Any] = {}
    exec((here / "broken/test_gate_no_fault.py").read_text(), known)
    with pytest.raises(Fault, match="jammed"):
        known["test_gate_no_fault"]()


def test_a_search_may_lie_in_a_module_of_its_own(verb: Verb, gates: Gates, here: Path) -> None:
    (here / "gates_searched_of_tests.py").write_text("from gates_of_tests import *\nSEARCH = SEARCHED[0]\n")
    gates("SEARCHED, SEARCHES = SEARCHES, ['gates_searched_of_tests:SEARCH']\n")
    try:
        code, out, _ = verb("check", "gates_of_tests")
    finally:
        sys.modules.pop("gates_searched_of_tests", None)
    assert (code, walks_of(out)) == (0, SUMMARY)


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_in_a_terminal_alone(
    verb: Verb, gates: Gates, terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rich.console.Console.is_terminal", terminal)
    gates()
    code, out, err = verb("check", "gates_of_tests")
    assert (code, walks_of(out)) == (0, SUMMARY)
    assert ("walking" in err) is terminal


TWO_STARTS = """
SEARCHES = [attrs.evolve(SEARCHES[0], starts={"new": Gate(), "paid": Gate(paid=1)})]
"""


def test_two_processes_find_what_one_finds(verb: Verb, gates: Gates) -> None:
    gates(CHEAP + TWO_STARTS)
    code, alone, _ = verb("check", "gates_of_tests")
    found, out, err = verb("check", "gates_of_tests", "--jobs", 2)
    assert (found, err) == (code, "")
    assert walks_of(out) == walks_of(alone)


BAD_KEY = """
def key(run):
    raise KeyError("gone")


SEARCHES = [attrs.evolve(SEARCHES[0], key=key)]
"""


def test_what_cannot_be_asked_in_another_process_is_told_by_this_one(verb: Verb, gates: Gates) -> None:
    gates(TWO_STARTS + BAD_KEY)
    code, out, err = verb("check", "gates_of_tests", "--jobs", 2)
    assert (code, out) == (2, "")
    assert re.search("the search of gate from '(new|paid)': key, asked of Gate.*, raised KeyError: 'gone'", err)


def test_guards_are_seen_by_one_process_alone(verb: Verb, gates: Gates) -> None:
    gates()
    code, _, err = verb("check", "gates_of_tests", "--guards", "--jobs", 2)
    assert code == 2
    assert "found --guards beside --jobs 2" in err


def test_what_a_users_functions_print_is_no_part_of_the_report(verb: Verb, gates: Gates) -> None:
    gates(f"print('as it is imported')\n{CHEAP}")
    code, out, err = verb("check", "gates_of_tests", "--json")
    assert (code, "as it is imported" in err) == (1, True)
    assert json.loads(out)["tables"]
