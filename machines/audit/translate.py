"""From a line of a recorded run to the event that it becomes. Every line is exactly one event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import attrs

from statecraft.evolve import evolve

from ..events import (
    Begin,
    Call,
    Cancel,
    Chunk,
    Condensed,
    Declared,
    Ended,
    ErrorKind,
    Event,
    Facts,
    GoalMeasured,
    PlanChanged,
    PlanItem,
    Refusal,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Usage,
)
from ..ledger.candidates import Candidates
from ..ledger.canonical import loads
from ..ledger.chant import Chant
from ..ledger.observe import UNSEEN as NOT_SEEN
from ..ledger.observe import Keep, call_of, forget, result_of, spelled, text_of
from ..manifest import UNDECLARED, Kind, Tools, Work
from ..refusals.kinds import reason_of
from ..traces.lines import (
    FORMAT,
    UNSEEN,
    CancelLine,
    ChunkLine,
    CondensedLine,
    EndLine,
    GoalLine,
    Line,
    PlanLine,
    RefusalLine,
    ReplyLine,
    ResultLine,
    RunLine,
    SignalLine,
    UserLine,
)
from ..traces.lines import Facts as FactLine
from ..traces.recorded import Recorded
from ..traces.shell import writes
from ..traces.tools import ANY

TOO_LONG = ("context_length_exceeded", "request_too_large")
"""Codes by which providers say that a request is too long."""

MOST_CALLS = 1_024
"""Calls whose late answers are still understood; of two with one id the newer."""

NOT_PARSED = "the recording has them as a text that did not parse"

STOPS = {reason.value: reason for reason in StopReason}
DECLARED = {kind.value: kind for kind in Declared}
ERRORS = {kind.value: kind for kind in ErrorKind}


@attrs.frozen
class Translated:
    """One event, and the number of the line that it was (None in formats that are one document)."""

    line: int | None
    event: Event


def translate(recorded: Recorded, keep: Keep = forget, candidates: Candidates | None = None) -> Iterator[Translated]:
    """The events of one recorded run, as they are read. Each text met on the way is handed to `keep`.

    `candidates` is shown each answer that was seen.
    """
    tools = tools_of(recorded)
    calls: dict[str, Call] = {}
    now = late = reached = 0.0
    looked: dict[str, float] = {}
    task = None if recorded.run.task is None else text_of(recorded.run.task, keep)
    yield Translated(recorded.line, Begin(now, task))
    foreign = recorded.format != FORMAT
    writing: frozenset[str] = frozenset()
    streams: dict[str, Chant] = {}
    for number, line in recorded.lines:
        at = getattr(line, "at", None)
        reached = reached if at is None else max(reached, at)
        call = calls.get(line.call) if isinstance(line, ResultLine) else None
        if call is not None and (interval := _interval(call, tools)):
            if reached + late <= looked.get(call.tool, -1.0):
                late += interval  # a look without a time of its own takes the shortest time that looks are apart
            looked[call.tool] = reached + late
        now = max(now, reached + late)
        if candidates is not None and call is not None and isinstance(line, ResultLine) and line.value is not UNSEEN:
            candidates.see(call.tool, call.signature, line.value)
        if foreign and isinstance(line, ReplyLine) and line.kind == "final":
            line = evolve(line, calls=())  # there the last call is how the agent declares its end
        if foreign and isinstance(line, ReplyLine):
            writing = _writing(line, tools)
        if isinstance(line, ResultLine) and line.call in writing and line.error is None:
            line = evolve(line, wrote=True)
        if isinstance(line, ChunkLine):
            yield Translated(number, _chunk(line, now, streams, keep))
            continue
        streams.clear()
        event = _event(line, now, tools, calls, keep)
        if event is not None:
            yield Translated(number, event)


def tools_of(recorded: Recorded) -> Tools:
    """The manifests of a recorded run's tools."""
    return {**ANY, **recorded.run.tools}


def work_of(run: RunLine) -> Work:
    """What a recorded run was for; `other` where it does not say."""
    return Work.OTHER if run.work is None else Work(run.work)


def _event(line: Line, at: float, tools: Tools, calls: dict[str, Call], keep: Keep) -> Event | None:
    match line:
        case ReplyLine():
            return _reply(line, at, tools, calls, keep)
        case ResultLine():
            return _result(line, at, tools, calls, keep)
        case UserLine():
            return Said(at, text_of(line.text, keep), line.synthetic)
        case PlanLine():
            return PlanChanged(at, tuple(PlanItem(text_of(i.content, keep), i.status) for i in line.items))
        case GoalLine():
            return GoalMeasured(at, line.done, line.total)
        case RefusalLine():
            return _refusal(line, at, keep)
        case CondensedLine():
            return Condensed(at, line.freed, bool(line.summarised))
        case SignalLine():
            return Signal(at, line.name, None if line.value is None else text_of(spelled(line.value), keep))
        case CancelLine():
            return Cancel(at, line.reason or "")
        case EndLine():
            return Ended(at, line.status, text_of(line.text, keep) if line.text else None)
        case RunLine() | ChunkLine():
            return None  # a run began, or begins next; a chunk is read with its stream


