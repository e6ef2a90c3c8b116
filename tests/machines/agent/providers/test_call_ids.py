from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from machines.agent.providers.call_ids import told_apart
from machines.agent.wire import CallPart, Message, Part, TextPart


def ids(parts: tuple[Part, ...]) -> list[str]:
    return [part.id for part in parts if isinstance(part, CallPart)]


def calls(*names: str) -> list[CallPart]:
    return [CallPart(name, "tool", "{}") for name in names]


def test_ids_of_their_own_stay() -> None:
    assert ids(told_apart(calls("a", "b"), [])) == ["a", "b"]


def test_a_missing_id_is_made() -> None:
    assert ids(told_apart(calls("", ""), [])) == ["call-1", "call-2"]


def test_of_two_the_first_keeps_the_id() -> None:
    assert ids(told_apart(calls("a", "a", "a"), [])) == ["a", "a-2", "a-3"]


def test_an_id_of_an_earlier_reply_is_not_given_again() -> None:
    before = [Message("assistant", tuple(calls("call_0", "call-2")))]
    assert ids(told_apart(calls("call_0", ""), before)) == ["call_0-2", "call-4"]


def test_a_reply_without_calls_stays_as_it_is() -> None:
    parts = (TextPart("a"),)
    assert told_apart(parts, []) == parts


EXAMPLES = settings(max_examples=100, deadline=None)  # a slow machine is no failure
NAMES = st.lists(st.sampled_from(["", "a", "a-2", "call-1", "call-2", "b"]), max_size=8)


@EXAMPLES
@given(NAMES, NAMES)
def test_all_ids_differ_and_nothing_else_changes(old: list[str], new: list[str]) -> None:
    history = [Message("assistant", told_apart(calls(*old), []))]
    parts: list[Part] = [TextPart("text"), *calls(*new)]
    apart = told_apart(parts, history)
    found = ids(history[0].parts) + ids(apart)
    assert all(found)
    assert len(set(found)) == len(found)
    assert [(type(part), getattr(part, "name", "")) for part in apart] == [
        (type(part), getattr(part, "name", "")) for part in parts
    ]
    assert told_apart(parts, history) == apart
