from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines._re2 import found, literal, pattern, replace, whole


def test_a_pattern_is_found_anywhere_and_is_whole_only_where_nothing_is_left() -> None:
    digits = pattern("[0-9]+")
    assert found(digits, b"a12b")
    assert not found(digits, b"ab")
    assert whole(digits, b"12")
    assert not whole(digits, b"12b")


def test_letters_match_in_any_case_but_where_the_pattern_says_otherwise() -> None:
    assert found(pattern("ab"), b"AB")
    assert not found(pattern("(?-i:ab)"), b"AB")


def test_each_match_is_replaced_leftmost_first() -> None:
    assert replace(pattern("[0-9]+"), b"1 and 22 and 3", b"N") == b"N and N and N"
    assert replace(pattern("a|ab"), b"abab", b"-") == b"-b-b"


def test_the_byte_of_context_stays() -> None:
    number = pattern(r"(?:^|[^\w.])[0-9]+\b")
    assert replace(number, b"12 x 3.4 (56) a7", b"N") == b"N x N.4 (N) a7"


def test_what_does_not_match_is_the_same_object() -> None:
    data = b"nothing here"
    assert replace(pattern("[0-9]"), data, b"N") is data


def test_bytes_of_a_letter_outside_ascii_are_no_part_of_a_word() -> None:
    assert replace(pattern(r"\b[0-9]+\b"), "é12é".encode(), b"N") == "éNé".encode()


def test_a_pattern_that_is_none_is_refused_with_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"pattern '\(a': .*\(a"):
        pattern("(a")


@given(st.text(max_size=20))
def test_a_literal_matches_its_own_text(text: str) -> None:
    assert whole(pattern(literal(text)), text.encode())


@given(st.text("ab1. (", max_size=30))
def test_replacing_is_what_the_standard_library_does(text: str) -> None:
    ours = replace(pattern("(?:a|b1|[0-9]+)"), text.encode(), b"<>")
    assert ours == re.sub("(?:a|b1|[0-9]+)", "<>", text).encode()
