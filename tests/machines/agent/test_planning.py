"""The plan that a model keeps: what it may write, what the run learns of it, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from machines.agent.notices import Notice, TodosNotice
from machines.agent.planning import Plan, Todo
from machines.agent.scripted import Turn, call
from machines.agent.tools import ToolError, tool
from machines.policy import Planning, Policy

pytestmark = pytest.mark.anyio

DONE = Turn(calls=(call("finish", {"kind": "final", "text": "done"}),))
OPEN: Todo = {"content": "read the list", "status": "in_progress", "owner": "me"}
CLOSED: Todo = {"content": "read the list", "status": "completed", "owner": "me"}
NEXT: Todo = {"content": "add up", "status": "pending"}


def done(content: str) -> Todo:
    return {"content": content, "status": "completed"}


def writing(*todos: Todo) -> Turn:
    return Turn(calls=(call("write_todos", {"todos": list(todos)}),))


async def test_a_plan_is_told_with_its_counts_kept_with_all_its_keys_and_returned(serve: Callable[..., Any]) -> None:
    with serve([writing(OPEN, NEXT), writing(CLOSED, NEXT), Turn(calls=(call("read_todos", {}),)), DONE]) as stage:
        told: list[Notice] = []
        agent = stage.agent()
        agent.notices.subscribe(told.append)
        result = await agent.run("plan")
        await stage.close()
        plans = [notice for notice in told if isinstance(notice, TodosNotice)]
        assert [(p.completed, p.total, p.in_progress) for p in plans] == [(0, 2, "read the list"), (1, 2, None)]
        assert result.todos == plans[-1].todos == (CLOSED, NEXT)
        read = stage.server.requests()[-1].request.messages[-1].parts[0]
        assert '"owner":"me"' in getattr(read, "content", "").replace(" ", "")


async def test_closing_an_item_is_progress_and_writing_the_plan_anew_is_none(serve: Callable[..., Any]) -> None:
    worded = [writing({"content": f"look at it, again ({n})", "status": "pending"}) for n in range(9)]
    for script, stuck in (
        (worded, True),
        ([writing(*(done(f"part {each}") for each in range(n)), NEXT) for n in range(9)], False),
    ):
        with serve([*script, DONE]) as stage:
            result = await stage.agent().run("plan")
            await stage.close()
            assert result.ok is not stuck


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ([{"content": "x", "status": "doing"}], "item 1: found the status 'doing'"),
        ([OPEN, {"content": " ", "status": "pending"}], "item 2: expected content"),
        ([{"status": "pending"}], "item 1: expected content"),
    ],
)
async def test_a_list_that_does_not_fit_is_an_error_of_one_line_and_changes_nothing(
    todos: Sequence[Todo], said: str
) -> None:
    heard: list[Sequence[Todo]] = []
    plan = Plan(heard.append)
    plan.write([NEXT])
    with pytest.raises(ToolError, match=said) as error:
        plan.write(todos)
    assert "\n" not in str(error.value)
    assert (plan.todos, len(heard)) == ((NEXT,), 1)


async def test_the_tools_are_there_unless_the_policy_says_no_or_the_application_has_its_own(
    serve: Callable[..., Any],
) -> None:
    @tool
    async def write_todos(lines: list[str]) -> str:
        """An application's own plan."""
        return f"{len(lines)} lines"

    for agent_tools, policy, shown in (
        ((), Policy(), {"write_todos": "todos", "read_todos": None}),
        ((), Policy(planning=Planning(enabled=False)), {}),
        ((write_todos,), Policy(), {"write_todos": "lines", "read_todos": None}),
    ):
        with serve([DONE]) as stage:
            await stage.agent(agent_tools, policy=policy).run("go")
            await stage.close()
            found = {one.name: one.schema for one in stage.server.requests()[-1].request.tools if one.name != "finish"}
            assert {name: next(iter(schema["properties"]), None) for name, schema in found.items()} == shown
