"""What was cut off is told from what is garbled: every beginning of an object is one, and nothing else is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.ledger.prefix import is_cut_off

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=4), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_proper_beginning_of_an_object_is_cut_off_and_the_whole_is_not(
    value: dict[str, object],
    ascii_: bool,
    wide: bool,
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_, indent=1 if wide else None)
    assert not is_cut_off(text)
    for end in range(1, len(text)):
        assert is_cut_off(text[:end]), text[:end]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "[1, 2",
        '"words',
        "tru",
        '{"a": 1}}',
        '{"a": 1} and more',
        '{"a" 1, "b": 2',
        '{"a" 1',
        '{"a": 1, tru',
        '{"a": 1 2',
        '{"a": 1 "b": 2',
        "{a: 1",
        '{"a": [1, 2}, "b',
        '{"a": nope, "b',
        '{"a": \'b',
        "Sure! {",
        '{"a": 1,, ',
        '{"a": tru, "b": 1',
    ],
)
def test_what_is_garbled_or_no_object_was_not_cut_off(text: str) -> None:
    assert not is_cut_off(text)


@pytest.mark.parametrize(
    "text", ['{"a": "b\\', '{"a": "b\\\\', '{"a": "b\\u12', '{"a": "b\\"', '{"a\\u', '{"a": "\\\\u12']
)
def test_an_escape_may_be_cut_in_two(text: str) -> None:
    assert is_cut_off(text)


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    assert is_cut_off('{"a": "' + "x" * 1_000_000)
    assert not is_cut_off('{"a": ' + "[" * 500 + "}")
    assert is_cut_off('{"a": ' + "[" * 500)
