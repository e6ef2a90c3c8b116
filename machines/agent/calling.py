"""One call of a tool. Whatever the tool does is an answer.

It is checked before, bounded in time, its target looked at before and after, its answer typed. The rules: arguments
that are not right run nothing. Whatever a tool raises or returns is an answer, and ends no other call. A tool has a
time in all and a time of silence; `heartbeat` and `emit` break the silence. What a tool that ran out of time gives back
all the same is not taken. A write that ran out of time may have happened: that is said, and it is not taken for a
write. Cancellation passes through.

A tool that never awaits anything cannot be ended by any time: the event loop is its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from math import inf
from typing import Any, Final, cast

import anyio
import attrs
import msgspec
import orjson

from statecraft.evolve import evolve

from ..events import ErrorKind
from ..ledger.canonical import loads
from ..ledger.observe import UNSEEN
from ..manifest import Kind
from ..words import FINISH
from .attempts import Failure, attempt, said_of
from .finish import not_finished
from .from_outside import WaitFor
from .naming import nearest
from .tools import AgentTool, ToolError
from .wire import CallPart

DEFAULT_TIMEOUT: Final = 120.0
"""Seconds that a tool may take in all where its manifest names no time."""

MOST_SAID: Final = 10_000
"""Characters of a running tool's output that are kept, the last ones."""


@attrs.frozen
class Ran:
    """What a call came to: the value, or how it failed; `content` is what the model reads."""

    content: str
    value: object = UNSEEN
    error: ErrorKind | None = None
    target: str | None = None
    state: str | None = None
    wrote: bool = False


@attrs.define
class _Pulse:
    """The scope of a running call, whose deadline a heartbeat moves, and what the tool has said so far."""

    scope: anyio.CancelScope
    silence: float
    latest: float
    said: str = ""
    cut: bool = False

    def beat(self) -> None:
        self.scope.deadline = min(anyio.current_time() + self.silence, self.latest)


_PULSE: ContextVar[_Pulse | None] = ContextVar("pulse", default=None)


KEY: ContextVar[str] = ContextVar("key", default="")


def idempotency_key() -> str:
    """The key of the call that is running: the same if it has to be sent again after its process has ended.

    A tool that declares `idempotent` hands it to whom it calls, who does what comes twice under one key once. Empty
    outside of a run.
    """
    return KEY.get()


TIME_LEFT: ContextVar[Callable[[], float] | None] = ContextVar("time_left", default=None)


def time_left() -> float:
    """Seconds that a tool may still wait: what its run has left, less what is held back for the work after a wait.

    Infinite for a run without a limit of time, and outside of one.
    """
    left = TIME_LEFT.get()
    return inf if left is None else left()


def heartbeat() -> None:
    """Say, from inside a tool, that it is still at work: its time of silence starts afresh."""
    pulse = _PULSE.get()
    if pulse is not None:
        pulse.beat()


def emit(text: str) -> None:
    """Say a piece of output from inside a tool; its time of silence starts afresh.

    The last 10,000 characters are kept, and shown to the model where the tool runs out of time.
    """
    pulse = _PULSE.get()
    if pulse is not None:
        whole = pulse.said + text[-MOST_SAID:]
        pulse.cut = pulse.cut or len(pulse.said) + len(text) > MOST_SAID
        pulse.said = whole[-MOST_SAID:]
        pulse.beat()


async def run_call(tool: AgentTool, args: str) -> Ran:
    """Run one call with the text of arguments that was received. Raises nothing but cancellation."""
    checked = check(tool, args)
    if isinstance(checked, Ran):
        return checked
    target = _target(tool, checked) if tool.manifest.target else None
    looks = tool.digest is not None and target is not None
    before = await _look(tool, target) if looks else None
    ran = await _bounded(tool, checked)
    after = await _look(tool, target) if looks else None
    writes = tool.manifest.kind is Kind.WRITE
    if not writes:
        return ran if target is None else evolve(ran, target=target)
    return evolve(ran, target=target, state=after, wrote=ran.error is None and (after is None or after != before))


def unknown(call: CallPart, tools: Mapping[str, AgentTool]) -> Ran:
    """The answer of a call that no tool is there for; a declaration that could not be read is one."""
    if call.name == FINISH:
        said = not_finished(call)
        return Ran(said, said, ErrorKind.VALIDATION)
    near = nearest(call.name, tools)
    known = ", ".join(near or sorted(tools)) or "none"
    said = f"there is no tool {call.name}; {'the nearest' if near else 'there'} are: {known}"
    return Ran(said, said, ErrorKind.UNKNOWN_TOOL)


def problem_of(args: str) -> str:
    """Why the text of arguments is no JSON object; empty where it is one. No text at all is one without arguments.

    Raw control characters inside strings are taken for what they are: models write them.
    """
    try:
        given = loads(args or "{}")
    except ValueError as error:
        return f"no JSON: {error}"
    return "" if isinstance(given, dict) else f"found {as_json(given)[:80]}, expected an object"


