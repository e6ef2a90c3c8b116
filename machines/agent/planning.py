"""The plan that the model keeps: two built-in tools, `write_todos` and `read_todos`.

The rules: a list that does not fit gets a one-line error and changes nothing; an item's other keys are kept; the run
hears the plan as a fact (`PlanChanged`), in which only an item that was closed counts as progress.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, cast

import attrs
import msgspec

from ..events import ErrorKind
from ..manifest import Kind, Tool
from .notices import TodosNotice
from .tools import AgentTool, ToolError, tool

WRITE_TODOS: Final = "write_todos"
"""The tool that takes a whole new plan."""

PLAN_LINE: Final = (
    f"For work of three or more steps, write down a plan with {WRITE_TODOS} first, and bring it up to date as part of "
    f"the work: it is shown to you as it stands while you go on. When the work is done, just answer; a plan needs no "
    f"reply of its own."
)
"""What the system prompt says of planning while the built-in tool is installed. Fixed, so that caches hold."""

NOTED: Final = 500
"""Characters of an item that a note of the plan shows."""

STATUSES: Final = ("pending", "in_progress", "completed")

Todo = Mapping[str, Any]
"""An item of the plan: `content`, `status`, and whatever other keys the model gave it."""

_ITEM: Final[dict[str, Any]] = {
    "properties": {
        "content": {"type": "string", "description": "what is to be done"},
        "status": {"type": "string", "enum": list(STATUSES)},
    },
    "required": ["content", "status"],
}
_Item = Annotated[dict[str, Any], msgspec.Meta(extra_json_schema=_ITEM)]


@attrs.define
class Plan:
    """The plan of one run; `changed` hears each new list."""

    changed: Callable[[Sequence[Todo]], None]
    todos: tuple[Todo, ...] = ()

    def write(self, items: Sequence[Todo]) -> str:
        """Take a whole new list. Raises `ToolError` for one that does not fit, and keeps the old one."""
        for number, item in enumerate(items, 1):
            if problem := _problem(item):
                raise ToolError(ErrorKind.VALIDATION, f"item {number}: {problem}; the plan is as it was")
        self.todos = tuple(items)
        self.changed(self.todos)
        done = sum(item["status"] == "completed" for item in items)
        return f"{done} of {len(items)} done"


@tool(manifest=Tool(kind=Kind.THINK, may_be_empty=("todos",), required=("todos",)))
async def write_todos(todos: list[_Item]) -> str:
    """Write down the plan as a whole list, which takes the place of the last one. Tick items off as they are done.

    Worth it for work of three or more steps. An item has `content`, and a `status`: pending, in_progress or
    completed.
    """
    raise AssertionError("each run has its own")


@tool(manifest=Tool(kind=Kind.THINK))
async def read_todos() -> list[dict[str, Any]]:
    """Read the plan as it stands."""
    raise AssertionError("each run has its own")


def plan_tools(plan: Plan) -> tuple[AgentTool, ...]:
    """The two tools, for the plan of one run."""

    async def write(todos: list[dict[str, Any]]) -> str:
        return plan.write(todos)

    async def read() -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", [*plan.todos])

    return attrs.evolve(write_todos, function=write), attrs.evolve(read_todos, function=read)


PLAN_MANIFEST: Final[Mapping[str, Tool]] = {made.name: made.manifest for made in (write_todos, read_todos)}
"""What the run knows of the two."""


def notice_of(todos: Sequence[Todo]) -> TodosNotice:
    """The plan as its notice tells it."""
    doing = next((str(item["content"]) for item in todos if item["status"] == "in_progress"), None)
    done = sum(item["status"] == "completed" for item in todos)
    return TodosNotice(tuple(todos), done, len(todos), doing)


def plan_note(todos: Sequence[Todo]) -> str:
    """The plan as a note for the model, to stand at the end of a request; empty where there is none."""
    if not todos:
        return ""
    done = sum(item.get("status") == "completed" for item in todos)
    lines = (f"{_MARKS.get(str(item.get('status')), '[ ]')} {_in_short(item)}" for item in todos)
    return "\n".join((f"[Your plan as it stands, {done} of {len(todos)} done:]", *lines))


_MARKS: Final = {"completed": "[x]", "in_progress": "[>]"}


def _in_short(item: Todo) -> str:
    line = " ".join(str(item.get("content", "")).split())
    return line if len(line) <= NOTED else f"{line[: NOTED - 3]}..."


def _problem(item: Todo) -> str:
    content, status = item.get("content"), item.get("status")
    if not isinstance(content, str) or not content.strip():
        return "expected content, a text that is not empty"
    if status not in STATUSES:
        return f"found the status {status!r}, expected one of {', '.join(STATUSES)}"
    return ""
