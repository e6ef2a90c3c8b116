"""What is told of a reply while it comes: no key, no half of a character, and nothing but the reply."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.providers.key import Key
from machines.agent.providers.streamed.gathering import Gathered, joined
from machines.agent.providers.streamed.reading import gathered_without_key
from machines.agent.providers.streamed.telling import Telling
from machines.agent.wire import CallPart, Completion, TextPart, ThinkingPart
from machines.events import StopReason

KEY = Key("sk-0123456789/abcdef+ghi")
ESCAPED = KEY.text.replace("/", "\\/")


def told(pieces: list[str], key: Key | None = KEY, channel: str = "text") -> list[str]:
    found: list[str] = []
    telling = Telling(lambda _, piece: found.append(piece), key)
    for piece in pieces:
        telling.tell(channel, piece)
    telling.end()
    return found


def test_pieces_are_told_as_they_come() -> None:
    assert told(["One ", "word", "", " more"]) == ["One ", "word", " more"]


@pytest.mark.parametrize("key", [KEY.text, ESCAPED])
def test_a_key_in_two_pieces_is_hidden_wherever_it_is_cut(key: str) -> None:
    for at in range(1, len(key)):
        assert "".join(told(["It is " + key[:at], key[at:] + "."])) == "It is [key]."


def test_a_key_that_comes_letter_by_letter_is_hidden() -> None:
    assert "".join(told([*"It is ", *KEY.text, *KEY.text, "."])) == "It is [key][key]."


def test_what_only_begins_like_the_key_is_told() -> None:
    assert told(["sk-", "01234 and sk"]) == ["sk-01234 and ", "sk"]


@given(st.lists(st.sampled_from([*KEY.text, KEY.text, KEY.text[:9], KEY.text[9:], "é", " "]), max_size=60))
def test_the_key_is_never_in_what_is_told_and_the_rest_is_all_there(pieces: list[str]) -> None:
    shown = "".join(told(pieces))
    assert KEY.text not in shown
    if KEY.text not in "".join(pieces):
        assert shown == "".join(pieces)


def test_a_placeholder_is_no_secret() -> None:
    assert told(["no", "ne"], Key("none")) == ["no", "ne"]


def test_what_is_held_back_is_told_before_another_channel_speaks() -> None:
    found: list[tuple[str, str]] = []
    telling = Telling(lambda channel, piece: found.append((channel, piece)), KEY)
    telling.tell("thinking", "about sk-")
    telling.tell("text", "Well.")
    assert found == [("thinking", "about "), ("thinking", "sk-"), ("text", "Well.")]


def test_what_is_held_back_of_a_reply_that_broke_off_is_never_told() -> None:
    found: list[str] = []
    telling = Telling(lambda _, piece: found.append(piece), KEY)
    telling.tell("text", KEY.text[:-1])
    assert (found, telling.heard) == ([], False)
    telling.drop()
    telling.tell("text", "ok")
    telling.end()
    assert (found, telling.heard) == (["ok"], True)


def test_two_halves_of_a_character_are_told_as_one() -> None:
    assert told(["a\ud83d", "\ude42b"]) == ["a", "\U0001f642b"]
    assert told(["a\ud83d"]) == ["a", "\ud83d"]
    assert told(["\ude42b"]) == ["\ude42b"]


def test_pieces_of_a_text_are_put_together_across_a_character() -> None:
    assert joined(["a\ud83d", "\ude42b", "\ud83d"]) == "a\U0001f642b\ud83d"
    assert joined([]) == ""


def test_a_whole_reply_is_told_part_by_part() -> None:
    found: list[tuple[str, str]] = []
    telling = Telling(lambda channel, piece: found.append((channel, piece)))
    parts = (ThinkingPart("Hm."), ThinkingPart("", {"type": "x"}), TextPart("One."), CallPart("c", "f", "{}"))
    telling.tell_whole(Completion(StopReason.END_TURN, parts))
    assert found == [("thinking", "Hm."), ("text", "One.")]


def test_a_key_is_taken_out_of_what_was_gathered_and_the_rest_is_left_as_it_is() -> None:
    value = {"a": [KEY.text, "\ud83d", 10**30, 1.5, None], KEY.text: True}
    got = gathered_without_key(Gathered(value, [f'{{"k":"{KEY.text}"}}', None]), KEY)
    assert got == Gathered({"a": ["[key]", "\ud83d", 10**30, 1.5, None], "[key]": True}, ['{"k":"[key]"}', None])
    assert gathered_without_key(Gathered(value), None).value is value
    assert json.dumps(KEY.text) not in json.dumps(got.value)
