from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.agent.providers.exact import NotJson, object_text, pieces, read, read_text, written

EXAMPLES = settings(max_examples=100, deadline=None)  # a slow machine is no failure
ANY_TEXT = st.text(st.characters(exclude_categories=()))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
# Every way of spelling a value that the standard library has.
SPELLINGS = st.fixed_dictionaries(
    {
        "indent": st.none() | st.integers(0, 3),
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :\t")]),
    }
)


def is_surrogate(letter: str) -> bool:
    return 0xD800 <= ord(letter) <= 0xDFFF


@EXAMPLES
@given(VALUES)
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    assert read(written(value))[1] == value


@EXAMPLES
@given(VALUES, SPELLINGS)
def test_it_is_read_as_the_standard_library_reads_it(value: Any, spelling: Any) -> None:
    assert read_text(json.dumps(value, **spelling)) == value


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**40])
def test_whole_numbers_on_either_side_of_64_bits_stay_whole(number: int) -> None:
    value = read(b'{"id":%d}' % number)[1]
    assert value == {"id": number}
    assert written(value) == b'{"id":%d}' % number


@pytest.mark.parametrize("digits", [4_000, 4_001, 100_000])
def test_a_whole_number_of_any_length_is_read_by_somebody(digits: int) -> None:
    text = "[" + "9" * digits + "]"
    assert read_text(text) == ([int("9" * digits)] if digits <= 4_000 else ["9" * digits])
    assert pieces(text, (None,)) == ["9" * digits]


@EXAMPLES
@given(ANY_TEXT)
def test_nothing_that_is_written_holds_a_lone_surrogate(text: str) -> None:
    value = json.loads(written({"text": text}))["text"]
    assert not any(is_surrogate(letter) for letter in value)
    if not any(is_surrogate(letter) for letter in text):
        assert value == text


@pytest.mark.parametrize("leaf", [0, 2**70])
@pytest.mark.parametrize("levels", [254, 255])
def test_a_value_is_written_to_a_depth(levels: int, leaf: int) -> None:
    value: object = leaf
    for _ in range(levels):
        value = [value]
    if levels == 254:
        assert written(value) == b"[" * levels + b"%d" % leaf + b"]" * levels
    else:
        with pytest.raises(NotJson, match="nested too deeply"):
            written(value)


def test_a_lone_surrogate_is_read_and_leaves_as_the_replacement_character() -> None:
    assert read(b'["a\\ud800b"]')[1] == ["a\ud800b"]
    assert written(["a\ud800b", 2**70]) == '["a\ufffdb",1180591620717411303424]'.encode()
    assert written("\ud83d\ude00") == '"😀"'.encode()


@pytest.mark.parametrize("text", ['{"a": "line\nline"}', '{"a": "tab\tx"}'])
def test_raw_control_characters_inside_strings_are_accepted(text: str) -> None:
    assert read_text(text) == json.loads(text, strict=False)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no JSON at line 1, column 1"),
        (b"<html>", "no JSON at line 1, column 1"),
        (b'{"a":', "no JSON at line 1, column 6"),
        (b'{"a":1} x', "no JSON at line 1, column 9"),
        (b'["\xff"]', "bytes that are not UTF-8, at byte 3"),
        (b"[" * 100_000, "JSON that is nested too deeply"),
    ],
)
def test_what_is_no_json_is_said(data: bytes, why: str) -> None:
    with pytest.raises(NotJson, match=why):
        read(data)


@EXAMPLES
@given(OBJECTS, SPELLINGS)
def test_an_object_goes_out_byte_for_byte(value: dict[str, Any], spelling: Any) -> None:
    text = json.dumps(value, **spelling)
    assert object_text(text) == text.encode()


@pytest.mark.parametrize("text", ["", "[]", '"x"', "1", "null", "{", '{"a":1}}', "{'a':1}", '{"a":1,}'])
def test_what_is_no_object_is_none(text: str) -> None:
    assert object_text(text) is None


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ('{"id": 12345678901234567890123}', b'{"id": 12345678901234567890123}'),
        ('{"a":1,"a":2}', b'{"a":1,"a":2}'),
        ('{"a": "x\ny"}', b'{"a":"x\\ny"}'),
        ('{"a": "\\ud800"}', '{"a":"\ufffd"}'.encode()),
        ('{"a": "\ud800"}', '{"a":"\ufffd"}'.encode()),
        ('{"a": "\\ud83d\\ude00"}', b'{"a": "\\ud83d\\ude00"}'),
    ],
)
def test_an_object_is_changed_only_where_a_strict_parser_would_refuse_it(text: str, sent: bytes) -> None:
    assert object_text(text) == sent


@EXAMPLES
@given(st.lists(OBJECTS, max_size=4), SPELLINGS, VALUES)
def test_pieces_are_the_text_as_it_was_received(inputs: list[Any], spelling: Any, noise: Any) -> None:
    texts = [json.dumps(value, **spelling) for value in inputs]
    other = json.dumps(noise)
    blocks = (f'{{ "id": {other} , "input" : {text} , "x": {other}}}' for text in texts)
    body = f' {{"usage": {other}, "content" : [ {" , ".join(blocks)} ] }} '
    assert pieces(body, ("content", None, "input")) == texts


def test_of_a_name_given_twice_the_last_one_holds() -> None:
    assert pieces('{"content": 1, "content": [{"input": 1, "input": {"b": 2}}]}', ("content", None, "input")) == [
        '{"b": 2}'
    ]


@pytest.mark.parametrize("body", ["[]", "{}", '{"content": 1}', '{"content": {}}', '{"content": []}'])
def test_where_there_is_no_such_place_there_are_no_pieces(body: str) -> None:
    assert pieces(body, ("content", None, "input")) == []


def test_an_element_without_the_member_keeps_its_place() -> None:
    assert pieces('{"content": [{"a": 1}, 7, {"input": {}}]}', ("content", None, "input")) == [None, None, "{}"]
