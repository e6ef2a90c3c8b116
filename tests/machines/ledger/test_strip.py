from __future__ import annotations

import json
from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.ledger.strip import DEEPEST, strip
from machines.ledger.volatile import MARK

# Texts are made of pieces that are volatile, come near to it, or meet at their seams.
pieces = st.sampled_from(
    [
        "2026-03-17T09:00:44Z", "Mar 17 09:00:44", "09:00:44", ".181", "+00", "took 12 ms", "in", " ", "3s",
        "(", ")", "12", "ms", "request_id", "=", ":", '"', "'", "b0ed-1", "pid", "1234", "ETag: W/", "ago",
        "5", "minutes", "at 0x7f3c2a1b00>", "==12==", "latency_ms=7", "duration",
        "550e8400-e29b-41d4-a716-446655440000", "id", "real\t0m0.1s", "<", ">", "~", MARK, "\n", "\0", "é",
        "_", "-", ".", "/", "[00:05<00:10, 7.1it/s]", "{", "}", "[", "]", ",", "\\", "\ud800", "2026-03-17",
        "x",
    ]
)  # fmt: skip
texts = st.lists(pieces, max_size=12).map("".join) | st.text(max_size=20)
names = st.sampled_from(["a", "b", "text", "request_id", "served_at", "latency_ms", "id", "kernel", "a.b", ""])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(names, inner, max_size=4)
        | st.dictionaries(names, inner, max_size=2).map(json.dumps)
    ),
    max_leaves=10,
)
paths = st.lists(st.sampled_from(["a", "b", "text", "a.b", "a.*", "*.a", "*", "*.*.b", "kernel.id", "0.a"]), max_size=3)


@given(texts)
def test_stripping_a_text_twice_is_as_once(text: str) -> None:
    once = strip(text)
    assert strip(once) == once


@given(values, paths, paths)
def test_stripping_a_value_twice_is_as_once(value: object, volatile: list[str], keep: list[str]) -> None:
    once = strip(value, volatile, keep)
    assert strip(once, volatile, keep) == once


@given(values)
def test_stripping_leaves_its_input_alone(value: object) -> None:
    before = repr(value)
    strip(value, ("a",), ("b",))
    assert repr(value) == before


@given(texts, texts)
def test_a_string_is_stripped_the_same_whatever_stands_beside_it(one: str, other: str) -> None:
    assert strip([one, other]) == [*strip_list([one]), *strip_list([other])]


def strip_list(value: list[object]) -> list[object]:
    return cast("list[object]", strip(value))


def stamp(number: int) -> str:
    return f"2026-03-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:{number // 7 % 60:02}.{number % 1000:03}Z"


VOLATILE: list[Callable[[int], tuple[str, object]]] = [
    lambda n: ("served_at", stamp(n)),
    lambda n: ("request_id", f"{n:x}"),
    lambda n: ("latency_ms", n % 1000),
    lambda n: ("etag", f'W/"{n:08x}"'),
    lambda n: ("timestamp", 1_700_000_000 + n),
    lambda n: ("session_id", f"s-{n}"),
    lambda n: ("pid", n),
]


@given(
    st.dictionaries(st.sampled_from(["state", "n", "text", "done"]), texts | st.integers(), max_size=4),
    st.lists(st.tuples(st.sampled_from(VOLATILE), st.integers(0, 10**6)), max_size=4),
)
def test_volatile_fields_put_into_an_answer_change_nothing(
    answer: dict[str, object], added: list[tuple[Callable[[int], tuple[str, object]], int]]
) -> None:
    assert strip({**answer, **dict(make(number) for make, number in added)}) == strip(answer)


@given(
    st.sampled_from(["at {} ok", "[{}] INFO x", "{} x=1\n{} y=2", "a {}"]), st.integers(0, 10**6), st.integers(0, 10**6)
)
def test_another_time_in_a_text_changes_nothing(form: str, one: int, other: int) -> None:
    assert strip(form.replace("{}", stamp(one))) == strip(form.replace("{}", stamp(other)))


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_another_count_beside_a_time_is_seen(one: int, other: int) -> None:
    form = "2026-03-17T09:00:44Z INFO {} of 1000001 done, took 3 ms"
    assert (strip(form.format(one)) == strip(form.format(other))) == (one == other)


def test_a_text_that_is_json_is_read() -> None:
    assert strip(' {"a": 1.0, "request_id": "x"}\n') == {"a": 1}
    assert strip('[{"pid": 3}]') == [{}]


@pytest.mark.parametrize("text", ["503", '"text"', "null", '{"a": 1', "[09:00:44]", "{a}", "[NaN]"])
def test_a_text_that_is_no_json_object_or_array_stays_a_text(text: str) -> None:
    assert isinstance(strip(text), str)


def test_json_inside_a_string_of_json_is_read() -> None:
    assert strip({"content": [{"text": '{"a": 1, "request_id": "x"}'}]}) == {"content": [{"text": {"a": 1}}]}