def check(tool: AgentTool, args: str) -> dict[str, Any] | Ran:
    """The arguments as the function takes them, or the validation error that answers the call.

    A required text, list or object that is empty is an error, unless the manifest says that it may be: a write whose
    content was lost on the way would otherwise empty its file.
    """
    try:
        given = loads(args or "{}")
    except ValueError as error:
        return _invalid(f"the arguments are not JSON: {error}")
    if not isinstance(given, dict):
        return _invalid("the arguments are not a JSON object")
    try:
        struct = msgspec.convert(given, tool.arguments)
    except Exception as error:  # noqa: BLE001  # a type of the application's own may refuse a value in its own way
        return _invalid(str(error) if isinstance(error, msgspec.ValidationError) else said_of(error))
    absent = [name for name in tool.manifest.required if name not in given]
    if absent:
        return _invalid(f"required, and missing: {', '.join(absent)}")
    found = {field: getattr(struct, field) for field in tool.arguments.__struct_fields__}
    empty = [
        name
        for name in tool.manifest.required
        if not found.get(name, 0)
        and isinstance(found[name], str | list | dict | tuple | set | frozenset)
        and not _may_be_empty(tool, name)
    ]
    return _invalid(f"required, and empty: {', '.join(empty)}") if empty else found


def _whole(tool: AgentTool) -> float:
    """Seconds that the tool has in all."""
    own = tool.manifest.timeout_seconds
    return DEFAULT_TIMEOUT if own is None else own


async def _bounded(tool: AgentTool, args: dict[str, Any]) -> Ran:
    whole, idle = _whole(tool), tool.manifest.idle_seconds
    silence = inf if idle is None else idle
    now = anyio.current_time()
    latest = now + whole
    scope = anyio.CancelScope(deadline=min(now + silence, latest))
    pulse = _Pulse(scope, silence, latest)
    token = _PULSE.set(pulse)
    try:
        value = await attempt(lambda: tool.function(**args), scope)
    finally:
        _PULSE.reset(token)
    if not isinstance(value, Failure):
        return _told(tool, value)
    if value.error is None:
        return _timed_out(tool, pulse, f"not done after {whole:g} s" if scope.deadline >= latest else None)
    return _failed(value.error)


def _timed_out(tool: AgentTool, pulse: _Pulse, why: str | None) -> Ran:
    why = why or f"no output for {pulse.silence:g} s"
    unknown = " Whether it took effect is not known." if tool.manifest.kind in (Kind.WRITE, Kind.COMMAND) else ""
    output = "The last of its output" if pulse.cut else "Its output"
    said = f"\n{output}:\n{pulse.said}" if pulse.said else ""
    return Ran(f"timed out: {why}.{unknown}{said}", UNSEEN, ErrorKind.TIMEOUT)


def _failed(error: BaseException) -> Ran:
    said = said_of(error, named=not isinstance(error, ToolError))
    return Ran(said, said, error.kind if isinstance(error, ToolError) else ErrorKind.OTHER)


def _told(tool: AgentTool, value: object) -> Ran:
    """What the tool returned, as plain JSON; one that JSON has no way to say is an error."""
    if isinstance(value, WaitFor):
        return Ran("", value)
    if isinstance(value, str):
        content = str.__str__(value)
        prefix = tool.manifest.error_prefix
        return Ran(content, content, ErrorKind.VALIDATION if prefix and content.startswith(prefix) else None)
    try:
        plain = msgspec.to_builtins(value, str_keys=True)
        return Ran(plain if isinstance(plain, str) else as_json(plain), plain)
    except Exception as error:  # noqa: BLE001  # a value of the tool's own may fail in any way
        said = f"the tool ran, but what it returned is no JSON value: {said_of(error)}"
        return Ran(said, said, ErrorKind.OTHER)


def as_json(value: object) -> str:
    """As JSON, keys in their order. Whole numbers of more than 64 bits, and half characters, stand as they are."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _invalid(message: str) -> Ran:
    return Ran(message, message, ErrorKind.VALIDATION)


def _may_be_empty(tool: AgentTool, name: str) -> bool:
    allowed = tool.manifest.may_be_empty
    return allowed if isinstance(allowed, bool) else name in allowed


def _target(tool: AgentTool, args: dict[str, Any]) -> str | None:
    named = [args[name] for name in tool.manifest.target if isinstance(args.get(name), str)]
    return "\x1f".join(cast("list[str]", named)) or None


async def _look(tool: AgentTool, target: str | None) -> str | None:
    """The state of the target; None where nobody can tell, or not within the tool's time."""
    digest = tool.digest
    if digest is None or target is None:
        return None
    scope = anyio.CancelScope(deadline=anyio.current_time() + _whole(tool))
    found: object = await attempt(lambda: digest(target), scope)
    return found if isinstance(found, str) else None
