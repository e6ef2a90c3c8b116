"""One line of the neutral trace, from its JSON object to its value. Raises FieldError."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from .clock import Clock
from .fields import (
    FieldError,
    json_text,
    may_be,
    may_bool,
    may_count,
    may_names,
    may_number,
    may_object,
    may_text,
    need,
    need_count,
    need_list,
    need_number,
    need_one_of,
    need_text,
    objects,
    path_to,
    shown,
)
from .lines import (
    CHANNELS,
    PLAN_STATUSES,
    REPLY_KINDS,
    STOPS,
    UNSEEN,
    CallSpec,
    CancelLine,
    ChunkLine,
    CondensedLine,
    EndLine,
    Facts,
    GoalLine,
    JsonObject,
    Line,
    PlanItem,
    PlanLine,
    RefusalLine,
    ReplyLine,
    ResultError,
    ResultLine,
    SignalLine,
    Usage,
    UserLine,
    result_error,
)
from .parse_run import run_line

Parser = Callable[[JsonObject, float | None], Line]


def line_of(record: JsonObject, clock: Clock) -> Line:
    """The line that a JSON object is; a `run` line sets the clock back."""
    kind = need_text(record, "t")
    if kind == "run":
        clock.now = None
        return run_line(record)
    parser = _PARSERS.get(kind)
    if parser is None:
        raise FieldError("t", shown(kind), f"one of run, {', '.join(_PARSERS)}")
    return parser(record, clock.at(may_number(record, "at")))


def _user(record: JsonObject, at: float | None) -> Line:
    return UserLine(need_text(record, "text"), may_bool(record, "synthetic") or False, at)


def _reply(record: JsonObject, at: float | None) -> Line:
    return ReplyLine(
        stop=need_one_of(record, "stop", STOPS),
        calls=tuple(_call(item, path) for item, path in objects(need_list(record, "calls"), "calls")),
        text=may_text(record, "text") or "",
        thinking=may_text(record, "thinking") or "",
        usage=_usage(may_object(record, "usage")),
        kind=may_be(record, "kind", REPLY_KINDS),
        facts=_facts(may_object(record, "facts")),
        agent=may_text(record, "agent"),
        at=at,
    )


def _call(record: JsonObject, at: str) -> CallSpec:
    name, tool = need_text(record, "id", at), need_text(record, "tool", at)
    args = record.get("args")
    if isinstance(args, dict):
        return CallSpec(name, tool, json_text(args, path_to(at, "args")))
    if args is None and "args_raw" in record:
        return CallSpec(name, tool, need_text(record, "args_raw", at), raw=True)
    expected = "an object, or args_raw in its place"
    raise FieldError(path_to(at, "args"), shown(need(record, "args", at, expected)), expected)


def _usage(record: JsonObject | None) -> Usage | None:
    if record is None:
        return None
    return Usage(
        input=may_count(record, "input", "usage"),
        output=may_count(record, "output", "usage"),
        cached=may_count(record, "cached", "usage"),
        usd=may_number(record, "usd", "usage"),
    )


def _facts(record: JsonObject | None) -> Facts | None:
    if record is None:
        return None
    return Facts(
        answer_producing=may_bool(record, "answer_producing", "facts"),
        attempted=may_bool(record, "attempted", "facts"),
        eligible=may_count(record, "eligible", "facts"),
        grounded=may_bool(record, "grounded", "facts"),
        honest_no_source=may_bool(record, "honest_no_source", "facts"),
        blockers=_blockers(record),
        recovering=may_bool(record, "recovering", "facts"),
    )


def _blockers(record: JsonObject) -> bool | int | tuple[str, ...] | None:
    value = record.get("blockers")
    if isinstance(value, bool):
        return value
    return may_names(record, "blockers", "facts") if isinstance(value, list) else may_count(record, "blockers", "facts")


def _result(record: JsonObject, at: float | None) -> Line:
    return ResultLine(
        call=need_text(record, "call"),
        value=record.get("value", UNSEEN),
        error=_error(may_object(record, "error")),
        state=may_text(record, "state"),
        target=may_text(record, "target"),
        wrote=may_bool(record, "wrote") or False,
        at=at,
    )


def _error(record: JsonObject | None) -> ResultError | None:
    if record is None:
        return None
    return result_error(need_text(record, "kind", "error"), may_text(record, "message", "error"))


def _chunk(record: JsonObject, at: float | None) -> Line:
    return ChunkLine(need_text(record, "text"), may_be(record, "channel", CHANNELS) or "text", at)


def _plan(record: JsonObject, at: float | None) -> Line:
    return PlanLine(tuple(_item(item, path) for item, path in objects(need_list(record, "items"), "items")), at)


def _item(record: JsonObject, at: str) -> PlanItem:
    return PlanItem(need_text(record, "content", at), need_one_of(record, "status", PLAN_STATUSES, at))


def _goal(record: JsonObject, at: float | None) -> Line:
    return GoalLine(need_number(record, "done"), need_number(record, "total"), at)


def _refusal(record: JsonObject, at: float | None) -> Line:
    headers: dict[str, str] = {}
    for name, value in (may_object(record, "headers") or {}).items():
        # A number as the value of `retry-after` says the same as its text.
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise FieldError(f"headers.{name}", shown(value), "a string")
        headers[name] = value if isinstance(value, str) else shown(value)
    return RefusalLine(need_count(record, "status"), need(record, "body", "", "what the provider said"), headers, at)


def _condensed(record: JsonObject, at: float | None) -> Line:
    summarised = record.get("summarised")
    if summarised is not None and not isinstance(summarised, (bool, int, str)):
        raise FieldError("summarised", shown(summarised), "true, false, a whole number or a string")
    return CondensedLine(need_count(record, "freed"), summarised, at)


def _signal(record: JsonObject, at: float | None) -> Line:
    return SignalLine(need_text(record, "name"), record.get("value"), at)


def _cancel(record: JsonObject, at: float | None) -> Line:
    return CancelLine(may_text(record, "reason"), at)


def _end(record: JsonObject, at: float | None) -> Line:
    return EndLine(need_text(record, "status"), may_text(record, "text") or "", at)


_PARSERS: Final[Mapping[str, Parser]] = {
    "user": _user,
    "reply": _reply,
    "result": _result,
    "chunk": _chunk,
    "plan": _plan,
    "goal": _goal,
    "refusal": _refusal,
    "condensed": _condensed,
    "signal": _signal,
    "cancel": _cancel,
    "end": _end,
}
