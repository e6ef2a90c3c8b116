"""Calling what is not the run's own: tools above all, and what an application gives. Whatever it does is an answer.

One call of a tool: checked before, bounded in time, its target looked at before and after, its answer typed. The rules:
arguments that are not right run nothing. Whatever a tool raises or returns is an answer, and ends no other
call. A tool has a time in all and a time of silence; `heartbeat` and `emit` break the silence. What a tool that ran out
of time gives back all the same is not taken. A write that ran out of time may have happened: that is said, and it is
not taken for a write. Cancellation passes through, but a cancelled future of the tool's own is an error like another.

A tool that never awaits anything cannot be ended by any time: the event loop is its own.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from math import inf, isfinite
from typing import Any, Final, TypeVar, cast

import anyio
import attrs
import msgspec
import orjson

from statecraft.evolve import evolve

from ..events import ErrorKind, Facts, StopReason, Usage
from ..ledger.canonical import loads
from ..ledger.observe import UNSEEN
from ..manifest import Kind
from ..words import FINISH
from .finish import not_finished
from .tools import AgentTool, ToolError
from .wire import CallPart, Completion, Refused, TextPart, ThinkingPart

T = TypeVar("T")

_LOG: Final = logging.getLogger("machines.agent")

ASKED_SECONDS = 30.0
"""Seconds that an application may take to say what it knows."""

DEFAULT_TIMEOUT: Final = 120.0
"""Seconds that a tool may take in all where its manifest names no time."""

# A union written in the call is made anew at each call.
_WORDS: Final = (TextPart, ThinkingPart)

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


@attrs.frozen
class Failure:
    """Somebody else's code did not do what it was asked: what it raised, None where its time was up."""

    error: BaseException | None


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


def no_reply(answer: object) -> str:
    """What a provider did in place of a reply. Of an exception only the type: its text may hold a key."""
    if isinstance(answer, Failure) and answer.error is not None:
        return f"the provider raised {type(answer.error).__name__}"
    return f"the provider answered with {type(answer).__name__}, which is no reply"


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
    known = ", ".join(sorted(tools)) or "none"
    said = f"there is no tool {call.name}; there are: {known}"
    return Ran(said, said, ErrorKind.UNKNOWN_TOOL)


def is_object(args: str) -> bool:
    """Whether the text of arguments is a JSON object; no text at all is one without arguments."""
    try:
        return isinstance(loads(args or "{}"), dict)
    except ValueError:
        return False


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


async def caught(work: Callable[[], Awaitable[T]]) -> T | Failure:
    """Await somebody else's code; what it raises is a value.

    Raises only what is meant for the run itself: a cancellation from outside, and what is no `Exception`. An asyncio
    task that awaits a future which somebody else cancelled gets the same exception as one that is cancelled; it is a
    failure like another where neither a scope around it nor the task itself was cancelled.
    """
    try:
        return await work()
    except anyio.get_cancelled_exc_class() as error:
        if _is_cancelled(error):
            raise
        return Failure(error)
    except Exception as error:  # noqa: BLE001  # whatever somebody else's code raises
        return Failure(first_leaf(error))


async def attempt(work: Callable[[], Awaitable[T]], scope: anyio.CancelScope) -> T | Failure:
    """As `caught`, within a scope that is not entered yet, whose deadline bounds it."""
    value: T | Failure = Failure(None)
    try:
        with scope:
            value = await caught(work)
    except Exception as error:  # noqa: BLE001  # what a group held beside the scope's own cancellation
        value = Failure(first_leaf(error))
    # The scope of a task that never awaited has had no chance to notice the time. Unwinding may raise, or return.
    return Failure(None) if scope.cancel_called or anyio.current_time() >= scope.deadline else value


