"""What an application has done to a history under way is done before the next request, and stands in the journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from machines.agent.agent_run import AgentRun
from machines.agent.notices import Notice, ResultNotice
from machines.agent.scripted import Turn, call
from machines.agent.tools import tool
from machines.policy import History, Policy

pytestmark = pytest.mark.anyio

DONE = Turn(calls=(call("finish", {"kind": "final", "text": "done"}),))
SMALL = Policy(history=History(kept_results=100, least_pruned=100))


@tool
async def dump() -> str:
    """Give a long result."""
    return "x" * 5_000


DUMP = Turn(calls=(call("dump"),))


async def freed_by(under_way: AgentRun, ask: Callable[[AgentRun], Any]) -> int:
    """What is freed by a step that is asked for when the first result is there."""
    freed: list[int] = []

    async def asked() -> None:
        freed.append(await ask(under_way))

    async with anyio.create_task_group() as group:

        def heard(notice: Notice) -> None:
            if isinstance(notice, ResultNotice) and notice.tool == "dump" and not freed:
                freed.append(0)
                group.start_soon(asked)

        under_way.notices.subscribe(heard)
        assert (await under_way.result()).ok
    return freed[-1]


@pytest.mark.parametrize(
    ("ask", "least", "said"),
    [
        (AgentRun.prune_tool_results, 4_900, "cleared: an old result"),
        (AgentRun.spill_large_results, 4_000, "5000 characters in all"),
    ],
)
async def test_it_is_done_before_a_request_and_tells_what_it_freed(
    serve: Callable[..., Any], ask: Callable[[AgentRun], Any], least: int, said: str
) -> None:
    with serve([DUMP, DUMP, DUMP, DONE]) as stage:
        freed = await freed_by(stage.agent([dump], policy=SMALL).start("go"), ask)
        await stage.close()
        last = stage.server.requests()[-1].request
    assert freed >= least
    assert said in str(last.messages)
    assert ("read_result" in {one.name for one in last.tools}) is (ask is AgentRun.spill_large_results)


async def test_where_no_request_follows_nothing_is_freed(serve: Callable[..., Any]) -> None:
    with serve([DONE]) as stage:
        under_way = stage.agent([dump], policy=SMALL).start("go")
        assert await under_way.prune_tool_results() == 0
        assert (await under_way.result()).ok
        assert await under_way.spill_large_results() == 0
        await stage.close()
