"""`mini-swe-agent-v1` and `mini-swe-agent-v2`: one JSON document, a list of chat messages.

Version 1 reads one block of shell out of a reply's text; the next user message answers it. Version 2 has tool calls
(or, in its text mode, the actions that it read) and messages that answer them, and closes with an `exit` message.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import define, field

from .bad_trace import BadTrace
from .clock import Clock
from .lines import EndLine, JsonObject, Line, ReplyLine, ResultLine, RunLine, UserLine
from .loose import content_of, number_of, object_of, text_of
from .mini_calls import calls_v1, calls_v2, error_v1, error_v2, opening
from .mini_reply import response_of, stop_of, thinking_of, usage_of
from .recorded import Recorded, runs
from .source import document
from .tools import MINI_SWE_AGENT

V1: Final = "mini-swe-agent-v1"
V2: Final = "mini-swe-agent-v2"

# The exit status of a run whose agent said, by a command of its own, that it was done.
_SUBMITTED: Final = "Submitted"


def read_v1(path: Path) -> Iterator[Recorded]:
    """The one run of a file of version 1. Raises BadTrace where it has no list of messages."""
    return runs(path, V1, ((None, line) for line in _lines(path, first=True)))


def read_v2(path: Path) -> Iterator[Recorded]:
    """The one run of a file of version 2. Raises BadTrace where it has no list of messages."""
    return runs(path, V2, ((None, line) for line in _lines(path, first=False)))


@define
class _Reader:
    """Where reading is: the clock, how many replies there were, and the calls that are not yet answered."""

    info: JsonObject
    first: bool
    last_message: int
    last_reply: int
    clock: Clock = field(factory=Clock)
    replies: int = 0
    open: list[str] = field(factory=list[str])

    @property
    def submitted(self) -> bool:
        return self.info.get("exit_status") == _SUBMITTED


def _lines(path: Path, *, first: bool) -> Iterator[Line]:
    record = document(path)
    messages = _messages(path, record)
    info = object_of(record.get("info"))
    replies = [number for number, message in enumerate(messages) if message.get("role") == "assistant"]
    reader = _Reader(info, first, len(messages) - 1, replies[-1] if replies else -1)
    yield RunLine(
        text_of(record.get("instance_id")) or path.stem.removesuffix(".traj"),
        tools=dict(MINI_SWE_AGENT),
        agent="mini-swe-agent",
    )
    for number, message in enumerate(messages):
        role = message.get("role")
        if role == "assistant":
            yield _reply(reader, number, message)
        elif role == "tool":
            yield _answer(reader, text_of(message.get("tool_call_id")), message)
        elif role == "user":
            yield from _user(reader, number, message)
        elif role == "exit":
            yield from _exit(reader, message)
            return
    if text_of(info.get("exit_status")):
        yield EndLine(text_of(info.get("exit_status")), text_of(info.get("submission")), reader.clock.now)


def _messages(path: Path, record: JsonObject) -> list[JsonObject]:
    items = record.get("messages")
    if not isinstance(items, list):
        raise BadTrace(path, field="messages", found="no list of messages", expected="a list")
    messages: list[JsonObject] = []
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            raise BadTrace(path, field=f"messages[{number}]", found="no object", expected="a message")
        messages.append(item)
    return messages


def _reply(reader: _Reader, number: int, message: JsonObject) -> Line:
    reader.replies += 1
    calls = (calls_v1 if reader.first else calls_v2)(message, reader.replies)
    reader.open = [call.id for call in calls]
    return ReplyLine(
        stop=stop_of(response_of(message), calls=bool(calls)),
        calls=calls,
        text=text_of(content_of(message.get("content"))),
        thinking=thinking_of(message),
        usage=usage_of(message),
        kind="final" if reader.submitted and number == reader.last_reply else None,
        at=_time(reader, message),
    )


def _user(reader: _Reader, number: int, message: JsonObject) -> Iterator[Line]:
    text = text_of(content_of(message.get("content")))
    # Version 1 says in words that it could not take a reply, as it does in version 2; all else answers the call.
    refused = reader.first and opening(reader.info, "agent", "format_error_template", text)
    answers = not refused if reader.first else "returncode" in object_of(message.get("extra"))
    if reader.open and answers:
        yield _answer(reader, reader.open[0], message)
    elif number < reader.last_message or not reader.first or reader.replies == 0 or not reader.info.get("exit_status"):
        # Version 1 puts why it gave up into a last message; the end line has that.
        yield UserLine(text, synthetic=reader.replies > 0, at=_time(reader, message))


def _answer(reader: _Reader, call: str, message: JsonObject) -> Line:
    value = content_of(message.get("content"))
    if call in reader.open:
        reader.open.remove(call)
    error = error_v1(reader.info, text_of(value)) if reader.first else error_v2(message)
    return ResultLine(call, value, error, at=_time(reader, message))


def _exit(reader: _Reader, message: JsonObject) -> Iterator[Line]:
    extra = object_of(message.get("extra"))
    status = text_of(extra.get("exit_status")) or text_of(reader.info.get("exit_status"))
    text = text_of(content_of(message.get("content")))
    if status == _SUBMITTED and reader.open:
        # What the last command printed is what was submitted; no message of its own holds it.
        yield ResultLine(reader.open[0], text, at=reader.clock.now)
    yield EndLine(status or "unknown", text_of(extra.get("submission")) or text, reader.clock.now)


def _time(reader: _Reader, message: JsonObject) -> float | None:
    stamp = number_of(object_of(message.get("extra")).get("timestamp"))
    return reader.clock.stamped(number_of(response_of(message).get("created")) if stamp is None else stamp)
