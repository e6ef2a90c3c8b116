"""What a summariser is asked and shown, and the summary that needs no model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.condensing import (
    SUMMARY_HEAD,
    SUMMARY_TOKENS,
    SYSTEM,
    bounded,
    mechanical_summary,
    rendered,
    summary_message,
    summary_request,
)
from machines.agent.wire import CallPart, Message, Part, ResultPart, TextPart, ThinkingPart

from .provider_rules import BODIES, refused


def calls(*made: tuple[str, str, str, bool | None]) -> list[Message]:
    """Calls, each with its name, arguments, and whether it failed; None: it has no answer."""
    messages: list[Message] = []
    for id, name, args, failed in made:
        messages.append(Message("assistant", (CallPart(id, name, args),)))
        if failed is not None:
            messages.append(Message("user", (ResultPart(id, f"seen by {id}", failed),)))
    return messages


def test_the_request_for_a_summary_asks_for_all_that_would_be_lost_and_has_no_tools() -> None:
    request = summary_request("the history", plan="- [x] look", account="one file was written")
    assert (request.tools, request.max_tokens) == ((), SUMMARY_TOKENS)
    for asked in ("state", "Decisions", "Facts", "comes from", "Changes", "Open", "paths, ids", "letter by letter"):
        assert asked in SYSTEM
    said = request.messages[0].parts[0]
    assert isinstance(said, TextPart)
    for shown in ("the history", "- [x] look", "one file was written"):
        assert shown in said.text
    assert [refused(wire, request.messages) for wire in BODIES] == [None] * 4


@pytest.mark.parametrize(("asked", "given_"), [(7_999, 7_999), (8_000, 8_000), (8_001, 8_000)])
def test_a_summary_has_at_most_eight_thousand_tokens(asked: int, given_: int) -> None:
    assert summary_request("history", max_tokens=asked).max_tokens == given_


def test_the_plan_and_the_account_stand_in_a_summary_letter_by_letter() -> None:
    plan, account = "[ ] one\n  [x]  two ", "wrote a.py (3 lines)"
    assert summary_message(" found. ", plan=plan, account=account) == f"found.\n\nPlan:\n{plan}\n\nAccount:\n{account}"
    assert summary_message("found.") == "found."
    assert summary_message("", plan=plan) == f"Plan:\n{plan}"


def test_a_history_is_told_with_who_spoke_what_was_called_and_results_in_short() -> None:
    told = rendered(
        [
            Message("user", (TextPart("look it up"),)),
            Message("assistant", (ThinkingPart("hm", {"a": 1}), TextPart("so"), CallPart("a", "look", '{"at": 1}'))),
            Message("user", (ResultPart("a", "r" * 401, error=True), ResultPart("b", "s" * 400))),
        ],
        10_000,
    )
    assert told.split("\n") == [
        "User: look it up",
        "Assistant: so",
        'Call a: look {"at": 1}',
        f"Error of a: {'r' * 400} [... 1 more characters]",
        f"Result of b: {'s' * 400}",
    ]


@given(st.text(max_size=600), st.integers(0, 700))
def test_a_bounded_text_is_never_longer_and_ends_as_the_whole_does(text: str, most: int) -> None:
    found = bounded(text, most)
    assert len(found) <= most
    assert (found == text) == (len(text) <= most)
    assert text.endswith(found[len(found) - most // 3 :])


def test_a_summary_without_a_model_tells_targets_failures_and_the_last_words() -> None:
    messages = [
        Message("user", (TextPart(f"{SUMMARY_HEAD}\nEarlier facts."),)),
        *calls(
            ("a", "read", '{"path": "a.py"}', False),
            ("b", "read", '{"path": "a.py"}', True),
            ("c", "edit", '{"path": "a.py", "lines": [1, 2], "all": true}', None),
            ("d", "run", "no json", True),
            ("e", "stop", "[1]", False),
        ),
        Message("user", (TextPart("be quick"),)),
        Message("assistant", (TextPart("Now the tests."),)),
    ]
    found = mechanical_summary(messages, 4_000)
    for line in (
        "- read path=a.py: 2 times, 1 failed",
        "- edit path=a.py, all=True: once, 1 without an answer",
        "- run no json: once, 1 failed",
        "- stop [1]: once",
        "Earlier facts.",
        "be quick",
        "Now the tests.",
    ):
        assert line in found.split("\n")
    assert found == mechanical_summary(messages, 4_000)


def test_of_many_calls_the_newest_are_told_and_the_others_counted() -> None:
    messages = calls(*((f"c{n}", "read", f'{{"path": "file {n}"}}', False) for n in range(500)))
    found = mechanical_summary(messages, 2_000)
    assert "- read path=file 499: once" in found
    assert "path=file 0:" not in found
    assert "earlier left out)" in found
    assert len(found) <= 2_000


PARTS = st.one_of(
    st.text(max_size=80).map(TextPart),
    st.text(max_size=80).map(lambda text: TextPart(f"{SUMMARY_HEAD}\n{text}")),
    st.builds(CallPart, st.sampled_from("abc"), st.text(max_size=10), st.text(max_size=60)),
    st.builds(ResultPart, st.sampled_from("abc"), st.text(max_size=900), st.booleans()),
)


@given(
    st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), st.lists(PARTS, max_size=3).map(tuple))),
    st.integers(0, 3_000),
)
def test_whatever_is_told_without_a_model_is_bounded(messages: list[Message], most: int) -> None:
    assert len(mechanical_summary(messages, most)) <= most
    assert len(rendered(messages, most)) <= most


@pytest.mark.parametrize("args", ["", "{", "[" * 100_000, '{"a": {"b": 1}}', "null", '"text"'])
def test_arguments_of_any_form_are_told(args: str) -> None:
    part: Part = CallPart("a", "look", args)
    assert "- look" in mechanical_summary([Message("assistant", (part,))], 1_000)
