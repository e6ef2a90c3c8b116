from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.traces.json_text import JsonError, read_first, read_json, write_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
# Lone surrogates too, which st.text() leaves out.
ANY_TEXT = st.text(st.characters(exclude_categories=()))
VALUES = st.recursive(
    SCALARS | ANY_TEXT, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4)
)


@given(VALUES)
def test_a_value_that_is_written_is_read_as_it_was(value: Any) -> None:
    assert read_json(write_json(value)) == value


@given(VALUES)
def test_the_standard_library_reads_the_same(value: Any) -> None:
    text = json.dumps(value).encode()
    assert read_json(text) == json.loads(text)


@pytest.mark.parametrize(
    "number",
    [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**18, 10**19, 10**40],
)
def test_an_integer_on_either_side_of_64_bits_stays_one(number: int) -> None:
    value = read_json(str(number).encode())
    assert type(value) is int
    assert value == number
    assert write_json(value) == str(number).encode()


def test_a_lone_surrogate_survives_both_ways() -> None:
    assert read_json(rb'"a\ud800b"') == "a\ud800b"
    assert write_json("a\ud800b") == rb'"a\ud800b"'


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert read_json(rb'"\ud83d\ude00"') == "\U0001f600"


def test_long_numbers_inside_text_change_nothing() -> None:
    assert read_json(b'{"id": "12345678901234567890123", "x": 0.5}') == {"id": "12345678901234567890123", "x": 0.5}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"{", "no JSON at column 2"),
        (b'{\n"a": }', "no JSON at line 2, column 6"),
        (b"NaN", "NaN, which JSON does not have"),
        (b"-Infinity", "-Infinity, which JSON does not have"),
        (b"1e999", "a number too large"),
        (b'"\xff"', "not UTF-8, at byte 2"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5000, "more digits"),
    ],
)
def test_what_is_no_json_is_refused_in_words(text: bytes, found: str) -> None:
    with pytest.raises(JsonError, match=found):
        read_json(text)


def test_a_value_nested_too_deeply_is_refused_when_it_is_written() -> None:
    value: Any = 1
    for _ in range(5000):
        value = [value]
    with pytest.raises(JsonError, match="nested too deeply"):
        write_json(value)


def test_levels_that_orjson_refuses_are_written_all_the_same() -> None:
    value = read_json(b"[" * 300 + b"]" * 300)
    assert write_json(value) == b"[" * 300 + b"]" * 300


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_read_as_the_float_it_was(number: float) -> None:
    value = read_json(write_json(number))
    assert isinstance(value, float)
    assert value == number
    assert math.copysign(1, value) == math.copysign(1, number)


@pytest.mark.parametrize(
    ("text", "value", "end"),
    [
        ("{} x", {}, 2),
        ('"a\tb"', "a\tb", 5),
        ("12345678901234567890123 ", 12345678901234567890123, 23),
        ("[1]]", [1], 3),
    ],
)
def test_the_first_value_of_a_text_is_read_with_its_end(text: str, value: object, end: int) -> None:
    assert read_first(text) == (value, end)
    assert read_first("[" + text, 1) == (value, end + 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "text that is no JSON at column 1"),
        ('{"a": "b', "text that is no JSON at column 7"),
        ("[NaN]", "NaN, which JSON does not have"),
        ("[" * 100_000, "JSON that is nested too deeply"),
        ("9" * 5_000, "an integer of more digits than can be read"),
    ],
)
def test_a_first_value_that_cannot_be_read_is_named(text: str, found: str) -> None:
    with pytest.raises(JsonError, match=found):
        read_first(text)
