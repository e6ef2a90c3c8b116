"""How one more turn changes what is counted: the rules, on frozen values."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap

from machines.events import Call, ErrorKind, Text
from machines.manifest import UNDECLARED, Kind, Tool
from machines.policy import DEFAULT, Policy
from machines.streaks import LAP, MOST_TOOLS, Circle, Streaks, ToolStreak, closed, invalid_key, unknown_key
from machines.turn import Answer, Turn
from machines.window import SIZE

TOOLS = {
    "look": Tool(look=True),
    "find": Tool(kind=Kind.SEARCH),
    "ponder": Tool(kind=Kind.THINK),
    "lexicon": Tool(family="people"),
    "papers": Tool(family="people"),
}


def tool(name: str) -> Tool:
    return TOOLS.get(name, UNDECLARED)


def answer(name: str = "read", number: int = 0, **more: Any) -> Answer:
    return Answer(name, b"call-%03d" % number, b"came-%03d" % number, **more)


def after(before: Streaks, *turns: Turn, policy: Policy = DEFAULT) -> Streaks:
    for turn in turns:
        before = closed(before, turn, policy, tool)
    return before


def turn(*answers: Answer, **more: Any) -> Turn:
    return Turn(3, answers=answers, **more)


FULL = Streaks(
    barren=3,
    barren_ok=3,
    stalled=3,
    stalled_ok=3,
    same=b"came-000",
    same_count=3,
    same_ok=3,
    window=b"x" * SIZE,
    laps=b"y" * LAP,
    tools=HashTrieMap({"read": ToolStreak(barren=3, ok=3)}),
    families=HashTrieMap({"people": Circle(b"word", b"", 3)}),
    invalid=b"call-000",
    invalid_count=2,
    searches=3,
    thoughts=1,
    silent=2,
    vain=1,
    work=5,
    nudged=("no_progress",),
)
"""Something in everything that is counted."""


def test_a_strong_signal_clears_everything_that_is_counted() -> None:
    left = after(FULL, turn(answer(), strong=True, signal="plan"))
    assert left == Streaks(last_signal="plan", last_signal_turn=3, told="")


def test_a_look_at_a_declared_wait_leaves_everything_as_it_is() -> None:
    assert after(FULL, Turn(3, polls=1)) is FULL
    assert after(FULL, Turn(3, polls=1, signal="result")).barren == 0
    assert after(FULL, turn(answer(), polls=1)).barren == 4


def test_a_new_result_ends_standing_still_and_its_own_tools_streak_alone() -> None:
    left = after(FULL, turn(answer(number=9, new=True), signal="result", grew=True))
    assert (left.barren, left.stalled, left.searches) == (0, 0, 3)
    assert left.tools.get("read") is None
    assert (left.last_signal, left.last_signal_turn) == ("result", 3)


def test_what_grew_and_what_was_new_are_two_measures() -> None:
    grew = after(FULL, turn(answer(), grew=True))
    assert (grew.barren, grew.stalled) == (4, 0)
    new = after(FULL, turn(answer(new=True), signal="result"))
    assert (new.barren, new.stalled) == (0, 4)


@pytest.mark.parametrize(
    ("made", "ok", "failed"),
    [
        (answer(), 1, 0),
        (answer(error=ErrorKind.OTHER), 0, 1),
        (answer(seen=False), 0, 1),
        (answer(idle=True), 0, 0),
    ],
)
def test_successes_and_failures_of_a_barren_streak_are_counted(made: Answer, ok: int, failed: int) -> None:
    left = after(Streaks(), turn(made, made))
    assert (left.barren_ok, left.barren_failed) == (2 * ok, 2 * failed)
    assert (left.stalled_ok, left.stalled_failed) == (2 * ok, 2 * failed)


# The same call.


def test_a_turn_of_one_kind_of_call_adds_as_often_as_it_made_it() -> None:
    left = after(Streaks(), turn(answer()), turn(answer(), answer()))
    assert (left.same, left.same_count, left.same_ok, left.same_tool) == (b"came-000", 3, 3, "read")
    assert after(left, turn(answer(number=1))).same_count == 1
    assert after(left, turn(answer(), answer(number=1))).same_count == 0
    assert after(left, Turn(3)).same_count == 3, "words alone end no row"


def test_what_is_still_open_counts_as_not_seen() -> None:
    call = Call("1", "read", b"call-000", Text("args", 4))
    left = after(Streaks(), turn(open=(call,)))
    assert (left.same_count, left.same_ok, left.barren_failed, left.failing) == (1, 0, 1, True)


# Recovery.


@pytest.mark.parametrize(
    ("first", "then", "recovered"),
    [
        ([answer(error=ErrorKind.OTHER)], [answer(number=1)], True),
        ([answer(seen=False)], [answer(number=1)], True),
        ([answer(error=ErrorKind.OTHER), answer(number=2)], [answer(number=1)], False),
        ([answer(error=ErrorKind.OTHER)], [answer(number=1), answer(error=ErrorKind.OTHER)], False),
        ([answer(error=ErrorKind.OTHER)], [answer(number=1, idle=True)], False),
        ([answer(number=1)], [answer(number=2)], False),
    ],
)
def test_a_recovery_is_a_turn_of_successes_after_one_of_failures(
    first: list[Answer], then: list[Answer], recovered: bool
) -> None:
    left = after(Streaks(), turn(*first), turn(*then))
    assert left.recovered is recovered
    assert after(left, turn(answer(number=5))).recovered is False
    assert after(Streaks(), turn(*first), Turn(3), turn(*then)).recovered is recovered, "words between change nothing"


# Laps.


def lap(count: int, *answers: Answer) -> bytes:
    return after(Streaks(), *[turn(*answers)] * count).laps


def test_a_turn_is_one_entry_and_a_lap_over_a_batch_is_several() -> None:
    one, two = answer(number=1), answer(number=2)
    assert len(lap(3, one)) == len(lap(3, one, two)) == 3 * LAP
    assert lap(1, one, two, one, two) == lap(2, two, one) == lap(2, one, two)
    assert lap(1, one, one, one) == lap(3, one)
    assert len(lap(1, one, one, two)) == LAP
    assert lap(1, one, one, two) != lap(1, one, two)


def test_an_entry_says_whether_all_of_it_failed() -> None:
    bad, good = answer(error=ErrorKind.OTHER), answer(number=1)
    assert [entry[-1] for entry in (lap(1, bad), lap(1, good), lap(1, bad, good), lap(1, bad, bad))] == [1, 0, 0, 1]


def test_no_more_laps_are_held_than_any_limit_needs() -> None:
    cycle = DEFAULT.detectors.cycle
    most = cycle.max_period * cycle.most_laps
    assert len(lap(most + 9, answer())) == most * LAP
    assert len(lap(1, *[answer()] * (most + 9))) == most * LAP


def test_no_more_answers_are_held_than_any_window_needs() -> None:
    turns = [turn(answer(number=number)) for number in range(99)]
    assert len(after(Streaks(), *turns).window) == 40 * SIZE


# Tools, families, searches, thoughts, what is refused.


def test_no_more_tools_and_families_are_counted_than_there_is_room_for() -> None:
    names = [f"tool {number:02}" for number in range(MOST_TOOLS)]
    full = after(Streaks(), *[turn(answer(name)) for name in names])
    assert sorted(full.tools) == names
    assert sorted(after(full, turn(answer("tool 99"))).tools) == [*names[1:], "tool 99"]
    far = after(full, *[turn(answer(name)) for name in names[:9]])
    assert sorted(after(far, turn(answer("tool 99"))).tools) == [*names[:9], *names[10:], "tool 99"]
    room = after(far, turn(answer("tool 03", new=True), signal="result"), turn(answer("tool 99")))
    assert sorted(room.tools) == [*(name for name in names if name != "tool 03"), "tool 99"]


def test_no_more_families_are_counted_than_there_is_room_for() -> None:
    def family(number: int) -> Turn:
        return turn(answer(f"of {number}", topic=A))

    def declared(name: str) -> Tool:
        return Tool(family=name) if name.startswith("of ") else UNDECLARED

    left = Streaks()
    for number in range(MOST_TOOLS + 1):
        left = closed(left, family(number), DEFAULT, declared)
    assert (len(left.families), f"of {MOST_TOOLS}" in left.families) == (MOST_TOOLS, False)
    assert closed(left, family(0), DEFAULT, declared).families["of 0"].count == 2


def test_a_tool_that_is_idle_is_not_counted() -> None:
    assert len(after(Streaks(), turn(answer(idle=True))).tools) == 0


def test_a_turn_is_one_barren_turn_of_a_tool_however_often_it_was_called() -> None:
    left = after(Streaks(), turn(*[answer(number=number) for number in range(5)]))
    assert left.tools["read"] == ToolStreak(barren=1, ok=1)
    bad = answer(error=ErrorKind.OTHER, failure=b"f")
    assert after(Streaks(), turn(bad, bad)).tools["read"] == ToolStreak(1, 0, b"f", 2)


def about(topic: bytes, **more: Any) -> Answer:
    return answer("lexicon", topic=topic, **more)


A, B, C, D = b"aaaa", b"bbbb", b"cccc", b"dddd"


@pytest.mark.parametrize(
    ("first", "then", "same"),
    [
        (A + B, A + B, True),
        (A + B, A + C, True),
        (A + B, C + D, False),
        (A, A + B + C + D, True),
        (A + B + C, A + D, True),
        (A + B + C, C + D + b"eeee", False),
        (b"", b"", True),
        (b"", A, False),
        (A, b"", False),
    ],
)
def test_two_topics_are_one_where_they_share_half_of_the_shorter(first: bytes, then: bytes, same: bool) -> None:
    left = after(Streaks(), turn(about(first)), turn(about(then)))
    assert left.families["people"].count == (2 if same else 1)


def test_other_figures_are_another_topic_where_the_answer_is_new() -> None:
    left = after(Streaks(), turn(about(A, figures=b"1990")))
    assert after(left, turn(about(A, figures=b"1991", new=True))).families["people"].count == 1
    assert after(left, turn(about(A, figures=b"1991"))).families["people"].count == 2
    assert after(left, turn(about(A, figures=b"1990", new=True))).families["people"].count == 2
    assert after(left, turn(about(A, sourced=True))).families["people"].count == 0


def test_searches_are_counted_while_none_of_the_turn_finds_anything() -> None:
    miss, hit = answer("find", fruitless=True), answer("find", 1)
    assert after(Streaks(searches=3), turn(miss, miss)).searches == 5
    assert after(Streaks(searches=3), turn(answer())).searches == 3
    assert after(Streaks(searches=3), Turn(3)).searches == 3
    assert (
        after(Streaks(searches=3), turn(miss, hit)).searches
        == after(Streaks(searches=3), turn(hit, miss)).searches
        == 0
    )


def test_thoughts_are_counted_while_all_of_the_turn_are_empty() -> None:
    blank = answer("ponder", empty=True, idle=True)
    assert after(Streaks(), turn(blank, blank)).thoughts == 2
    assert after(Streaks(thoughts=1), Turn(3)).thoughts == 1
    for other in (answer("ponder"), answer(empty=True)):
        assert after(Streaks(thoughts=1), turn(blank, other)).thoughts == 0


def test_what_is_refused_whatever_comes_has_a_key() -> None:
    assert invalid_key(answer(error=ErrorKind.VALIDATION)) == b"call-000"
    assert invalid_key(answer(error=ErrorKind.UNKNOWN_TOOL)) == unknown_key("read")
    others = [kind for kind in ErrorKind if kind not in (ErrorKind.VALIDATION, ErrorKind.UNKNOWN_TOOL)]
    assert {invalid_key(answer(error=kind)) for kind in (None, *others)} == {b""}


def test_only_turns_without_a_call_a_look_or_a_signal_are_silent() -> None:
    assert after(Streaks(silent=1), Turn(3)).silent == 2
    assert after(Streaks(silent=1), turn(answer())).silent == 0
    assert after(Streaks(silent=1), Turn(3, signal="result")).silent == 0


# Over any turns.

made = st.builds(
    answer,
    st.sampled_from(["read", "find", "lexicon", "papers", "look", "ponder"]),
    st.integers(0, 3),
    error=st.sampled_from([None, None, *ErrorKind]),
    seen=st.booleans(),
    new=st.booleans(),
    idle=st.booleans(),
    sourced=st.booleans(),
    fruitless=st.booleans(),
    empty=st.booleans(),
    failure=st.sampled_from([b"", b"f1", b"f2"]),
    topic=st.sampled_from([b"", A, A + B, C + D]),
    figures=st.sampled_from([b"", b"1990"]),
)


def drawn(answers: list[Answer], signal: str, grew: bool) -> Turn:
    return Turn(3, answers=tuple(answers), signal=signal, strong=signal == "plan", grew=grew)


turns = st.builds(
    drawn,
    st.lists(made, max_size=4),
    st.sampled_from(["", "", "result", "plan"]),
    st.booleans(),
)


@given(history=st.lists(turns, max_size=12), last=turns, data=st.data())
def test_the_order_of_answers_is_nothing(history: list[Turn], last: Turn, data: st.DataObject) -> None:
    before = after(Streaks(), *history)
    shuffled = attrs.evolve(last, answers=tuple(data.draw(st.permutations(last.answers))))
    one, other = after(before, last), after(before, shuffled)
    # A window keeps the order in which the answers came, and evidence names the tool that spoke last.
    assert attrs.evolve(one, window=b"", told="", same_tool="") == attrs.evolve(
        other, window=b"", told="", same_tool=""
    )
    assert (one.told == "") == (other.told == "")


@given(history=st.lists(turns, max_size=30))
def test_every_count_grows_by_no_more_than_the_turn_holds(history: list[Turn]) -> None:
    now = Streaks()
    for one in history:
        calls, then = len(one.answers), after(now, one)
        assert then.barren in (0, now.barren + 1)
        assert then.stalled in (0, now.stalled + 1)
        assert then.silent in (0, now.silent + 1)
        assert then.same_ok <= then.same_count <= now.same_count + calls
        assert then.searches <= now.searches + calls
        assert then.thoughts <= now.thoughts + calls
        assert then.invalid_count <= now.invalid_count + calls
        assert len(then.laps) <= len(now.laps) + max(calls, 1) * LAP
        assert len(then.laps) % LAP == len(then.window) % SIZE == 0
        now = then
