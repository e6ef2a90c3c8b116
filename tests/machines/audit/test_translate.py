"""From the lines of a recorded run to its events: what is text, what wrote, and how late a look was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.audit import Judged
from machines.audit.translate import translate
from machines.events import Declared, Event, Reply, Result
from machines.manifest import Kind, Tool, Wait
from machines.traces.formats import open_trace
from machines.traces.lines import FORMAT, CallSpec, Line, ReplyLine, ResultLine, RunLine, result_error
from machines.traces.recorded import Recorded

Record = dict[str, Any]
Judge = Callable[..., Judged]
FOREIGN = "mini-swe-agent-v2"


def events(lines: list[Line], tools: dict[str, Tool] | None = None, format: str = FORMAT) -> list[Event]:
    """The events after the first one."""
    numbered = iter([(None, line) for line in lines])
    recorded = Recorded("given", format, RunLine("given", tools=tools or {}), None, numbered)
    return [translated.event for translated in translate(recorded)][1:]


def results(found: list[Event]) -> list[Result]:
    return [event for event in found if isinstance(event, Result)]


# Texts.


@pytest.mark.parametrize(("text", "is_text"), [("", False), (" \n\t\u00a0", False), (".", True), (" a ", True)])
def test_white_space_is_no_text(text: str, is_text: bool) -> None:
    (reply,) = events([ReplyLine("end_turn", text=text, thinking=text)])
    assert isinstance(reply, Reply)
    assert (reply.text is not None, reply.thinking is not None) == (is_text, is_text)
    assert reply.text is None or reply.text.chars == len(text)


def test_a_reply_of_white_space_is_an_empty_one(judged: Judge) -> None:
    def reminders(text: str) -> list[str]:
        return [v.by for v in judged([{"t": "reply", "stop": "end_turn", "calls": [], "text": text}]).verdicts]

    assert (reminders(" \n"), reminders("."), reminders("")) == (["empty"], [], ["empty"])


# What wrote.

SHELL = {"bash": Tool(Kind.COMMAND), "note": Tool(Kind.READ)}
WRITES, LOOKS = '{"command": "mkdir out"}', '{"command": "ls out"}'


@pytest.mark.parametrize(
    ("call", "line", "format", "wrote"),
    [
        (CallSpec("1", "bash", WRITES), ResultLine("1", ""), FOREIGN, True),
        (CallSpec("1", "bash", LOOKS), ResultLine("1", ""), FOREIGN, False),
        (CallSpec("1", "bash", LOOKS), ResultLine("1", "", wrote=True), FOREIGN, True),
        (CallSpec("1", "bash", WRITES), ResultLine("1", "", result_error("other")), FOREIGN, False),
        (CallSpec("1", "bash", WRITES), ResultLine("2", ""), FOREIGN, False),
        (CallSpec("1", "note", WRITES), ResultLine("1", ""), FOREIGN, False),
        (CallSpec("1", "bash", '{"command": ["mkdir", "out"]}'), ResultLine("1", ""), FOREIGN, False),
        (CallSpec("1", "bash", '"mkdir out"'), ResultLine("1", ""), FOREIGN, False),
        (CallSpec("1", "bash", "mkdir out", raw=True), ResultLine("1", ""), FOREIGN, False),
        (CallSpec("1", "bash", WRITES), ResultLine("1", ""), FORMAT, False),
    ],
    ids=[
        *("writes", "looks", "said to write", "failed", "another call", "no command", "a list", "a string", "garbled"),
        "the neutral trace says it by itself",
    ],
)
def test_a_shell_command_of_a_foreign_recording_wrote_if_it_plainly_writes(
    call: CallSpec, line: ResultLine, format: str, wrote: bool
) -> None:
    found = results(events([ReplyLine("tool_use", (call,)), line], SHELL, format))
    assert [result.wrote for result in found] == [wrote]


def test_only_the_commands_of_the_last_reply_are_waited_for() -> None:
    lines: list[Line] = [
        ReplyLine("tool_use", (CallSpec("1", "bash", WRITES), CallSpec("2", "bash", LOOKS))),
        ResultLine("2", ""),
        ResultLine("1", ""),
        ReplyLine("tool_use", (CallSpec("1", "bash", LOOKS),)),
        ResultLine("1", ""),
    ]
    assert [result.wrote for result in results(events(lines, SHELL, FOREIGN))] == [False, True, False]


@pytest.mark.parametrize(("format", "calls"), [(FOREIGN, 0), (FORMAT, 1)])
def test_the_call_by_which_a_foreign_agent_ends_is_no_call(format: str, calls: int) -> None:
    (reply,) = events([ReplyLine("tool_use", (CallSpec("1", "bash", WRITES),), kind="final")], SHELL, format)
    assert isinstance(reply, Reply)
    assert (len(reply.calls), reply.kind) == (calls, Declared.FINAL)


# Looks without times.

WAITS = {
    "build": Tool(wait=Wait("*", ("queued",), ("done",), 100.0, 10.0)),
    "deploy": Tool(wait=Wait("*", ("queued",), ("done",), 100.0, 5.0)),
    "at will": Tool(wait=Wait("*", ("queued",), ("done",), 100.0)),
    "read": Tool(),
}


def times(*looks: tuple[str, float | None]) -> list[float]:
    """When the answers of these tools came, each with the time that it was recorded with."""
    lines: list[Line] = []
    for number, (tool, at) in enumerate(looks):
        lines += [ReplyLine("tool_use", (CallSpec(str(number), tool),)), ResultLine(str(number), "queued", at=at)]
    return [result.at for result in results(events(lines, WAITS))]


def test_a_second_look_without_a_time_takes_the_shortest_time_between_looks() -> None:
    assert times(("build", None), ("build", None), ("build", None)) == [0.0, 10.0, 20.0]
    assert times(("deploy", None), ("deploy", None)) == [0.0, 5.0]


def test_a_look_at_the_same_time_does_too_and_a_later_one_keeps_its_own() -> None:
    assert times(("build", 3.0), ("build", 3.0)) == [3.0, 13.0]
    assert times(("build", 3.0), ("build", 3.5)) == [3.0, 3.5]
    # What comes after a look that was put off is as much later.
    assert times(("build", 3.0), ("build", 3.0), ("build", 7.0)) == [3.0, 13.0, 17.0]


def test_each_tool_is_looked_at_by_itself() -> None:
    assert times(("build", None), ("deploy", None)) == [0.0, 0.0]
    assert times(("build", None), ("deploy", None), ("build", None)) == [0.0, 0.0, 10.0]


@pytest.mark.parametrize("tool", ["read", "at will"])
def test_a_tool_that_names_no_interval_takes_no_time(tool: str) -> None:
    assert times((tool, None), (tool, None)) == [0.0, 0.0]


# Answers that came late.


def test_a_late_answer_is_news_and_what_changes_no_more_is_not(judged: Judge) -> None:
    def call(number: int) -> Record:
        made = {"id": str(number), "tool": "read", "args": {"n": number}}
        return {"t": "reply", "stop": "tool_use", "calls": [made]}

    def result(number: int, value: str) -> Record:
        return {"t": "result", "call": str(number), "value": value}

    found = judged([call(1), call(2), result(2, "old"), result(1, "late"), call(3), result(3, "old")])
    assert (found.problems, found.run_now.streaks.last_signal_turn) == ((), 3)
    found = judged([call(1), call(2), result(2, "old"), result(1, "old"), call(3), result(3, "old")])
    assert (found.problems, found.run_now.streaks.last_signal_turn) == ((), 2)


def test_the_answer_of_a_late_call_is_read_as_its_tool_says(recorded: Callable[..., Path]) -> None:
    made = [{"id": str(number), "tool": "read", "args": {"n": number}} for number in (1, 2)]
    replies = [{"t": "reply", "stop": "tool_use", "calls": [call]} for call in made]
    late: Record = {"t": "result", "call": "1", "value": {"rows": [], "weather": "fair"}}
    tools = {"read": {"volatile": ["weather"]}}

    def digest(lines: list[Record]) -> bytes | None:
        run = next(open_trace(recorded(lines, tools=tools)))
        (only,) = results([translated.event for translated in translate(run)])
        return only.digest

    assert digest([*replies, late]) == digest([replies[0], late])