def test_strings_in_json_are_stripped_as_texts() -> None:
    assert strip({"log": "at 09:00:44 ok", "n": ["took 12 ms"]}) == {"log": f"at {MARK} ok", "n": [MARK]}
    assert strip({"log": "at 09:00:44 ok", "nul": "a\0b took 3 ms"}) == {"log": f"at {MARK} ok", "nul": f"a\0b {MARK}"}


def test_a_string_of_eight_characters_is_a_value_and_of_nine_a_text() -> None:
    assert strip({"departs": "09:00:00"}) == {"departs": "09:00:00"}
    assert strip({"departs": "09:00:00Z"}) == {"departs": MARK}
    assert strip("09:00:00") == MARK


def test_big_integers_and_lone_surrogates_survive() -> None:
    text = '{"n": 123456789012345678901234567890, "s": "\\ud800 took 3 ms", "served_at": "\\ud800"}'
    assert strip(text) == {"n": 123456789012345678901234567890, "s": f"\ud800 {MARK}", "served_at": "\ud800"}


def test_a_declared_name_goes_at_any_depth_whatever_its_value() -> None:
    value = {"cwd": "/tmp/run-0", "out": [{"cwd": None, "n": 1}, {"cwd": {"x": 1}}]}
    assert strip(value, ["cwd"]) == {"out": [{"n": 1}, {}]}


def test_a_declared_name_goes_in_a_text_too() -> None:
    assert strip("job 12 heartbeat=8812, state: ok", ["heartbeat"]) == f"job 12 {MARK}, state: ok"
    assert strip("job 12 heartbeat=8812, state: ok", ["beat", "heart.beat", "*"]) == "job 12 heartbeat=8812, state: ok"
    assert strip("a+b: 1", ["a+b"]) == MARK


def test_a_declared_path_goes_from_the_top_only() -> None:
    value = {"kernel": {"count": "0", "n": 1}, "count": 2, "in": {"kernel": {"count": 3}}}
    assert strip(value, ["kernel.count"]) == {"kernel": {"n": 1}, "count": 2, "in": {"kernel": {"count": 3}}}


def test_a_star_in_a_declared_path_is_every_item() -> None:
    value = {"items": [{"tag": 1, "n": 1}, {"tag": 2, "n": 2}], "tag": 3}
    assert strip(value, ["items.*.tag"]) == {"items": [{"n": 1}, {"n": 2}], "tag": 3}
    assert strip(value, ["items.1.tag"]) == {"items": [{"tag": 1, "n": 1}, {"n": 2}], "tag": 3}
    assert strip([{"a": 1}, {"a": 2}], ["*.a"]) == [{}, {}]


def test_a_declared_item_of_a_list_becomes_none_so_that_the_others_keep_their_place() -> None:
    assert strip({"row": [1, 2, 3]}, ["row.1"]) == {"row": [1, None, 3]}


def test_a_declared_path_leads_through_json_in_a_string() -> None:
    assert strip('{"a": "{\\"b\\": {\\"c\\": 1, \\"d\\": 2}}"}', ["a.b.c"]) == {"a": {"b": {"d": 2}}}


def test_what_is_kept_is_not_touched() -> None:
    value = {"served_at": "2026-03-17T09:00:44Z", "job": {"pid": 3, "latency_ms": 4, "log": "took 12 ms"}}
    assert strip(value, keep=["served_at"]) == {"served_at": "2026-03-17T09:00:44Z", "job": {"log": MARK}}
    assert strip(value, keep=["job"]) == {"job": value["job"]}
    assert strip(value, keep=["job.pid"]) == {"job": {"pid": 3, "log": MARK}}
    assert strip(value, keep=["pid"]) == {"job": {"log": MARK}}


def test_keep_comes_before_what_is_declared_volatile() -> None:
    value = {"kernel": {"count": 1, "id": 2, "sub": [{"x": 1, "y": 2}]}, "n": 3}
    assert strip(value, ["kernel"], ["kernel.count"]) == {"kernel": {"count": 1}, "n": 3}
    assert strip(value, ["kernel"], ["kernel.sub.*.x"]) == {"kernel": {"sub": [{"x": 1}]}, "n": 3}
    assert strip(value, ["kernel.count"], ["kernel"]) == value


def test_a_star_keeps_the_whole_value() -> None:
    assert strip("took 12 ms", keep=["*"]) == "took 12 ms"
    assert strip({"pid": 3}, ["pid"], ["*"]) == {"pid": 3}
    assert strip('{"pid": 3}', keep=["*"]) == {"pid": 3}


@pytest.mark.parametrize("value", [None, True, 3, 1.5])
def test_a_value_that_is_no_text_and_has_no_fields_stays(value: object) -> None:
    assert strip(value, ["a"]) is value


def test_what_lies_too_deep_stays_as_it_is() -> None:
    value: object = {"pid": 3}
    for _ in range(DEEPEST - 1):
        value = [value]
    assert repr(strip(value)).strip("[]") == "{}"
    assert repr(strip([value])).strip("[]") == "{'pid': 3}"


def test_a_name_longer_than_any_field_is_content() -> None:
    assert strip({"x" * 54 + "request_id": 1}) == {}
    assert strip({"x" * 55 + "request_id": 1}) == {"x" * 55 + "request_id": 1}
