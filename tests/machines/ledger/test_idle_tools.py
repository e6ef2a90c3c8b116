"""Scratch tools and thoughts bring no result, and prove nothing: neither news nor a success."""

from __future__ import annotations

from typing import Any

import pytest

from machines.events import Begin, Call, ErrorKind, Reply, Result, StopReason, Text
from machines.ledger.work import Ledger, learn_result
from machines.manifest import Kind, Tool
from machines.state import Run, new_run
from machines.supervisor import feed

TEXT = Text("text", 4)
CALL = Call("1", "tool", b"signature", TEXT, target="a.txt")
IDLE = [Tool(Kind.THINK), Tool(Kind.READ, scratch=True), Tool(Kind.WRITE, scratch=True)]
BUSY = [Tool(kind) for kind in Kind if kind is not Kind.THINK]
TOOLS = [*((tool, False) for tool in IDLE), *((tool, True) for tool in BUSY)]

each_tool = pytest.mark.parametrize(("tool", "busy"), TOOLS, ids=[f"{t.kind}-{t.scratch}" for t, _ in TOOLS])


def result(**more: Any) -> Result:
    return Result(1.0, "1", b"digest", **more)


@each_tool
def test_only_the_result_of_a_tool_that_is_not_idle_is_news(tool: Tool, busy: bool) -> None:
    learned = learn_result(Ledger(), CALL, result(), tool, 8)
    ledger = learned.ledger
    assert (learned.signal, learned.new) == ("result" if busy else "", busy)
    counts = busy and tool.kind is not Kind.WRITE  # a write is what it left behind
    assert (len(ledger.recent), ledger.work.size, len(ledger.seen)) == (busy, counts, 0)
    assert len(ledger.last_results) == 1, "the account shows it all the same"


@pytest.mark.parametrize(("tool", "signal"), [(Tool(Kind.THINK), "state"), (Tool(Kind.THINK, scratch=True), "")])
def test_a_thought_that_was_seen_to_write_has_written_and_a_scratch_tool_never_has(tool: Tool, signal: str) -> None:
    learned = learn_result(Ledger(), CALL, result(wrote=True, state=b"state"), tool, 8)
    ledger = learned.ledger
    assert learned.signal == signal
    assert ledger.changes_in_all == len(ledger.seen) == bool(signal)


def turn_of(tool: Tool, answer: Result) -> Run:
    """A run with this answer in its turn, and a second call that is still open."""
    run = feed(new_run("run", tools={"tool": tool}), Begin(0.0)).run
    other = Call("2", "read", b"other", TEXT)
    return feed(feed(run, Reply(1.0, StopReason.TOOL_USE, (CALL, other))).run, answer).run


@each_tool
def test_the_answer_of_an_idle_tool_is_no_success(tool: Tool, busy: bool) -> None:
    (answer,) = turn_of(tool, result()).turn.answers
    assert (answer.ok, answer.barren) == (busy, False)
    (answer,) = turn_of(tool, result(error=ErrorKind.OTHER)).turn.answers
    assert (answer.ok, answer.barren) == (False, True)
