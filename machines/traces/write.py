"""One line of the neutral trace, from its value to its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

import attrs
import orjson

from ..manifest import Tool, Wait
from .json_text import read_json, write_json
from .lines import (
    Budget,
    CallSpec,
    CancelLine,
    ChunkLine,
    CondensedLine,
    EndLine,
    Facts,
    GoalLine,
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

_KINDS: Final[Mapping[type[Line], str]] = {
    RunLine: "run",
    UserLine: "user",
    ReplyLine: "reply",
    ResultLine: "result",
    ChunkLine: "chunk",
    PlanLine: "plan",
    GoalLine: "goal",
    RefusalLine: "refusal",
    CondensedLine: "condensed",
    SignalLine: "signal",
    CancelLine: "cancel",
    EndLine: "end",
}

# These have a default here, but the format requires them.
_REQUIRED: Final = frozenset({(RunLine, "format"), (ReplyLine, "calls")})


def dumps(line: Line) -> bytes:
    """The line as one JSON object, without a line break. Fields with their empty value are left out."""
    try:
        return orjson.dumps(_object(line, _set_in))
    except (TypeError, UnicodeEncodeError):
        # An integer beyond 64 bits or a lone surrogate somewhere: arguments are parsed and written again with the rest.
        return write_json(_object(line, _parsed))


def _set_in(text: str) -> object:
    return orjson.Fragment(text.encode())


def _parsed(text: str) -> object:
    return read_json(text.encode("utf-8", "surrogatepass"))


def _object(line: Line, args: Callable[[str], object]) -> dict[str, Any]:
    record = {"t": _KINDS[type(line)], **_fields(line, args)}
    if isinstance(line, RunLine) and line.tools:
        record["tools"] = {name: _fields(spec, args) for name, spec in line.tools.items()}
    return record


def _plain(value: object, args: Callable[[str], object]) -> object:
    """What JSON can hold of a value of the trace; `args` says what becomes of a call's arguments."""
    if isinstance(value, CallSpec):
        given = {"args_raw": value.args} if value.raw else {"args": args(value.args)}
        return {"id": value.id, "tool": value.tool, **given}
    if isinstance(value, ResultError):
        return {"kind": value.name} if value.message is None else {"kind": value.name, "message": value.message}
    if isinstance(value, tuple):
        return [_plain(item, args) for item in cast(tuple[object, ...], value)]
    return _fields(value, args) if type(value) in _EMPTY else value


def _fields(value: object, args: Callable[[str], object]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name, empty in _EMPTY[type(value)]:
        held: object = getattr(value, name)
        # Compared by type too: a count of 0 is not the flag False.
        if type(held) is not type(empty) or held != empty:
            record[name] = _plain(held, args)
    return record


def _empty_values(cls: type) -> tuple[tuple[str, object], ...]:
    """The fields of a class, each with the value that is left out; NOTHING equals none."""
    fields: Iterable[attrs.Attribute[Any]] = attrs.fields(cls)
    return tuple((field.name, _empty_value(cls, field)) for field in fields)


def _empty_value(cls: type, field: attrs.Attribute[Any]) -> object:
    default: object = attrs.NOTHING if (cls, field.name) in _REQUIRED else field.default
    # The only factories in these classes make empty mappings.
    return {} if hasattr(default, "factory") else default


_EMPTY: Final[Mapping[type, tuple[tuple[str, object], ...]]] = {
    cls: _empty_values(cls) for cls in (*_KINDS, Tool, Wait, Budget, Usage, Facts, PlanItem)
}
