"""One call of a tool, run: checked before, bounded in time, its target looked at before and after, its answer typed.

The rules: arguments that are not right run nothing. Whatever a tool raises is an error result, and ends no other call.
A tool has a time in all and a time of silence; `heartbeat` breaks the silence. A write that ran out of time may have
happened: that is said, and it is not taken for a write. Cancellation passes through.
"""

from __future__ import annotations

from contextvars import ContextVar
from math import inf
from typing import Any, Final, cast

import anyio
import attrs
import msgspec

from ..events import ErrorKind
from ..ledger.canonical import loads, spelling
from ..ledger.observe import UNSEEN
from ..manifest import Kind
from .tools import AgentTool, ToolError

DEFAULT_TIMEOUT: Final = 120.0
"""Seconds that a tool may take in all where its manifest names no time."""


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
    """The scope of a running call, whose deadline a heartbeat moves."""

    scope: anyio.CancelScope
    silence: float
    latest: float


_PULSE: ContextVar[_Pulse | None] = ContextVar("pulse", default=None)


def heartbeat() -> None:
    """Say, from inside a tool, that it is still at work: its time of silence starts afresh."""
    pulse = _PULSE.get()
    if pulse is not None:
        pulse.scope.deadline = min(anyio.current_time() + pulse.silence, pulse.latest)


async def run_call(tool: AgentTool, args: str) -> Ran:
    """Run one call with the text of arguments that was received. Raises nothing but cancellation."""
    checked = check(tool, args)
    if isinstance(checked, Ran):
        return checked
    target = _target(tool, checked)
    before = await _look(tool, target)
    ran = await _bounded(tool, checked)
    after = await _look(tool, target)
    writes = tool.manifest.kind is Kind.WRITE
    changed = writes and ran.error is None and (after is None or after != before)
    return attrs.evolve(ran, target=target, state=after if writes else None, wrote=changed)


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
    except msgspec.ValidationError as error:
        return _invalid(str(error))
    found = {field: getattr(struct, field) for field in tool.arguments.__struct_fields__}
    empty = [
        name for name in tool.manifest.required if found.get(name) in ("", [], {}) and not _may_be_empty(tool, name)
    ]
    return _invalid(f"required, and empty: {', '.join(empty)}") if empty else found


async def _bounded(tool: AgentTool, args: dict[str, Any]) -> Ran:
    manifest = tool.manifest
    whole = DEFAULT_TIMEOUT if manifest.timeout_seconds is None else manifest.timeout_seconds
    silence = inf if manifest.idle_seconds is None else manifest.idle_seconds
    latest = anyio.current_time() + whole
    with anyio.CancelScope(deadline=min(anyio.current_time() + silence, latest)) as scope:
        token = _PULSE.set(_Pulse(scope, silence, latest))
        try:
            return _told(await tool.function(**args))
        except ToolError as error:
            return Ran(str(error), str(error), error.kind)
        except Exception as error:  # noqa: BLE001  # whatever a tool raises is the model's to read
            said = f"{type(error).__name__}: {error}"
            return Ran(said, said, ErrorKind.OTHER)
        finally:
            _PULSE.reset(token)
    quiet = anyio.current_time() < latest
    why = f"no output for {silence:g} s" if quiet else f"not done after {whole:g} s"
    unknown = " Whether it took effect is not known." if manifest.kind in (Kind.WRITE, Kind.COMMAND) else ""
    return Ran(f"timed out: {why}.{unknown}", UNSEEN, ErrorKind.TIMEOUT)


def _told(value: object) -> Ran:
    plain = msgspec.to_builtins(value)
    content = plain if isinstance(plain, str) else spelling(plain).decode("utf-8", "surrogatepass")
    return Ran(content, plain)


def _invalid(message: str) -> Ran:
    return Ran(message, message, ErrorKind.VALIDATION)


def _may_be_empty(tool: AgentTool, name: str) -> bool:
    allowed = tool.manifest.may_be_empty
    return allowed if isinstance(allowed, bool) else name in allowed


def _target(tool: AgentTool, args: dict[str, Any]) -> str | None:
    named = [args[name] for name in tool.manifest.target if isinstance(args.get(name), str)]
    return "\x1f".join(cast("list[str]", named)) or None


async def _look(tool: AgentTool, target: str | None) -> str | None:
    """The state of the target; None where nobody can tell."""
    if tool.digest is None or target is None:
        return None
    try:
        return await tool.digest(target)
    except Exception:  # noqa: BLE001  # a target that cannot be looked at has no state that could be compared
        return None
