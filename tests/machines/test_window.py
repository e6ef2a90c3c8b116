"""The last answers of a run, packed: what is counted in them is what a list of them would count."""

from __future__ import annotations

from collections import Counter

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines import window
from machines.window import AGAIN, CALL, FAILED, FLAGS, OUTCOME, SIZE, STALE, TOOL, tool_key


@attrs.frozen
class Kept:
    """One answer as the model keeps it."""

    outcome: bytes
    call: bytes
    tool: str
    failed: bool
    new: bool


def key(number: int) -> bytes:
    return b"%08d" % number


TOOLS = ["read", "find", "save"]
kept = st.builds(
    Kept,
    outcome=st.integers(0, 3).map(key),
    call=st.integers(0, 3).map(key),
    tool=st.sampled_from(TOOLS),
    failed=st.booleans(),
    new=st.booleans(),
)
answers = st.lists(kept, max_size=60)
sizes = st.integers(1, 45)


def packed(history: list[Kept], keep: int) -> bytes:
    held = b""
    for one in history:
        held = window.added(
            held, outcome=one.outcome, call=one.call, tool=one.tool, failed=one.failed, new=one.new, keep=keep
        )
    return held


def stale(history: list[Kept], keep: int) -> list[bool]:
    """Of each of the last answers, whether it brought nothing new to a call in the window before it."""
    flags = [
        not one.new and any(other.call == one.call for other in history[max(0, at - keep) : at])
        for at, one in enumerate(history)
    ]
    return flags[-keep:]


@given(history=answers, keep=sizes)
def test_it_holds_the_last_answers_and_no_more(history: list[Kept], keep: int) -> None:
    held = packed(history, keep)
    entries = list(window.entries(held))
    last = history[-keep:]
    assert len(held) == SIZE * len(last)
    assert [entry[OUTCOME] for entry in entries] == [one.outcome[-5:] for one in last]
    assert [entry[CALL] for entry in entries] == [one.call[-4:] for one in last]
    assert [entry[TOOL] for entry in entries] == [tool_key(one.tool) for one in last]
    assert [bool(entry[FLAGS] & FAILED) for entry in entries] == [one.failed for one in last]
    assert [bool(entry[FLAGS] & STALE) for entry in entries] == stale(history, keep)


@given(history=answers, keep=sizes, last=sizes, failing=st.booleans(), most=st.none() | st.integers(0, 5))
def test_the_most_frequent_outcome_is_counted_as_a_list_would(
    history: list[Kept], keep: int, last: int, failing: bool, most: int | None
) -> None:
    counts = Counter((one.outcome, one.tool) for one in history[-keep:][-last:] if one.failed == failing)
    capped = {tool_key("read"): most} if most is not None else {}
    expected = [
        min(count, most) if most is not None and tool == "read" else count for (_, tool), count in counts.items()
    ]
    found = window.most_repeated(packed(history, keep), last, failing=failing, most=capped)
    assert found == max(expected, default=0)


@given(history=answers, keep=sizes, last=sizes, exempt=st.sets(st.sampled_from(TOOLS)))
def test_stale_answers_of_one_tool_are_counted_as_a_list_would(
    history: list[Kept], keep: int, last: int, exempt: set[str]
) -> None:
    pairs = list(zip(history[-keep:], stale(history, keep), strict=True))[-last:]
    counts = Counter(one.tool for one, is_stale in pairs if is_stale and one.tool not in exempt)
    found = window.most_stale(packed(history, keep), last, frozenset(map(tool_key, exempt)))
    assert found == max(counts.values(), default=0)


@given(history=answers, keep=sizes)
def test_a_quiet_window_has_nothing_to_count(history: list[Kept], keep: int) -> None:
    held = packed(history, keep)
    if window.quiet(held):
        assert max(window.most_repeated(held, keep, failing=failing, most={}) for failing in (True, False)) <= 1
        assert window.most_stale(held, keep, frozenset()) == 0
    if len({one.outcome for one in history}) == len({one.call for one in history}) == len(history):
        assert window.quiet(held)


@given(history=answers, tool=st.sampled_from(TOOLS))
def test_one_tool_is_taken_out_and_the_others_stay_as_they_are(history: list[Kept], tool: str) -> None:
    held = packed(history, 45)
    expected = [entry for entry in window.entries(held) if entry[TOOL] != tool_key(tool)]
    assert list(window.entries(window.without(held, tool))) == expected


@given(history=st.lists(kept, min_size=1, max_size=20), part=st.sampled_from([OUTCOME, CALL, TOOL]))
def test_only_what_stands_in_its_own_place_is_held(history: list[Kept], part: slice) -> None:
    held = packed(history, 45)
    entries = list(window.entries(held))
    for entry in entries:
        assert window.holds(held, entry[part], part)
    size = part.stop - part.start
    for at in range(len(held) - size + 1):
        piece = held[at : at + size]
        assert window.holds(held, piece, part) == any(entry[part] == piece for entry in entries)


def test_a_key_across_two_entries_is_not_held() -> None:
    held = b"".join(
        window.added(b"", outcome=key(n), call=key(n), tool="read", failed=False, new=True, keep=1) for n in (1, 2)
    )
    across = held[SIZE - 2 : SIZE + 3]
    assert across in held
    assert not window.holds(held, across, OUTCOME)


def test_the_second_of_one_outcome_is_marked() -> None:
    entries = list(window.entries(packed([Kept(key(1), key(1), "read", False, False)] * 2, 9)))
    assert [entry[FLAGS] for entry in entries] == [0, AGAIN | STALE]
    # Once the first has left the window it is forgotten.
    assert [entry[FLAGS] for entry in window.entries(packed([Kept(key(1), key(1), "read", False, False)] * 2, 1))] == [
        AGAIN | STALE
    ]


@pytest.mark.parametrize(("last", "count"), [(1, 1), (2, 1), (3, 2), (9, 2)])
def test_the_boundary_of_a_window(last: int, count: int) -> None:
    one, other = Kept(key(1), key(1), "read", False, True), Kept(key(2), key(2), "read", False, True)
    assert window.most_repeated(packed([one, other, one], 9), last, failing=False, most={}) == count


def test_an_empty_window_is_quiet_and_counts_nothing() -> None:
    assert window.quiet(b"")
    assert window.most_repeated(b"", 20, failing=False, most={}) == 0
    assert window.most_stale(b"", 30, frozenset()) == 0
    assert window.without(b"", "read") == b""


def test_a_short_key_is_filled_up_and_a_tool_with_any_name_has_one() -> None:
    held = window.added(b"", outcome=b"o", call=b"", tool="\ud800", failed=True, new=False, keep=9)
    assert held == b"o    " + b"    " + tool_key("\ud800") + bytes((FAILED,))
    assert len(tool_key("\ud800")) == 2
