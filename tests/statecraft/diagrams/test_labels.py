"""The words on an arrow, and where they are cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from statecraft import Table
from statecraft.diagrams.edges import Line, picture
from statecraft.diagrams.labels import GUARDS, LINES, Arrow, arrows, label, labels, ranges, wrapped

AnyTable = Table[Any, Any, Any, Any]


def line(row: int, *guards: str, event: str = "Go", commands: tuple[str, ...] = (), paid: tuple[str, ...] = ()) -> Line:
    return Line(row, ("A",), event, "B", guards, "keep", commands, paid)


def test_a_label_says_number_event_guards_commands_and_what_is_paid(lift: AnyTable) -> None:
    assert label(picture(lift).lines[0]) == "0 Call [(above & known)] / Drive -units +motor"


def test_a_label_leaves_out_what_the_row_does_not_have() -> None:
    assert label(line(7)) == "7 Go"


def test_all_between_two_states_is_one_arrow_in_the_order_of_the_rows(machine: Callable[..., AnyTable]) -> None:
    rows = [("A", "Go", "B", ("g",), ()), ("A", "By", "B", (), ()), ("A", "Go", "B", (), ())]
    (arrow,) = arrows(picture(machine("m", ["A", "B"], rows, final=["B"])))
    assert (arrow.source, arrow.target, labels(arrow)) == ("A", "B", ["0 Go [g]", "1 By", "2 Go"])


def test_rows_that_differ_only_in_their_guards_share_a_line() -> None:
    lines = (line(0, "g"), line(1, "h", "i"), line(2, "k", commands=("Ring",)), line(3, "l"), line(4))
    assert labels(Arrow("A", "B", lines)) == ["0, 1, 3 Go [g or h, i or l]", "2 Go [k] / Ring", "4 Go"]


def test_guards_that_just_fit_are_all_told() -> None:
    names = ("g" * 58, "h" * (GUARDS - 60))
    assert label(line(0, *names)) == f"0 Go [{', '.join(names)}]"


def test_guards_one_letter_too_long_are_counted() -> None:
    assert label(line(0, "g" * 58, "h" * (GUARDS - 59), "i")) == f"0 Go [{'g' * 58}, 2 more]"


def test_one_guard_too_long_is_cut() -> None:
    assert label(line(0, "g" * GUARDS)) == f"0 Go [{'g' * GUARDS}]"
    assert label(line(0, "g" * (GUARDS + 1))) == f"0 Go [{'g' * (GUARDS - 1)}…]"


def test_an_arrow_tells_as_many_lines_as_fit() -> None:
    lines = tuple(line(number, event=f"E{number}") for number in range(LINES))
    assert labels(Arrow("A", "B", lines)) == [f"{number} E{number}" for number in range(LINES)]


def test_an_arrow_of_more_lines_ends_in_their_numbers() -> None:
    lines = tuple(line(number, event=f"E{number % 5}", commands=(str(number),)) for number in range(LINES + 1))
    told = labels(Arrow("A", "B", lines))
    assert len(told) == LINES
    assert told[-2:] == [f"{LINES - 2} E{(LINES - 2) % 5} / {LINES - 2}", f"{LINES - 1}, {LINES} E2, E3"]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([3], "3"), ([3, 4], "3, 4"), ([3, 4, 5], "3-5"), ([0, 2, 3, 4, 9, 10], "0, 2-4, 9, 10")],
)
def test_runs_of_three_numbers_and_more_are_joined(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text


def test_a_long_label_is_broken_at_blanks_and_set_in() -> None:
    assert wrapped("0 Go [first_guard, second_guard] / Ring", 20) == [
        "0 Go [first_guard,",
        "    second_guard] /",
        "    Ring",
    ]
