"""What a request is sent of the messages so far, and that it stays what it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.transcript import NOT_ANSWERED, PRUNED, TOO_LONG, Transcript
from machines.agent.wire import CallPart, Message, Part, ResultPart, TextPart

MOVES: list[Callable[[Transcript, int], object]] = [
    lambda t, n: t.say(f"said {n}"),
    lambda t, n: t.reply([TextPart(f"reply {n}")]),
    lambda t, n: t.reply([CallPart(f"a{n}", "look", "{}"), CallPart(f"b{n}", "look", "{}")]),
    lambda t, n: t.reply([]),
    lambda t, n: t.answer(t.open_calls[-1] if t.open_calls else "nobody's", f"answer {n}"),
    lambda t, n: t.prune(10),
]


@given(st.lists(st.sampled_from(MOVES), max_size=30))
def test_roles_take_turns_calls_are_answered_and_a_request_keeps_what_it_was_sent(
    moves: list[Callable[[Transcript, int], object]],
) -> None:
    transcript = Transcript()
    sent: list[tuple[Sequence[Message], list[Message]]] = []
    for number, move in enumerate(moves):
        move(transcript, number)
        now = transcript.outbound()
        sent.append((now, list(now)))
        assert [now[at] for at in range(len(now))] == list(now) == list(now[:])
        roles = [message.role for message in now]
        assert all(one != other for one, other in pairwise(roles))
        for message, then in pairwise([*now, None]):
            calls = [part.id for part in (message.parts if message else ()) if isinstance(part, CallPart)]
            if calls and then is not None:
                answers = [part.call for part in then.parts if isinstance(part, ResultPart)]
                assert answers == calls
                assert all(isinstance(part, ResultPart) for part in then.parts[: len(calls)])
    for held, was in sent:
        assert list(held) == was


def test_a_call_without_an_answer_gets_one_and_an_answer_to_no_call_is_dropped() -> None:
    transcript = Transcript()
    transcript.reply([CallPart("one", "look", "{}")])
    transcript.answer("nobody's", "what?")
    transcript.say("go on")
    last = transcript.outbound()[-1]
    assert last.parts == (ResultPart("one", NOT_ANSWERED, error=True), TextPart("go on"))
    with pytest.raises(IndexError):
        transcript.outbound()[3]  # the history begins with a user's message, which was put there


@pytest.mark.parametrize(("keep", "left"), [(100, ["y" * 100]), (99, [PRUNED]), (200, ["x" * 100, "y" * 100])])
def test_pruning_clears_old_results_beyond_what_is_kept(keep: int, left: list[str]) -> None:
    transcript = Transcript()
    for name in ("x", "y"):
        transcript.reply([CallPart(name, "look", "{}")])
        transcript.answer(name, name * 100)
    transcript.reply([TextPart("thanks")])
    freed = transcript.prune(keep)
    contents = [p.content for m in transcript.outbound() for p in m.parts if isinstance(p, ResultPart)]
    assert [c for c in contents if c != PRUNED or left == [PRUNED]][-len(left) :] == left
    assert freed == contents.count(PRUNED) * (100 - len(PRUNED))


def contents(transcript: Transcript) -> list[str]:
    return [p.content for m in transcript.outbound() for p in m.parts if isinstance(p, ResultPart)]


@pytest.mark.parametrize(("size", "cleared"), [(200, False), (201, True)])
def test_answers_that_the_model_has_not_seen_are_cleared_only_beyond_what_is_kept(size: int, cleared: bool) -> None:
    transcript = Transcript()
    transcript.reply([CallPart("one", "look", "{}")])
    transcript.answer("one", "x" * size)
    note = TOO_LONG.format(chars=size)
    assert transcript.prune(200) == (size - len(note) if cleared else 0)
    assert contents(transcript) == [note if cleared else "x" * size]
    assert transcript.prune(200) == 0


def test_of_several_unseen_answers_the_newest_stay() -> None:
    transcript = Transcript()
    transcript.reply([CallPart(name, "look", "{}") for name in ("one", "two", "three")])
    for name in ("one", "two", "three"):
        transcript.answer(name, name[0] * 100)
    transcript.prune(200)
    assert contents(transcript) == [TOO_LONG.format(chars=100), "t" * 100, "t" * 100]


def test_old_results_are_cleared_before_what_is_unseen_where_they_are_the_bulk() -> None:
    transcript = Transcript()
    transcript.reply([CallPart("old", "look", "{}")])
    transcript.answer("old", "o" * 1_000)
    transcript.reply([CallPart("new", "look", "{}")])
    transcript.answer("new", "n" * 300)
    transcript.prune(200)
    assert contents(transcript) == [PRUNED, "n" * 300]


def ids(parts: Sequence[Part]) -> list[str]:
    return [part.id for part in parts if isinstance(part, CallPart)]


@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "a-2", "call-1", "call-2"]), max_size=4), max_size=8))
def test_ids_of_calls_are_told_apart_through_the_whole_run(turns: list[list[str]]) -> None:
    transcript = Transcript()
    found: list[str] = []
    for turn in turns:
        parts: tuple[Part, ...] = (TextPart("words"), *(CallPart(id, "look", "{}") for id in turn))
        apart = transcript.told_apart(parts)
        assert apart[0] == TextPart("words")
        found += ids(apart)
    assert all(found)
    assert len(set(found)) == len(found) == sum(map(len, turns))


def test_ids_that_are_apart_already_stay_as_they_are() -> None:
    transcript = Transcript()
    parts = (CallPart("a", "look", "{}"), CallPart("b", "look", "{}"))
    assert transcript.told_apart(parts) is parts
    assert ids(transcript.told_apart(parts)) != ["a", "b"]


def test_answers_stand_in_the_order_of_their_calls_whichever_came_first() -> None:
    """Told again from a journal, the answers that the run gave itself come before those of tools."""
    one, other = Transcript(), Transcript()
    for transcript, order in ((one, "abc"), (other, "cba")):
        transcript.say("go")
        transcript.reply([CallPart(name, "look", "{}") for name in "abc"])
        for name in order:
            transcript.answer(name, name * 500)
    assert one.plain() == other.plain()
    assert one.prune(600) == other.prune(600) > 0
    assert one.plain() == other.plain()
