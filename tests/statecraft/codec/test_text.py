"""JSON text is exact: lone surrogates, large integers, and only JSON is read."""

from __future__ import annotations

import sys
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


LARGE = "a number that is not too large to be read"


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (b"1e999", ["$: found the number 1e999"]),
        (b"-1E+0999", ["$: found the number -1E+0999"]),
        (b"1.8e308", ["$: found the number 1.8e308"]),
        (b"[1,-1e309]", ["$[1]: found the number -1e309"]),
        (b'{"a":{"b c":[1e400]},"d":1e400}', ['$.a["b c"][0]: found the number 1e400', "$.d: found the number 1e400"]),
        (b"[12345678901234567890,1e400]", ["$[1]: found the number 1e400"]),
        (b"2" * 309 + b".5", [f"$: found the number {'2' * 24}..., of 311 characters"]),
        (b"1" * 4301, [f"$: found the number {'1' * 24}..., of 4301 characters"]),
        (b'{"a":1e999,"a":2}', ["$: found the number 1e999"]),
        (b"[" * 900 + b"1e999" + b"]" * 900, [f"${'[0]' * 900}: found the number 1e999"]),
    ],
    ids=lambda one: "" if isinstance(one, list) else one[:16].decode(),
)
def test_a_number_that_is_too_large_is_refused_with_the_path_to_it(data: bytes, problems: list[str]) -> None:
    with pytest.raises(BadData) as caught:
        load(data)
    assert list(map(str, caught.value.problems)) == [f"{problem}, expected {LARGE}" for problem in problems]


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"1.7976931348623157e308", sys.float_info.max),
        (b"[-1.7976931348623157e+308]", [-sys.float_info.max]),
        (b"1" * 309 + b".0", float("1" * 309)),
        (b"9" * 4300, int("9" * 4300)),
        (b"1e-999", 0.0),
        (b'"1e999"', "1e999"),
        (b'["x 1e999",12345678901234567890,1e300]', ["x 1e999", 12345678901234567890, 1e300]),
    ],
    ids=lambda one: one[:16].decode() if isinstance(one, bytes) else "",
)
def test_a_number_that_is_just_not_too_large_is_read(data: bytes, value: Any) -> None:
    assert load(data) == value


def test_where_a_large_number_stands_in_what_is_no_json_that_is_said_instead() -> None:
    with pytest.raises(BadData, match=r"^\$: found what is no JSON \(Expecting"):
        load(b"[1e999")


@pytest.mark.parametrize("data", [b"", b"{", b"NaN", b"[1,]", b'"\xff"', b"[" * 100_000, b"\xef\xbb\xbf{}", "{'a': 1}"])
def test_only_json_is_read(data: bytes | str) -> None:
    with pytest.raises(BadData, match="is no JSON"):
        load(data)
