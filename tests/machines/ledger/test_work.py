"""What a run has learned: the four signals, each at its boundary, and what is no progress."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.events import Call, ErrorKind, GoalMeasured, PlanChanged, PlanItem, Result, Text
from machines.ledger.work import (
    SHOWN_CHANGES,
    SHOWN_RESULTS,
    Ledger,
    digest8,
    fingerprint,
    learn_goal,
    learn_plan,
    learn_result,
)
from machines.manifest import UNDECLARED, Kind, Tool
from machines.outcome import Change, LastResult

TEXT = Text("text", 4)
READ, EDIT = Call("1", "read", b"sign-read", TEXT), Call("2", "edit", b"sign-edit", TEXT, target="a.txt")
WRITE = Tool(Kind.WRITE)


def learn(ledger: Ledger, call: Call, *, tool: Tool = UNDECLARED, recent: int = 8, **result: Any) -> tuple[Ledger, str]:
    learned = learn_result(ledger, call, Result(1.0, call.id, **result), tool, recent)
    return learned.ledger, learned.signal


def signals(results: list[tuple[Call, dict[str, Any]]], *, tool: Tool = UNDECLARED, recent: int = 8) -> list[str]:
    """The signal of each result in turn."""
    ledger, found = Ledger(), list[str]()
    for call, result in results:
        ledger, signal = learn(ledger, call, tool=tool, recent=recent, **result)
        found.append(signal)
    return found


def read(number: int) -> tuple[Call, dict[str, Any]]:
    return READ, {"digest": b"result %d" % number}


def wrote(state: bytes | None = None, call: Call = EDIT, **more: Any) -> tuple[Call, dict[str, Any]]:
    return call, {"wrote": True, "state": state, **more}


# Writes whose outcome is not known.


def test_a_write_that_ran_out_of_time_is_unconfirmed_until_it_is_done_again() -> None:
    late: dict[str, Any] = {"error": ErrorKind.TIMEOUT, "digest": b"late"}
    for tool, unconfirmed in ((WRITE, 1), (Tool(Kind.COMMAND), 1), (Tool(Kind.READ), 0)):
        ledger, _ = learn(Ledger(), EDIT, tool=tool, **late)
        assert [(change.tool, change.target) for change in ledger.unconfirmed] == [("edit", "a.txt")] * unconfirmed
    ledger, _ = learn(Ledger(), EDIT, tool=WRITE, **late)
    elsewhere, _ = learn(ledger, attrs.evolve(EDIT, target="b.txt"), tool=WRITE, wrote=True)
    assert len(elsewhere.unconfirmed) == 1
    assert learn(ledger, EDIT, tool=WRITE, wrote=True)[0].unconfirmed == ()


def test_a_write_whose_target_nobody_knows_confirms_no_other_one() -> None:
    pay = attrs.evolve(EDIT, target=None)
    ledger, _ = learn(Ledger(), pay, tool=WRITE, error=ErrorKind.OUTCOME_UNKNOWN, digest=b"late")
    ledger, _ = learn(ledger, pay, tool=WRITE, wrote=True)
    assert [(change.tool, change.target) for change in ledger.unconfirmed] == [("edit", None)]


def test_a_write_that_ran_out_of_time_and_was_seen_to_stand_is_a_change() -> None:
    ledger, signal = learn(Ledger(), EDIT, tool=WRITE, error=ErrorKind.TIMEOUT, wrote=True, state=b"new")
    assert (signal, ledger.changes_in_all, ledger.unconfirmed) == ("state", 1, ())


# Results.


def test_a_result_is_new_once() -> None:
    assert signals([read(1), read(1), read(2), read(1)]) == ["result", "", "result", ""]


def test_a_result_is_new_again_when_it_is_not_among_the_last_of_its_tool() -> None:
    assert signals([*map(read, range(8)), read(0)])[-1] == ""
    assert signals([*map(read, range(9)), read(0)])[-1] == "result"
    assert signals([*map(read, range(3)), read(0)], recent=3)[-1] == ""
    assert signals([*map(read, range(4)), read(0)], recent=3)[-1] == "result"


def test_what_was_seen_again_is_among_the_last_once_more() -> None:
    # The eight are kept in the order in which they were last seen.
    assert signals([*map(read, range(8)), read(0), read(8), read(0)])[-1] == ""
    assert signals([*map(read, range(8)), read(0), read(8), read(1)])[-1] == "result"


def test_each_tool_has_results_of_its_own() -> None:
    other = attrs.evolve(READ, tool="grep")
    assert signals([read(1), (other, {"digest": b"result 1"})]) == ["result", "result"]


def test_a_failure_that_says_something_new_is_new() -> None:
    failed = {"digest": b"refused", "error": ErrorKind.PERMISSION}
    assert signals([(READ, failed), (READ, failed)]) == ["result", ""]


def test_a_result_that_was_not_seen_is_evidence_of_nothing() -> None:
    ledger, signal = learn(Ledger(), READ)
    assert signal == ""
    assert (ledger.work.size, len(ledger.recent)) == (0, 0)


# States.


def test_a_write_that_leaves_a_state_not_seen_before_is_news() -> None:
    assert signals([wrote(b"one"), wrote(b"one"), wrote(b"two")]) == ["state", "", "state"]


def test_an_edit_and_its_revert_are_news_once_each() -> None:
    assert signals([wrote(b"before"), *[wrote(b"after"), wrote(b"before")] * 3]) == ["state", "state", *[""] * 5]


def test_a_state_belongs_to_what_was_touched() -> None:
    other = attrs.evolve(EDIT, target="b.txt")
    assert signals([wrote(b"one"), wrote(b"one", other)]) == ["state", "state"]
    # What the tool says that it touched goes before what the call was meant to.
    assert signals([wrote(b"one"), wrote(b"one", other, target="a.txt")]) == ["state", ""]


def test_a_write_without_a_digest_counts_once_per_call() -> None:
    other = attrs.evolve(EDIT, signature=b"sign-other")
    assert signals([wrote(), wrote(), wrote(call=other), wrote(call=other)]) == ["state", "", "state", ""]


def test_a_new_state_stands_above_a_new_result() -> None:
    assert signals([wrote(b"one", digest=b"saved"), wrote(b"two", digest=b"saved again")]) == ["state", "state"]


@pytest.mark.parametrize("state", [b"one", None])
def test_a_new_receipt_of_the_same_write_is_nothing(state: bytes | None) -> None:
    receipts = [wrote(state, digest=b"receipt %d" % number) for number in range(4)]
    assert signals(receipts) == ["state", "", "", ""]
    # What a tool says without having written is news as any other.
    assert signals([receipts[0], (EDIT, {"digest": b"refused", "error": ErrorKind.OTHER})]) == ["state", "result"]


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        (Tool(Kind.WRITE, scratch=True), {"wrote": True, "state": b"one"}),
        (WRITE, {"wrote": False, "state": b"one"}),
        (WRITE, {"wrote": True, "state": b"one", "error": ErrorKind.OTHER}),
        (WRITE, {"wrote": True, "error": ErrorKind.TIMEOUT}),
    ],
    ids=["a scratch tool", "nothing was written", "the write failed", "nobody knows whether it was written"],
)
def test_what_changes_nothing(tool: Tool, result: dict[str, Any]) -> None:
    ledger, signal = learn(Ledger(), EDIT, tool=tool, **result)
    assert signal == ""
    assert (ledger.changes, ledger.changes_in_all, len(ledger.written)) == ((), 0, 0)


def test_what_was_written_is_known_by_its_target() -> None:
    ledger, _ = learn(Ledger(), EDIT, tool=WRITE, wrote=True)
    assert "a.txt" in ledger.written
    ledger, _ = learn(ledger, EDIT, tool=WRITE, wrote=True, target="b.txt")
    assert sorted(ledger.written) == ["a.txt", "b.txt"]
    nowhere, _ = learn(Ledger(), attrs.evolve(EDIT, target=None), tool=WRITE, wrote=True)
    assert (len(nowhere.written), nowhere.changes) == (0, (Change("edit", None, None),))


def test_the_newest_changes_are_listed_and_all_are_counted() -> None:
    ledger = Ledger()
    for number in range(SHOWN_CHANGES + 2):
        ledger, _ = learn(ledger, EDIT, tool=WRITE, wrote=True, state=b"%d" % number)
    assert [change.state for change in ledger.changes] == [b"%d" % n for n in range(2, SHOWN_CHANGES + 2)]
    assert ledger.changes_in_all == SHOWN_CHANGES + 2


def test_the_last_results_are_kept_for_the_account() -> None:
    ledger = Ledger()
    for number in range(SHOWN_RESULTS + 1):
        ledger, _ = learn(ledger, READ, value=Text(str(number), 1), error=ErrorKind.OTHER if number else None)
    assert ledger.last_results == tuple(
        LastResult("read", Text(str(number), 1), ErrorKind.OTHER) for number in range(1, SHOWN_RESULTS + 1)
    )


# The plan.


def plan(*statuses: str, wording: str = "item") -> PlanChanged:
    return PlanChanged(1.0, tuple(PlanItem(Text(f"{wording} {n}", 6), status) for n, status in enumerate(statuses)))


def closing(*plans: PlanChanged) -> list[str]:
    ledger, found = Ledger(), list[str]()
    for event in plans:
        ledger, signal = learn_plan(ledger, event)
        found.append(signal)
        assert ledger.plan == event.items
    return found


def test_closing_an_item_is_news_and_wording_is_not() -> None:
    assert closing(plan("pending"), plan("pending", wording="better"), plan("in_progress")) == ["", "", ""]
    assert closing(plan("pending", "pending"), plan("completed", "pending"), plan("completed", "completed")) == [
        "",
        "plan",
        "plan",
    ]


def test_an_item_that_is_opened_and_closed_again_is_news_once() -> None:
    assert closing(plan("completed"), plan("pending"), plan("completed"), plan("pending"), plan("completed")) == [
        "plan",
        "",
        "",
        "",
        "",
    ]


def test_an_item_closed_for_the_first_time_is_news_though_another_is_opened_again() -> None:
    assert closing(plan("completed", "pending"), plan("pending", "completed"), plan("completed", "pending")) == [
        "plan",
        "plan",
        "",
    ]


def test_a_plan_worded_anew_with_as_many_closed_items_is_no_news() -> None:
    done = plan("completed", "pending")
    assert closing(done, plan("completed", "pending", wording="better")) == ["plan", ""]
    # An item that nobody knew of, closed from the start, is news only where more are closed than ever.
    assert closing(done, plan("completed", "completed", wording="better")) == ["plan", "plan"]


def test_an_item_of_a_new_plan_is_news_when_it_is_closed() -> None:
    done = plan("completed", "completed", wording="first")
    assert closing(done, plan("pending", wording="second"), plan("completed", wording="second"))[1:] == ["", "plan"]


# The goal.


def measuring(*counts: tuple[float, float]) -> list[str]:
    ledger, found = Ledger(), list[str]()
    for done, total in counts:
        ledger, signal = learn_goal(ledger, GoalMeasured(1.0, done, total))
        found.append(signal)
        assert ledger.goal == (done, total)
    return found


def test_only_the_best_count_so_far_is_news() -> None:
    assert measuring((0, 9), (1, 9), (1, 9), (2, 9), (1, 9), (2, 9), (3, 9)) == [
        "",
        "goal",
        "",
        "goal",
        "",
        "",
        "goal",
    ]


def test_the_share_is_compared_and_not_the_count() -> None:
    assert measuring((1, 2), (2, 4), (2, 3), (5, 10)) == ["goal", "", "goal", ""]


def test_the_first_count_is_news_unless_nothing_is_done() -> None:
    assert measuring((0, 5)) == [""]
    assert measuring((1, 5)) == ["goal"]


def test_a_goal_of_nothing_is_never_reached() -> None:
    assert measuring((0, 0), (5, 0), (1, 5)) == ["", "", "goal"]


# The ledger grows with what is distinct, and only with that.


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=40))
def test_the_ledger_grows_with_distinct_things_only(done: list[tuple[int, int, bool]]) -> None:
    ledger = Ledger()
    for digest, state, write in done:
        before = ledger.work.size
        again = ledger
        ledger, signal = learn(ledger, EDIT, digest=b"%d" % digest, wrote=write, state=b"%d" % state)
        assert before <= ledger.work.size <= before + 1
        assert (signal == "state") <= (ledger.work.size > before)
        assert again.work.size == before, "the ledger that was given is untouched"
    results = {digest for digest, _, write in done if not write}
    states = {state for _, state, write in done if write}
    assert (len(ledger.work.tools), len(ledger.work.files)) == (len(results), len(states))


@given(st.lists(st.binary(max_size=3), max_size=4), st.lists(st.binary(max_size=3), max_size=4))
def test_two_lists_of_parts_have_one_digest_only_if_they_are_the_same(one: list[bytes], other: list[bytes]) -> None:
    assert (digest8(*one) == digest8(*other)) == (one == other)
    assert len(digest8(*one)) == 8


@given(order=st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_a_fingerprint_is_that_of_the_set_whatever_the_order_and_however_often(order: list[int]) -> None:
    calls = [Call(str(number), "fetch", b"sign-%d" % number, TEXT, source=b"url-%d" % number) for number in range(4)]

    def fetched(numbers: list[int]) -> bytes:
        ledger = Ledger()
        for number in numbers:
            ledger, _ = learn(ledger, calls[number], digest=b"page-%d" % number)
        return fingerprint(ledger.work)

    assert fetched(order) == fetched(sorted(set(order)))
    assert fetched([order[0]] * 10) == fetched([order[0]])
    assert len({fetched([]), *(fetched([number]) for number in range(4))}) == 5
