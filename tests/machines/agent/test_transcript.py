"""What a request is sent of the messages so far, and that it stays what it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.transcript import NOT_ANSWERED, PRUNED, Transcript
from machines.agent.wire import CallPart, Message, ResultPart, TextPart

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
        transcript.outbound()[2]


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
