"""Events become the lines that such a run's recording would have held, and what no line carries is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import pytest

from machines.audit.translate import translate
from machines.events import (
    Awaited,
    Awaits,
    Begin,
    Call,
    Cancel,
    Chunk,
    Clock,
    Condensed,
    Declared,
    Ended,
    ErrorKind,
    Event,
    Facts,
    GoalMeasured,
    Measured,
    NoReply,
    PlanChanged,
    PlanItem,
    Refusal,
    RefusalKind,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
    TurnEnded,
    Usage,
)
from machines.manifest import Consent, Kind, Tool
from machines.state import Run, new_run
from machines.traces.from_events import recording
from machines.traces.neutral import dumps, read

TOOLS = {"read": Tool(Kind.READ), "write": Tool(Kind.WRITE, target=("path",)), "think": Tool(Kind.THINK)}
RUN = new_run("r", tools=TOOLS)
BARE = attrs.evolve(RUN, policy=attrs.evolve(RUN.policy, budget=attrs.evolve(RUN.policy.budget, reply_tokens=None)))
TEXT = Text("words", 5)


def call(signature: bytes, tool: str = "read", **more: Any) -> Call:
    return Call("a", tool, signature, TEXT, **more)


def asked(*calls: Call, **more: Any) -> Reply:
    return Reply(1.0, StopReason.TOOL_USE, calls, **more)


def again(events: Iterable[Event], folder: Path, run: Run = BARE) -> list[Event]:
    """The events that are read from the lines of these, without the beginning."""
    file = folder / "r.jsonl"
    file.write_bytes(b"".join(dumps(line) + b"\n" for line in recording(run, (Begin(0.0), *events)).lines))
    return [one.event for one in translate(next(read(file)))][1:]


def left_out(*events: Event, run: Run = BARE) -> tuple[str, ...]:
    return recording(run, (Begin(0.0), *events)).left_out


SAME: list[Event] = [
    Reply(1.0, StopReason.END_TURN, usage=Usage(3, 4, 1, 0.5), kind=Declared.FINAL, facts=Facts(eligible=2)),
    GoalMeasured(1.0, 1, 2),
    Condensed(1.0, 7),
    Cancel(1.0, "enough"),
    Ended(1.0, "ok"),
    Refusal(1.0, 401, TEXT, kind=RefusalKind.AUTHENTICATION),
    Refusal(1.0, 529, TEXT, after=3.0, kind=RefusalKind.OVERLOADED),
    Refusal(1.0, 413, TEXT, too_long=True, kind=RefusalKind.PROMPT_TOO_LONG),
    Refusal(1.0, 400, TEXT, kind=RefusalKind.TRANSCRIPT),
    Refusal(1.0, 400, TEXT, kind=RefusalKind.BAD_CALL),
    Refusal(1.0, 422, TEXT),
    Signal(1.0, "done"),
]


@pytest.mark.parametrize("event", SAME, ids=lambda event: type(event).__name__)
def test_what_a_line_carries_is_read_again_as_the_same_event(event: Event, tmp_path: Path) -> None:
    (found,) = again([event], tmp_path)
    assert (attrs.evolve(found, body=TEXT) if isinstance(found, Refusal) else found) == event
    assert left_out(event) == ()


def test_calls_and_results_are_equal_where_they_were(tmp_path: Path) -> None:
    events = (
        *(asked(call(b"one")), Result(1.0, "a", b"first")),
        *(asked(call(b"two")), Result(1.0, "a", b"first")),
        *(asked(call(b"one")), Result(1.0, "a", b"second")),
        *(asked(call(b"one")), Result(1.0, "a")),
        *(asked(call(b"\xff\x00")), Result(1.0, "a", b"error", error=ErrorKind.TRANSIENT)),
    )
    found = again(events, tmp_path)
    signed = [event.calls[0].signature for event in found if isinstance(event, Reply)]
    assert [signed.index(one) for one in signed] == [0, 1, 0, 0, 4]
    results = [event for event in found if isinstance(event, Result)]
    assert results[0].digest == results[1].digest != results[2].digest
    assert results[3].digest is None
    assert (results[4].error, len({one.digest for one in results})) == (ErrorKind.TRANSIENT, 4)


def test_what_a_call_touches_changes_and_leaves_unread_is_carried(tmp_path: Path) -> None:
    write = call(b"w", "write", target="a.txt")
    wrote, result, thought, garbled, cut = again(
        [
            asked(write),
            Result(1.0, "a", b"done", state=b"state", wrote=True),
            asked(call(b"t", "think", empty=True)),
            asked(call(b"g", parsed=False)),
            asked(call(b"c", parsed=False, cut=True)),
        ],
        tmp_path,
    )
    assert isinstance(wrote, Reply)
    assert wrote.calls[0].target == "a.txt"
    assert isinstance(result, Result)
    assert result.wrote
    assert result.state is not None
    assert isinstance(thought, Reply)
    assert thought.calls[0].empty
    for reply, cut_off in ((garbled, False), (cut, True)):
        assert isinstance(reply, Reply)
        assert (reply.calls[0].parsed, reply.calls[0].cut) == (False, cut_off)


def test_a_stream_repeats_itself_as_often(tmp_path: Path) -> None:
    (found,) = again([Chunk(1.0, "text", TEXT, laps=4, period=3)], tmp_path)
    assert isinstance(found, Chunk)
    assert found.laps == 4


def test_the_plan_and_who_spoke_are_carried(tmp_path: Path) -> None:
    plan, said = again([PlanChanged(1.0, (PlanItem(TEXT, "completed"),)), Said(1.0, TEXT, synthetic=True)], tmp_path)
    assert isinstance(plan, PlanChanged)
    assert [item.status for item in plan.items] == ["completed"]
    assert isinstance(said, Said)
    assert said.synthetic


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Clock(1.0), "Clock"),
        (NoReply(1.0, "gone"), "NoReply"),
        (Measured(1.0, 1, 2), "Measured"),
        (Awaits(1.0, "a", Awaited.ANSWER, "q"), "Awaits"),
        (Condensed(1.0, 0, nothing_left=True), "Condensed.nothing_left"),
        (Signal(1.0, "q", answer="yes"), "Signal's answer, and who gave it"),
        (Reply(1.0, StopReason.END_TURN, capped=True), "Reply.capped"),
        (Reply(1.0, StopReason.END_TURN, facts=Facts(checks_passed=True)), "Facts.checks_passed"),
        (Refusal(1.0, 400, TEXT, window=9), "Refusal's sizes, which the host knows"),
        (
            Refusal(1.0, 400, TEXT, kind=RefusalKind.REPLY_BUDGET),
            "a refusal of the kind reply_budget with status 400",
        ),
        (Result(1.0, "a", b"d", error=ErrorKind.OUTCOME_UNKNOWN), "an outcome that is not known"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
def test_what_no_line_carries_is_named(event: Event, said: str) -> None:
    assert left_out(event) == (said,)


def test_what_the_first_line_does_not_carry_is_named() -> None:
    asking = attrs.evolve(BARE, tools={"ask": Tool(consent=Consent())})
    assert left_out(run=asking) == ("a tool's consent",)
    assert left_out(run=RUN) == ("what a reply may cost",)
    assert recording(BARE, [Cancel(1.0)]).left_out == ("what comes before a run has begun",)


def test_the_end_of_a_turn_is_no_line_and_not_missed() -> None:
    found = recording(BARE, [Begin(0.0), TurnEnded(1.0)])
    assert (len(found.lines), found.left_out) == (1, ())
