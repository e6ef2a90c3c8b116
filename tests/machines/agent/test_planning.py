"""The plan that a model keeps: what it may write, what the run learns of it, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from machines.agent.notices import Notice, TodosNotice
from machines.agent.planning import NOTED, PLAN_LINE, Plan, Todo, plan_note
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
    read = Turn(calls=(call("read_todos", {}),))
    with serve([writing(OPEN, NEXT), writing(CLOSED, NEXT), read, DONE, DONE]) as stage:
        told: list[Notice] = []
        agent = stage.agent()
        agent.notices.subscribe(told.append)
        result = await agent.run("plan")
        await stage.close()
        plans = [notice for notice in told if isinstance(notice, TodosNotice)]
        assert [(p.completed, p.total, p.in_progress) for p in plans] == [(0, 2, "read the list"), (1, 2, None)]
        assert result.todos == plans[-1].todos == (CLOSED, NEXT)
        answer = stage.server.requests()[-2].request.messages[-1].parts[0]
        assert '"owner":"me"' in getattr(answer, "content", "").replace(" ", "")


async def test_closing_an_item_is_progress_and_writing_the_plan_anew_is_none(serve: Callable[..., Any]) -> None:
    worded = [writing({"content": f"look at it, again ({n})", "status": "pending"}) for n in range(9)]
    for script, stuck in (
        (worded, True),
        ([writing(*(done(f"part {each}") for each in range(n)), NEXT) for n in range(9)], False),
    ):
        with serve([*script, writing(CLOSED), DONE]) as stage:
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


def test_a_note_of_the_plan_shows_each_item_with_its_state() -> None:
    assert plan_note([CLOSED, OPEN, NEXT]).split("\n") == [
        "[Your plan as it stands, 1 of 3 done:]",
        "[x] read the list",
        "[>] read the list",
        "[ ] add up",
    ]


def test_there_is_no_note_of_no_plan() -> None:
    assert plan_note([]) == ""


@pytest.mark.parametrize(("size", "cut"), [(NOTED, False), (NOTED + 1, True)])
def test_an_item_is_one_line_of_a_bounded_length(size: int, cut: bool) -> None:
    line = plan_note([{"content": "x" * size, "status": "pending"}]).split("\n")[1]
    assert len(line) == NOTED + len("[ ] ")
    assert line.endswith("...") is cut
    assert plan_note([{"content": "two\nlines", "status": "pending"}]).endswith("[ ] two lines")


def test_a_plan_from_elsewhere_that_does_not_fit_is_shown_as_far_as_it_goes() -> None:
    assert plan_note([{"content": 3}, {"status": ["odd"]}]).endswith("[ ] 3\n[ ] ")


def test_the_line_of_the_system_prompt_names_the_tool_and_never_changes() -> None:
    assert "write_todos" in PLAN_LINE
    assert "three or more steps" in PLAN_LINE
