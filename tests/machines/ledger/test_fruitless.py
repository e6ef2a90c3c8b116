"""Whether an answer says that nothing was found: as declared, or measured; never by its words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.ledger.fruitless import COUNTS, finds_nothing

NOTHING: list[object] = [
    "", " \n\t", None, [], {}, "[]", " {} ", '{"hits": 0}', {"hits": 0}, {"hits": 0.0}, {"hits": -0.0}, {"Hits": 0},
    {"TOTAL_COUNT": 0}, {"results": []}, {"results": [], "others": []}, {"results": [], "query": "x", "took": 3},
    '{"results": [], "query": "x"}', {"hits": 0, "results": ["beside the point"]},
]  # fmt: skip
SOMETHING: list[object] = [
    "No results.", "0 results", "null", "0", "not found", "[", '{"hits": 0', "{}x", 0, 1, False, True, [0], [[]],
    [None], {"hits": 1}, {"hits": False}, {"hits": "0"}, {"hits": None}, {"hits": [1]}, {"a": 0}, {"results": {}},
    {"results": [1], "others": []}, {"inner": {"hits": 0}}, {"error": "nothing found"},
]  # fmt: skip


@pytest.mark.parametrize("value", NOTHING, ids=repr)
def test_an_empty_collection_or_a_zero_count_finds_nothing(value: object) -> None:
    assert finds_nothing(value)


@pytest.mark.parametrize("value", SOMETHING, ids=repr)
def test_words_and_whatever_else_find_something(value: object) -> None:
    assert not finds_nothing(value)


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_every_count_is_read_by_its_own_name_and_no_other(name: str) -> None:
    assert finds_nothing({name: 0, "more": "text"})
    assert not finds_nothing({name: 1})
    assert not finds_nothing({f"{name}_x": 0})


@pytest.mark.parametrize("value", SOMETHING, ids=repr)
def test_what_a_tool_declares_finds_nothing_in_any_spelling(value: object) -> None:
    assert finds_nothing(value, ["something else", value])
    if not isinstance(value, str):
        assert finds_nothing(value, [json.loads(json.dumps(value))])
    if type(value) in (dict, list):
        assert finds_nothing(json.dumps(value, indent=2), [value])


def test_only_the_whole_of_it_is_what_was_declared() -> None:
    declared: list[object] = ["No results.", {"status": "none"}, 0]
    near: list[object] = ["no results.", "No results. Try again.", {"status": "none", "more": 1}, 0.5, False, "0"]
    assert [value for value in near if finds_nothing(value, declared)] == []
    exact: list[object] = ["No results.", {"status": "none"}, '{"status":"none"}', 0.0]
    assert [value for value in exact if not finds_nothing(value, declared)] == []


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=6), inside, max_size=3),
    max_leaves=8,
)


@given(value=json_values)
def test_a_collection_is_read_the_same_as_a_text_of_it(value: Any) -> None:
    if type(value) in (dict, list):
        assert finds_nothing(json.dumps(value)) == finds_nothing(value)
    assert finds_nothing(value, [value])


@given(text=st.text(min_size=1).filter(lambda text: text.strip() and text.lstrip()[0] not in "{["))
def test_no_wording_says_that_nothing_was_found(text: str) -> None:
    assert not finds_nothing(text)


@pytest.mark.parametrize("beside", ["warnings", "Errors", "suggestions", "notes", "labels"])
def test_a_list_that_stands_beside_the_findings_says_nothing_of_them(beside: str) -> None:
    assert finds_nothing({"results": [], beside: ["try other words"]})
    assert not finds_nothing({"results": ["one"], beside: []})


@pytest.mark.parametrize("name", ["notes", "messages", "tags", "Labels"])
def test_where_no_other_list_is_these_are_what_was_found(name: str) -> None:
    assert finds_nothing({name: []})
    assert not finds_nothing({name: ["one"]})
    assert finds_nothing({name: [], "warnings": ["slow"]})
