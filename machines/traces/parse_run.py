"""The first line of a neutral trace: the run, its manifest of tools and its budget. Raises FieldError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..manifest import Kind, Tool, Wait
from .fields import (
    FieldError,
    may_be,
    may_bool,
    may_count,
    may_list,
    may_names,
    may_number,
    may_object,
    may_scalars,
    may_text,
    need_text,
    path_to,
    shown,
)
from .lines import FORMAT, WORKS, Budget, JsonObject, RunLine

KINDS: Final[Mapping[str, Kind]] = {kind.value: kind for kind in Kind}


def run_line(record: JsonObject) -> RunLine:
    """A `run` line."""
    name = need_text(record, "format")
    if name != FORMAT:
        raise FieldError("format", shown(name), f'"{FORMAT}"')
    return RunLine(
        id=need_text(record, "id"),
        title=may_text(record, "title"),
        task=may_text(record, "task"),
        tools=_tools(may_object(record, "tools") or {}),
        budget=_budget(may_object(record, "budget")),
        policy=_text_or_object(record, "policy"),
        agent=_text_or_object(record, "agent"),
        work=may_be(record, "work", WORKS),
        requires=may_names(record, "requires"),
    )


def _text_or_object(record: JsonObject, key: str) -> str | JsonObject | None:
    value = record.get(key)
    if value is None or isinstance(value, (str, dict)):
        return value
    raise FieldError(key, shown(value), "a string or an object")


def _tools(record: JsonObject) -> dict[str, Tool]:
    specs: dict[str, Tool] = {}
    for name, value in record.items():
        at = f"tools.{name}"
        if not isinstance(value, dict):
            raise FieldError(at, shown(value), "an object")
        specs[name] = _tool(value, at)
    return specs


def _tool(record: JsonObject, at: str) -> Tool:
    empty = record.get("may_be_empty")
    return Tool(
        kind=may_be(record, "kind", KINDS, at) or Kind.OTHER,
        required=may_names(record, "required", at),
        may_be_empty=empty if isinstance(empty, bool) else may_names(record, "may_be_empty", at) or False,
        volatile=may_names(record, "volatile", at),
        repeats=may_bool(record, "repeats", at) or False,
        idempotent=may_bool(record, "idempotent", at) or False,
        scratch=may_bool(record, "scratch", at) or False,
        identity=may_names(record, "identity", at),
        target=may_names(record, "target", at),
        source=may_names(record, "source", at),
        family=may_text(record, "family", at),
        topic=may_names(record, "topic", at),
        look=may_bool(record, "look", at) or False,
        fruitless=tuple(may_list(record, "fruitless", at) or ()),
        poll=may_bool(record, "poll", at) or False,
        timeout_seconds=may_number(record, "timeout_seconds", at),
        idle_seconds=may_number(record, "idle_seconds", at),
        wait=_wait(may_object(record, "wait", at), path_to(at, "wait")),
    )


def _wait(record: JsonObject | None, at: str) -> Wait | None:
    if record is None:
        return None
    return Wait(
        progress_field=need_text(record, "progress_field", at),
        waiting_values=may_scalars(record, "waiting_values", at),
        terminal_values=may_scalars(record, "terminal_values", at),
        max_wait_seconds=may_number(record, "max_wait_seconds", at),
        min_interval_seconds=may_number(record, "min_interval_seconds", at),
    )


def _budget(record: JsonObject | None) -> Budget | None:
    if record is None:
        return None
    return Budget(
        turns=may_count(record, "turns", "budget"),
        seconds=may_number(record, "seconds", "budget"),
        tokens=may_count(record, "tokens", "budget"),
        usd=may_number(record, "usd", "budget"),
    )
