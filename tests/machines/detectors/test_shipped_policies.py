"""The policies that ship, each on the examples of the design that it reproduces, re-told short."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.events import ErrorKind
from machines.manifest import Kind, Tool, Wait
from machines.policy import DEFAULT, Policy
from machines.policy_file import read_policy

Judge = Callable[..., list[tuple[int, str, str]]]
Turn = list[tuple[str, str, object]]

CALL_HASH, RESULT_AWARE, DISTINCT, FIRST_MATCH = (
    read_policy(Path(name)) for name in ("call-hash", "result-aware", "distinct-progress", "first-match")
)


def call(tool: str, about: object, answer: object) -> Turn:
    return [(tool, f'{{"about": "{about}"}}', answer)]


# call-hash: two runs that it reads backwards, and one that slips through.

BUILD = Tool(wait=Wait("status", ("queued", "running"), ("success", "failed"), 1200.0, 5.0))
DEPLOY = [
    call("get_build", 88, {"status": status, "jobs": jobs})
    for status, jobs in (("queued", "0/4"), ("running", "1/4"), ("running", "1/4"))
]
DOCS = [
    call("search_docs", words, "0 results")
    for words in ("refunds", "refunds, yearly plans", "rules for refunds of a year", "how are yearly plans refunded")
]
EDITS = [
    call("edit", "add the check at line 40", "edited"),
    call("test", "all, quietly", "1 failed: no such table"),
    call("edit", "take the check at line 40 away", "edited"),
    call("test", "all, with output", "1 failed: no such table"),
    call("edit", "add the check at line 40", "edited"),
    call("test", "all, quietly", "1 failed: no such table"),
]


def test_call_hash_calls_a_poll_a_loop_though_its_answer_moves(judge: Judge) -> None:
    assert judge(DEPLOY, policy=CALL_HASH) == [(2, "stop", "spread_duplicate")]
    assert judge(DEPLOY, policy=CALL_HASH, tools={"get_build": BUILD}) == [(2, "stop", "spread_duplicate")]
    assert judge(DEPLOY, policy=DEFAULT) == []


def test_call_hash_sees_no_loop_in_ever_other_words_for_the_same_nothing(judge: Judge) -> None:
    assert judge(DOCS, policy=CALL_HASH) == []
    assert judge(DOCS, policy=DEFAULT) == [(4, "nudge", "no_progress")]


def test_call_hash_lets_an_edit_slip_through_that_is_made_and_reverted(judge: Judge) -> None:
    assert judge(EDITS, policy=CALL_HASH) == []
    assert judge([*EDITS, *EDITS[2:4], *EDITS], policy=DEFAULT) != []


@pytest.mark.parametrize(("between", "expected"), [(2, [(4, "stop", "spread_duplicate")]), (3, [])])
def test_call_hash_looks_back_over_four_calls(judge: Judge, between: int, expected: list[Any]) -> None:
    again = call("read", "a", "found")
    others = [call("read", number, f"found {number}") for number in range(between)]
    assert judge([again, *others, again], policy=CALL_HASH) == expected


@pytest.mark.parametrize("answers", [("a", "b"), (ErrorKind.TRANSIENT, "b"), ("a", ErrorKind.TRANSIENT), (..., "b")])
def test_call_hash_looks_at_nothing_that_a_call_brings(judge: Judge, answers: tuple[object, object]) -> None:
    history = [call("read", "a", answer) for answer in answers]
    assert judge(history, policy=CALL_HASH) == [(2, "stop", "spread_duplicate")]


# result-aware: it warns, and never stops.


def rotation(length: int, laps: int, answer: str = "same") -> list[Turn]:
    return [call("read", page, f"{answer} {page}") for _ in range(laps) for page in range(length)]


def test_result_aware_warns_at_the_third_equal_answer_to_one_call(judge: Judge) -> None:
    search = call("search", "revenue of the third quarter", "12 million")
    assert judge([search] * 2, policy=RESULT_AWARE) == []
    assert judge([search] * 30, policy=RESULT_AWARE) == [(3, "nudge", "consecutive_duplicate")]
    failing = call("search", "revenue of the third quarter", ErrorKind.TRANSIENT)
    assert judge([failing] * 30, policy=RESULT_AWARE) == [(3, "nudge", "consecutive_duplicate")]


@pytest.mark.parametrize("length", [2, 3, 4])
def test_result_aware_warns_at_the_third_lap_of_up_to_four_calls(judge: Judge, length: int) -> None:
    warned = [(3 * length, "nudge", "cycle")]
    assert judge(rotation(length, 3)[:-1], policy=RESULT_AWARE) == []
    assert judge(rotation(length, 3), policy=RESULT_AWARE) == warned
    assert judge(rotation(length, 20), policy=RESULT_AWARE)[0] == warned[0]


def test_result_aware_sees_no_rotation_of_five(judge: Judge) -> None:
    assert judge(rotation(5, 8), policy=RESULT_AWARE) == []


def test_result_aware_does_not_count_a_test_whose_output_changes(judge: Judge) -> None:
    assert judge([call("test", "all", f"{n} failed") for n in range(9, 0, -1)], policy=RESULT_AWARE) == []


def test_result_aware_counts_a_poll_while_its_status_stays(judge: Judge) -> None:
    queued, running = (call("poll", "job", {"status": status}) for status in ("queued", "running"))
    assert judge([queued, queued, running, running], policy=RESULT_AWARE) == []
    assert judge([queued, queued, running, running, running], policy=RESULT_AWARE) == [
        (5, "nudge", "consecutive_duplicate")
    ]


def test_result_aware_never_stops_however_often_it_has_warned(judge: Judge) -> None:
    history = [turn for n in range(8) for turn in [call("read", n, "same")] * 3]
    found = judge(history, policy=RESULT_AWARE)
    assert found == [(turn, "nudge", "consecutive_duplicate") for turn in range(3, 25, 3)]


# distinct-progress: what is counted is how much distinct work there is, not how much was done.

PAGES = {"fetch": Tool(Kind.READ, source=("about",))}
SHELL = {"run": Tool(Kind.COMMAND)}
STALLED = "stalled_work"


def fetches(pages: str) -> list[Turn]:
    return [call("fetch", page, f"the text of {page}") for page in pages]


def test_distinct_progress_one_page_ten_times_is_one_page(judge: Judge) -> None:
    assert judge(fetches("AAAA"), policy=DISTINCT, tools=PAGES) == []
    assert judge(fetches("A" * 10), policy=DISTINCT, tools=PAGES) == [(5, "stop", STALLED)]


def test_distinct_progress_three_pages_in_turn_are_no_news_once_there_are_three(judge: Judge) -> None:
    assert judge(fetches("ABCABC"), policy=DISTINCT, tools=PAGES) == []
    assert judge(fetches("ABCABCABC"), policy=DISTINCT, tools=PAGES) == [(7, "stop", STALLED)]


def test_distinct_progress_a_page_not_read_before_is_news(judge: Judge) -> None:
    assert judge(fetches("ABCABCDABC"), policy=DISTINCT, tools=PAGES) == []
    assert judge(fetches("ABCABCDABCA"), policy=DISTINCT, tools=PAGES) == [(11, "stop", STALLED)]


def test_distinct_progress_a_command_that_fails_again_is_no_news(judge: Judge) -> None:
    again = [call("run", "npm test", ErrorKind.OTHER)] * 9
    assert judge(again[:4], policy=DISTINCT, tools=SHELL) == []
    assert judge(again, policy=DISTINCT, tools=SHELL) == [(5, "stop", STALLED)]
    other_words = [call("run", f"npm test {n}", ErrorKind.OTHER) for n in range(9)]
    assert judge(other_words, policy=DISTINCT, tools=SHELL) == [(5, "stop", STALLED)]


def test_distinct_progress_another_command_that_succeeds_is_news(judge: Judge) -> None:
    failing = call("run", "npm test", ErrorKind.OTHER)
    history = [failing, failing, failing, failing, call("run", "npm ci", "done"), failing, failing, failing]
    assert judge(history, policy=DISTINCT, tools=SHELL) == []
    assert judge([*history, failing], policy=DISTINCT, tools=SHELL) == [(9, "stop", STALLED)]


def test_distinct_progress_talk_without_a_call_has_a_guard_of_its_own(judge: Judge) -> None:
    assert judge([call("run", "ls", "a b c"), [], [], [], []], policy=DISTINCT) == [
        (4, "nudge", "monologue"),
        (5, "stop", "monologue"),
    ]


# first-match: duplicates at 3 and 5, failures with twice the room, and no word to a run that has just recovered.

BACK_TO_BACK, SPREAD = "consecutive_duplicate", "spread_duplicate"


def test_first_match_a_write_that_reports_success_is_told_at_three_and_stopped_at_four(judge: Judge) -> None:
    written = call("file_write", "notes.txt", "0 bytes written")
    assert judge([written] * 2, policy=FIRST_MATCH) == []
    assert judge([written] * 9, policy=FIRST_MATCH) == [(3, "nudge", BACK_TO_BACK), (4, "stop", BACK_TO_BACK)]


def test_first_match_failures_have_twice_the_room_and_stop_at_seven(judge: Judge) -> None:
    failing = call("get", "a", ErrorKind.TRANSIENT)
    assert judge([failing] * 5, policy=FIRST_MATCH) == []
    assert judge([failing] * 9, policy=FIRST_MATCH) == [(6, "nudge", BACK_TO_BACK), (7, "stop", BACK_TO_BACK)]


def spread(times: int, answer: object) -> list[Turn]:
    """One read, each with an edit after it that is another one."""
    return [turn for n in range(times) for turn in (call("read", "a", answer), call("edit", n, f"edit {n}"))]


def test_first_match_a_spread_duplicate_is_told_at_five_and_at_ten_where_it_fails(judge: Judge) -> None:
    by_spread = [v for v in judge(spread(5, "same"), policy=FIRST_MATCH) if v[2] == SPREAD]
    assert by_spread == [(9, "nudge", SPREAD)]
    assert [v for v in judge(spread(9, ErrorKind.TRANSIENT), policy=FIRST_MATCH) if v[2] == SPREAD] == []
    assert judge(spread(4, "same"), policy=FIRST_MATCH)[-1:] != [(9, "nudge", SPREAD)]


def test_first_match_three_equal_validation_errors_go_straight_to_a_stop(judge: Judge) -> None:
    refused = call("file_write", "", ErrorKind.VALIDATION)
    assert judge([refused] * 2, policy=FIRST_MATCH) == []
    assert judge([refused] * 9, policy=FIRST_MATCH) == [(3, "stop", "validation_error")]


def test_first_match_two_empty_thoughts_are_a_stop(judge: Judge) -> None:
    thought: Turn = [("think", "{}", "ok")]
    assert judge([thought] * 3, policy=FIRST_MATCH, tools={"think": Tool(Kind.THINK)}) == [(2, "stop", "empty_thought")]


@pytest.mark.parametrize(("last", "told"), [("done", []), (ErrorKind.TRANSIENT, [(6, "nudge", BACK_TO_BACK)])])
def test_first_match_says_nothing_to_a_run_that_has_just_recovered(judge: Judge, last: object, told: list[Any]) -> None:
    failing = call("get", "a", ErrorKind.TRANSIENT)
    assert judge([*[failing] * 5, call("get", "a", last)], policy=FIRST_MATCH) == told


def test_first_match_does_not_count_a_batch_against_the_turn_that_recovers(judge: Judge) -> None:
    failing, batch = call("get", "a", ErrorKind.TRANSIENT), call("get", "a", "done") * 3
    assert judge([failing, batch], policy=FIRST_MATCH) == []
    assert judge([call("get", "b", "other"), batch], policy=FIRST_MATCH) == [(2, "nudge", BACK_TO_BACK)]


def test_first_match_has_no_count_of_turns_of_the_run_as_a_whole(judge: Judge) -> None:
    alternating = [call(f"tool {n % 12}", n, "nothing") for n in range(36)]
    assert judge(alternating, policy=DEFAULT) != []
    assert judge(alternating, policy=FIRST_MATCH) == []


@pytest.mark.parametrize("policy", [CALL_HASH, RESULT_AWARE, DISTINCT, FIRST_MATCH])
def test_distinct_work_earns_no_verdict_under_any_of_them(judge: Judge, policy: Policy) -> None:
    assert judge([call("read", number, f"found {number}") for number in range(50)], policy=policy) == []
