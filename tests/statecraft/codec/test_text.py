"""JSON text is exact: lone surrogates, large integers, and only JSON is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft.codec import BadData, dump, load

text = st.text(st.characters(exclude_categories=()))
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)


def in_order(value: Any) -> Any:
    kind: Any = value.__class__
    if kind is dict:
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(one) for one in value] if kind is list else value


@given(values)
def test_what_was_written_is_read_back_exactly(value: Any) -> None:
    # As their representations, which tell 1 from 1.0 and from true.
    assert repr(load(dump(value))) == repr(in_order(value))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("\ud83d", b'"\\ud83d"'),
        ("a\udc00\u00e9\U0001f600", b'"a\\udc00\xc3\xa9\xf0\x9f\x98\x80"'),
        ("\ud83d\ude00", b'"\xed\xa0\xbd\xed\xb8\x80"'),
        ({"\ud83d": 1}, b'{"\\ud83d":1}'),
        (2**63 - 1, b"9223372036854775807"),
        (2**64, b"18446744073709551616"),
        (-(2**63) - 1, b"-9223372036854775809"),
    ],
)
def test_what_the_fast_writer_refuses_is_written_all_the_same(value: Any, written: bytes) -> None:
    assert dump(value) == written
    assert load(written) == value
    assert type(load(written)) is type(value)


@given(st.integers(min_value=10**17, max_value=10**22), st.sampled_from(["%d", "-%d", "[%d]", '{"a": %d}', "[1,\n%d]"]))
def test_a_large_integer_is_never_made_a_float(number: int, around: str) -> None:
    assert str(number) in repr(load((around % number).encode()))


@pytest.mark.parametrize(
    "value",
    [{1: 2}, {"a": [{True: 1}]}, {"a": {1, 2}}, object(), [float("nan"), "\ud800"], pytest.param(10**5000, id="huge")],
)
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(BadData, match="cannot be written as JSON"):
        dump(value)


@pytest.mark.parametrize("data", [b"", b"{", b"NaN", b"[1,]", b'"\xff"', b"[" * 100_000, b"\xef\xbb\xbf{}", "{'a': 1}"])
def test_only_json_is_read(data: bytes | str) -> None:
    with pytest.raises(BadData, match="is no JSON"):
        load(data)
