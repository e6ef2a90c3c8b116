"""One call of a tool: whatever the tool does is an answer, in its time, and what the model reads is plain JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import attrs
import pytest

from machines.agent.attempts import Failure, attempt, caught, first_leaf, said_of
from machines.agent.calling import MOST_SAID, Ran, check, emit, heartbeat, run_call
from machines.agent.tools import AgentTool, ToolError, tool
from machines.events import ErrorKind
from machines.manifest import Kind, Tool

pytestmark = pytest.mark.anyio

Work = Callable[[], Awaitable[Any]]


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


class Own(BaseException):
    pass


def tool_of(work: Work, **manifest: Any) -> AgentTool:
    @tool(manifest=Tool(**manifest))
    async def act() -> Any:
        """Do what the test says."""
        return await work()

    return act


def giving(value: object) -> AgentTool:
    async def give() -> object:
        return value

    return tool_of(give)


def raising(error: BaseException) -> AgentTool:
    async def fail() -> None:
        raise error

    return tool_of(fail)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ({"b": 1, "a": [1.0, None, True]}, '{"b":1,"a":[1.0,null,true]}'),
        (1e21, "1e+21"),
        (2**70, "1180591620717411303424"),
        ({1: 2, 2.5: 3}, '{"1":2,"2.5":3}'),
        ("as it is", "as it is"),
        ({"lone": "\ud800"}, '{"lone":"\ud800"}'),
        (None, "null"),
    ],
)
async def test_the_model_reads_the_tools_own_value_as_plain_json(value: object, content: str) -> None:
    ran = await run_call(giving(value), "{}")
    assert (ran.content, ran.error) == (content, None)


class Text(str):
    __slots__ = ()


async def test_a_text_of_a_type_of_its_own_is_a_text() -> None:
    ran = await run_call(giving(Text("words")), "{}")
    assert (ran.content, type(ran.value), ran.error) == ("words", str, None)


def endless() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize("value", [object(), {(1, 2): 3}, {None: 1}, endless(), [10**5_000]])
async def test_a_value_that_json_cannot_say_is_an_error_result(value: object) -> None:
    ran = await run_call(giving(value), "{}")
    assert ran.error is ErrorKind.OTHER
    assert ran.content.startswith("the tool ran, but what it returned is no JSON value: ")


@pytest.mark.parametrize(
    ("error", "content", "kind"),
    [
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero", ErrorKind.OTHER),
        (ValueError(), "ValueError", ErrorKind.OTHER),
        (Mute(), "Mute", ErrorKind.OTHER),
        (ToolError("permission", "not yours"), "not yours", ErrorKind.PERMISSION),
        (ExceptionGroup("several", [ToolError("business", "no such thing")]), "no such thing", ErrorKind.BUSINESS),
    ],
)
async def test_what_a_tool_raises_is_an_error_result(error: Exception, content: str, kind: ErrorKind) -> None:
    assert await run_call(raising(error), "{}") == Ran(content, content, kind)


async def test_what_is_no_exception_of_a_program_passes_through() -> None:
    with pytest.raises(Own):
        await run_call(raising(Own()), "{}")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancelled_future_of_the_tools_own_is_an_error_result() -> None:
    async def wait() -> None:
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.cancel)
        await future

    assert await run_call(tool_of(wait), "{}") == Ran("CancelledError", "CancelledError", ErrorKind.OTHER)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_that_is_cancelled_natively_in_a_call_stays_cancelled() -> None:
    task = asyncio.ensure_future(run_call(tool_of(anyio.sleep_forever), "{}"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_future_that_is_cancelled_in_the_moment_in_which_a_scope_is_breaks_nothing() -> None:
    with anyio.CancelScope() as scope:
        future = asyncio.get_running_loop().create_future()

        async def wait() -> None:
            await future

        def cancel_both() -> None:
            future.cancel()
            scope.cancel()

        asyncio.get_running_loop().call_soon(cancel_both)
        assert isinstance(await caught(wait), Failure)
        await anyio.sleep(0)
        pytest.fail("the scope was not cancelled")
    assert scope.cancelled_caught


async def test_a_cancellation_from_outside_passes_through() -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await run_call(tool_of(anyio.sleep_forever), "{}")
        pytest.fail("the cancellation was taken for the tool's own")
    assert scope.cancelled_caught


async def hang_and_raise() -> None:
    try:
        await anyio.sleep_forever()
    finally:
        raise RuntimeError("while unwinding")


async def hang_and_return() -> str:
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        pass
    return "done all the same"


async def hang_in_a_group() -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(hang_and_raise)
        group.start_soon(anyio.sleep_forever)


@pytest.mark.parametrize("work", [anyio.sleep_forever, hang_and_raise, hang_and_return, hang_in_a_group])
async def test_a_tool_whose_time_has_passed_has_timed_out_however_it_unwinds(work: Work) -> None:
    ran = await run_call(tool_of(work, kind=Kind.WRITE, timeout_seconds=0.02), "{}")
    assert ran.content == "timed out: not done after 0.02 s. Whether it took effect is not known."
    assert (ran.error, ran.wrote) == (ErrorKind.TIMEOUT, False)


async def test_a_read_that_timed_out_leaves_no_doubt() -> None:
    ran = await run_call(tool_of(anyio.sleep_forever, timeout_seconds=0.02), "{}")
    assert ran.content == "timed out: not done after 0.02 s."


async def test_a_silent_tool_is_ended_by_its_time_of_silence() -> None:
    ran = await run_call(tool_of(anyio.sleep_forever, idle_seconds=0.02, timeout_seconds=30), "{}")
    assert (ran.content, ran.error) == ("timed out: no output for 0.02 s.", ErrorKind.TIMEOUT)


@pytest.mark.parametrize("sign", [heartbeat, lambda: emit("line\n")])
async def test_a_sign_of_life_starts_the_time_of_silence_afresh(sign: Callable[[], None]) -> None:
    async def work() -> str:
        for _ in range(4):
            await anyio.sleep(0.06)
            sign()
        return "done"

    ran = await run_call(tool_of(work, idle_seconds=0.15, timeout_seconds=30), "{}")
    assert ran == Ran("done", "done")


async def test_a_tool_that_emits_for_ever_is_ended_by_its_time_in_all_and_its_last_words_are_shown() -> None:
    async def work() -> None:
        number = 0
        while True:
            emit(f"line {number}\n")
            number += 1
            await anyio.sleep(0)

    ran = await run_call(tool_of(work, idle_seconds=30, timeout_seconds=0.1), "{}")
    first, second, *lines = ran.content.split("\n")
    assert (ran.error, first) == (ErrorKind.TIMEOUT, "timed out: not done after 0.1 s.")
    assert second in ("Its output:", "The last of its output:")
    assert "line " in lines[-2]


@pytest.mark.parametrize(("extra", "head"), [(0, "Its output:"), (1, "The last of its output:")])
async def test_what_a_tool_said_is_kept_to_a_bound(extra: int, head: str) -> None:
    async def work() -> None:
        emit("x" * extra)
        emit("y" * MOST_SAID)
        await anyio.sleep_forever()

    ran = await run_call(tool_of(work, timeout_seconds=0.02), "{}")
    assert ran.content == f"timed out: not done after 0.02 s.\n{head}\n{'y' * MOST_SAID}"


def test_outside_a_tool_a_sign_of_life_is_nothing() -> None:
    heartbeat()
    emit("nobody hears it")


def writer(states: list[Any], *, fails: bool = False, kind: Kind = Kind.WRITE) -> AgentTool:
    async def look(target: str) -> Any:
        state = states.pop(0)
        if isinstance(state, BaseException):
            raise state
        if state is anyio.sleep_forever:
            await anyio.sleep_forever()
        return state

    @tool(manifest=Tool(kind=kind, target=("path",), timeout_seconds=0.05), digest=look)
    async def put(path: str) -> str:
        """Put something there."""
        if fails:
            raise ToolError("business", path)
        return path

    return put


@pytest.mark.parametrize(
    ("states", "state", "wrote"),
    [
        (["one", "two"], "two", True),
        (["one", "one"], "one", False),
        ([ValueError("no"), "one"], "one", True),
        (["one", ValueError("no")], None, True),
        ([anyio.sleep_forever, anyio.sleep_forever], None, True),
        ([7, 7], None, True),
    ],
)
async def test_a_write_is_told_by_its_targets_state_before_and_after(
    states: list[Any], state: str | None, wrote: bool
) -> None:
    left = [*states]
    ran = await run_call(writer(left), '{"path": "here"}')
    assert (ran.content, ran.target, ran.state, ran.wrote) == ("here", "here", state, wrote)
    assert left == []


async def test_a_write_that_failed_wrote_nothing_and_a_read_has_no_state() -> None:
    failed = await run_call(writer(["one", "two"], fails=True), '{"path": "here"}')
    assert (failed.error, failed.state, failed.wrote) == (ErrorKind.BUSINESS, "two", False)
    read = await run_call(writer(["one", "two"], kind=Kind.READ), '{"path": "here"}')
    assert (read.target, read.state, read.wrote) == ("here", None, False)


async def test_a_write_without_a_digest_wrote_where_it_succeeded() -> None:
    async def give() -> str:
        return "done"

    ran = await run_call(tool_of(give, kind=Kind.WRITE), "{}")
    assert (ran.target, ran.state, ran.wrote) == (None, None, True)


@tool(manifest=Tool(required=("text", "items", "pair"), may_be_empty=("items",)))
async def required(text: str, items: list[int], pair: tuple[int, ...], count: int = 0) -> str:
    """Take things."""
    return f"{text}{items}{pair}{count}"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ('{"text": "", "items": [], "pair": []}', "required, and empty: text, pair"),
        ('{"text": "x", "items": [], "pair": [1], "more": 1}', "more"),
        ('{"text": 1, "items": [], "pair": [1]}', "text"),
        ('{"text": "x"', "the arguments are not JSON"),
        ("[1]", "the arguments are not a JSON object"),
    ],
)
def test_arguments_that_are_not_right_run_nothing(args: str, said: str) -> None:
    found = check(required, args)
    assert isinstance(found, Ran)
    assert found.error is ErrorKind.VALIDATION
    assert said in found.content


def test_what_may_be_empty_may_be_and_a_zero_is_not_empty() -> None:
    found = check(required, '{"text": "x", "items": [], "pair": [1], "count": 0}')
    assert found == {"text": "x", "items": [], "pair": (1,), "count": 0}


@attrs.frozen
class Declaring(Tool):
    error_prefix: str | None = None


@pytest.mark.parametrize("prefix", ["[validation error]", "", None])
async def test_only_a_declared_prefix_makes_a_result_a_validation_error(prefix: str | None) -> None:
    made = attrs.evolve(giving("[validation error] no such field"), manifest=Declaring(error_prefix=prefix))
    ran = await run_call(made, "{}")
    assert ran.error is (ErrorKind.VALIDATION if prefix else None)
    assert ran.content == "[validation error] no such field"


def test_of_a_group_an_interrupt_counts_first_and_a_cancellation_last() -> None:
    found: list[BaseException] = []

    async def main() -> None:
        cancelled = asyncio.CancelledError()
        group = BaseExceptionGroup("", [cancelled, BaseExceptionGroup("", [ValueError("one"), KeyboardInterrupt()])])
        found.append(first_leaf(group))
        found.append(first_leaf(BaseExceptionGroup("", [cancelled, ValueError("one"), ValueError("two")])))
        found.append(first_leaf(BaseExceptionGroup("", [cancelled])))
        found.append(first_leaf(ValueError("alone")))

    anyio.run(main)
    assert [said_of(one) for one in found] == [
        "KeyboardInterrupt",
        "ValueError: one",
        "CancelledError",
        "ValueError: alone",
    ]


async def test_somebody_elses_code_in_bounds_is_a_value_or_a_failure() -> None:
    async def give() -> int:
        return 7

    async def fail() -> int:
        raise KeyError("no")

    assert await caught(give) == 7
    found = await caught(fail)
    assert isinstance(found, Failure)
    assert isinstance(found.error, KeyError)
    late = await attempt(anyio.sleep_forever, anyio.CancelScope(deadline=anyio.current_time() + 0.01))
    assert late == Failure(None)
