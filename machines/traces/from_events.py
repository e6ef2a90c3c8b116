"""From a run's events back to the lines of a neutral trace: what a recording of such a run would have held.

The rules:

* A digest becomes the value that it was made of. Digests that are equal become equal values, and others other ones; for
  what was never digested (in a search of all that may happen) its bytes are taken as the text.
* What a line cannot carry is left out and named: an event that is no line at all (the clock, a call that is held, a
  prompt that was measured), or a field that is not in the format (an answer's choice, who gave it).
* A refusal is given words by which it is recognised, since its kind is read from these again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import attrs

from ..events import (
    Begin,
    Call,
    Cancel,
    Chunk,
    Condensed,
    Ended,
    ErrorKind,
    Event,
    GoalMeasured,
    PlanChanged,
    Refusal,
    RefusalKind,
    Reply,
    Result,
    Said,
    Signal,
    Text,
    TurnEnded,
)
from ..ledger.chant import Chant
from ..ledger.topic import topic_of
from ..manifest import Kind, Tool, Tools
from ..refusals.kinds import reason_of
from ..state import Run
from .json_text import write_json
from .lines import (
    ERROR_KINDS,
    PLAN_STATUSES,
    UNSEEN,
    WORKS,
    Budget,
    CallSpec,
    CancelLine,
    ChunkLine,
    CondensedLine,
    EndLine,
    Facts,
    GoalLine,
    Json,
    Line,
    PlanItem,
    PlanLine,
    RefusalLine,
    ReplyLine,
    ResultError,
    ResultLine,
    RunLine,
    SignalLine,
    Usage,
    UserLine,
)

SAID: Final = "said"
"""The argument that holds what tells one call of a tool from another."""

LAP: Final = "whoever reads this finds that it is said again, as long as it is, and that nothing else is said. "
"""What a stream says as often as it repeats itself; long enough to be told from a word that is often said."""

BODIES: Final[dict[RefusalKind, Json]] = {
    RefusalKind.OTHER: {"error": {"message": "no"}},
    RefusalKind.AUTHENTICATION: {"error": {"code": "authentication_error"}},
    RefusalKind.BILLING: {"error": {"code": "billing_error"}},
    RefusalKind.RATE_LIMIT: {"error": {"code": "rate_limit_error"}},
    RefusalKind.OVERLOADED: {"error": {"code": "overloaded_error"}},
    RefusalKind.PROMPT_TOO_LONG: {"error": {"code": "context_length_exceeded"}},
    RefusalKind.TRANSCRIPT: {"error": {"message": "roles must alternate"}},
    RefusalKind.BAD_CALL: {"error": {"code": "tool_use_failed"}},
}
"""What a provider says of each kind that can be said without numbers."""


@attrs.frozen
class Recording:
    """The lines of a run, and what of its events they do not carry, each named once."""

    lines: tuple[Line, ...]
    left_out: tuple[str, ...]


def recording(run: Run, events: Iterable[Event]) -> Recording:
    """The lines of a run that began so, and met these events."""
    lines: list[Line] = [_head(run)]
    lacks: dict[str, None] = {}
    if any(tool.consent is not None for tool in run.tools.values()):
        lacks["a tool's consent"] = None
    if run.policy.budget.reply_tokens is not None:
        lacks["what a reply may cost"] = None
    calls: dict[str, Call] = {}
    read: set[tuple[bytes, bool]] = set()
    for number, event in enumerate(events):
        if isinstance(event, Begin) and number == 0:
            continue
        if number == 0:
            lacks["what comes before a run has begun"] = None
        if isinstance(event, Reply):
            if len(event.calls) > run.policy.budget.calls_per_turn:
                lacks["how many calls a turn may have"] = None
            calls |= {call.id: call for call in event.calls}
            read |= {(call.signature, call.parsed) for call in event.calls}
            if any((call.signature, not call.parsed) in read for call in event.calls):
                lacks["a call that is the same whether it can be read or not"] = None
        line = _line(event, run.tools, calls, lambda lack: lacks.update({lack: None}))
        if line is not None:
            lines.append(line)
        elif not isinstance(event, TurnEnded):
            lacks[type(event).__name__] = None
    return Recording(tuple(lines), tuple(lacks))


def _head(run: Run) -> RunLine:
    budget = run.policy.budget
    return RunLine(
        run.id,
        tools={name: attrs.evolve(tool, consent=None) for name, tool in run.tools.items()},
        budget=Budget(budget.turns, budget.seconds, budget.tokens, budget.usd),
        work=WORKS[run.work.value],
        requires=run.requires,
    )


Lack = Callable[[str], object]


def _line(event: Event, tools: Tools, calls: dict[str, Call], lack: Lack) -> Line | None:
    match event:
        case Reply():
            return _reply(event, tools, lack)
        case Result():
            call = calls.get(event.call)
            return _result(event, tools.get("" if call is None else call.tool, Tool()), lack)
        case Said():
            return UserLine(_text(event.text), event.synthetic, event.at)
        case Chunk():
            said = LAP * event.laps if event.laps > 1 else _text(event.text)
            if Chant().feed(said) != max(event.laps, 1):
                lack(f"a stream that says the same {event.laps} times")
            return ChunkLine(said, "thinking" if event.channel == "thinking" else "text", event.at)
        case PlanChanged():
            items = (PlanItem(_text(item.content), PLAN_STATUSES[item.status]) for item in event.items)
            return PlanLine(tuple(items), event.at)
        case GoalMeasured():
            return GoalLine(event.done, event.total, event.at)
        case Refusal():
            return _refusal(event, lack)
        case Condensed():
            if event.nothing_left:
                lack("Condensed.nothing_left")
            return CondensedLine(event.freed, event.summarised or None, event.at)
        case Signal():
            if event.answer is not None or event.withdrawn or event.when is not None or event.id:
                lack("Signal's answer, and who gave it")
            return SignalLine(event.name, None if event.value is None else _text(event.value), event.at)
        case Cancel():
            return CancelLine(event.reason or None, event.at)
        case Ended():
            return EndLine(event.status, "" if event.text is None else _text(event.text), event.at)
        case _:
            return None


def _reply(event: Reply, tools: Tools, lack: Lack) -> ReplyLine:
    for name in ("capped", "added", "draft", "budget", "most", "window"):
        if getattr(event, name):
            lack(f"Reply.{name}")
    facts = event.facts
    if facts is not None and facts.checks_passed is not None:
        lack("Facts.checks_passed")
    usage = event.usage
    return ReplyLine(
        event.stop.value,
        tuple(_call(call, tools.get(call.tool, Tool()), lack) for call in event.calls),
        "" if event.text is None else _text(event.text),
        "" if event.thinking is None else _text(event.thinking),
        Usage(usage.input, usage.output, usage.cached, usage.usd) if usage != type(usage)() else None,
        None if event.kind is None else event.kind.value,
        None if facts is None else Facts(**{f.name: getattr(facts, f.name) for f in attrs.fields(Facts)}),
        event.agent,
        event.at,
    )


def _call(call: Call, tool: Tool, lack: Lack) -> CallSpec:
    said = _shown(call.signature)
    if not call.parsed:
        return CallSpec(call.id, call.tool, f'{{"{SAID}": "{said}' if call.cut else f"no object: {said}", raw=True)
    args: dict[str, Json] = {} if call.empty and tool.kind is Kind.THINK else {SAID: said}
    args |= dict.fromkeys(tool.target, call.target) if call.target is not None else {}
    about = _shown(call.topic)
    args |= dict.fromkeys(tool.topic, about)
    if (tool.family is not None and not tool.topic) or (tool.topic and not topic_of([about])):
        lack("Call.topic, as its tool declares none")
    return CallSpec(call.id, call.tool, write_json(args).decode("utf-8", "surrogatepass"))


def _result(event: Result, tool: Tool, lack: Lack) -> ResultLine:
    error = event.error
    if error is ErrorKind.OUTCOME_UNKNOWN:
        lack("an outcome that is not known")
    value: Any = UNSEEN if event.digest is None else _shown(event.digest)
    if tool.wait is not None and event.poll_value is not None:
        value = event.poll_value
        if tool.wait.progress_field != "*":
            lack("a wait's field")
    elif event.fruitless and error is None:
        value = tool.fruitless[0] if tool.fruitless else []
    if error is not None and event.digest is not None and not event.fruitless and _searches(tool):
        lack("a search that failed, and yet found something")
    return ResultLine(
        event.call,
        value,
        None if error is None else ResultError(ERROR_KINDS.get(error.value, "other"), event.error_class or error.value),
        None if event.state is None else _shown(event.state),
        event.target,
        event.wrote,
        event.at,
    )


def _searches(tool: Tool) -> bool:
    return tool.kind is Kind.SEARCH or bool(tool.source or tool.family)


def _refusal(event: Refusal, lack: Lack) -> RefusalLine:
    if event.budget is not None or event.estimate is not None or event.window is not None:
        lack("Refusal's sizes, which the host knows")
    kind = RefusalKind.PROMPT_TOO_LONG if event.too_long else event.kind
    body = BODIES.get(kind, BODIES[RefusalKind.OTHER])
    if reason_of(event.status, write_json(body).decode()).kind is not kind:
        lack(f"a refusal of the kind {kind.value} with status {event.status}")
    headers = {} if event.after is None else {"retry-after": f"{event.after:g}"}
    return RefusalLine(event.status, body, headers, event.at)


def _text(text: Text) -> str:
    """A text of that length, which begins as its digest does; nothing where it was empty."""
    return f"{text.digest} "[: max(text.chars, 0)].ljust(text.chars, ".")


def _shown(digest: bytes) -> str:
    """The bytes as a text: as they are where they are letters, else as hexadecimal digits."""
    text = digest.decode("ascii", "replace")
    return text if text.isprintable() and "\ufffd" not in text else digest.hex()
