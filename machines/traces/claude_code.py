"""`claude-code-stream-json`: one JSON record a line, as claude-code prints with `--output-format stream-json`.

Lines that do not begin as a record are the terminal's and are passed over, and so are kinds of record that say
nothing about the run. A last line that breaks off ends the recording there: the process was killed.

`lines_of` makes the lines of a run of such records, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import Factory, define, frozen

from ..manifest import Tool
from .bad_trace import BadTrace
from .claude_reply import OpenReply, add, closed, stop_of
from .claude_result import Asked, answered
from .clock import Clock, epoch_of
from .json_text import JsonError, read_json
from .lines import CondensedLine, EndLine, JsonObject, Line, RefusalLine, RunLine, Stop, UserLine
from .loose import content_of, count_of, list_of, number_of, object_of, text_of
from .recorded import Numbered, Recorded, runs, steady
from .source import numbered
from .tools import CLAUDE_CODE, manifest

NAME: Final = "claude-code-stream-json"


def read(path: Path) -> Iterator[Recorded]:
    """The runs of a file: one for each session, and another for each `init` after a session's end.

    In memory are the lines of one turn. Raises BadTrace for a file without a record and for a record that is no JSON.
    """
    return runs(path, NAME, steady(lines_of(path, NAME, _records(path))))


@frozen
class Record:
    """One record: its line in the file, what it says, and when it was printed.

    `seconds` counts from any moment, one for all records of a file; None where only what a record says of itself is
    known.
    """

    line: int
    says: JsonObject
    seconds: float | None = None


@define
class _Session:
    """Where reading is. `open` holds the reply that is still coming, for each agent (None is the main one).

    `timed`: the records' own dates are not needed, as it is known when each was printed.
    """

    clock: Clock = Factory(Clock)
    timed: bool = False
    id: str | None = None
    begun: bool = False
    ended: bool = False
    replied: bool = False
    tools: frozenset[str] = frozenset()
    open: dict[str | None, OpenReply] = Factory(dict[str | None, OpenReply])
    asked: dict[str, Asked] = Factory(dict[str, Asked])


def _records(path: Path) -> Iterator[Record]:
    for number, data, whole in numbered(path):
        if not data.startswith(b"{"):
            continue
        try:
            yield Record(number, object_of(read_json(data)))
        except JsonError as error:
            if not whole:
                break
            raise BadTrace(path, line=number, found=str(error), expected="one JSON object on the line") from None


def lines_of(path: Path, name: str, records: Iterable[Record]) -> Iterator[Numbered]:
    """The lines of the runs that the records of a file tell of. Raises BadTrace where no record is of claude-code.

    `name` is the format that the file is in. In memory are the lines of one turn.
    """
    session = _Session()
    for record in records:
        number, says = record.line, record.says
        handle = _HANDLERS.get(text_of(says.get("type")))
        if handle is None:
            continue
        if _begins(session, says):
            yield from _all_closed(session)
            session = _Session(id=text_of(says.get("session_id")) or None, begun=True)
            yield number, _run(path, session, says)
        session.timed = record.seconds is not None
        session.clock.stamped(record.seconds)
        yield from handle(session, number, says)
    yield from _all_closed(session)
    if not session.begun:
        raise BadTrace(path, found="no record", expected=f"records of {name}")


def _begins(session: _Session, record: JsonObject) -> bool:
    other = record.get("session_id", session.id) != session.id
    return not session.begun or other or (session.ended and record.get("subtype") == "init")


def _run(path: Path, session: _Session, record: JsonObject) -> RunLine:
    names = [text_of(name) for name in list_of(record.get("tools"))]
    session.tools = frozenset(names)
    return RunLine(
        id=session.id or path.stem,
        tools=manifest(names, CLAUDE_CODE, Tool()) if names else dict(CLAUDE_CODE),
        agent="claude-code",
    )


def _all_closed(session: _Session) -> Iterator[Numbered]:
    for agent in list(session.open):
        yield from closed(session.open.pop(agent))


def _assistant(session: _Session, number: int, record: JsonObject) -> Iterator[Numbered]:
    message = object_of(record.get("message"))
    name, agent = text_of(message.get("id")) or None, text_of(record.get("parent_tool_use_id")) or None
    yield from _dispatched(session, agent)
    reply = session.open.get(agent)
    if reply is None or name is None or reply.id != name:
        if reply is not None:
            yield from closed(session.open.pop(agent))
            if not reply.dispatched:
                for call in reply.calls:
                    session.asked.pop(call.id, None)
        reply = session.open[agent] = OpenReply(name, agent, number, session.clock.now)
        session.replied = True
    for call, args in add(reply, message):
        session.asked[call.id] = Asked(call.tool, args)


def _dispatched(session: _Session, agent: str | None) -> Iterator[Numbered]:
    """A sub-agent is named after the call that started it: when it speaks, the reply with that call was whole."""
    for parent, reply in list(session.open.items()):
        if agent is not None and any(call.id == agent for call in reply.calls):
            reply.dispatched = True
            yield from closed(session.open.pop(parent))


def _user(session: _Session, number: int, record: JsonObject) -> Iterator[Numbered]:
    epoch = None if session.timed else epoch_of(text_of(record.get("timestamp")) or None)
    at = session.clock.stamped(epoch)
    agent = text_of(record.get("parent_tool_use_id")) or None
    content = object_of(record.get("message")).get("content")
    blocks = [object_of(block) for block in list_of(content)]
    for block in blocks:
        if block.get("type") == "tool_result":
            yield from _result_of_call(session, number, block, record, at)
    said = [block for block in blocks if block.get("type") == "text"]
    text = content if isinstance(content, str) else content_of([*said])
    if isinstance(text, str) and (text or said):
        if agent in session.open:
            yield from closed(session.open.pop(agent))
        # What a person typed while claude-code ran is marked as a replay; the first prompt is theirs as well.
        typed = record.get("isReplay") is True or not (session.replied or record.get("isSynthetic") is True)
        yield number, UserLine(text, synthetic=agent is not None or not typed, at=at)


def _result_of_call(
    session: _Session, number: int, block: JsonObject, record: JsonObject, at: float | None
) -> Iterator[Numbered]:
    name = text_of(block.get("tool_use_id"))
    if name in session.open:
        yield from closed(session.open.pop(name))
    lines = answered(block, record.get("tool_use_result"), session.asked.pop(name, None), session.tools, at)
    for reply in session.open.values():
        if any(call.id == name for call in reply.calls):
            reply.dispatched = True
            reply.later.extend((number, line) for line in lines)
            return
    for line in lines:
        yield number, line


def _system(session: _Session, number: int, record: JsonObject) -> Iterator[Numbered]:
    line: Line
    if record.get("subtype") == "api_retry":
        line = RefusalLine(count_of(record.get("error_status")) or 0, _body(record), at=session.clock.now)
    elif record.get("subtype") == "compact_boundary":
        sizes = object_of(record.get("compact_metadata"))
        before, after = count_of(sizes.get("pre_tokens")) or 0, count_of(sizes.get("post_tokens")) or 0
        line = CondensedLine(max(0, before - after), summarised=True, at=session.clock.now)
    else:
        return
    reply = session.open.get(None)
    if reply is None:
        yield number, line
    else:
        reply.later.append((number, line))


def _body(record: JsonObject) -> JsonObject:
    """What the record says of the refusal, in the shape in which providers say it."""
    body: JsonObject = {"error": {"type": record.get("error")}}
    for name in ("attempt", "max_retries", "retry_delay_ms"):
        if name in record:
            body[name] = record[name]
    return body


def _result(session: _Session, number: int, record: JsonObject) -> Iterator[Numbered]:
    subtype = text_of(record.get("subtype"))
    good = subtype == "success" and record.get("is_error") is not True
    reason = text_of(record.get("stop_reason"))
    last: Stop | None = stop_of(reason) if reason else "end_turn" if good else None
    main = session.open.pop(None, None)
    if main is not None:
        yield from closed(main, last=last, final=good)
    yield from _all_closed(session)
    session.ended = True
    milliseconds = number_of(record.get("duration_ms"))
    at = session.clock.at(None if session.timed or milliseconds is None else milliseconds / 1000)
    # An error that the model's provider gave ends a run with the subtype `success` and the flag `is_error`.
    status = subtype if good or subtype != "success" else "error"
    yield number, EndLine(status or "unknown", text_of(record.get("result")), at)


_HANDLERS: Final[Mapping[str, Callable[[_Session, int, JsonObject], Iterator[Numbered]]]] = {
    "assistant": _assistant,
    "result": _result,
    "system": _system,
    "user": _user,
}
