"""The names of tools as models write them: repaired where they can be no other's, else answered with those near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.naming import meant, nearest

KNOWN = ("read_file", "write_file", "search", "finish")


@pytest.mark.parametrize(
    "name",
    [
        "read_file",
        "Read_File",
        "readFile",
        "read-file",
        "read.file",
        "READFILE",
        "functions.read_file",
        "default_api:read_file",
        "files__readFile",
        "mcp__files__read_file",
        "a/b/read_file",
        " read_file ",
    ],
)
def test_a_name_that_is_wrong_in_form_alone_is_the_tools(name: str) -> None:
    assert meant(name, KNOWN) == "read_file"


@pytest.mark.parametrize(
    "name", ["read_files", "reads_file", "file", "", "_", "read_file2", "functions.", "x" * 100_000]
)
def test_any_other_name_is_no_tools(name: str) -> None:
    assert meant(name, KNOWN) is None


def test_a_name_that_may_be_two_tools_is_neither_and_one_written_exactly_is_that_one() -> None:
    known = ("get_it", "getIt", "other")
    assert meant("get-it", known) is None
    assert meant("get_it", known) == "get_it"
    assert meant("getIt", known) == "getIt"
    assert meant("server.getIt", known) is None


def test_a_name_with_a_mark_in_it_of_its_own_is_not_cut() -> None:
    assert meant("Web__Search", ("web__search", "search")) == "web__search"


@pytest.mark.parametrize(
    ("name", "first"), [("read_flie", "read_file"), ("serch", "search"), ("writefiles", "write_file")]
)
def test_the_nearest_names_come_first(name: str, first: str) -> None:
    assert nearest(name, KNOWN)[0] == first


def test_a_name_that_is_near_nothing_has_none() -> None:
    assert nearest("quux", KNOWN) == ()


@given(st.text(max_size=300), st.lists(st.text(min_size=1, max_size=20), max_size=6))
def test_whatever_a_model_writes_it_means_a_tool_that_is_there_or_none(name: str, known: list[str]) -> None:
    assert meant(name, known) in (*known, None)
    assert set(nearest(name, known)) <= set(known)
    for one in known:
        assert meant(one, known) == one
