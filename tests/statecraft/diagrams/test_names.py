"""Names as text and as identifiers."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from statecraft.diagrams.names import Identifiers, shown


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("OPEN", "OPEN"),
        ("two words", "two words"),
        ("日本", "日本"),
        ("a\nb", "a\\nb"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
        ("", "''"),
        ("  ", "'  '"),
    ],
)
def test_what_does_not_print_is_shown_as_an_escape(name: str, text: str) -> None:
    assert shown(name) == text


@given(st.text())
def test_a_shown_name_is_one_line_that_can_be_encoded(name: str) -> None:
    text = shown(name)
    assert text.isprintable()
    assert text.strip()
    assert text.encode().decode() == text


def test_a_plain_name_is_its_own_identifier() -> None:
    assert Identifiers().take("ASKING_2") == "ASKING_2"


@pytest.mark.parametrize(
    "name",
    ["state", "END", "note", "Default", "subgraph", "root", "start", "start1", "hall_start", "x_end", "divider_3"],
)
def test_a_word_of_the_languages_is_nobodys_identifier(name: str) -> None:
    assert Identifiers().take(name) == f"{name}_s"


@pytest.mark.parametrize("name", ["starter", "ended", "restart", "stated"])
def test_a_name_that_only_looks_like_such_a_word_stays(name: str) -> None:
    assert Identifiers().take(name) == name


def test_names_that_come_out_alike_are_told_apart() -> None:
    free = Identifiers()
    assert [free.take(name) for name in ("a b", "a_b", "A-B", "a_b_2")] == ["a_b", "a_b_2", "A_B_3", "a_b_2_2"]


@given(st.lists(st.text()))
def test_every_identifier_is_plain_and_taken_once(names: list[str]) -> None:
    free = Identifiers()
    taken = [free.take(name) for name in names]
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", one) for one in taken)
    assert len({one.lower() for one in taken}) == len(taken)
