"""What is done about a reply that went wrong: each case at both sides of its bound, and alone."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.events import Call, Declared, Reply, StopReason, Text, Usage
from machines.policy import Recovery
from machines.reply import (
    ENDS,
    FULL_AT,
    REPLY,
    SIZES,
    Mend,
    Mending,
    ReplyCase,
    ReplyState,
    concerns,
    in_trouble,
    mending,
)
from statecraft import Refused, Step
from statecraft.testing import step_one

S, C = ReplyState, ReplyCase
TEXT = Text("words", 12)
CALL = Call("1", "read", b"sign-one", TEXT)
NAMELESS = attrs.evolve(CALL, tool="")
HALF = attrs.evolve(CALL, parsed=False, cut=True)
GARBLED = attrs.evolve(CALL, parsed=False, problem="no JSON")
FRESH = mending(Recovery())
PLANNED = attrs.evolve(FRESH, open_items=2)


def reply(stop: StopReason = StopReason.END_TURN, *calls: Call, **more: Any) -> Reply:
    return Reply(5.0, stop, calls, **more)


def without(*budgets: Mend, of: Mending = FRESH) -> Mending:
    return attrs.evolve(of, left={**of.left, **dict.fromkeys(budgets, 0)})


CUT = StopReason.LENGTH
CASES: list[tuple[str, Mending, Reply, ReplyState | ReplyCase, Mend | None]] = [
    ("the model refuses", FRESH, reply(StopReason.REFUSAL, text=TEXT), S.WITHHELD, None),
    ("a filter withholds", FRESH, reply(StopReason.CONTENT_FILTER), S.WITHHELD, None),
    ("the window is full", FRESH, reply(StopReason.CONTEXT_WINDOW, text=TEXT), C.FULL, Mend.TRUNCATED),
    ("a call was cut", FRESH, reply(CUT, CALL), C.CUT_CALL, Mend.TRUNCATED),
    ("a call ends inside JSON", FRESH, reply(StopReason.TOOL_USE, HALF), C.CUT_CALL, Mend.TRUNCATED),
    ("words were cut", FRESH, reply(CUT, text=TEXT), C.CONTINUED, Mend.TRUNCATED),
    ("words used up the budget", FRESH, reply(capped=True, text=TEXT), C.CONTINUED, Mend.TRUNCATED),
    ("only thinking was cut", FRESH, reply(CUT, thinking=TEXT), C.CUT_THOUGHT, Mend.TRUNCATED),
    ("nothing came before it was cut", FRESH, reply(CUT), C.CUT_THOUGHT, Mend.TRUNCATED),
    ("cut beside an open plan", PLANNED, reply(CUT), C.CUT_THOUGHT, Mend.TRUNCATED),
    ("cut once too often", without(Mend.TRUNCATED), reply(CUT, text=TEXT), S.TRUNCATED, None),
    ("paused", FRESH, reply(StopReason.PAUSE, text=TEXT), C.RESUMED, Mend.PAUSED),
    ("paused once too often", without(Mend.PAUSED), reply(StopReason.PAUSE), S.SPENT, None),
    ("a call of nobody knows what", FRESH, reply(StopReason.TOOL_USE, NAMELESS, CALL), C.ASKED_AGAIN, Mend.MALFORMED),
    ("a call that the provider could not read", FRESH, reply(StopReason.MALFORMED_CALL), C.ASKED_AGAIN, Mend.MALFORMED),
    ("the same once more", without(Mend.MALFORMED), reply(StopReason.MALFORMED_CALL), S.MALFORMED, None),
    ("no words, and the plan is open", PLANNED, reply(), C.REMINDED, Mend.PLAN),
    ("no words, and it was reminded", without(Mend.PLAN, of=PLANNED), reply(), C.NUDGED, Mend.EMPTY),
    ("final, and the plan is open", PLANNED, reply(kind=Declared.FINAL, text=TEXT), C.REMINDED, Mend.PLAN),
    ("empty", FRESH, reply(), C.NUDGED, Mend.EMPTY),
    ("only thinking", FRESH, reply(thinking=TEXT), C.NUDGED, Mend.EMPTY),
    ("empty once too often", without(Mend.EMPTY), reply(thinking=TEXT), S.SPENT, None),
]
SOUND: list[tuple[str, Mending, Reply]] = [
    ("words", FRESH, reply(text=TEXT)),
    ("calls", FRESH, reply(StopReason.TOOL_USE, CALL)),
    ("calls whatever the stop reason", FRESH, reply(StopReason.MALFORMED_CALL, CALL)),
    ("calls of a reply that was paused", FRESH, reply(StopReason.PAUSE, CALL)),
    ("a garbled call, which is answered alone", FRESH, reply(StopReason.TOOL_USE, GARBLED, CALL)),
    ("final, and nothing was planned", FRESH, reply(kind=Declared.FINAL, text=TEXT)),
    ("partial beside an open plan", PLANNED, reply(kind=Declared.PARTIAL, text=TEXT)),
    ("a note beside an open plan", PLANNED, reply(text=TEXT)),
    ("final, and it was reminded", without(Mend.PLAN, of=PLANNED), reply(kind=Declared.FINAL, text=TEXT)),
]


@pytest.mark.parametrize(("run", "event", "state", "spends"), [pytest.param(*c[1:], id=c[0]) for c in CASES])
def test_one_reply_takes_one_row(
    run: Mending, event: Reply, state: ReplyState | ReplyCase, spends: Mend | None
) -> None:
    recovers = isinstance(state, ReplyCase)
    after = step_one(REPLY, run, event, target=S.RECOVERING if isinstance(state, ReplyCase) else state).run
    assert after.case is (state if recovers else run.case)
    spent = {budget for budget in Mend if after.left[budget] != run.left[budget]}
    assert spent == ({spends} if spends else set())
    assert concerns(run, event)


@pytest.mark.parametrize(("run", "event"), [pytest.param(*c[1:], id=c[0]) for c in SOUND])
def test_a_sound_reply_takes_no_row_and_gives_nothing_back(run: Mending, event: Reply) -> None:
    answer = REPLY.step(run, event)
    assert isinstance(answer, Refused)
    assert answer.run is run


@pytest.mark.parametrize(("used", "case"), [(979, C.CONTINUED), (980, C.FULL)])
def test_a_cut_reply_fills_its_window_from_a_share_of_it_on(used: int, case: ReplyCase) -> None:
    assert used / 1_000 < FULL_AT or case is C.FULL
    event = reply(CUT, text=TEXT, window=1_000, usage=Usage(used - 10, 10))
    assert REPLY.step(FRESH, event).run.case is case


@pytest.mark.parametrize("budget", list(Mend))
@pytest.mark.parametrize("times", [0, 1, 3])
def test_each_case_is_recovered_from_as_often_as_the_policy_says(budget: Mend, times: int) -> None:
    wrong = {
        Mend.TRUNCATED: reply(CUT),
        Mend.PAUSED: reply(StopReason.PAUSE),
        Mend.MALFORMED: reply(StopReason.MALFORMED_CALL),
        Mend.EMPTY: reply(),
        Mend.PLAN: reply(kind=Declared.FINAL, text=TEXT),
    }[budget]
    run = attrs.evolve(mending(attrs.evolve(Recovery(), **{budget.value: times})), open_items=budget is Mend.PLAN)
    for _ in range(times):
        run = REPLY.step(run, wrong).run
        assert run.at not in ENDS
    last = REPLY.step(run, wrong)
    assert isinstance(last, Refused) if budget is Mend.PLAN else last.run.at in ENDS


def test_every_budget_has_the_size_that_the_policy_says() -> None:
    assert {budget.value: size(FRESH) for budget, size in SIZES.items()} == {
        "truncated": 3,
        "paused": 5,
        "malformed": 1,
        "unfinished_plan": 1,
        "empty": 2,
    }


replies = st.builds(
    Reply,
    st.just(5.0),
    st.sampled_from(StopReason),
    st.lists(st.sampled_from([CALL, HALF, GARBLED, NAMELESS]), max_size=2).map(tuple),
    text=st.none() | st.just(TEXT),
    thinking=st.none() | st.just(TEXT),
    kind=st.none() | st.sampled_from(Declared),
    capped=st.booleans(),
)


@given(st.sampled_from([FRESH, PLANNED]), replies)
def test_the_machine_is_concerned_just_where_it_has_a_row(run: Mending, event: Reply) -> None:
    taken = isinstance(REPLY.step(run, event), Step)
    assert concerns(run, event) is taken
    assert taken or not in_trouble(event)
