"""Waiting below the model, on a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import anyio
import attrs
import pytest

from machines.agent.awaiting import LONGEST_AFTER, Looked, Poll, await_until, awaited, timed_out
from machines.agent.scripted import Turn, call
from machines.agent.tools import ToolError, tool
from machines.manifest import Kind, Tool, Wait
from machines.policy import Budget, Policy, Waiting

pytestmark = pytest.mark.anyio

BUILD = Wait("status", ("queued", "running"), ("success", "failed"), 1_200.0, 5.0)
RUNNING = {"status": "running"}


@attrs.define
class World:
    """A clock, and a build that is over at some time."""

    over_at: float = inf
    value: object = attrs.field(factory=lambda: {"status": "success"})
    at: float = 0.0
    looks: list[float] = attrs.field(factory=list[float])

    async def look(self) -> object:
        self.looks.append(self.at)
        return self.value if self.at >= self.over_at else RUNNING

    async def sleep(self, seconds: float) -> None:
        self.at += seconds

    async def until(self, wait: Wait = BUILD, poll: Poll | None = None, left: float = inf) -> object:
        return await await_until(self.look, wait, poll, left=left, now=lambda: self.at, sleep=self.sleep)


async def test_a_build_of_twenty_minutes_takes_44_looks_where_a_fixed_gap_takes_240() -> None:
    world = World(over_at=1_200.0)
    assert await world.until() == {"status": "success"}
    assert len(world.looks) <= 44
    assert world.looks[:5] == [0.0, 5.0, 12.5, 23.75, 40.625]
    fixed = World(over_at=1_200.0)
    await fixed.until(poll=Poll(5.0, 1.0, 5.0))
    assert len(fixed.looks) == 241


async def test_the_last_gap_ends_at_the_deadline_and_then_it_is_looked_once_more() -> None:
    world = World()
    assert await world.until(left=100.0) == {"status": "wait_timeout", "waited_s": 100, "last_seen": RUNNING}
    assert world.looks[-1] == 100.0
    just_in_time = World(over_at=100.0)
    assert await just_in_time.until(left=100.0) == {"status": "success"}


@pytest.mark.parametrize(("left", "waited"), [(50.0, 50), (5_000.0, 1_200), (inf, 1_200)])
async def test_its_time_is_the_smaller_of_its_own_and_the_runs(left: float, waited: int) -> None:
    assert await World().until(left=left) == timed_out(waited, RUNNING)


@pytest.mark.parametrize("left", [0.0, -1.0])
async def test_with_no_time_left_nothing_is_asked(left: float) -> None:
    world = World()
    assert await world.until(left=left) == {"status": "wait_timeout", "waited_s": 0, "last_seen": None}
    assert world.looks == []


@pytest.mark.parametrize("value", [{"status": "unknown"}, {"state": "success"}, "what?", None])
async def test_a_value_that_nobody_declared_ends_it_at_once_and_is_the_answer(value: object) -> None:
    world = World(over_at=12.0, value=value)
    assert await world.until() == value
    assert world.looks[-1] == 12.5


@pytest.mark.parametrize(
    ("after", "second"),
    [(None, 5.0), (0.0, 5.0), (-1.0, 5.0), (float("nan"), 5.0), (5.0, 5.0), (5.1, 5.1), (99.9, 99.9), (inf, 100.0)],
)
async def test_a_look_may_put_the_next_one_off_but_neither_nearer_nor_over_the_deadline(
    after: float | None, second: float
) -> None:
    world = World(over_at=second, value=Looked({"status": "success"}))

    async def look() -> object:
        found = await world.look()
        return Looked(found, after) if found == RUNNING else found

    assert await await_until(look, BUILD, left=100.0, now=lambda: world.at, sleep=world.sleep) == {"status": "success"}
    assert world.looks == [0.0, second]


async def test_no_look_puts_the_next_one_off_by_more_than_an_hour_and_chance_comes_on_top() -> None:
    world = World(value=Looked(RUNNING, 86_400.0))
    world.over_at = 0.0
    await world.until(attrs.evolve(BUILD, max_wait_seconds=None), Poll(jitter=0.5), left=50_000.0)
    gaps = [b - a for a, b in zip(world.looks, world.looks[1:], strict=False)][:-1]
    assert min(gaps) >= LONGEST_AFTER
    assert max(gaps) <= 1.5 * LONGEST_AFTER
    assert len({round(gap, 6) for gap in gaps}) > 2


async def test_a_look_that_came_to_nothing_ends_nothing_and_what_was_seen_before_stands() -> None:
    found = iter([Looked({"status": "success"}, missed=True), RUNNING, Looked(missed=True), Looked(missed=True)])
    world = World()

    async def look() -> object:
        return next(found)

    waited = await await_until(look, BUILD, left=20.0, now=lambda: world.at, sleep=world.sleep)
    assert waited == timed_out(20.0, RUNNING)


async def test_an_error_ends_it_at_once() -> None:
    async def fails() -> object:
        raise ToolError("transient", "no line")

    with pytest.raises(ToolError, match="no line"):
        await await_until(fails, BUILD)


async def test_no_gap_is_shorter_than_the_tool_allows_and_jitter_only_makes_it_longer() -> None:
    world = World(over_at=400.0)
    await world.until(attrs.evolve(BUILD, min_interval_seconds=20.0), Poll(jitter=0.5))
    gaps = [b - a for a, b in zip(world.looks, world.looks[1:], strict=False)]
    assert min(gaps[:-1]) >= 20.0
    assert max(gaps) <= 45.0
    assert len({round(gap, 6) for gap in gaps}) > 2


async def test_a_waiting_tool_becomes_one_call_one_turn_and_one_answer(serve: Callable[..., Any]) -> None:
    looks = 0
    status = Wait("status", ("running",), ("success",), 60.0)

    @tool(manifest=Tool(kind=Kind.WAIT, wait=status))
    async def build_status(id: str) -> dict[str, str]:
        """The status of a build."""
        nonlocal looks
        looks += 1
        return {"status": "success" if looks == 3 else "running"}

    done = Turn(calls=(call("finish", {"kind": "final", "text": "built"}),))
    with serve([Turn(calls=(call("await_build", {"id": "b1"}),)), done]) as stage:
        blocking = awaited(build_status, Poll(0.001, 1.0, 0.001), name="await_build")
        result = await stage.agent([blocking]).run("wait for the build")
        await stage.close()
        assert (result.ok, looks, result.account.turns, len(stage.server.requests())) == (True, 3, 1, 2)
        assert "success" in str(stage.server.requests()[-1].request.messages[-1].parts[0])


async def test_the_time_of_a_run_bounds_it_with_what_is_held_back(serve: Callable[..., Any]) -> None:
    @tool(manifest=Tool(kind=Kind.WAIT, wait=Wait("status", ("running",), ("success",))))
    async def build_status() -> dict[str, str]:
        """The status of a build."""
        await anyio.lowlevel.checkpoint()
        return {"status": "running"}

    done = Turn(calls=(call("finish", {"kind": "failure", "text": "it never ended"}),))
    policy = Policy(budget=Budget(seconds=30.0), waiting=Waiting(hold_back_seconds=29.8))
    with serve([Turn(calls=(call("build_status", {}),)), done]) as stage:
        result = await stage.agent([awaited(build_status, Poll(0.01, 1.0, 0.01))], policy=policy).run("wait")
        await stage.close()
        assert "wait_timeout" in str(stage.server.requests()[-1].request.messages[-1].parts[0])
        assert result.account.seconds < 5.0


def test_a_tool_that_declares_no_wait_cannot_be_waited_for() -> None:
    @tool
    async def plain() -> str:
        """Nothing to wait for."""
        return ""

    with pytest.raises(ValueError, match="plain: declares no wait"):
        awaited(plain)


async def test_what_is_waited_for_below_the_model_costs_it_two_requests_where_polling_costs_one_a_look(
    serve: Callable[..., Any],
) -> None:
    """A build of 1,200 seconds, looked at every five seconds by the model; and once, by a call that lasts as long."""
    world, looked = World(over_at=1_200.0), World(over_at=1_200.0)

    @tool(manifest=Tool(kind=Kind.WAIT, wait=attrs.evolve(BUILD, min_interval_seconds=None)))
    async def build_status() -> object:
        """The status of the build."""
        await looked.sleep(5.0)
        return await looked.look()

    @tool
    async def await_build() -> object:
        """Wait for the build."""
        return await world.until()

    done = Turn(calls=(call("finish", {"kind": "final", "text": "built"}),))
    policy, cost = Policy(budget=Budget(turns=300, tokens=4_000_000)), dict[str, tuple[int, int]]()
    for given, times in ((build_status, 240), (await_build, 1)):
        with serve([*[Turn(calls=(call(given.name, {}),))] * times, done]) as stage:
            result = await stage.agent([given], policy=policy).run("wait for the build")
            await stage.close()
            assert (result.ok, result.account.turns) == (True, times)
            cost[given.name] = len(stage.server.requests()), result.usage.input
    (polled, dear), (waited, cheap) = cost["build_status"], cost["await_build"]
    assert (polled, waited, len(looked.looks), len(world.looks)) == (241, 2, 240, 44)
    assert dear > 1_000 * cheap, (dear, cheap)


@pytest.mark.parametrize("field", ["first", "factor", "cap", "jitter"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), inf, "5"])
def test_a_poll_that_could_not_be_is_refused_by_its_field(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"Poll.{field}: found"):
        Poll(**{field: value})


async def test_a_look_that_hangs_is_given_up_after_the_tools_own_time() -> None:
    @tool(manifest=Tool(kind=Kind.WAIT, timeout_seconds=0.02, wait=BUILD))
    async def build_status() -> object:
        """The status of the build."""
        await anyio.sleep_forever()
        return "never"

    with pytest.raises(ToolError, match=r"a look took more than 0\.02 s"):
        await awaited(build_status).function()
