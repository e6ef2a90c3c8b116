"""Searches that find nothing, families that circle one topic, and tools that bring nothing new."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from machines.events import ErrorKind
from machines.manifest import Kind, Tool
from machines.policy import DEFAULT, only

from .incidents import FAMILIES, about, nothing_found, shell, work
from .told import Call, Happening, Verdict, told

SEARCH, FAMILY, FRUITLESS = "search_escalation", "family", "fruitless_tool"
FIND = {"find": Tool(kind=Kind.SEARCH)}


def alone(name: str, history: list[Happening], tools: Mapping[str, Tool]) -> list[Verdict]:
    return [one.short for one in told(history, detectors=only(DEFAULT.detectors, name), tools=tools)]


def answers(*values: object) -> list[Happening]:
    """Searches in words of their own, one after the other."""
    return [[("find", f'{{"q": "words {n}"}}', value)] for n, value in enumerate(values)]


# Fruitless is declared or measured.


NOTHING: list[object] = [
    "",
    "  \n",
    "[]",
    "{}",
    [],
    {},
    None,
    {"hits": 0},
    {"total_count": 0.0, "took": 3},
    '{"matches": 0}',
    {"results": []},
    {"results": [], "suggestions": []},
    ErrorKind.TRANSIENT,
    ErrorKind.OTHER,
]


@pytest.mark.parametrize("nothing", NOTHING, ids=repr)
def test_what_is_empty_or_counts_zero_or_fails_finds_nothing(nothing: object) -> None:
    assert alone(SEARCH, answers(*[nothing] * 6), FIND) == []
    assert alone(SEARCH, answers(*[nothing] * 7), FIND) == [(7, "nudge", SEARCH)]
    assert alone(SEARCH, answers(*[nothing] * 12), FIND)[-1] == (12, "stop", SEARCH)


SOMETHING: list[object] = [
    "No results found.",
    "0 results",
    "Nothing matches your query. Try other words.",
    "null",
    {"hits": 1},
    {"message": "not found"},
    {"results": [], "related": ["x"]},
    {"total": False},
    {"count": "0"},
    {"results": [{}]},
    0,
    ...,
]


@pytest.mark.parametrize("something", SOMETHING, ids=repr)
def test_wording_alone_and_what_nobody_saw_decide_nothing(something: object) -> None:
    assert alone(SEARCH, answers(*[something] * 20), FIND) == []


def test_a_tool_says_which_of_its_answers_mean_that_nothing_was_found() -> None:
    declared = {"find": Tool(kind=Kind.SEARCH, fruitless=("No results found.", {"status": "empty"}))}
    for nothing in ("No results found.", {"status": "empty"}, '{ "status": "empty" }'):
        assert alone(SEARCH, answers(*[nothing] * 7), declared) == [(7, "nudge", SEARCH)]
    assert alone(SEARCH, answers(*["no results found."] * 20), declared) == []


# Searches in a row.


def test_a_search_that_finds_something_clears_the_run_of_them_and_other_tools_do_not() -> None:
    nothing: dict[str, list[str]] = {"results": []}
    found = {"results": ["x"]}
    assert alone(SEARCH, answers(*[nothing] * 6, found, *[nothing] * 6), FIND) == []
    padded = [turn for n, turn in enumerate(answers(*[nothing] * 7)) for turn in (turn, work(n))]
    assert alone(SEARCH, padded, FIND) == [(13, "nudge", SEARCH)]


def test_searches_of_one_reply_count_each() -> None:
    batch = [nothing_found(n)[0] for n in range(7)]
    assert alone(SEARCH, [batch], FIND) == [(1, "nudge", SEARCH)]
    assert alone(SEARCH, [batch[:6]], FIND) == []


def test_two_search_tools_are_one_run_of_searches_and_a_tool_that_declares_nothing_is_none() -> None:
    both = [nothing_found(n, ("find", "grep")[n % 2]) for n in range(7)]
    tools = {**FIND, "grep": Tool(kind=Kind.SEARCH)}
    assert alone(SEARCH, [*both], tools) == [(7, "nudge", SEARCH)]
    assert alone(SEARCH, [*both] * 2, FIND) == [(12, "nudge", SEARCH)]
    assert alone(SEARCH, [*both] * 9, {}) == []


# Families and topics.


def lookups(*words: str, answer: str = "nothing of {}") -> list[Happening]:
    tools = list(FAMILIES)
    return [
        [(tools[n % 3], f'{{"q": "{word}"}}', {"answer": answer.format(n), "articles": []})]
        for n, word in enumerate(words)
    ]


def test_other_words_for_one_topic_are_one_topic() -> None:
    half = ("Lovelace Byron Ada", "ada BYRON poetry daughter", "Ada, née Byron", "byron / ada!", "Ada Byron letters")
    assert alone(FAMILY, lookups(*half[:4]), FAMILIES) == []
    assert alone(FAMILY, lookups(*half), FAMILIES) == [(5, "nudge", FAMILY)]


def test_another_topic_starts_afresh() -> None:
    history = lookups(*["Ada Byron"] * 4, "steam engines", *["Ada Byron"] * 4)
    assert alone(FAMILY, history, FAMILIES) == []


def test_a_topic_that_shares_less_than_half_is_another() -> None:
    assert alone(FAMILY, lookups(*["red fox den", "blue jay nest"] * 9), FAMILIES) == []
    assert alone(FAMILY, lookups(*["red fox den", "red fox hole"] * 3), FAMILIES) == [(5, "nudge", FAMILY)]


@pytest.mark.parametrize("figures", ["{}", "in {}", "on 3 May {}", "round {} of 9"])
def test_other_years_dates_and_numbers_are_other_topics_where_the_answers_differ(figures: str) -> None:
    years = [f"harvest yield {figures.format(1990 + n)}" for n in range(14)]
    assert alone(FAMILY, lookups(*years), FAMILIES) == []
    one_tool: list[Happening] = [[("lexicon", f'{{"q": "{year}"}}', {"articles": []})] for year in years]
    assert alone(FAMILY, one_tool, FAMILIES)[0][1:] == ("nudge", FAMILY)


def test_the_same_year_in_other_words_is_one_topic() -> None:
    assert alone(FAMILY, [about(n, "1843") for n in range(5)], FAMILIES) == [(5, "nudge", FAMILY)]


def test_a_new_source_clears_the_circle_and_an_old_one_does_not() -> None:
    source: list[Call] = [("papers", '{"q": "Ada Byron"}', {"articles": ["letters of 1843"]})]
    four = [about(n) for n in range(4)]
    assert alone(FAMILY, [*four, source, *[about(n + 9) for n in range(4)]], FAMILIES) == []
    old = [source, *four[:3], source, about(9)]
    assert alone(FAMILY, [*old], FAMILIES) == [(6, "nudge", FAMILY)]


def test_what_declares_no_family_is_in_none_and_two_families_are_two() -> None:
    history: list[Happening] = [about(n) for n in range(14)]
    assert alone(FAMILY, history, {}) == []
    apart = {
        name: Tool(kind=Kind.READ, family=family, topic=("q",))
        for name, family in zip(FAMILIES, ("one", "two", "three"), strict=True)
    }
    assert alone(FAMILY, history[:12], apart) == []
    assert alone(FAMILY, [about(3 * n) for n in range(5)], apart) == [(5, "nudge", FAMILY)]


def test_the_evidence_names_the_family() -> None:
    (nudge,) = told([about(n) for n in range(5)], detectors=only(DEFAULT.detectors, FAMILY), tools=FAMILIES)
    assert (nudge.values["family"], nudge.values["now"], nudge.values["stop"]) == ("people", 5, 12)


# Tools that bring nothing new.


def test_other_tools_do_not_hide_a_fruitless_one_and_it_is_named() -> None:
    history = [turn for n in range(8) for turn in (shell(n), work(n), shell(n, f"tool {n}"))]
    found = told(history, detectors=only(DEFAULT.detectors, FRUITLESS))
    assert [one.short for one in found] == [(13, "nudge", FRUITLESS), (22, "stop", FRUITLESS)]
    assert {one.values["tool"] for one in found} == {"shell"}


def test_many_calls_of_a_tool_in_one_turn_are_one_turn() -> None:
    batch = [call for n in range(9) for call in shell(n)]
    assert alone(FRUITLESS, [batch] * 4, {}) == []
    assert alone(FRUITLESS, [batch] * 5, {}) == [(5, "nudge", FRUITLESS)]


def test_one_success_among_failures_takes_their_wider_limits() -> None:
    failing: list[Happening] = [[("shell", f'{{"n": {n}}}', ErrorKind.OTHER)] for n in range(7)]
    assert alone(FRUITLESS, failing, {}) == []
    said: list[Call] = [("shell", '{"n": 99}', "all quiet")]
    assert alone(FRUITLESS, [said, *failing, said], {}) == [(9, "stop", FRUITLESS)]


def test_notes_and_thoughts_are_no_fruitless_tools() -> None:
    notes: list[Happening] = [[("jot", f'{{"n": {n}}}', "kept")] for n in range(40)]
    assert alone(FRUITLESS, notes, {"jot": Tool(scratch=True)}) == []
    assert alone(FRUITLESS, notes, {"jot": Tool(kind=Kind.THINK)}) == []
    assert alone(FRUITLESS, notes, {})[0] == (5, "nudge", FRUITLESS)
