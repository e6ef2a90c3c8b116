"""What claude-code's tools answered: results, and the plan that one of them carries."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from attrs import frozen

from .lines import PLAN_STATUSES, Json, JsonObject, Line, PlanItem, PlanLine, ResultError, ResultLine, result_error
from .loose import content_of, digest, object_of, text_of
from .tools import CLAUDE_CODE


@frozen
class Asked:
    """A call that waits for its answer: the tool and its parsed arguments."""

    tool: str
    args: JsonObject


def answered(
    block: JsonObject, detail: Json, asked: Asked | None, tools: Collection[str], at: float | None
) -> Iterator[Line]:
    """The lines of one `tool_result` block.

    `detail` is the record's `tool_use_result`: an object where the tool succeeded, else a string. `tools` are the
    names the run began with, empty where it did not say.
    """
    error = _error(detail, asked, tools) if block.get("is_error") is True else None
    target = _target(asked) if error is None else None
    yield ResultLine(
        call=text_of(block.get("tool_use_id")),
        value=content_of(block.get("content", "")),
        error=error,
        state=_state(object_of(detail)) if target is not None else None,
        target=target,
        wrote=target is not None,
        at=at,
    )
    if error is None and asked is not None and asked.tool == "TodoWrite":
        # Once every item is completed, the tool answers with an empty list; the call has the items.
        items = _plan(object_of(detail).get("newTodos") or asked.args.get("todos"))
        if items is not None:
            yield PlanLine(items, at)


_VALIDATION: Final = "InputValidationError"


def _error(detail: Json, asked: Asked | None, tools: Collection[str]) -> ResultError:
    if asked is not None and tools and asked.tool not in tools:
        return result_error("unknown_tool")
    # The class of the harness's own exception, which it puts before the message; every other one is called Error.
    return result_error("validation" if text_of(detail).startswith(_VALIDATION) else "other")


def _target(asked: Asked | None) -> str | None:
    """The file that a call writes; None where it writes none."""
    spec = CLAUDE_CODE.get(asked.tool) if asked is not None else None
    if asked is None or spec is None or spec.kind != "write":
        return None
    return next((text_of(asked.args.get(name)) for name in spec.target), None)


def _state(detail: JsonObject) -> str | None:
    """The digest of the file after a write: all of it is recorded, or it was and what was replaced."""
    content = detail.get("content")
    if isinstance(content, str):
        return digest(content)
    before, old, new = detail.get("originalFile"), detail.get("oldString"), detail.get("newString")
    if isinstance(before, str) and isinstance(old, str) and isinstance(new, str) and old:
        return digest(before.replace(old, new, -1 if detail.get("replaceAll") is True else 1))
    return None


def _plan(todos: Json) -> tuple[PlanItem, ...] | None:
    """The plan, or None where it is none."""
    if not isinstance(todos, list):
        return None
    items: list[PlanItem] = []
    for todo in todos:
        content = object_of(todo).get("content")
        status = PLAN_STATUSES.get(text_of(object_of(todo).get("status")))
        if not isinstance(content, str) or status is None:
            return None
        items.append(PlanItem(content, status))
    return tuple(items)
