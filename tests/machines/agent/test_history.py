"""A history made shorter: what goes, what stays, what it frees, and that every provider goes on to take it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.agent.condensing import SUMMARY_HEAD
from machines.agent.parts import FRAME, size_of, tokens_of
from machines.agent.plainer import plainer
from machines.agent.scripted.received import broken_rule
from machines.agent.spilling import READ_RESULT, SHOWN
from machines.agent.transcript import PRUNED, Transcript
from machines.agent.wire import CallPart, Message, Part, Request, ResultPart, TextPart, ThinkingPart

from .provider_rules import BODIES, body_of, refused

TASK = "the task, word for word"


def sealed(number: int) -> ThinkingPart:
    return ThinkingPart("hm", {"type": "thinking", "thinking": "hm", "signature": f"{number}"})


def contents(messages: Sequence[Message]) -> list[str]:
    return [part.content for message in messages for part in message.parts if isinstance(part, ResultPart)]


def texts(messages: Sequence[Message]) -> list[str]:
    return [part.text for message in messages for part in message.parts if isinstance(part, TextPart)]


def run_of(*sizes: int, name: str = "look") -> Transcript:
    """A task, and a call with a result of each size."""
    transcript = Transcript()
    transcript.say(TASK)
    for number, size in enumerate(sizes):
        transcript.reply(transcript.told_apart((sealed(number), CallPart(f"c{number}", name, "{}"))))
        transcript.answer(f"c{number}", f"{number % 10}" * size)
    return transcript


MOVES: dict[str, Callable[[Transcript, int], object]] = {
    "say": lambda t, n: t.say(f"said {n} " + "s" * (n % 7) * 40),
    "talk": lambda t, n: t.reply([sealed(n), TextPart(f"reply {n}")]),
    "think": lambda t, n: t.reply([sealed(n)]),
    "call": lambda t, n: t.reply(t.told_apart((sealed(n), CallPart("a", "look", "{}"), CallPart("b", "look", "")))),
    "read": lambda t, n: t.reply(t.told_apart((CallPart("r", READ_RESULT, "{}"),))),
    "answer": lambda t, n: t.answer(t.open_calls[0], f"{n} " * (n % 5) * 300) if t.open_calls else None,
    "prune": lambda t, n: t.prune(400),
    "prune_tool_results": lambda t, n: t.prune_tool_results(100, 50),
    "spill": lambda t, n: t.spill_large_results(700),
    "condense": lambda t, n: t.condense(f"summary {n}", 40 * (n % 6)),
}
moves = st.lists(st.sampled_from(list(MOVES)), max_size=40)


def walk(names: Sequence[str], seen: Callable[[Transcript, str], None]) -> None:
    transcript = Transcript()
    transcript.say(TASK)
    for number, name in enumerate(names):
        MOVES[name](transcript, number)
        seen(transcript, name)


@given(moves)
def test_whatever_is_done_to_a_history_every_provider_takes_it_and_the_task_stays_in_front(names: list[str]) -> None:
    def seen(transcript: Transcript, name: str) -> None:
        now = transcript.outbound()
        assert broken_rule(Request("", now)) is None
        assert [refused(wire, now) for wire in BODIES] == [None] * len(BODIES)
        assert now[0].parts[0] == TextPart(TASK)

    walk(names, seen)


@given(moves)
def test_requests_that_were_given_out_stay_as_they_were(names: list[str]) -> None:
    held: list[tuple[Sequence[Message], list[Message]]] = []
    walk(names, lambda transcript, _: held.append((now := transcript.outbound(), list(now))))
    for now, was in held:
        assert list(now) == was


@given(moves)
def test_a_snapshot_sends_the_same_and_goes_on_in_the_same_way(names: list[str]) -> None:
    live, kept = Transcript(), Transcript()
    for transcript in (live, kept):
        transcript.say(TASK)
    for number, name in enumerate(names):
        kept = Transcript.of(orjson.loads(orjson.dumps(kept.plain())))
        MOVES[name](live, number)
        MOVES[name](kept, number)
        assert list(live.outbound()) == list(kept.outbound())
        assert live.plain() == kept.plain()
        assert live.spilled == kept.spilled


@given(moves)
def test_thinking_is_only_ever_sent_behind_what_it_was_thought_behind(names: list[str]) -> None:
    asked: dict[int, list[tuple[str, Part]]] = {}
    transcript = Transcript()
    transcript.say(TASK)

    def flat() -> list[tuple[str, Part]]:
        return [(message.role, part) for message in transcript.outbound() for part in message.parts]

    for number, name in enumerate(names):
        asked[number] = flat()
        if name == "say" or transcript.outbound()[-1].role == "user":  # no reply follows a reply that was not paused
            MOVES[name](transcript, number)
        found = flat()
        for at, (_, part) in enumerate(found):
            if isinstance(part, ThinkingPart) and part.raw:
                assert found[:at] == asked[int(part.raw["signature"])]


@given(moves)
def test_what_is_said_to_be_freed_is_what_is_gone(names: list[str]) -> None:
    transcript = Transcript()
    transcript.say(TASK)
    for number, name in enumerate(names):
        chars, tokens = sum(map(len, contents(transcript.outbound()))), transcript.tokens()
        now = list(transcript.outbound())
        freed = MOVES[name](transcript, number)
        if name in ("prune", "prune_tool_results", "spill"):
            assert freed == chars - sum(map(len, contents(transcript.outbound())))
        if name == "condense":
            assert freed == tokens - transcript.tokens()
        if name in ("prune", "prune_tool_results", "spill", "condense") and freed == 0:
            assert list(transcript.outbound()) == now
        assert transcript.tokens() == tokens_of(transcript.outbound())


SIZE = 360 + len(PRUNED)  # of such a result 90 tokens can be freed


@pytest.mark.parametrize(
    ("keep", "least", "cleared"),
    [(100, 1, 2), (100, 180, 2), (100, 181, 0), (199, 90, 1), (199, 91, 0), (99, 270, 3), (99, 271, 0), (299, 1, 0)],
)
def test_old_results_are_cleared_only_beyond_what_is_kept_and_where_enough_is_freed(
    keep: int, least: int, cleared: int
) -> None:
    transcript = run_of(SIZE, SIZE, SIZE)  # 99.5 tokens each
    transcript.reply([TextPart("done")])
    before = list(transcript.outbound())
    assert transcript.prune_tool_results(keep, least) == cleared * 360
    assert contents(transcript.outbound())[:cleared] == [PRUNED] * cleared
    assert contents(transcript.outbound()).count(PRUNED) == cleared
    assert (list(transcript.outbound()) == before) == (not cleared)


def test_results_that_the_model_has_not_seen_are_counted_as_the_newest_and_stay() -> None:
    transcript = run_of(SIZE, SIZE)
    assert transcript.prune_tool_results(100, 1) == 360
    assert contents(transcript.outbound()) == [PRUNED, "1" * SIZE]
    assert transcript.prune_tool_results(0, 1) == 0


def test_by_default_the_newest_forty_thousand_tokens_of_results_stay() -> None:
    transcript = run_of(*[40_000] * 6)
    transcript.reply([TextPart("done")])
    assert transcript.prune_tool_results() == 0  # the two beyond are not quite twenty thousand tokens
    transcript.reply([CallPart("more", "look", "{}")])
    transcript.answer("more", "m" * 40_000)
    transcript.reply([TextPart("done")])
    assert transcript.prune_tool_results() == 3 * (40_000 - len(PRUNED))


@pytest.mark.parametrize(("size", "aside"), [(2_000, False), (2_001, True)])
def test_a_large_result_is_set_aside_seen_or_unseen_and_its_text_is_kept(size: int, aside: bool) -> None:
    transcript = run_of(size, size)
    before = list(transcript.outbound())
    freed = transcript.spill_large_results()
    shown = contents(transcript.outbound())
    assert (freed > 0) == aside == (list(transcript.outbound()) != before)
    assert dict(transcript.spilled) == ({"c0": "0" * size, "c1": "1" * size} if aside else {})
    if aside:
        assert all(text.startswith(f"{number}" * SHOWN + "\n[") for number, text in enumerate(shown))
        assert 'call="c1"' in shown[1]
        assert f"{size} characters" in shown[1]
        assert freed == 2 * size - sum(map(len, shown))
        assert transcript.spill_large_results() == transcript.spill_large_results(10) == 0


def test_what_was_read_of_a_result_is_not_set_aside_in_its_turn() -> None:
    transcript = run_of(5_000, name=READ_RESULT)
    assert transcript.spill_large_results() == 0


def test_an_answer_that_comes_anew_takes_the_place_of_what_was_set_aside() -> None:
    transcript = run_of(5_000)
    transcript.spill_large_results()
    transcript.answer("c0", "another")
    assert contents(transcript.outbound()) == ["another"]
    assert transcript.spilled == {}


def test_condensing_keeps_the_task_and_the_newest_and_puts_the_summary_between() -> None:
    transcript = run_of(400, 400, 400)
    last = list(transcript.outbound())[-2:]
    assert transcript.condense("what was found", 150) > 0
    now = list(transcript.outbound())
    assert texts(now) == [TASK, f"{SUMMARY_HEAD}\nwhat was found"]
    assert now[-2:] == [Message("assistant", (CallPart("c2", "look", "{}"),)), last[1]]
    assert len(now) == 3


@pytest.mark.parametrize(("less", "kept"), [(0, 2), (1, 1)])
def test_as_many_of_the_newest_stay_as_fit(less: int, kept: int) -> None:
    transcript = run_of(400, 400, 400, 400)
    room = -(-sum(map(size_of, transcript.outbound()[-4:])) // 4)
    assert transcript.condense("s", room - less) > 0
    assert len(contents(transcript.outbound())) == kept


def test_what_belongs_to_the_open_call_stays_however_large_it_is() -> None:
    transcript = run_of(400, 40_000)
    assert transcript.condense("s", 0) > 0
    assert contents(transcript.outbound()) == ["1" * 40_000]
    assert transcript.open_calls == ()
    transcript.answer("c1", "anew")
    assert contents(transcript.outbound()) == ["anew"]


def test_condensing_again_condenses_the_summary_and_never_the_task() -> None:
    transcript = run_of(400, 400)
    transcript.condense("one", 0)
    for number in (7, 8):
        transcript.reply([CallPart(f"d{number}", "look", "{}")])
        transcript.answer(f"d{number}", "x" * 400)
    gone = transcript.droppable(0)
    assert texts(gone) == [f"{SUMMARY_HEAD}\none"]
    assert transcript.condense("two", 0) > 0
    assert texts(transcript.outbound()) == [TASK, f"{SUMMARY_HEAD}\ntwo"]


@pytest.mark.parametrize("keep", [0, 10**9])
def test_nothing_is_condensed_where_nothing_could_go(keep: int) -> None:
    transcript = run_of(400)
    before = transcript.plain()
    assert transcript.condense("summary", keep) == 0
    assert transcript.to_summarise(keep, 1_000) == ""
    assert not transcript.droppable(keep)
    assert transcript.plain() == before
    assert Transcript().condense("summary", 0) == 0


def test_an_earlier_summary_alone_is_not_condensed_again() -> None:
    transcript = run_of(400, 400)
    assert transcript.condense("one", 0) > 0
    assert transcript.condense("", 0) == 0


def test_a_summary_that_is_longer_than_what_it_stands_for_is_not_taken() -> None:
    transcript = run_of(40, 40)
    before = transcript.plain()
    assert transcript.condense("s" * 4_000, 0) == 0
    assert transcript.plain() == before


def test_an_id_is_not_used_again_although_its_call_is_gone() -> None:
    transcript = run_of(400, 400)
    transcript.condense("one", 0)
    again = (CallPart("c0", "look", "{}"),)
    for one in (transcript, Transcript.of(transcript.plain())):
        assert one.told_apart(again) != again


def test_a_snapshot_of_an_earlier_version_is_read() -> None:
    plain = run_of(400).plain()
    for field in ("ids", "task", "spilled"):
        del plain[field]
    assert list(Transcript.of(plain).outbound()) == list(run_of(400).outbound())


@pytest.mark.parametrize("most", [0, 10, 130, 500, 5_000])
def test_what_is_to_be_summed_up_is_bounded_and_tells_the_newest(most: int) -> None:
    transcript = run_of(*[3_000] * 30)
    found = transcript.to_summarise(1_000, most)
    assert len(found) <= most
    if most >= 500:
        assert TASK in found
        assert "left out" in found
        assert found.index("left out") < len(found) - most // 3
    if most == 5_000:
        assert "Call c28" in found
        assert "c29" not in found  # the last is kept, since it is open
        assert "0" * 401 not in found


@pytest.mark.parametrize("wire", list(BODIES))
def test_a_note_stands_at_the_end_of_one_request_alone(wire: str) -> None:
    transcript = run_of(40)
    transcript.say("and?")
    plain, noted = transcript.outbound(), transcript.outbound("the plan")
    assert noted[-1].parts == (*plain[-1].parts, TextPart("the plan"))
    assert list(noted[:-1]) == list(plain[:-1])
    whole = body_of(wire, noted)
    shared = body_of(wire, plain).removesuffix(b"]}")
    while not whole.startswith(shared):  # less the brackets that close what goes on now
        assert shared[-1:] in b'"}]'
        shared = shared[:-1]
    assert shared.endswith((b"and?", b'and?"', b'and?"}'))
    assert list(transcript.outbound()) == list(plain)
    assert refused(wire, noted) is None


def test_a_note_stands_behind_no_reply_that_is_to_be_gone_on_with() -> None:
    transcript = run_of(40)
    transcript.reply([TextPart("paused")])
    assert list(transcript.outbound("note")) == list(transcript.outbound())
    assert list(Transcript().outbound("note")) == [Message("user", (TextPart("note"),))]


def test_a_history_is_sent_plain_where_it_is_asked_for_and_kept_as_it_is() -> None:
    transcript = run_of(40, 40)
    before = list(transcript.outbound())
    plain = transcript.outbound("note", plain=True)
    assert not any(part == sealed(n) for n in range(2) for message in plain for part in message.parts)
    assert list(plain[:-1]) == list(plainer(before))[:-1]
    assert plain[-1].parts[-1] == TextPart("note")
    assert [refused(wire, plain) for wire in BODIES] == [None] * 4
    assert list(transcript.outbound()) == before


def test_tokens_count_all_that_is_sent() -> None:
    raw = {"type": "thinking", "signature": "s" * 100}
    message = Message(
        "assistant",
        (TextPart("w" * 10), ThinkingPart("unsealed " * 50), ThinkingPart("", raw), CallPart("id", "name", "a" * 20)),
    )
    expected = 3 * FRAME + 10 + len(orjson.dumps(raw)) + 26
    assert tokens_of([message]) == expected // 4
    assert tokens_of([message, Message("user", (ResultPart("id", "r" * 30),))]) == (expected + FRAME + 32) // 4
    assert tokens_of([]) == 0


def test_a_request_of_a_long_run_looks_at_nothing_that_was_looked_at_before(monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = Transcript()
    transcript.say(TASK)
    repair: Any = vars(transcript)["_repair"]  # what it is asked is what is measured
    looked: list[Message] = []
    add = repair.add

    def counted(message: Message) -> None:
        looked.append(message)
        add(message)

    monkeypatch.setattr(repair, "add", counted)
    for number in range(200):
        transcript.reply([CallPart(f"c{number}", "look", "{}")])
        transcript.answer(f"c{number}", "seen")
        transcript.outbound()
        transcript.tokens()
        assert len(repair._turns) <= 2
    assert len(looked) == len(transcript.outbound()) - 1


@settings(max_examples=20)
@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=12), st.integers(0, 2_000))
def test_a_call_is_never_parted_from_its_result(sizes: list[int], keep: int) -> None:
    transcript = run_of(*sizes)
    transcript.condense("summary", keep)
    parts = [part for message in transcript.outbound() for part in message.parts]
    made = [part.id for part in parts if isinstance(part, CallPart)]
    assert made == [part.call for part in parts if isinstance(part, ResultPart)]
    assert made
    assert contents(transcript.outbound()) == [f"{int(name[1:]) % 10}" * sizes[int(name[1:])] for name in made]
