"""The table of an audit: its columns at any width, the names that never go, and what is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from machines.audit import Judged
from machines.audit.lines import (
    GAP,
    LEAST_NAME,
    LEAST_STRIP,
    LONGEST_STRIP,
    STRIP,
    Line,
    counted,
    files_of,
    in_all,
    line_of,
    notes,
    page,
    plain,
)
from machines.audit.report import OPEN, SQUEEZED

Judge = Callable[..., Judged]


def line(run: str = "stuck", **more: Any) -> Line:
    known: dict[str, Any] = {
        "run": run,
        "file": f"runs/{run}.jsonl",
        "turns": 10,
        "decided": "stop at 6 by no_progress",
        "ended": "blocked",
        "saved": 4,
        "strip": "....nS----",
        "worst": "stop",
        "nudged": True,
        "problems": (),
        "why": (),
    }
    return Line(**{**known, **more})


LONG = line("a-run-with-a-name-of-thirty-two-xx", strip="." * 60)


def test_a_wide_page_has_every_column_in_its_order() -> None:
    found = page([line(), line("x", file="other.jsonl")], 140)
    assert found.names == ("run", "file", "turns", "decided", "ended", "saved", STRIP)
    assert found.head == ("run", "file", "turns", "decided", "ended", "saved", "verdicts, turn by turn")
    assert found.cells[0] == ("stuck", "", "10", "stop at 6 by no_progress", "blocked", "4", "....nS----")


def test_a_column_in_which_nothing_stands_is_left_out() -> None:
    assert page([line(saved=0)], 140).names == ("run", "turns", "decided", "ended", STRIP)


def test_a_pipe_has_every_column_and_strips_of_forty() -> None:
    found = page([LONG], None)
    assert found.names == ("run", "turns", "decided", "ended", "saved", STRIP)
    assert found.widths[-1] == LONGEST_STRIP


@pytest.mark.parametrize(
    ("width", "gone"),
    [
        (97, ()),
        (96, ("saved",)),
        (90, ("saved",)),
        (89, ("saved", "turns")),
        (83, ("saved", "turns")),
        (82, ("saved", "turns", "ended")),
        (74, ("saved", "turns", "ended")),
        (73, ("saved", "turns", "ended", STRIP)),
    ],
)
def test_a_narrow_page_drops_what_is_least_needed(width: int, gone: tuple[str, ...]) -> None:
    names = ("run", "turns", "decided", "ended", "saved", STRIP)
    found = page([LONG], width)
    assert set(names) - set(found.names) == set(gone)
    assert found.cells[0][0] == LONG.run


def test_a_strip_shrinks_before_a_column_goes_and_takes_what_is_left() -> None:
    least = sum(
        map(len, ("a-run-with-a-name-of-thirty-two-xx", "turns", "stop at 6 by no_progress", "blocked", "saved"))
    )
    whole = least + 5 * len(GAP)
    assert page([LONG], whole + LEAST_STRIP).widths[-1] == LEAST_STRIP
    assert page([LONG], whole + 33).widths[-1] == 33
    assert page([LONG], whole + 99).widths[-1] == 60
    assert "saved" not in page([LONG], whole + LEAST_STRIP - 1).names


def test_a_name_that_is_wider_than_the_page_keeps_twenty_cells_to_go_on_in() -> None:
    found = page([LONG], 40)
    assert found.names == ("run", "decided")
    assert found.widths[0] == LEAST_NAME
    assert found.cells[0][0] == LONG.run


lines = st.builds(
    line,
    st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=50),
    turns=st.integers(0, 9999),
    saved=st.integers(0, 3),
    strip=st.text(".nS-+", max_size=200),
)


@given(st.lists(lines, min_size=1, max_size=3), st.integers(1, 200))
def test_a_page_is_as_wide_as_it_may_be_or_has_name_and_decision_alone(given_lines: list[Line], width: int) -> None:
    found = page(given_lines, width)
    taken = sum(found.widths) + len(GAP) * (len(found.widths) - 1)
    assert taken <= width or found.names == ("run", "decided")
    for at, cells in enumerate(found.cells):
        assert cells[0] == given_lines[at].run
        wide = [cell_len(cell) <= most for cell, most in zip(cells, found.widths, strict=True)]
        assert all(wide[1:])


def test_a_file_is_named_where_it_tells_more_than_the_run() -> None:
    same, other = line("a"), line("b", file="runs/2026/c.jsonl")
    assert files_of([same]) == [""]
    assert files_of([other]) == ["c.jsonl"]
    assert files_of([same, other]) == ["", "2026/c.jsonl"]
    assert files_of([line("b", file="-")]) == ["-"]
    assert files_of([line("b", file="/x/c.jsonl"), line("d", file="y/c.jsonl")]) == ["/x/c.jsonl", "y/c.jsonl"]


def test_what_would_move_a_cursor_is_not_shown() -> None:
    assert plain("a\x1b[31mb\nc\td") == "a?[31mb?c?d"
    assert plain("Übergröße 雪") == "Übergröße 雪"


def test_a_run_that_was_nudged_and_stopped_counts_in_both() -> None:
    assert in_all([line()]) == "1 run, 10 turns: 1 nudged, 1 stopped, 4 turns saved"
    one = line(nudged=False, worst="continue", turns=1, saved=1)
    assert in_all([line(), one, line(nudged=False)]) == "3 runs, 21 turns: 1 nudged, 2 stopped, 9 turns saved"
    assert in_all([one]) == "1 run, 1 turn: 0 nudged, 0 stopped, 1 turn saved"


@pytest.mark.parametrize(("number", "said"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs")])
def test_one_is_one(number: int, said: str) -> None:
    assert counted(number, "run") == said


@pytest.mark.parametrize(
    ("ended", "shown", "most", "said"),
    [
        ("blocked", True, 10, ()),
        ("open", True, 10, (OPEN,)),
        ("open", False, 10, ()),
        ("blocked", True, 9, (SQUEEZED,)),
        ("open", True, 9, (OPEN, SQUEEZED)),
    ],
)
def test_only_what_is_shown_is_explained(ended: str, shown: bool, most: int, said: tuple[str, ...]) -> None:
    assert notes([line(ended=ended)], [most], ended=shown) == said


def test_a_line_keeps_the_evidence_only_where_it_is_asked_for(judged: Judge) -> None:
    call = {"id": "c", "tool": "search", "args": {"q": "x"}}
    turn = [{"t": "reply", "stop": "tool_use", "calls": [call]}, {"t": "result", "call": "c", "value": "nothing"}]
    found = judged([one for _ in range(5) for one in turn])
    assert line_of(found).why == ()
    kept = line_of(found, why=True)
    assert [one.partition(":")[0] for one in kept.why] == [
        "turn 3    nudge by consecutive_duplicate",
        "turn 4    stop by consecutive_duplicate",
    ]
    assert 'failing=false, signatures="' in kept.why[0]
    assert attrs.evolve(kept, why=()) == line_of(found)
    assert (kept.nudged, kept.worst) == (True, "stop")


def test_a_run_without_replies_says_so(judged: Judge) -> None:
    assert line_of(judged([])).decided == "continue (no replies)"
