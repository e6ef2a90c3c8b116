"""What holds of every detector, whatever a run did."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from machines.events import ErrorKind

Judge = Callable[..., list[tuple[int, str, str]]]
Turn = list[tuple[str, str, object]]

names = ["read", "search", "run"]
answers: list[object] = ["nothing", "something", {"rows": [1]}, ErrorKind.TRANSIENT, ...]
calls = st.tuples(st.sampled_from(names), st.sampled_from(["{}", '{"q": 1}', '{"q": 2}']), st.sampled_from(answers))


def repeated(lap: list[Turn]) -> list[Turn]:
    return lap * 8


histories = st.lists(st.lists(calls, max_size=3), max_size=14)
loops = st.lists(st.lists(calls, min_size=1, max_size=2), min_size=1, max_size=3).map(repeated)


@given(history=histories | loops, renamed=st.permutations(["fetch", "query", "execute"]))
@settings(max_examples=60, deadline=None)
def test_no_verdict_rests_on_the_name_of_a_tool(judge: Judge, history: list[Turn], renamed: list[str]) -> None:
    other = dict(zip(names, renamed, strict=True))
    again = [[(other[name], args, answer) for name, args, answer in turn] for turn in history]
    assert judge(again) == judge(history)


@given(history=histories | loops, seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_no_verdict_rests_on_the_order_inside_a_turn(judge: Judge, history: list[Turn], seed: int) -> None:
    shuffle = random.Random(seed)
    again = [shuffle.sample(turn, len(turn)) for turn in history]
    assert judge(again) == judge(history)


@given(sizes=st.lists(st.integers(1, 4), max_size=40), tools=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_distinct_work_earns_no_verdict(judge: Judge, sizes: list[int], tools: int) -> None:
    done = iter(range(1_000))
    history: list[Turn] = [
        [(names[number % tools], f'{{"n": {number}}}', f"found {number}") for number in (next(done) for _ in range(n))]
        for n in sizes
    ]
    assert judge(history) == []


@given(history=loops, padding=st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_distinct_work_before_a_loop_hides_nothing_and_adds_nothing(
    judge: Judge, history: list[Turn], padding: int
) -> None:
    work: list[Turn] = [[("work", f'{{"n": {number}}}', f"found {number}")] for number in range(padding)]
    later = [(turn + padding, verdict, by) for turn, verdict, by in judge(history)]
    assert judge([*work, *history]) == later


@given(history=histories | loops)
@settings(max_examples=60, deadline=None)
def test_a_stop_is_the_last_verdict_and_a_turn_has_one(judge: Judge, history: list[Turn]) -> None:
    found: list[Any] = judge(history)
    assert len({turn for turn, _, _ in found}) == len(found)
    assert [verdict for _, verdict, _ in found[:-1]].count("stop") == 0
