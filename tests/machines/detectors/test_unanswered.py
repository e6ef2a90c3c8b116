"""A call that gets no answer has an outcome all the same: that of one whose answer was not seen."""

from __future__ import annotations

from typing import Any

import pytest

from machines.commands import Tell
from machines.events import Begin, Call, Event, Reply, Result, StopReason, Text
from machines.ledger.work import digest8
from machines.policy import Budget, Detectors, Policy, only
from machines.state import Run, new_run
from machines.supervisor import feed
from machines.turn import Answer, Turn, outcome_of

TEXT = Text("text", 4)
SILENT = Call("1", "read", b"sign-one", TEXT)
DUPLICATE, PROGRESS = "consecutive_duplicate", "no_progress"
ALONE = {name: only(Detectors(), name) for name in (DUPLICATE, PROGRESS)}


def call(number: int, signature: bytes = b"sign") -> Call:
    return Call(f"id-{number}", "read", signature, TEXT)


def told(events: list[Event], detectors: Detectors) -> tuple[Run, list[str]]:
    """The run after these events, and which rules spoke to the model."""
    budget = Budget(turns=100, seconds=None, tokens=None, usd=None)
    run, found = feed(new_run("run", Policy(budget=budget, detectors=detectors)), Begin(0.0)).run, list[str]()
    for event in events:
        fed = feed(run, event)
        run = fed.run
        found += [command.by for command in fed.commands if isinstance(command, Tell)]
    return run, found


def silent(turns: int, *, same: bool) -> list[Event]:
    """Turns of one call each that get no answer; the last of them is still open."""
    signatures = [b"sign" if same else b"sign-%d" % number for number in range(turns)]
    return [Reply(1.0, StopReason.TOOL_USE, (call(number, s),)) for number, s in enumerate(signatures)]


def test_the_outcomes_of_a_turn_are_those_of_all_its_calls() -> None:
    unseen = Answer("read", b"sign-one", digest8(b"sign-one", b"", b""), seen=False)
    answer = Answer("read", b"sign-two", b"outcome")
    assert Turn(1, open=(SILENT,), answers=(answer,)).judged == (answer, unseen)
    assert Turn(1, answers=(answer,)).judged == (answer,)
    assert (unseen.ok, unseen.barren, answer.ok, answer.barren) == (False, True, True, False)


def test_an_outcome_tells_call_digest_and_error_apart() -> None:
    assert len({outcome_of(c, d, e) for c in (b"one", b"two") for d in (b"", b"d") for e in ("", "other")}) == 8
    assert outcome_of(b"one", b"ab", "") != outcome_of(b"one", b"a", "b")


# One call more, so that the turn of the last one counted is over.
@pytest.mark.parametrize(("turns", "nudged", "stop"), [(3, 0, None), (4, 1, None), (6, 1, None), (7, 1, DUPLICATE)])
def test_a_call_that_is_never_answered_is_a_repetition_with_the_wider_limits(
    turns: int, nudged: int, stop: str | None
) -> None:
    run, rules = told(silent(turns + 1, same=True), ALONE[DUPLICATE])
    assert rules == [DUPLICATE] * nudged
    assert (run.stop and run.stop.by) == stop


def test_an_answer_that_was_not_seen_and_none_at_all_are_one_outcome() -> None:
    mixed: list[Event] = []
    for number, reply in enumerate(silent(5, same=True)):
        mixed += [reply, *([Result(1.0, f"id-{number}")] if number % 2 else [])]
    assert told(mixed, ALONE[DUPLICATE])[1] == [DUPLICATE]
    seen: list[Any] = [Result(1.0, "id-1", b"digest") if isinstance(e, Result) else e for e in mixed]
    assert told(seen, ALONE[DUPLICATE])[1] == []


def test_an_answer_beside_a_call_without_one_is_not_this_shape() -> None:
    for number_of_calls, rules in ((1, [DUPLICATE]), (2, [])):
        events: list[Event] = []
        for number in range(4):
            calls = (call(2 * number), call(2 * number + 1, b"other"))[:number_of_calls]
            events += [Reply(1.0, StopReason.TOOL_USE, calls), Result(1.0, calls[0].id, b"digest")]
        assert told(events, ALONE[DUPLICATE])[1] == rules


@pytest.mark.parametrize(("turns", "nudged", "stop"), [(5, 0, None), (6, 1, None), (7, 1, None), (8, 1, PROGRESS)])
def test_calls_that_are_never_answered_bring_nothing_new_and_count_as_failing(
    turns: int, nudged: int, stop: str | None
) -> None:
    run, rules = told(silent(turns + 1, same=False), ALONE[PROGRESS])
    assert rules == [PROGRESS] * nudged
    assert (run.stop and run.stop.by) == stop


def test_one_success_beside_them_ends_the_patience() -> None:
    old: list[Event] = [Reply(1.0, StopReason.TOOL_USE, (call(100),)), Result(1.0, "id-100", b"old")]
    again: list[Event] = [Reply(1.0, StopReason.TOOL_USE, (call(101),)), Result(1.0, "id-101", b"old")]
    silence = silent(4, same=False)
    assert told([*old, *silence[:2], *again], ALONE[PROGRESS])[1] == [PROGRESS]
    assert told([*old, *silence[:4]], ALONE[PROGRESS])[1] == []
