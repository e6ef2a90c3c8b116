from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.ledger.signature import signature

# High surrogates only: two halves side by side are one character once they are escaped.
any_text = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\ud800\ud83d"), max_size=30)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


def reordered(text: str) -> object:
    return json.loads(text, object_pairs_hook=lambda pairs: dict(reversed(pairs)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":2}', '{"b":2,"a":1}'),
        ('{"a":{"c":[{"y":1,"x":2}]}}', '{"a":{"c":[{"x":2,"y":1}]}}'),
        ('{"a":1}', ' {\n "a" :\t1 } '),
        ('{"a":1}', '{"a":1.0}'),
        ('{"a":1}', '{"a":1e0}'),
        ('{"a":1}', '{"a":10E-1}'),
        ('{"a":[0,0]}', '{"a":[-0,-0.0]}'),
        ("1.0", "1"),
        ("[1.50]", "[1.5]"),
        ("[1e20]", "[100000000000000000000]"),
        ("[1e308]", "[1" + "0" * 308 + ".0]"),
        ("[123456789012345678901234567890.0]", "[123456789012345678901234567890]"),
        ('["\\u00e9"]', '["é"]'),
        ('{"a":0,"a":1}', '{"a":1}'),
        ('{"k":"\\ud800","n":1.0}', '{"n":1,"k":"\\uD800"}'),
    ],
)
def test_arguments_that_say_the_same_have_one_signature(one: str, other: str) -> None:
    assert signature("t", one) == signature("t", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":"1"}', '{"a":1}'),
        ('{"a":true}', '{"a":1}'),
        ('{"a":null}', "{}"),
        ("[1,2]", "[2,1]"),
        ("[1,[2]]", "[[1],2]"),
        ("[1.5]", "[1.25]"),
        ("[9007199254740993]", "[9007199254740992]"),
        ("[9007199254740993.0]", "[9007199254740992.0]"),
        ("[18446744073709551616]", "[18446744073709551617]"),
        ("[-9223372036854775809]", "[-9223372036854775810]"),
        ("[123456789012345678901234567890]", "[123456789012345678901234567891]"),
        ("[1e308]", "[1e307]"),
        ("[1e309]", "[1e310]"),
        ("[1e309]", "[1e309 ]"),  # beyond a double's exponent a number is not read, and the text itself counts
        ('["\\ud800"]', '["\\ud801"]'),
        ('["\\ud800"]', '["\\\\ud800"]'),
        ('["\ud800"]', '["?"]'),
        ('["é"]', '["e\u0301"]'),
        ('{"é":1}', '{"e\u0301":1}'),
        ('{"a":1}', '{"a":1'),
        ('["0x10000000000000000"]', "[18446744073709551616]"),
        ("", '""'),
        ("NaN", "null"),
        ("[Infinity]", "[null]"),
        ("ab", "a b"),
    ],
)
def test_arguments_that_say_something_else_have_another_signature(one: str, other: str) -> None:
    assert signature("t", one) != signature("t", other)


def test_a_lone_surrogate_means_the_same_as_a_character_and_as_an_escape() -> None:
    assert signature("t", '["\ud800"]') == signature("t", '["\\ud800"]')


def test_the_tool_is_part_of_the_signature() -> None:
    assert signature("read", "{}") != signature("write", "{}")
    assert signature("a", "x") != signature("ax", "")
    assert signature("a\0x", "1") != signature("x", '1\0"a"')


def test_a_signature_has_eight_bytes() -> None:
    assert len(signature("t", "{}")) == len(signature("t", "no JSON")) == 8


@pytest.mark.parametrize("depth", [254, 255, 1024, 1025, 5000])
def test_nesting_is_no_error_at_any_depth(depth: int) -> None:
    one, other = "[" * depth + "1.0" + "]" * depth, "[" * depth + "2.0" + "]" * depth
    assert signature("t", one) != signature("t", other)


@pytest.mark.parametrize("digits", [3999, 4000, 4001, 10_000])
def test_a_number_is_no_error_at_any_length(digits: int) -> None:
    assert signature("t", "7" * digits) != signature("t", "7" * (digits - 1) + "8")
    assert signature("t", f"1e{digits}") != signature("t", f"1e{digits + 1}")
    assert len(signature("t", "1e" + "9" * digits)) == 8


@given(any_text, any_text)
def test_no_text_raises(tool: str, args: str) -> None:
    assert len(signature(tool, args)) == 8


@given(json_values)
def test_key_order_and_white_space_do_not_matter(value: object) -> None:
    assert signature("t", json.dumps(value)) == signature("t", json.dumps(reordered(json.dumps(value)), indent=2))


@given(json_values)
def test_escapes_do_not_matter(value: object) -> None:
    assert signature("t", json.dumps(value)) == signature("t", json.dumps(value, ensure_ascii=False))


@given(st.integers(), st.integers(0, 5))
def test_the_form_of_a_whole_number_does_not_matter(number: int, zeros: int) -> None:
    plain = signature("t", f'{{"n":[{number},"x"]}}')
    assert plain == signature("t", f'{{"n":[{number}.{"0" * (zeros + 1)},"x"]}}')
    digits = f"{number}{'0' * zeros}" if number else "0"  # JSON knows no leading zero
    assert plain == signature("t", f'{{"n":[{digits}e-{zeros},"x"]}}')


@given(json_values, json_values)
def test_two_values_have_one_signature_only_where_they_are_one(one: object, other: object) -> None:
    same = exactly(json.dumps(one)) == exactly(json.dumps(other))
    assert (signature("t", json.dumps(one)) == signature("t", json.dumps(other))) == same


def exactly(text: str) -> str:
    """What the standard library writes for the value once its whole doubles are ints."""

    def number(literal: str) -> float:
        value = float(literal)
        return int(value) if value.is_integer() else value

    return json.dumps(json.loads(text, parse_float=number), sort_keys=True)


def test_signatures_are_the_same_in_every_process(root: Path) -> None:
    code = (
        "from machines.ledger.signature import signature;"
        "from machines.ledger.digest import result_digest;"
        """print(signature("t", '{"b":[1.0,"x"],"a":{"z":1,"y":2}}').hex(),"""
        """result_digest({"b": "took 3 ms", "a": [1]}, "timeout", ("x", "y.z"), ("a",)).hex())"""
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=root,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(seen) == 1
    assert seen != {"\n"}
