"""How values are spelled: the same wherever people read them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import Scalar
from statecraft.spelled import EXACT, SHOWN, scalar, spelled


def test_each_value_has_its_name_and_is_spelled_as_json_has_it() -> None:
    values: dict[str, Scalar] = {"now": 4, "failing": False, "tool": "search", "last": None, "used": 47.0}
    assert spelled(values) == 'now=4, failing=false, tool="search", last=null, used=47'
    assert spelled({}) == ""


@pytest.mark.parametrize(
    ("value", "shown"),
    [(EXACT - 1, "999999999999999"), (EXACT, "1e+15"), (0.1 + 0.2, "0.3"), (float("inf"), "inf"), (-0.0, "0")],
)
def test_a_float_is_told_plainly(value: float, shown: str) -> None:
    assert scalar(value) == shown


@given(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=40))
def test_every_other_value_is_json_on_one_line(value: Any) -> None:
    assert json.loads(scalar(value)) == value
    assert "\n" not in scalar(value)


@pytest.mark.parametrize(("letters", "cut"), [(SHOWN - 2, False), (SHOWN - 1, True)])
def test_a_long_text_is_cut(letters: int, cut: bool) -> None:
    assert scalar("x" * letters).endswith("...") is cut
