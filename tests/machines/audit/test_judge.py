"""Recorded runs, judged: the verdicts turn by turn, the legs, what a stop saves, and what is odd."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from machines.audit import Judged, Verdict, judge, policy_for
from machines.audit.judge import MOST_CALLS, Saved
from machines.ledger.observe import call_of
from machines.manifest import UNDECLARED
from machines.outcome import Fact, TerminalStatus
from machines.policy import DEFAULT, Budget, Policy
from machines.state import Phase
from machines.traces.bad_trace import BadTrace
from machines.traces.formats import open_trace
from statecraft import Scalar

Judge = Callable[..., Judged]
Record = dict[str, Any]
USAGE = {"input": 90, "output": 10}


def turn(number: int, value: object = "nothing", **more: Any) -> list[Record]:
    """The same call in each turn, and what it answered."""
    call = {"id": f"call-{number}", "tool": "search", "args": {"q": "x"}}
    return [
        {"t": "reply", "stop": "tool_use", "calls": [call], "usage": USAGE, **more},
        {"t": "result", "call": call["id"], "value": value},
    ]


def turns(count: int, value: object = "nothing", start: int = 1) -> list[Record]:
    return [line for number in range(start, start + count) for line in turn(number, value)]


def news(count: int) -> Iterator[Record]:
    return (line for number in range(count) for line in turn(number, f"found {number}"))


def said(judged: Judged) -> list[tuple[int, str, str]]:
    return [(verdict.turn, verdict.verdict, verdict.by) for verdict in judged.verdicts]


FINAL: Record = {"t": "reply", "stop": "end_turn", "calls": [], "text": "Done.", "kind": "final"}
USER: Record = {"t": "user", "text": "Go on."}
END: Record = {"t": "end", "status": "success", "text": "Done."}
NUDGE, STOP = (3, "nudge", "consecutive_duplicate"), (4, "stop", "consecutive_duplicate")


def test_a_healthy_run_is_let_go_on_to_its_own_end(judged: Judge) -> None:
    found = judged([*news(5), FINAL, END])
    assert (found.turns, found.calls, found.worst, found.verdicts, found.saved) == (6, 5, "continue", (), Saved(0, 0))
    assert (found.first_nudge, found.first_stop, found.strip, found.problems) == (None, None, "......", ())
    assert found.outcome is not None
    assert (found.outcome.status, found.recorded_end) == (TerminalStatus.COMPLETED, "success")
    assert found.legs == (found.outcome,)


def test_a_stuck_run_is_nudged_and_stopped_and_the_rest_is_saved(judged: Judge) -> None:
    found = judged([*turns(7), END])
    assert said(found) == [NUDGE, STOP]
    assert (found.worst, found.first_nudge, found.first_stop) == ("stop", 3, 4)
    assert (found.turns, found.calls, found.saved, found.strip) == (7, 7, Saved(3, 300), "..nS---")
    assert (found.recorded_end, found.problems) == ("success", ())
    assert found.outcome is not None
    assert (found.outcome.reason.by, found.outcome.facts) == ("consecutive_duplicate", (Fact.STUCK,))
    assert found.outcome.account.turns == 4
    assert found.outcome.message is None, "the last reply that the stop asked for was never recorded"


def test_a_verdict_shows_what_the_rule_saw(judged: Judge) -> None:
    first, last = judged(turns(4)).verdicts
    seen: dict[str, Scalar] = {
        "signatures": call_of("1", "search", '{"q":"x"}', UNDECLARED).signature.hex(),
        "failing": False,
        "now": 3,
        "stop": 4,
        "tool": "search",
        "turn": 3,
    }
    assert first == Verdict(3, "nudge", "consecutive_duplicate", seen)
    assert last.evidence == {**seen, "now": 4, "turn": 4}


def test_a_turn_is_judged_when_it_ends_and_not_before(judged: Judge) -> None:
    # The fourth answer was never recorded; that it will not come is clear from the next reply.
    open_turn = turns(4)[:-1]
    assert said(judged(open_turn)) == [NUDGE]
    assert judged(open_turn).outcome is None
    assert said(judged([*open_turn, *turn(5)]))[:2] == [NUDGE, (4, "nudge", "no_progress")]
    assert said(judged([*turns(4), *turn(5)])) == [NUDGE, STOP]


def test_a_recording_that_breaks_off_leaves_the_run_open(judged: Judge) -> None:
    for lines in ([], turns(1), turns(1)[:1], [*turns(1), END]):
        found = judged(lines)
        assert (found.outcome, found.legs, found.worst) == (None, (None,), "continue")


# Legs.


def test_a_person_opens_a_leg_and_windows_start_afresh(judged: Judge) -> None:
    found = judged([*turns(2), USER, *turns(2, start=3), FINAL])
    assert said(found) == []
    assert [leg and leg.status.value for leg in found.legs] == [None, "completed"]
    assert found.outcome == found.legs[-1]


def test_judging_goes_on_after_a_stop_when_a_person_speaks(judged: Judge) -> None:
    found = judged([*turns(6), USER, *turns(5, start=7), FINAL, END])
    assert said(found) == [NUDGE, STOP, (9, "nudge", "consecutive_duplicate"), (10, "stop", "consecutive_duplicate")]
    assert (found.turns, found.strip, found.saved) == (12, "..nS--..nS--", Saved(4, 300))
    assert [leg and leg.status.value for leg in found.legs] == ["blocked", "blocked"]


def test_a_program_in_a_persons_name_opens_none(judged: Judge) -> None:
    synthetic = {**USER, "synthetic": True}
    found = judged([*turns(2), synthetic, *turns(2, start=3)])
    assert (said(found), len(found.legs)) == ([NUDGE, STOP], 1)
    # After the stop it is passed over with the rest.
    assert judged([*turns(4), synthetic, *turn(5)]).saved.turns == 1


def test_a_person_who_speaks_first_begins_the_run(judged: Judge) -> None:
    assert len(judged([USER, *turns(1)]).legs) == 1


# What is a stop, and what a nudge.


@pytest.mark.parametrize(
    ("budget", "by", "at"),
    [({"turns": 2}, "turns", 2), ({"tokens": 300}, "tokens", 2), ({"usd": 0.5}, "usd", 1)],
)
def test_the_recorded_runs_own_budget_is_a_stop(judged: Judge, budget: Record, by: str, at: int) -> None:
    priced = [{**line, "usage": {**USAGE, "usd": 0.3}} if line["t"] == "reply" else line for line in news(4)]
    found = judged(priced, budget=budget)
    assert said(found) == [(at, "stop", by)]
    assert found.saved.turns == 4 - at
    assert found.outcome is not None
    assert Fact.LIMIT_REACHED in found.outcome.facts


def test_time_is_a_budget_too(judged: Judge) -> None:
    timed = [{**line, "at": 10.0 * number} for number, line in enumerate(news(6))]
    assert said(judged(timed, budget={"seconds": 50.0})) == [(3, "stop", "seconds")]


def test_a_recording_without_a_budget_is_judged_without_one(judged: Judge) -> None:
    costly = [{**line, "usage": {"input": 10**7, "usd": 50.0}} if line["t"] == "reply" else line for line in news(99)]
    assert said(judged([{**line, "at": 5_000.0 * n} for n, line in enumerate(costly)])) == []


def test_the_budget_of_the_policy_gives_way_to_that_of_the_recording(recorded: Callable[..., Path]) -> None:
    policy = Policy(budget=Budget(turns=3, hold_back=0.5, calls_per_turn=2))
    (run,) = open_trace(recorded([], budget={"seconds": 9.0}))
    assert policy_for(run, policy).budget == Budget(
        None, 9.0, None, None, calls_per_turn=MOST_CALLS, reply_tokens=None, hold_back=0.5, unbounded=True
    )
    (run,) = open_trace(recorded([], budget={"turns": 5}))
    assert policy_for(run, policy).budget.unbounded is False
    assert attrs.evolve(policy_for(run, policy), budget=policy.budget) == policy


@pytest.mark.parametrize("budget", [{"turns": 0}, {"seconds": 0}, {"tokens": 0}, {"usd": 0}])
def test_a_budget_of_nothing_is_refused_as_bad_input(judged: Judge, budget: Record) -> None:
    (name,) = budget
    with pytest.raises(BadTrace, match=rf"given\.jsonl, line 1, field budget\.{name}: found 0"):
        judged(news(1), budget=budget)


def test_an_empty_reply_is_a_nudge_until_recovery_is_used_up(judged: Judge) -> None:
    empty: Record = {"t": "reply", "stop": "end_turn", "calls": []}
    assert said(judged([empty] * 3)) == [
        (1, "nudge", "empty"),
        (2, "nudge", "empty"),
        (3, "stop", "recovery_exhausted"),
    ]


@pytest.mark.parametrize(
    ("body", "condensed"),
    [
        ({"error": {"code": "context_length_exceeded"}}, True),
        ({"error": {"type": "request_too_large", "message": "..."}}, True),
        ({"error": {"message": "context_length_exceeded"}}, False),
        ({"error": "request_too_large"}, False),
        ("context_length_exceeded", False),
    ],
)
def test_only_the_structured_part_of_a_refusal_says_that_it_is_too_long(
    judged: Judge, body: object, condensed: bool
) -> None:
    found = judged([{"t": "refusal", "status": 422, "body": body}])
    assert (found.outcome is None) == condensed
    assert said(found) == ([] if condensed else [(0, "stop", "refused")])


def test_continued_text_and_retries_are_no_nudges(judged: Judge) -> None:
    cut: Record = {"t": "reply", "stop": "length", "calls": [], "text": "So far"}
    busy: Record = {"t": "refusal", "status": 529, "body": "busy"}
    too_long: Record = {"t": "refusal", "status": 413, "body": "too long"}
    condensed: Record = {"t": "condensed", "freed": 1_000}
    assert said(judged([cut, cut, cut, busy, busy, too_long, condensed, *turns(1)])) == []
    assert said(judged([cut] * 4)) == [(4, "stop", "recovery_exhausted")]


def test_a_refusal_for_good_is_a_stop_under_its_own_name(judged: Judge) -> None:
    found = judged([*news(1), {"t": "refusal", "status": 401, "body": "no key"}, END])
    assert said(found) == [(1, "stop", "refused")]
    assert found.verdicts[0].evidence["status"] == 401
    assert found.outcome is not None
    assert found.outcome.status is TerminalStatus.FAILED


def test_a_cancelled_run_is_cancelled_and_no_verdict(judged: Judge) -> None:
    found = judged([*turns(1), {"t": "cancel", "reason": "enough"}])
    assert (said(found), found.outcome and found.outcome.status) == ([], TerminalStatus.CANCELLED)


def test_turns_after_a_runs_own_end_are_named_and_not_judged(judged: Judge) -> None:
    found = judged([*news(1), FINAL, *turns(4)])
    assert (found.turns, found.strip, said(found), found.saved) == (6, "..++++", [], Saved(0, 0))
    assert found.problems == tuple(
        f"line {line}: a reply after the run had ended by itself; it is not judged" for line in (5, 7, 9, 11)
    )


# Waits.

WAIT = {"wait": {"progress_field": "*", "waiting_values": ["queued"], "terminal_values": ["done"]}}


def polls(count: int, every: float | None, value: str = "queued") -> list[Record]:
    lines = turns(count, value)
    return lines if every is None else [{**line, "at": every * (n // 2)} for n, line in enumerate(lines)]


def waits(seconds: float, interval: float = 10.0) -> Record:
    return {"search": {"wait": {**WAIT["wait"], "max_wait_seconds": seconds, "min_interval_seconds": interval}}}


def test_a_declared_wait_is_no_loop_until_it_expires(judged: Judge) -> None:
    assert said(judged(polls(9, 10.0), tools=waits(100.0))) == []
    assert said(judged(polls(11, 10.0), tools=waits(100.0))) == [(11, "nudge", "wait_over")]


def test_a_look_without_a_time_counts_the_waits_shortest_interval(judged: Judge) -> None:
    assert said(judged(polls(11, None), tools=waits(100.0)))[:1] == [(11, "nudge", "wait_over")]


def test_a_wait_longer_than_the_budget_is_named(judged: Judge) -> None:
    found = judged(polls(2, 10.0), tools=waits(5_000.0), budget={"seconds": 1_000.0})
    assert any("wait" in problem for problem in found.problems)


def test_a_stop_after_waiting_saves_the_reply_that_shows_it(judged: Judge) -> None:
    found = judged(polls(3, 300.0), tools=waits(5_000.0), budget={"seconds": 500.0, "turns": 9})
    assert said(found) == [(2, "stop", "seconds")]
    assert (found.strip, found.saved) == (".S-", Saved(1, 100))


# Problems.


def test_what_changes_nothing_is_named_with_its_line(judged: Judge) -> None:
    found = judged([*turns(1), {"t": "result", "call": "no-such", "value": 1}])
    said = "Result changed nothing: no row of run takes it"
    late = "late_call (call=no-such, unanswered=0)"
    assert found.problems == (f"line 4: {said}: {late}",)
    found = judged([turns(1)[0], {"t": "result", "call": "no-such", "value": 1}])
    assert found.problems == (f"line 3: {said}: open_call (call=no-such, open=1), {late}",)


@pytest.mark.parametrize("count", [1, 70], ids=["one", "more than a turn may hold by the policy"])
def test_calls_that_were_recorded_were_run_however_many_they_were(judged: Judge, count: int) -> None:
    assert DEFAULT.budget.calls_per_turn < 70
    calls = [{"id": f"call-{number}", "tool": "search", "args": {"n": number}} for number in range(count)]
    answers = [{"t": "result", "call": call["id"], "value": "an answer"} for call in calls]
    found = judged([{"t": "reply", "stop": "tool_use", "calls": calls}, *answers])
    assert (found.problems, found.run_now.turn.open, found.run_now.at) == ((), (), Phase.ASKING)


def test_the_recorded_answer_to_a_call_that_does_not_parse_is_named(judged: Judge) -> None:
    # The run answers such a call by itself, as failed, so nothing waits for what was recorded.
    garbled = {"id": "garbled", "tool": "search", "args_raw": '{"q" 1'}
    good: Record = {"id": "good", "tool": "search", "args": {}}
    answer: Record = {"t": "result", "call": "garbled", "value": "an answer"}
    said = "Result changed nothing: no row of run takes it"
    late = "late_call (call=garbled, unanswered=0)"
    alone = judged([{"t": "reply", "stop": "tool_use", "calls": [garbled]}, answer])
    assert (alone.problems, alone.run_now.at) == ((f"line 3: {said}: {late}",), Phase.ASKING)
    beside = judged([{"t": "reply", "stop": "tool_use", "calls": [garbled, good]}, answer])
    assert beside.problems == (f"line 3: {said}: open_call (call=garbled, open=1), {late}",)
    assert judged([{"t": "reply", "stop": "tool_use", "calls": [good]}, {**answer, "call": "good"}]).problems == ()


@pytest.mark.parametrize("final_reply", [True, False])
def test_a_stop_is_no_problem_with_or_without_a_last_reply(judged: Judge, final_reply: bool) -> None:
    policy = Policy(budget=Budget(final_reply=final_reply))
    # The last turn of the budget is over by its own answer, or by the reply that shows that none will come.
    for lines in (turns(2), [turn(1)[0], *turn(2)], [turn(1)[0], *turn(2), END]):
        found = judged(lines, policy, budget={"turns": 1})
        assert (said(found), found.problems) == ([(1, "stop", "turns")], ())
        assert found.outcome is not None
        assert (found.outcome.message, found.saved.turns) == (None, 1)


def test_no_more_than_twenty_problems_are_listed(judged: Judge) -> None:
    assert len(judged([{"t": "result", "call": "x", "value": 1}] * 30).problems) == 20


# Several runs, and long ones.


def test_each_run_of_a_file_is_judged_by_itself(recorded: Callable[..., Path]) -> None:
    second = {"t": "run", "format": "statecraft.trace/1", "id": "second"}
    path = recorded([*turns(3), second, *turns(2)])
    found = [judge(run) for run in open_trace(path)]
    assert [(one.run, one.turns, one.worst) for one in found] == [("given", 3, "nudge"), ("second", 2, "continue")]
    assert {one.file for one in found} == {str(path)}


def test_judging_keeps_no_more_of_a_long_run_than_of_a_short_one(recorded: Callable[..., Path]) -> None:
    def peak(count: int) -> int:
        # Every result was seen before, so the ledger does not grow; each turn comes with 4 KB of text.
        path = recorded(line for n in range(count) for line in turn(n, "x" * 4_000 + str(n % 20)))
        tracemalloc.start()
        try:
            for run in open_trace(path):
                assert judge(run).turns == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # what is made once is made now
    # 1,500 turns come with 6 MB of text; what Python's collector has not yet come to may be some 100 KB of it.
    assert peak(1_500) < peak(100) + 1_000_000
