"""A transcript is repaired so that every provider takes it, and one that is sound goes through untouched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.plainer import GO_ON, UNSIGNED, plainer
from machines.agent.repair import BEGINS, NOT_ANSWERED, Repair, repaired
from machines.agent.scripted.received import broken_rule
from machines.agent.wire import CallPart, Message, Part, Request, ResultPart, TextPart, ThinkingPart

from .provider_rules import BODIES, body_of, refused

WIRES = list(BODIES)

THOUGHT: dict[str, Mapping[str, Any]] = {
    "anthropic": {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    "openai": {"reasoning_content": "hm"},
    "openai-responses": {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "c2ln"},
    "gemini": {"thoughtSignature": "c2ln"},
}
OWN_TOOL: dict[str, Mapping[str, Any]] = {
    "anthropic": {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
    "openai-responses": {"type": "web_search_call", "id": "ws", "status": "completed"},
    "gemini": {"executableCode": {"language": "PYTHON", "code": "1"}},
}


def user(*parts: Part | str) -> Message:
    return Message("user", tuple(TextPart(part) if isinstance(part, str) else part for part in parts))


def model(*parts: Part | str) -> Message:
    return Message("assistant", tuple(TextPart(part) if isinstance(part, str) else part for part in parts))


def call(name: str) -> CallPart:
    return CallPart(name, "look", "{}")


def answer(name: str, content: str = "seen") -> ResultPart:
    return ResultPart(name, content)


def missing(name: str) -> ResultPart:
    return ResultPart(name, NOT_ANSWERED, error=True)


def parts_of(wire: str) -> st.SearchStrategy[Part]:
    ids = st.sampled_from(["", "a", "b", "c", "a-2", "ü"])
    thought = [ThinkingPart("hm"), ThinkingPart("hm", THOUGHT[wire])]
    own = [ThinkingPart("", OWN_TOOL[wire])] if wire in OWN_TOOL else []
    return st.one_of(
        st.sampled_from(["", "  ", "words", "more \n"]).map(TextPart),
        st.builds(CallPart, ids, st.just("look"), st.sampled_from(["{}", "no json", ""])),
        st.builds(ResultPart, ids, st.sampled_from(["one", "two", ""]), st.booleans()),
        st.sampled_from([*thought, *own]),
    )


def transcripts(wire: str) -> st.SearchStrategy[list[Message]]:
    parts = st.lists(parts_of(wire), max_size=4).map(tuple)
    return st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), parts), min_size=1, max_size=8)


any_transcript = st.sampled_from(WIRES).flatmap(lambda wire: st.tuples(st.just(wire), transcripts(wire)))


@given(any_transcript)
def test_whatever_is_repaired_is_taken_by_its_provider_and_by_the_scripted_server(
    given_: tuple[str, list[Message]],
) -> None:
    wire, messages = given_
    found = repaired(messages)
    assert refused(wire, found) is None
    assert broken_rule(Request("", found)) is None


@given(any_transcript)
def test_a_repair_of_what_was_repaired_is_the_very_same(given_: tuple[str, list[Message]]) -> None:
    found = repaired(given_[1])
    assert repaired(found) is found


@given(any_transcript)
def test_a_repair_changes_nothing_that_it_was_given(given_: tuple[str, list[Message]]) -> None:
    before = list(given_[1])
    repaired(given_[1])
    assert given_[1] == before


@given(any_transcript)
def test_words_calls_and_the_last_answer_of_each_call_are_never_lost(given_: tuple[str, list[Message]]) -> None:
    _, messages = given_
    found = [part for message in repaired(messages) for part in message.parts]
    for role in ("user", "assistant"):
        for message in messages:
            if message.role == role:
                for part in message.parts:
                    if isinstance(part, TextPart) and part.text.strip():
                        assert any(isinstance(one, TextPart) and part.text.rstrip() in one.text for one in found)
    made = sum(isinstance(part, CallPart) for m in messages if m.role == "assistant" for part in m.parts)
    assert sum(isinstance(part, CallPart) for part in found) == made
    assert sum(isinstance(part, ResultPart) for part in found) == made


@given(any_transcript)
def test_a_repair_that_goes_on_gives_what_one_of_the_whole_gives(given_: tuple[str, list[Message]]) -> None:
    sound = repaired(given_[1])
    going = Repair()
    for number, message in enumerate(sound, 1):
        assert [*going.sent, *going.rest(message)] == list(repaired(sound[:number]))
        going.add(message)
        going.settle()
        assert [*going.sent, *going.rest()] == list(repaired(sound[:number]))


@pytest.mark.parametrize("wire", WIRES)
@given(st.data())
def test_the_body_of_a_longer_transcript_begins_with_that_of_the_shorter_byte_for_byte(
    wire: str, data: st.DataObject
) -> None:
    sound = repaired(data.draw(transcripts(wire)))
    whole = body_of(wire, sound)
    for number in range(1, len(sound)):
        if repaired(sound[:number]) == sound[:number]:  # a beginning with open calls is none that could be sent
            assert whole.startswith(body_of(wire, sound[:number]).removesuffix(b"]}"))


SOUND = [user("task"), model("hm", call("a"), call("b")), user(answer("a"), answer("b"), "go on"), model("done.")]

CASES: dict[str, tuple[Sequence[Message], Sequence[Message]]] = {
    "what is sound": (SOUND, SOUND),
    "a call without an answer": ([user("t"), model(call("a"))], [user("t"), model(call("a")), user(missing("a"))]),
    "a call whose answer never came": (
        [user("t"), model(call("a"), call("b")), user(answer("b"))],
        [user("t"), model(call("a"), call("b")), user(missing("a"), answer("b"))],
    ),
    "an answer to no call": ([user("t"), model("hi"), user(answer("x"), "so")], [user("t"), model("hi"), user("so")]),
    "an answer before its call": (
        [user("t", answer("a")), model(call("a"))],
        [user("t"), model(call("a")), user(missing("a"))],
    ),
    "two answers": (
        [user("t"), model(call("a")), user(answer("a", "one")), model("so"), user(answer("a", "two"))],
        [user("t"), model(call("a")), user(answer("a", "two")), model("so")],
    ),
    "answers in another order, behind words": (
        [user("t"), model(call("a"), call("b")), user("look", answer("b"), answer("a"))],
        [user("t"), model(call("a"), call("b")), user(answer("a"), answer("b"), "look")],
    ),
    "an answer that comes late": (
        [user("t"), model(call("a")), user("well?"), model("wait"), user(answer("a"), "there")],
        [user("t"), model(call("a")), user(answer("a"), "well?"), model("wait"), user("there")],
    ),
    "an empty reply": ([user("t"), model(), user("go on")], [user("t", "go on")]),
    "a reply of blanks": ([user("t"), model(" \n"), user("go on")], [user("t", "go on")]),
    "a reply of thoughts": (
        [user("t"), model(ThinkingPart("hm", THOUGHT["anthropic"])), user("go on")],
        [user("t", "go on")],
    ),
    "a reply that ends in thought": (
        [user("t"), model("so", ThinkingPart("hm", THOUGHT["anthropic"])), user("go on")],
        [user("t"), model("so"), user("go on")],
    ),
    "a reply of a tool of the provider's": (
        [user("t"), model(ThinkingPart("", OWN_TOOL["anthropic"]))],
        [user("t"), model(ThinkingPart("", OWN_TOOL["anthropic"]))],
    ),
    "neighbours of one role": (
        [user("t"), user("u"), model("a"), model(call("a")), user(answer("a")), user("v")],
        [user("t", "u"), model("a", call("a")), user(answer("a"), "v")],
    ),
    "a reply that nobody asked for": ([model("hi"), user("t")], [BEGINS, model("hi"), user("t")]),
    "one id for two calls": (
        [user("t"), model(call("a"), call("a")), user(answer("a", "1"), answer("a", "2")), model(call("a"))],
        [
            user("t"),
            model(call("a"), call("a-2")),
            user(answer("a", "1"), answer("a-2", "2")),
            model(call("a-3")),
            user(missing("a-3")),
        ],
    ),
    "no id": (
        [user("t"), model(call("")), user(answer(""))],
        [user("t"), model(call("call-2")), user(answer("call-2"))],
    ),
    "a last reply with a blank at its end": ([user("t"), model("so \n", " ")], [user("t"), model("so")]),
    "a blank at the end of an earlier reply": (
        [user("t"), model("so \n"), user("go on")],
        [user("t"), model("so \n"), user("go on")],
    ),
    "parts of the wrong role": (
        [user("t", call("x"), ThinkingPart("hm")), model(call("a"), answer("a")), user("so")],
        [user("t"), model(call("a")), user(answer("a"), "so")],
    ),
    "nothing": ([], []),
    "nothing in anything": ([user(), model()], [BEGINS]),
}


@pytest.mark.parametrize("case", list(CASES))
def test_what_is_wrong_is_put_right_as_the_rule_says(case: str) -> None:
    given_, expected = CASES[case]
    found = repaired(given_)
    assert list(found) == list(expected)
    assert (found is given_) == (list(given_) == list(expected))


def test_what_is_sound_is_the_same_object_beside_what_was_repaired() -> None:
    found = repaired([*SOUND, user("and"), user("then")])
    assert all(one is other for one, other in zip(found, SOUND, strict=False))


@given(any_transcript)
def test_what_is_made_plainer_is_taken_by_every_provider_and_stays_as_it_is(given_: tuple[str, list[Message]]) -> None:
    found = plainer(given_[1])
    assert broken_rule(Request("", found)) is None
    assert all(refused(wire, found) is None for wire in WIRES)
    assert plainer(found) is found
    assert repaired(found) is found
    assert found[-1].role == "user"


def test_only_what_a_provider_can_object_to_is_gone_from_what_was_made_plainer() -> None:
    thought = ThinkingPart("hm", THOUGHT["anthropic"])
    server = ThinkingPart("", OWN_TOOL["anthropic"])
    args = '{"a": "\\ud800\\u0007"}'
    found = plainer(
        [
            user("t\x00\ud800\tab\n"),
            model(
                thought, "so", server, CallPart("toolu_1", "fs.read me", args), CallPart("abcDEF123", "look", "no\x01")
            ),
            user(answer("toolu_1", "one\x1b"), answer("abcDEF123")),
            model("done "),
        ]
    )
    assert found[0] == user("t\ufffd\ufffd\tab\n")
    one, other = (part for part in found[1].parts if isinstance(part, CallPart))
    assert (one.name, one.args, other) == (
        "fs_read_me",
        '{"a":"\ufffd\ufffd"}',
        CallPart("abcDEF123", "look", "no\ufffd"),
    )
    assert len(one.id) == 9
    assert one.id.isalnum()
    assert found[1].parts == (TextPart("so"), ThinkingPart("", UNSIGNED), one, other)
    assert found[2] == user(ResultPart(one.id, "one\ufffd"), answer("abcDEF123"))
    assert found[3:] == [model("done"), user(GO_ON)]


def test_what_is_plain_already_goes_through_plainer_as_the_same_object() -> None:
    messages = [user("t"), model(ThinkingPart("", UNSIGNED), call("aaaaaaaa1")), user(answer("aaaaaaaa1"))]
    assert plainer(messages) is messages
