"""The report: every table and every inner machine once, in words, with one flag."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from statecraft.proofs import ASSUMED, Bound, FreeCycle, prove
from statecraft.proofs.report import LEGEND


def itself(run: int) -> int:
    return run


def test_a_report_states_bounds_quiet_rows_and_what_they_rest_on(build: Any) -> None:
    table = build("A Go -> A; spends oil; asks Call", "A Go -> A", "A Tick -> Z", final="Z", budgets={"oil": 2})
    report = prove([table])
    assert report.ok
    assert report.lines == (
        "machine: ok",
        "  ends: at most 3 steps",
        "    2 in A",
        "      oil, 2, not refilled here: 2 x 1 (the dearest is row 0, A to A: 1)",
        "    1 by row 2, A to Z",
        "  asks Call: in at most 2 rows",
        "  quiet rows, not counted: 1",
        LEGEND,
        "assumed:",
        *(f"  {line}" for line in ASSUMED),
    )


def test_a_machine_may_say_what_is_assumed_in_its_own_words(build: Any) -> None:
    report = prove([build("A Go -> Z", final="Z")], assumed=["people sleep at night"])
    assert report.lines[-2:] == ("assumed:", "  people sleep at night")
    assert prove([build("A Go -> Z", final="Z")], assumed=[]).assumed == ASSUMED


def test_a_free_cycle_is_not_ok_and_is_printed_row_by_row(build: Any) -> None:
    report = prove([build("A Go -> Z", final="Z", name="good"), build("A Go -> B", "B Go -> A", name="bad")])
    assert not report.ok
    assert [one.ok for one in report.tables] == [True, False]
    assert "bad: NOT PROVED" in report.lines
    assert "    row 1: B Go -> A" in report.lines


def test_a_flaw_is_not_ok_even_where_the_run_ends(build: Any) -> None:
    report = prove([build("A Go -> Z", "B Go -> Z", final="Z")])
    assert not report.ok
    assert "  state B: unreachable state: no way from A leads to it" in report.lines


def test_sizes_come_from_the_run_given_under_the_tables_name(build: Any) -> None:
    table = build("A Go -> A; spends oil", name="lamp", budgets={"oil": itself})
    (proved,) = prove([table], runs={"lamp": 6}).tables
    assert isinstance(proved.steps, Bound)
    assert proved.steps.number == 6


def test_a_size_without_a_run_is_unproved_and_says_which(build: Any) -> None:
    report = prove([build("A Go -> A; spends oil", name="lamp", budgets={"oil": itself})])
    assert not report.ok
    assert report.tables[0].steps is None
    assert any("the size of oil depends on the run" in line for line in report.lines)


def test_an_inner_machine_is_reported_once_after_its_outer(build: Any, hold: Any) -> None:
    kid = build("W Go -> W; spends poll; asks Call", name="wait", depth=1, budgets={"poll": 2})
    outer = build("A Go -> A; spends wait; always", "A Go -> Z", final="Z", inners={"wait": hold(kid, "A")})
    report = prove([kid, outer])
    assert [(one.table, one.inside) for one in report.tables] == [("machine", ""), ("wait", "machine")]
    assert [one.number for one in report.tables[0].requests] == [2]


def test_an_inner_machine_that_nothing_spends_may_go_round_with_an_outer_that_ends(build: Any, hold: Any) -> None:
    kid = build("W Go -> W", name="ladder", depth=1)
    outer = build("A Go -> A; spends oil", budgets={"oil": 2}, inners={"ladder": hold(kid, "A")})
    report = prove([outer])
    assert report.ok
    assert isinstance(report.tables[1].steps, FreeCycle)
    assert report.tables[1].carried
    assert report.lines[-len(ASSUMED) - 5 : -len(ASSUMED) - 2] == (
        "ladder, inside machine: ok",
        "  steps only when machine does, which ends; by itself nothing bounds it:",
        "    row 0: W Go -> W",
    )
    assert not any("for ever" in line for line in report.lines)


def test_an_inner_machine_of_unknown_size_may_go_round_with_an_outer_that_ends(build: Any, hold: Any) -> None:
    kid = build("W Go -> W; spends poll", name="ladder", depth=1, budgets={"poll": itself})
    outer = build("A Go -> A; spends oil", budgets={"oil": 2}, inners={"ladder": hold(kid, "A")})
    report = prove([outer])
    assert report.ok
    (told,) = [line for line in report.lines if "by itself" in line]
    assert told.startswith(
        "  steps only when machine does, which ends; by itself: unknown; table ladder: the size of poll"
    )


def test_an_inner_machine_that_goes_round_is_not_ok_where_its_outer_does_not_end(build: Any, hold: Any) -> None:
    kid = build("W Go -> W", name="ladder", depth=1)
    outer = build("A Go -> A; spends ladder", inners={"ladder": hold(kid, "A")})
    report = prove([outer])
    assert [one.ok for one in report.tables] == [False, False]
    assert "  ladder can go round for ever:" in report.lines
    assert not any("by itself" in line for line in report.lines)


@pytest.mark.parametrize(
    ("lines", "explained"),
    [
        (["A Go -> Z"], False),
        (["A Go -> B", "B Go -> A"], False),
        (["A Go -> A", "A Tick -> Z"], True),
        (["A Go -> A; spends oil", "A Tick -> Z"], True),
    ],
)
def test_the_words_of_a_bound_are_explained_where_they_stand(build: Any, lines: list[str], explained: bool) -> None:
    budgets = {"oil": 2} if "oil" in "".join(lines) else {}
    assert (LEGEND in prove([build(*lines, final="Z", budgets=budgets)]).lines) is explained


SCRIPT = """
from enum import Enum
import attrs
from statecraft import Rows, Table, keep, ordered, seen
from statecraft.proofs import prove
State = Enum("State", "ASK ACT WAIT DONE")
Pay = Enum("Pay", {"TURN": "turns", "NUDGE": "nudges", "RETRY": "retries"})
@attrs.frozen
class Go: pass
Asks = [attrs.make_class(name, []) for name in ("Call", "Tell", "Wait", "End")]
def one(run, event): return seen("one", True)
def two(run, event): return seen("two", True)
row = Rows()
TABLE = Table("m", [
    row([State.ASK, State.WAIT], Go, State.ACT, keep, one, spends=Pay.TURN, asks=Asks[:2], refills=list(Pay)[1:]),
    row(State.ASK, Go, State.ASK, keep, two, spends=LOOSE, asks=Asks[2:]),
    ordered([State.ASK, State.WAIT], [Go], "spending comes first"),
    row(State.ACT, Go, State.WAIT, keep, one, spends=Pay.NUDGE, asks=Asks),
    row(State.ACT, Go, State.DONE, keep),
    row(State.WAIT, Go, State.ASK, keep, two, asks=Asks[1:3]),
], events=[Go], initial=State.ASK, final=[State.DONE], at=None, move=None,
   budgets={Pay.TURN: 5, Pay.NUDGE: 2, Pay.RETRY: 3}, purse=dict, pay=keep)
print("\\n".join(prove([TABLE]).lines))
"""


def test_the_report_is_the_same_under_two_hash_seeds(root: Path) -> None:
    for loose in ("Pay.RETRY", "None"):
        said = [
            subprocess.run(
                [sys.executable, "-c", SCRIPT.replace("LOOSE", loose)],
                env={**os.environ, "PYTHONHASHSEED": seed},
                cwd=root,
                capture_output=True,
                text=True,
                check=False,
            )
            for seed in ("1", "2")
        ]
        assert said[0].returncode == 0, said[0].stderr
        assert ("NOT PROVED" in said[0].stdout) is (loose == "None")
        assert said[0].stdout == said[1].stdout