def _chunk(line: ChunkLine, at: float, streams: dict[str, Chant], keep: Keep) -> Chunk:
    """A piece of a stream, with what the stream says again by now."""
    stream = streams.setdefault(line.channel, Chant())
    laps = stream.feed(line.text)
    return Chunk(at, line.channel, text_of(line.text, keep), laps, stream.period)


def _reply(line: ReplyLine, at: float, tools: Tools, calls: dict[str, Call], keep: Keep) -> Reply:
    made = tuple(
        call_of(c.id, c.tool, c.args, tools.get(c.tool, UNDECLARED), problem=NOT_PARSED if c.raw else "", keep=keep)
        for c in line.calls
    )
    calls.update((call.id, call) for call in made)
    for old in list(calls)[: max(0, len(calls) - MOST_CALLS)]:
        del calls[old]
    usage = line.usage
    return Reply(
        at,
        STOPS[line.stop],
        made,
        text=text_of(line.text, keep) if line.text.strip() else None,
        thinking=text_of(line.thinking, keep) if line.thinking.strip() else None,
        usage=Usage()
        if usage is None
        else Usage(usage.input or 0, usage.output or 0, usage.cached or 0, usage.usd or 0.0),
        kind=None if line.kind is None else DECLARED[line.kind],
        facts=None if line.facts is None else _facts(line.facts),
        agent=line.agent,
    )


def _facts(line: FactLine) -> Facts:
    blockers = line.blockers if isinstance(line.blockers, bool | None) else bool(line.blockers)
    return Facts(
        answer_producing=line.answer_producing,
        attempted=line.attempted,
        eligible=line.eligible,
        grounded=line.grounded,
        honest_no_source=line.honest_no_source,
        blockers=blockers,
        recovering=line.recovering,
    )


def _result(line: ResultLine, at: float, tools: Tools, calls: dict[str, Call], keep: Keep) -> Result:
    call = calls.pop(line.call, None) or Call(line.call, "", b"", text_of("", forget))
    error = line.error
    return result_of(
        call,
        tools.get(call.tool, UNDECLARED),
        at=at,
        value=NOT_SEEN if line.value is UNSEEN else line.value,
        error=None if error is None else ERRORS[error.kind],
        error_class=None if error is None else error.name,
        message=None if error is None else error.message,
        state=line.state,
        target=line.target,
        wrote=line.wrote,
        keep=keep,
    )


def _writing(line: ReplyLine, tools: Tools) -> frozenset[str]:
    """The ids of those shell commands of a reply that plainly write; a recording has nobody else who saw it."""
    found: set[str] = set()
    for call in line.calls:
        if tools.get(call.tool, UNDECLARED).kind is Kind.COMMAND and not call.raw:
            given = loads(call.args)
            command = cast("dict[str, object]", given).get("command") if isinstance(given, dict) else None
            if isinstance(command, str) and writes(command):
                found.add(call.id)
    return frozenset(found)


def _interval(call: Call, tools: Tools) -> float:
    """Seconds between two looks of a declared wait; 0 for any other tool."""
    wait = tools.get(call.tool, UNDECLARED).wait
    return 0.0 if wait is None else wait.min_interval_seconds or 0.0


def _refusal(line: RefusalLine, at: float, keep: Keep) -> Refusal:
    headers = {name.lower(): value for name, value in line.headers.items()}
    body = spelled(line.body)
    reason = reason_of(line.status, body)
    after = _seconds(headers.get("retry-after"))
    after = reason.after if after is None else after
    said = text_of(body, keep)
    too_long = _too_long(line.body)
    return Refusal(at, line.status, said, after, too_long, reason.kind, reason.limit, reason.size)


def _too_long(body: object) -> bool:
    """Whether the structured part of a refusal says that the request is too long. Its words are not read."""
    error = cast("dict[str, object]", body).get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return False
    said = cast("dict[str, object]", error)
    return said.get("code") in TOO_LONG or said.get("type") in TOO_LONG


def _seconds(text: str | None) -> float | None:
    """A Retry-After in seconds. One that is a date needs a clock, which a recording does not have."""
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None
