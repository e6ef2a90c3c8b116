"""What was seen of a machine, drawn over it: a colour for what was taken, never taken, and seen in part."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from statecraft import Table, ignore, keep
from statecraft.diagrams import dot, mermaid
from statecraft.testing import Tally
from statecraft.testing.coloured import coloured, draw

from .halls import CLOSER, Door, Hall, Push, Wind, hall, inside, row, strong

GREEN, RED, AMBER = "#2e7d32", "#c62828", "#b26a00"


def door(name: str = "hall") -> Table[Hall, Door, Push | Wind, Any]:
    return hall(
        row(Door.SHUT, Push, Door.OPEN, keep, strong),
        row(Door.SHUT, Push, Door.SHUT, keep),
        row(Door.OPEN, Push, Door.GONE, keep),
        ignore([Door.SHUT, Door.OPEN], [Wind], "nobody feels it"),
        inners=[inside(CLOSER)],
        name=name,
    )


def tally(table: Table[Hall, Door, Push | Wind, Any], *steps: tuple[Hall, int]) -> Tally:
    counted = Tally()
    for run, force in steps:
        counted.hear(table, Push(force), table.step(run, Push(force)))
    return counted


def line(text: str, words: str) -> str:
    """The one line of a diagram, that is no comment, with these words."""
    (found,) = (one for one in text.splitlines() if words in one and not one.startswith("//"))
    return found


def drawn(*steps: tuple[Hall, int]) -> str:
    table = door()
    ((found, taken),) = coloured(tally(table, *steps).coverage([table]))
    assert found is table
    return dot(table, taken)


def test_rows_are_green_where_taken_and_red_where_not() -> None:
    text = drawn((Hall(), 4), (Hall(), 5))
    assert GREEN in line(text, "SHUT -> OPEN")
    assert "×1" in line(text, "SHUT -> OPEN")
    assert GREEN in line(text, "SHUT -> SHUT")
    assert RED in line(text, "OPEN -> GONE")
    assert GREEN in line(text, "    OPEN [label")
    assert RED in line(text, "    GONE [label")
    assert "hall: 2 of 3 rows taken (green: taken;" in text


def test_a_row_whose_guard_was_not_seen_both_ways_is_amber_and_says_so() -> None:
    text = drawn((Hall(), 5))
    assert AMBER in line(text, "SHUT -> OPEN")
    assert "never said no" in line(text, "SHUT -> OPEN")
    assert AMBER not in drawn((Hall(), 4), (Hall(), 5))


def test_an_inner_machine_is_coloured_within_the_outer_one() -> None:
    text = drawn((Hall(), 4), (Hall(Door.OPEN), 5))
    assert RED in line(text, "SLACK -> WORN")
    assert GREEN in line(text, "SLACK -> SLACK")
    assert RED in line(drawn((Hall(Door.OPEN), 5)), "SLACK -> SLACK")


def test_mermaid_colours_states_and_counts_rows() -> None:
    table = door()
    ((_, taken),) = coloured(tally(table, (Hall(), 4)).coverage([table]))
    text = mermaid(table, taken)
    assert "class SHUT taken" in text
    assert "class GONE never" in text
    assert RED in line(text, "classDef never")
    assert "×1" in line(text, "SHUT --> SHUT")


def files(folder: Path) -> Iterable[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_machine_gets_files_of_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    tables = [door("other"), door("other"), door()]
    counted = tally(tables[0], (Hall(), 5))
    lines = draw(counted.coverage(tables), tmp_path)
    assert files(tmp_path) == ["hall.dot", "hall.mmd", "other.dot", "other.mmd", "other_1.dot", "other_1.mmd"]
    assert lines[0] == f"drawn in {tmp_path}: other, other_1, hall"
    assert "an SVG needs Graphviz" in lines[1]
    assert draw(counted.coverage([]), tmp_path) == (f"drawn in {tmp_path}: nothing",)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not here")
def test_with_graphviz_there_is_an_svg_too(tmp_path: Path) -> None:
    table = door()
    assert draw(tally(table, (Hall(), 5)).coverage([table]), tmp_path) == (f"drawn in {tmp_path}: hall",)
    assert files(tmp_path) == ["hall.dot", "hall.mmd", "hall.svg"]
    assert b"never said no" in (tmp_path / "hall.svg").read_bytes()
