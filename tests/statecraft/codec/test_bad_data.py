"""Bad data is an error that says where, what was found and what was expected; nothing is converted."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Literal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft.codec import BadData, Problem, codec


class Colour(Enum):
    RED = auto()
    BLUE = auto()


@attrs.frozen
class Call:
    id: str
    tries: int = 1


@attrs.frozen
class Text:
    text: str


def is_even(_: Any, field: Any, value: int) -> None:
    if value % 2:
        raise ValueError("is odd")


@attrs.frozen
class Even:
    number: int = attrs.field(validator=is_even)


@attrs.frozen
class Reply:
    calls: tuple[Call, ...]
    parts: tuple[Call | Text, ...] = ()
    by_name: Mapping[str, Call] = {}
    by_colour: Mapping[Colour, int] = {}
    colour: Colour = Colour.RED
    even: Even | None = None
    pair: tuple[int, str] = (0, "")
    kind: Literal["final", "partial"] = "final"
    usd: float | None = None


@attrs.frozen
class Budget:
    turns: int | None = 60
    tokens: int | None = None


@attrs.frozen
class Policy:
    budget: Budget = Budget()


CODEC = codec(Reply)
STRICT = codec(Policy, Call | Text, forbid_extra=True)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('{"calls": [{"id": 3}]}', "$.calls[0].id: found the number 3, expected text"),
        ('{"calls": [{}]}', "$.calls[0].id: found nothing, expected text"),
        ("{}", "$.calls: found nothing, expected a list"),
        ('{"calls": "abc"}', '$.calls: found the text "abc", expected a list'),
        ('{"calls": [[]]}', "$.calls[0]: found a list, expected an object (Call)"),
        ('{"calls": [{"id": "a", "tries": true}]}', "$.calls[0].tries: found true, expected an integer"),
        ('{"calls": [{"id": "a", "tries": "1"}]}', '$.calls[0].tries: found the text "1", expected an integer'),
        ('{"calls": [{"id": "a", "tries": 1.0}]}', "$.calls[0].tries: found the number 1.0, expected an integer"),
        ('{"calls": [], "usd": "1"}', '$.usd: found the text "1", expected a number or null'),
        ('{"calls": [], "usd": true}', "$.usd: found true, expected a number or null"),
        ('{"calls": [], "parts": [{"id": "a"}]}', "$.parts[0].is: found nothing, expected one of Call, Text"),
        (
            '{"calls": [], "parts": [{"is": "Txt"}]}',
            '$.parts[0].is: found the text "Txt", expected one of Call, Text (did you mean Text?)',
        ),
        ('{"calls": [], "parts": [{"is": "Text"}]}', "$.parts[0].text: found nothing, expected text"),
        ('{"calls": [], "by_name": {"a b": {}}}', '$.by_name["a b"].id: found nothing, expected text'),
        (
            '{"calls": [], "by_colour": {"RAD": 1}}',
            "$.by_colour.RAD: found the key RAD, expected one of RED, BLUE (did you mean RED?)",
        ),
        ('{"calls": [], "colour": 1}', "$.colour: found the number 1, expected one of RED, BLUE"),
        ('{"calls": [], "even": {"number": 3}}', "$.even: found an object, expected what Even accepts (is odd)"),
        ('{"calls": [], "pair": [1]}', "$.pair: found a list of 1, expected a list of 2"),
        ('{"calls": [], "pair": ["1", 2]}', '$.pair[0]: found the text "1", expected an integer; $.pair[1]'),
        ('{"calls": [], "kind": "finl"}', "expected one of final, partial (did you mean final?)"),
        ("[]", "$: found a list, expected an object (Reply)"),
        ("{", "$: found what is no JSON"),
        ('{"calls": NaN}', "$: found what is no JSON"),
    ],
)
def test_an_error_says_where_and_what_was_found_and_expected(data: str, said: str) -> None:
    with pytest.raises(BadData) as caught:
        CODEC.from_json(data, Reply)
    assert said in str(caught.value)


def test_all_problems_are_told_and_the_message_shows_the_first_five() -> None:
    with pytest.raises(BadData, match="and 2 more") as caught:
        CODEC.from_plain({"calls": [{"id": number} for number in range(7)]}, Reply)
    assert [problem.path for problem in caught.value.problems] == [f"$.calls[{number}].id" for number in range(7)]


def test_an_unknown_key_is_left_unread_unless_it_is_forbidden() -> None:
    assert CODEC.from_plain({"calls": [], "other": 1}, Reply) == Reply(())
    with pytest.raises(BadData) as caught:
        STRICT.from_plain({"budget": {"turn": 3}}, Policy)
    said = "$.budget.turn: found an unknown key, expected one of turns, tokens (did you mean turns?)"
    assert str(caught.value) == said


def test_the_name_of_a_class_is_no_unknown_key() -> None:
    assert STRICT.from_plain({"is": "Call", "id": "a"}, Call | Text) == Call("a")


def test_a_value_of_another_class_is_not_written_into_a_union() -> None:
    with pytest.raises(BadData, match="found a Budget, expected one of an object"):
        CODEC.to_plain(Budget(), Call | Text)


def test_what_is_no_json_is_not_written_into_an_untyped_field() -> None:
    with pytest.raises(BadData, match=r"^\$\.a\[1\]: found a object"):
        CODEC.to_plain({"a": [1, object()]}, Any)


names = st.sampled_from(["calls", "parts", "is", "id", "tries", "by_colour", "other"])
data: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=10,
)


@given(data)
def test_no_data_makes_any_other_error(data: Any) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        CODEC.from_plain(data, Reply)
    except BadData as error:
        problems = error.problems
    assert all(problem.path.startswith("$") for problem in problems)