def first_leaf(error: BaseException) -> BaseException:
    """What a task group of one would have raised: an interrupt or an exit first, a cancellation last."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [first_leaf(one) for one in cast("BaseExceptionGroup[BaseException]", error).exceptions]
    cancelled = anyio.get_cancelled_exc_class()

    def order(leaf: BaseException) -> int:
        return 0 if isinstance(leaf, KeyboardInterrupt | SystemExit) else 2 if isinstance(leaf, cancelled) else 1

    return min(leaves, key=order)


def said_of(error: BaseException, *, named: bool = True) -> str:
    """An exception in words, with its type's name; its own words may raise, and then the name is all."""
    name = type(error).__name__
    try:
        words = str(error)
    except Exception:  # noqa: BLE001  # an exception of somebody else's may fail even here
        words = ""
    return words if words and not named else f"{name}: {words}" if words else name


def _is_cancelled(error: BaseException) -> bool:
    """Whether somebody cancelled this task, or a scope around it, which on asyncio cancels its tasks.

    A scope that was cancelled and has not come to its tasks yet does so at their next wait: the exception is not its.
    """
    if not isinstance(error, asyncio.CancelledError):
        return True  # on trio nothing but a scope makes the exception
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


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
    if isinstance(value, str):
        content = str.__str__(value)
        prefix = tool.manifest.error_prefix
        return Ran(content, content, ErrorKind.VALIDATION if prefix and content.startswith(prefix) else None)
    try:
        plain = msgspec.to_builtins(value, str_keys=True)
        return Ran(plain if isinstance(plain, str) else _json(plain), plain)
    except Exception as error:  # noqa: BLE001  # a value of the tool's own may fail in any way
        said = f"the tool ran, but what it returned is no JSON value: {said_of(error)}"
        return Ran(said, said, ErrorKind.OTHER)


def _json(value: object) -> str:
    """As JSON, keys in their order. Whole numbers of more than 64 bits are written in full."""
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


async def known(what: str, ask: Callable[[], Awaitable[T | None]], fits: Callable[[object], bool]) -> T | None:
    """What the application knows, asked within its time; None where it raises, or answers with something else."""
    found = await attempt(ask, anyio.CancelScope(deadline=anyio.current_time() + ASKED_SECONDS))
    if isinstance(found, Failure):
        why = f"took more than {ASKED_SECONDS:g} s" if found.error is None else "raised"
        _LOG.error("%s %s; nothing is known of the run's", what, why, exc_info=found.error)
        return None
    if found is None or fits(found):
        return found
    _LOG.error("%s answered with a %s that does not fit; nothing is known", what, type(found).__name__)
    return None


def is_facts(found: object) -> bool:
    """Whether these are facts, each of its type."""
    if not isinstance(found, Facts):
        return False
    given = attrs.asdict(found)
    eligible = given.pop("eligible")
    counted = eligible is None or (isinstance(eligible, int) and not isinstance(eligible, bool) and eligible >= 0)
    return counted and all(value is None or isinstance(value, bool) for value in given.values())


def is_count(found: object) -> bool:
    """Whether this is a pair of numbers."""
    if not isinstance(found, tuple):
        return False
    numbers = cast("tuple[object, ...]", found)
    return len(numbers) == 2 and all(map(_is_number, numbers))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def is_sound(answer: Completion) -> bool:
    """Whether a provider that is not this project's kept to the types of a reply."""
    stop, usage, parts = cast("tuple[object, object, object]", (answer.stop, answer.usage, answer.parts))
    if not (isinstance(stop, StopReason) and isinstance(usage, Usage) and isinstance(parts, tuple)):
        return False
    return all(map(_is_sound_part, cast("tuple[object, ...]", parts)))


def _is_sound_part(part: object) -> bool:
    if isinstance(part, CallPart):
        return all(map(_is_text, (part.id, part.name, part.args)))
    return isinstance(part, _WORDS) and _is_text(part.text)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def is_sound_refusal(answer: Refused) -> bool:
    """As `is_sound`, of a refusal."""
    status, body, after = cast("tuple[object, object, object]", (answer.status, answer.body, answer.after))
    return isinstance(status, int) and isinstance(body, str) and (after is None or _is_number(after))
