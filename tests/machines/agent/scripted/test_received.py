from __future__ import annotations

import pytest

from machines.agent.scripted.received import Received, broken_rule
from machines.agent.wire import CallPart, Message, Part, Request, ResultPart, TextPart, ThinkingPart

USER = Message("user", (TextPart("Go"),))


def calls(*names: str) -> Message:
    return Message("assistant", tuple(CallPart(name, "read", "{}") for name in names))


def answers(*names: str, more: tuple[Part, ...] = ()) -> Message:
    return Message("user", (*(ResultPart(name, "x") for name in names), *more))


@pytest.mark.parametrize(
    "messages",
    [
        (USER,),
        (USER, calls("a", "b"), answers("b", "a", more=(TextPart("and"),))),
        (USER, calls("a"), answers("a"), calls("b"), answers("b"), Message("assistant", (TextPart("t"),))),
        (USER, Message("assistant", (ThinkingPart("", {}),))),
    ],
)
def test_a_sound_transcript_breaks_no_rule(messages: tuple[Message, ...]) -> None:
    assert broken_rule(Request("", messages)) is None


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ((), "the first message must be the user's"),
        ((calls("a"),), "the first message must be the user's"),
        ((Message("user", ()),), "message 0 is empty"),
        ((USER, Message("assistant", (TextPart(" "),))), "message 1 is empty"),
        ((USER, calls("a")), "the last message leaves the calls ['a'] unanswered"),
        ((USER, calls("a"), USER), "message 2 answers the calls [], expected ['a']"),
        ((USER, calls("a", "b"), answers("a")), "message 2 answers the calls ['a'], expected ['a', 'b']"),
        ((USER, calls("a"), answers("a", "a")), "message 2 answers the calls ['a', 'a'], expected ['a']"),
        ((USER, answers("a")), "message 1 answers the calls ['a'], expected []"),
        ((USER, calls("")), "message 1 has a call without an id of its own: ['']"),
        ((USER, calls("a", "a")), "message 1 has a call without an id of its own: ['a', 'a']"),
        ((USER, calls("a"), answers("a"), calls("a")), "message 3 has a call without an id of its own: ['a']"),
    ],
)
def test_each_rule_is_known(messages: tuple[Message, ...], why: str) -> None:
    assert broken_rule(Request("", messages)) == why


def test_a_request_that_is_shown_shows_no_key() -> None:
    assert "k-1" not in repr(Received("openai", "m", "m", 0, Request("", ()), "k-1", {"authorization": "Bearer k-1"}))
