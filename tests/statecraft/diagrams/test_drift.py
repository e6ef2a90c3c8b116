"""Diagrams kept in a folder against the tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from statecraft import Table
from statecraft.diagrams import diagrams_of, dot, drift, mermaid

AnyTable = Table[Any, Any, Any, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "diagrams"
    made.mkdir()
    return made


def keep(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8", newline="")


def test_a_table_gives_one_file_a_language(hall: AnyTable, lift: AnyTable) -> None:
    assert diagrams_of([hall, lift]) == {
        "hall.mmd": mermaid(hall),
        "hall.dot": dot(hall),
        "lift.mmd": mermaid(lift),
        "lift.dot": dot(lift),
    }


@pytest.mark.parametrize("name", ["a", "tool_call", "v1.2-x"])
def test_the_files_are_called_as_the_table_is(machine: Callable[..., AnyTable], name: str) -> None:
    assert sorted(diagrams_of([machine(name, ["A", "B"], [("A", "Go", "B", (), ())], final=["B"])])) == [
        f"{name}.dot",
        f"{name}.mmd",
    ]


def test_two_tables_of_one_name_are_refused_whatever_the_case(machine: Callable[..., AnyTable], hall: AnyTable) -> None:
    other = machine("Hall", ["A", "B"], [("A", "Go", "B", (), ())], final=["B"])
    with pytest.raises(ValueError, match="two tables are called 'Hall'"):
        diagrams_of([hall, other])


def test_a_folder_that_holds_what_is_generated_has_not_drifted(folder: Path, hall: AnyTable) -> None:
    made = diagrams_of([hall])
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert drift(made, folder) == ""


def test_a_stale_file_is_shown_as_what_changed(folder: Path) -> None:
    keep(folder, a__mmd="one\ntwo\n")
    assert drift({"a.mmd": "one\nthree\n"}, folder) == (
        "--- diagrams/a.mmd\n+++ diagrams/a.mmd\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    )


def test_a_missing_file_is_all_additions(folder: Path) -> None:
    assert drift({"a.mmd": "one\n"}, folder) == "--- /dev/null\n+++ diagrams/a.mmd\n@@ -0,0 +1 @@\n+one\n"


def test_a_surplus_file_is_all_removals(folder: Path) -> None:
    keep(folder, b__dot="one\n")
    assert drift({}, folder) == "--- diagrams/b.dot\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"


def test_an_empty_surplus_file_counts_too(folder: Path) -> None:
    keep(folder, b__dot="")
    assert drift({}, folder) == "--- diagrams/b.dot\n+++ /dev/null\n"


def test_a_folder_that_does_not_exist_lacks_everything(tmp_path: Path) -> None:
    assert drift({"a.mmd": "one\n"}, tmp_path / "none").startswith("--- /dev/null\n+++ none/a.mmd\n")


def test_other_files_of_the_folder_are_not_ours(folder: Path) -> None:
    keep(folder, README__md="read me", a__svg="<svg/>")
    assert drift({}, folder) == ""


def test_line_ends_do_not_count(folder: Path) -> None:
    keep(folder, a__mmd="one\r\ntwo\r\n")
    assert drift({"a.mmd": "one\ntwo\n"}, folder) == ""


def test_a_last_line_without_its_end_is_said(folder: Path) -> None:
    keep(folder, a__mmd="one")
    assert drift({"a.mmd": "one\n"}, folder).endswith("-one\n\\ No newline at end of file\n+one\n")


def test_a_file_that_is_no_text_is_stale_and_no_error(folder: Path) -> None:
    (folder / "a.mmd").write_bytes(b"\xff\n")
    assert "+one\n" in drift({"a.mmd": "one\n"}, folder)


def test_files_come_in_the_order_of_their_names(folder: Path) -> None:
    keep(folder, b__mmd="b\n", d__mmd="d\n")
    found = drift({"c.mmd": "c\n", "a.mmd": "a\n"}, folder)
    assert [line for line in found.splitlines() if line in ("+a", "-b", "+c", "-d")] == ["+a", "-b", "+c", "-d"]
