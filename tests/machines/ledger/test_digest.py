from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.ledger.digest import result_digest

words = st.text("abcxyz ", max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=10,
)
ticks = st.integers(0, 59)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}),
        ({"a": 1, "b": 2}, ' { "b": 2, "a": 1e0 } '),
        ({"n": 1 << 70}, '{"n": 1180591620717411303424}'),
        ("took 3 ms", "took 4 ms"),
        ({"at": {"pid": 3, "n": 1}}, {"at": {"pid": 4, "n": 1}}),
        ({"state": "ok"}, {"state": "ok", "request_id": "b0ed"}),
    ],
)
def test_answers_that_say_the_same_have_one_digest(one: object, other: object) -> None:
    assert result_digest(one, None) == result_digest(other, None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("503", 503),
        ("null", None),
        ("", None),
        ("[1", "[1]"),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": "1"}),
        ({"a": None}, {}),
        ({"n": 1 << 70}, {"n": (1 << 70) + 1}),
        ({"s": "\ud800"}, {"s": "\ud801"}),
        ("é", "e\u0301"),
        ("took 3 ms", "took 3 msgs"),
        ({"finished_at": None}, {"finished_at": "2026-03-17T09:00:44Z"}),
        ({"jobs": "1/4"}, {"jobs": "2/4"}),
        ("2026-03-17", "2026-03-18"),
    ],
)
def test_answers_that_say_something_else_have_another_digest(one: object, other: object) -> None:
    assert result_digest(one, None) != result_digest(other, None)


def test_the_class_of_the_error_is_part_of_the_digest() -> None:
    digests = {result_digest("x", error) for error in (None, "", "timeout", "business", "3:x")}
    assert len(digests) == 5
    assert result_digest("x", "timeout") == result_digest("x", "timeout")
    assert result_digest("b", "a") != result_digest("", "ab")


def test_what_is_declared_is_left_out_and_what_is_kept_stays() -> None:
    one, other = {"n": 1, "cwd": "/a", "pid": 1}, {"n": 1, "cwd": "/b", "pid": 2}
    assert result_digest(one, None) != result_digest(other, None)
    assert result_digest(one, None, ["cwd"]) == result_digest(other, None, ["cwd"])
    assert result_digest(one, None, ["cwd"], ["pid"]) != result_digest(other, None, ["cwd"], ["pid"])
    assert result_digest("took 3 ms", None, (), ["*"]) != result_digest("took 4 ms", None, (), ["*"])


def test_a_digest_has_eight_bytes() -> None:
    assert len(result_digest("x", None)) == len(result_digest({}, "e")) == 8


@pytest.mark.parametrize("depth", [99, 100, 101, 254, 255, 1024, 1025, 3000])
def test_nesting_is_no_error_at_any_depth(depth: int) -> None:
    def nested(leaf: object) -> object:
        for _ in range(depth):
            leaf = [leaf]
        return leaf

    assert result_digest(nested(1), None) != result_digest(nested(2), None)
    assert result_digest("[" * depth + "1" + "]" * depth, None) != result_digest("[" * depth + "2" + "]" * depth, None)


@given(values)
def test_key_order_and_spelling_do_not_matter(value: object) -> None:
    backwards = json.loads(json.dumps(value), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert result_digest({"v": value}, None) == result_digest({"v": backwards}, None)
    assert result_digest({"v": value}, None) == result_digest(json.dumps({"v": value}, indent=1), None)


@given(values, values)
def test_two_different_answers_have_two_digests(one: object, other: object) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (result_digest([one], None) == result_digest([other], None)) == same


@given(words, ticks, ticks, st.integers(0, 999))
def test_a_log_line_differs_by_what_it_says_and_not_by_when(said: str, minute: int, second: int, took: int) -> None:
    form = "2026-03-17 09:{:02}:{:02},{:03} INFO [pid {}] request_id=a{} {}: took {} ms"
    one = form.format(minute, second, took, took + 1, took, said, took)
    assert result_digest(one, None) == result_digest(form.format(0, 0, 0, 1, 0, said, 1), None)
    assert result_digest(one, None) != result_digest(one.replace(f" {said}:", f" {said}!:"), None)
