"""From what was received to the event: signatures, digests and facts, computed before the event is made.

The events carry no text; each text met on the way is handed to `keep`, which the caller gives (a content store, or
nothing at all).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final, cast

from ..events import Call, ErrorKind, PollState, Result, Text
from ..manifest import Kind, Tool, Wait
from .canonical import loads, short_digest, spelling
from .digest import result_digest
from .failure import normalise_failure
from .fruitless import finds_nothing
from .prefix import is_cut_off
from .signature import signature
from .topic import figures_of, topic_of

Keep = Callable[[Text, str], None]

UNSEEN: Final = object()
"""Stands for a result that was not seen, which is not the same as one that is null."""


def forget(text: Text, content: str) -> None:
    """A `keep` that keeps nothing."""


def both(one: Keep, other: Keep) -> Keep:
    """A `keep` that hands each text to two."""

    def keep(text: Text, content: str) -> None:
        one(text, content)
        other(text, content)

    return keep


def text_of(content: str, keep: Keep = forget) -> Text:
    """The text as an event names it."""
    text = Text(hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest(), len(content))
    keep(text, content)
    return text


def call_of(id: str, name: str, args: str, tool: Tool, *, problem: str = "", keep: Keep = forget) -> Call:
    """One call of a reply; `args` is the text that was received, `problem` why that is no JSON object."""
    text = text_of(args, keep)
    if problem:
        signed = signature(name, args)
        return Call(id, name, signed, text, parsed=False, cut=is_cut_off(args), problem=problem)
    signed = signature(name, _identity(args, tool))
    if not (tool.target or tool.source or tool.topic or tool.kind is Kind.THINK):
        return Call(id, name, signed, text)  # what a tool does not declare is not looked for
    given = _object(args) or {}
    about = [given[field] for field in tool.topic if field in given]
    source = [given[field] for field in tool.source if field in given]
    return Call(
        id,
        name,
        signed,
        text,
        target=_target(given, tool),
        source=short_digest(spelling(source)) if source else b"",
        topic=topic_of(about),
        figures=figures_of(about),
        empty=all(_holds_nothing(value) for value in given.values()),
    )


def _holds_nothing(value: object) -> bool:
    return value in (None, [], {}) or (isinstance(value, str) and not value.strip())


def _identity(args: str, tool: Tool) -> str:
    """The arguments that say what a call is: those that the manifest names, or all of them."""
    given = _object(args) if tool.identity else None
    if given is None:
        return args
    return spelling({name: given[name] for name in tool.identity if name in given}).decode("utf-8", "surrogatepass")


def result_of(
    call: Call,
    tool: Tool,
    *,
    at: float,
    value: object = UNSEEN,
    error: ErrorKind | None = None,
    error_class: str | None = None,
    message: str | None = None,
    state: str | None = None,
    target: str | None = None,
    wrote: bool = False,
    shown: str | None = None,
    keep: Keep = forget,
) -> Result:
    """One tool's answer. Where the value was not seen, the message of an error stands for it.

    `shown` is what the model reads of it; it is kept where that is not the value letter by letter.
    """
    if value is UNSEEN and message is not None:
        value = message
    seen = value is not UNSEEN
    progress = (tool.wait.progress_field,) if tool.wait is not None and tool.wait.progress_field != "*" else ()
    failed = None if error is None else (error_class or error.value)
    poll, found = poll_of(value, error, tool.wait) if tool.wait is not None else (None, None)
    text = spelled(value) if seen else ""
    failure = None if failed is None else _failure(failed, text)
    searches = tool.kind is Kind.SEARCH or bool(tool.source or tool.family)
    return Result(
        at,
        call.id,
        digest=result_digest(value, failed, tool.volatile, progress) if seen else None,
        value=text_of(text, keep) if seen else None,
        error=error,
        error_class=error_class,
        state=None if state is None else _state(state),
        target=target,
        wrote=wrote,
        poll=poll,
        poll_value=found,
        failure=failure,
        fruitless=searches and seen and (error is not None or finds_nothing(value, tool.fruitless)),
        shown=text_of(shown, keep) if shown is not None and not (seen and shown == text) else None,
    )


def _failure(error: str, text: str) -> bytes:
    return short_digest(f"{error}\0{normalise_failure(text)}".encode("utf-8", "surrogatepass"))


def _state(state: str) -> bytes:
    return hashlib.blake2b(state.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def spelled(value: object) -> str:
    """A JSON value as the text that is kept of it: a text as it is, anything else in canonical spelling."""
    return value if isinstance(value, str) else spelling(value).decode("utf-8", "surrogatepass")


def _target(given: dict[str, object], tool: Tool) -> str | None:
    named = [value for name in tool.target if isinstance(value := given.get(name), str)]
    return "\x1f".join(named) or None


def _object(args: str) -> dict[str, object] | None:
    try:
        given = loads(args)
    except ValueError:
        return None
    return cast("dict[str, object]", given) if isinstance(given, dict) else None


def poll_of(value: object, error: ErrorKind | None, wait: Wait) -> tuple[PollState | None, str | None]:
    """What a declared wait's answer says. An error, or a field that is not there, is a value nobody foresaw."""
    if value is UNSEEN and error is None:
        return None, None
    found = value if wait.progress_field == "*" else _field(value, wait.progress_field)
    shown = None if found is UNSEEN else spelled(found)[:80]
    if error is not None or found is UNSEEN:
        return PollState.UNRECOGNISED, shown
    if any(_is(found, waiting) for waiting in wait.waiting_values):
        return PollState.WAITING, shown
    if any(_is(found, terminal) for terminal in wait.terminal_values):
        return PollState.TERMINAL, shown
    return PollState.UNRECOGNISED, shown


def _is(found: object, declared: object) -> bool:
    return found == declared and isinstance(found, bool) == isinstance(declared, bool)


def _element(text: str, name: str) -> object:
    _, opened, rest = text.partition(f"<{name}>")
    inside, closed, _ = rest.partition(f"</{name}>")
    return inside.strip() if opened and closed else UNSEEN


def _field(value: object, path: str) -> object:
    """The value at a dotted path; a number names an item of a list. A text that is JSON is read as such.

    In any other text it is what stands in the first element of that name, as `<status>running</status>`.
    """
    here = value
    if isinstance(value, str):
        try:
            here = loads(value)
        except ValueError:
            return _element(value, path)
    for name in path.split("."):
        if isinstance(here, dict):
            here = cast("dict[str, object]", here).get(name, UNSEEN)
        elif isinstance(here, list) and name.isdecimal() and len(name) < 10:
            items = cast("list[object]", here)
            here = items[int(name)] if int(name) < len(items) else UNSEEN
        else:
            return UNSEEN
    return here
