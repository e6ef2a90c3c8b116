"""A URL as a tool: one call, in its declared place, over a client that is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import attrs
import httpx
import pytest

from machines.agent.awaiting import Poll
from machines.agent.http_poll import polled_url
from machines.agent.scripted import Turn, call
from machines.agent.tools import AgentTool, ToolError
from machines.events import ErrorKind
from machines.manifest import Wait

from .status_server import DONE, Reply, Server, serving

pytestmark = pytest.mark.anyio

BUILD = Wait("status", ("running",), ("success", "failed"), 1_200.0)
OVER = {"status": "success"}
SECRET = "t0ken-0123456789-abcdefghij"


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The HTTP clients that are made from here on."""
    made: list[object] = []

    class Counted(httpx.AsyncClient):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            made.append(self)

    monkeypatch.setattr(httpx, "AsyncClient", Counted)
    return made


def polling(server: Server, wait: Wait = BUILD, **more: Any) -> AgentTool:
    poll = Poll(0.001, 1.0, 0.001)
    return polled_url("await_build", "Wait for a build.", server.url + "/builds/{id}?full=1", wait, poll, **more)


async def test_an_argument_never_leads_out_of_the_declared_place() -> None:
    with serving(Reply(body=DONE)) as server:
        tool = polling(server)
        assert await tool.function(id=7) == OVER
        assert await tool.function(id="@evil.example/?x#y") == OVER
        assert server.paths() == ["/builds/7?full=1", "/builds/%40evil.example%2F%3Fx%23y?full=1"]
        for id in ("../admin", "..", "a%2f..%2f..%2fb"):
            with pytest.raises(ToolError, match="a step to another folder") as failed:
                await tool.function(id=id)
            assert failed.value.kind is ErrorKind.VALIDATION
        assert len(server.asked) == 2


async def test_an_error_shows_no_query() -> None:
    with serving(Reply(404)) as server:
        with pytest.raises(ToolError) as failed:
            await polling(server).function(id=7)
        assert str(failed.value) == f"{server.url}/builds/7: HTTP 404"


async def test_all_looks_of_a_call_share_one_client_and_leave_none_behind(clients: list[object]) -> None:
    with serving(*[Reply()] * 20, Reply(body=DONE)) as server:
        assert await polling(server).function(id=7) == OVER
        assert (len(server.asked), len(clients)) == (21, 1)

        async def once() -> None:
            assert await polling(server).function(id=8) == OVER

        async with anyio.create_task_group() as both:
            both.start_soon(once)
            both.start_soon(once)
        assert (len(server.asked), len(clients)) == (23, 2)


async def test_a_call_in_an_agent_is_one_turn_and_uses_the_client_that_asks_the_model(
    serve: Callable[..., Any], clients: list[object]
) -> None:
    done = Turn(calls=(call("finish", {"kind": "final", "text": "built"}),))
    script = [Turn(calls=(call("await_build", {"id": "../x"}),)), Turn(calls=(call("await_build", {"id": "7"}),)), done]
    with serving(*[Reply()] * 5, Reply(body=DONE)) as server, serve(script) as stage:
        result = await stage.agent([polling(server)]).run("wait for the build")
        await stage.close()
        assert (result.ok, len(server.asked), len(clients)) == (True, 6, 1)
        requests = [str(received.request.messages[-1].parts[0]) for received in stage.server.requests()]
        assert "a step to another folder" in requests[1]
        assert "success" in requests[2]


async def test_a_wait_that_is_cancelled_leaves_nothing_open() -> None:
    with serving(Reply(hang=True)) as server:
        with anyio.move_on_after(0.05) as scope:
            await polling(server).function(id=7)
        assert scope.cancelled_caught
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("url", "wait", "headers", "said"),
    [
        ("https://{host}/", BUILD, {}, "tool t: url: expected"),
        ("https://ci.example/", Wait("status"), {}, "tool t: wait.terminal_values: found none"),
        (
            "https://ci.example/",
            attrs.evolve(BUILD, min_interval_seconds=-1.0),
            {},
            "tool t: wait.min_interval_seconds",
        ),
        ("https://ci.example/", BUILD, {f"x {SECRET}": "v"}, "tool t: headers: found a name"),
        ("https://ci.example/", BUILD, {"x-key": f"{SECRET}\r\nx: y"}, "tool t: headers: x-key holds what no header"),
        ("https://ci.example/", BUILD, {"x-key": f"{SECRET}ä"}, "tool t: headers: x-key holds what no header"),
    ],
)
def test_what_could_not_be_is_refused_where_it_is_declared(
    url: str, wait: Wait, headers: dict[str, str], said: str
) -> None:
    with pytest.raises(ValueError, match="expected") as refused:
        polled_url("t", "Wait.", url, wait, headers=headers)
    assert said in str(refused.value)
    assert SECRET not in str(refused.value)
