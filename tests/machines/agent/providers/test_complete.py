"""Requests over real sockets, over the wires and both event loops."""

from __future__ import annotations

import gc
import socket
import time
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
import stamina

from machines.agent.providers import Prices, Retries, provider_for
from machines.agent.providers.provider import NEVER, SOON
from machines.agent.scripted import (
    Drop,
    EchoKey,
    Garbage,
    Move,
    Received,
    Refuse,
    ScriptedServer,
    Stall,
    Turn,
    call,
)
from machines.agent.wire import (
    CallPart,
    Completion,
    Message,
    Provider,
    Refused,
    Request,
    ResultPart,
    TextPart,
    ToolSchema,
)
from machines.events import RefusalKind, StopReason, Usage

pytestmark = pytest.mark.anyio

GO = Request("Be brief.", (Message("user", (TextPart("Go"),)),), (ToolSchema("read", "Reads.", {"type": "object"}),))
KEY = "sk-scripted-0123456789-abcdef"


@pytest.fixture(params=["anthropic", "openai", "openai-responses", "gemini"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def ask(server: ScriptedServer, wire: str, request: Request = GO, **options: Any) -> Completion | Refused:
    provider = provider_for(server.model("m", wire), **options)
    try:
        return await provider.complete(request)
    finally:
        await provider.aclose()


async def moves(wire: str, script: Sequence[Move], attempts: int = 2) -> tuple[Completion | Refused, int]:
    """What a script comes to, and how often it was asked."""
    with ScriptedServer(script) as server:
        got = await ask(server, wire, retries=Retries(attempts=attempts))
        return got, len(server.requests())


async def test_a_turn_comes_back_whole(wire: str) -> None:
    usage = Usage(input=100, output=20, cached=60)
    made = (call("read", '{ "path" : "a" , "id": 12345678901234567890123 }', id="c1"), call("read"))
    script = [Turn("I read.", made, usage=usage, thinking="Hm.")]
    with ScriptedServer(script) as server:
        got = await ask(server, wire)
        [received] = server.requests()
    assert isinstance(got, Completion)
    assert (got.text, got.thinking, got.stop, got.usage) == ("I read.", "Hm.", StopReason.TOOL_USE, usage)
    assert got.calls == (made[0], CallPart("call_1", "read", "{}"))
    assert got.request_id == "req_0"
    assert received == Received(wire, "m", "m", 0, GO, None, received.headers)


async def test_a_run_of_turns_sends_back_what_was_said(wire: str) -> None:
    with ScriptedServer([Turn("", (call("read", '{ "n":1 }'),), thinking="Hm."), Turn("Done.")]) as server:
        first = await ask(server, wire)
        assert isinstance(first, Completion)
        answer = Message("user", (ResultPart("call_1", "no such file", error=True), TextPart("Go on.")))
        request = Request("", (*GO.messages, Message("assistant", first.parts), answer), GO.tools)
        second = await ask(server, wire, request)
        assert isinstance(second, Completion)
        assert second.text == "Done."
        assert server.requests()[1].request == request


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_passing_refusal_is_tried_again(wire: str, status: int) -> None:
    got, asked = await moves(wire, [Refuse(status), Turn("ok")])
    assert isinstance(got, Completion)
    assert (got.text, asked) == ("ok", 2)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_a_final_refusal_is_not_tried_again(wire: str, status: int) -> None:
    got, asked = await moves(wire, [Refuse(status), Turn("ok")])
    assert isinstance(got, Refused)
    assert (got.status, asked, got.too_long) == (status, 1, status == 413)
    assert got.request_id == "req_0"


@pytest.mark.parametrize("attempts", [1, 2, 4])
async def test_the_last_refusal_is_returned_after_so_many_attempts(wire: str, attempts: int) -> None:
    got, asked = await moves(wire, [Refuse(503, f"the {n}.") for n in range(9)], attempts)
    kind = RefusalKind.OVERLOADED
    assert got == Refused(503, f"the {attempts - 1}.", request_id=f"req_{attempts - 1}", kind=kind)
    assert asked == attempts


@pytest.mark.parametrize(("said", "asked"), [("true", 2), ("false", 1)])
async def test_a_server_that_says_whether_to_try_again_is_believed(wire: str, said: str, asked: int) -> None:
    status = 400 if said == "true" else 503
    got, times = await moves(wire, [Refuse(status, headers={"x-should-retry": said}), Turn("ok")])
    assert (isinstance(got, Completion), times) == (said == "true", asked)


@pytest.mark.parametrize("drop", [Drop(), Drop(mid_body=True)])
async def test_a_broken_connection_is_tried_again_and_then_is_no_answer(wire: str, drop: Drop) -> None:
    got, asked = await moves(wire, [drop, Turn("ok")])
    assert isinstance(got, Completion)
    assert asked == 2
    got, asked = await moves(wire, [drop, drop, Turn("ok")])
    assert isinstance(got, Refused)
    assert (got.status, asked) == (0, 2)
    assert got.body.startswith("RemoteProtocolError: ")


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"choices": [', b"\xff\xfe", b"null", b"{}"])
async def test_a_body_that_is_no_reply_is_tried_again_and_then_a_bad_gateway(wire: str, body: bytes) -> None:
    got, asked = await moves(wire, [Garbage(body), Turn("ok")])
    assert isinstance(got, Completion)
    assert asked == 2
    got, asked = await moves(wire, [Garbage(body)] * 2)
    assert isinstance(got, Refused)
    assert (got.status, asked) == (502, 2)


async def test_an_error_inside_a_200_is_a_refusal(wire: str) -> None:
    got, asked = await moves(wire, [Garbage(b'{"type":"error","error":{"type":"rate_limit_error"}}'), Turn("ok")])
    assert isinstance(got, Completion)
    assert asked == 2
    got, asked = await moves(wire, [Garbage(b'{"error":{"code":"context_length_exceeded"}}'), Turn("ok")])
    assert isinstance(got, Refused)
    assert (got.status, got.too_long, asked) == (400, True, 1)


async def test_a_redirect_is_refused_and_not_followed(wire: str) -> None:
    with ScriptedServer([Turn("elsewhere")]) as other:
        got, asked = await moves(wire, [Refuse(307, headers={"location": other.model("m", wire)}), Turn("ok")])
        assert isinstance(got, Refused)
        assert (got.status, asked, other.requests()) == (307, 1, ())


async def test_a_server_that_may_be_starting_is_asked_again_soon() -> None:
    with socket.socket() as held:  # bound and not listening: nothing answers, and nobody else takes the port
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        provider = provider_for(f"http://127.0.0.1:{port}")
        got = await provider.complete(GO)
        await provider.aclose()
    assert got == Refused(0, f"no connection to 127.0.0.1:{port}: Connection refused", after=SOON)


async def test_an_address_that_never_answered_is_given_up_at_once() -> None:
    provider = provider_for("http://nobody.invalid/v1")
    got = await provider.complete(GO)
    await provider.aclose()
    assert isinstance(got, Refused)
    assert (got.status, got.after) == (NEVER, None)
    assert got.body.startswith("no connection to nobody.invalid:80: ")


async def test_a_server_that_answered_once_may_come_back() -> None:
    server = ScriptedServer([Turn("ok")])
    with server:
        provider = provider_for(server.model())
        assert isinstance(await provider.complete(GO), Completion)
    got = await provider.complete(GO)
    await provider.aclose()
    assert isinstance(got, Refused)
    assert (got.status, got.after) == (0, None)


async def test_a_proxy_that_is_named_too_late_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    provider = provider_for("http://nobody.invalid/v1")
    monkeypatch.setenv("ALL_PROXY", "socks4://user:pass@h:1")
    got = await provider.complete(GO)
    await provider.aclose()
    assert isinstance(got, Refused)
    assert got.status == NEVER
    assert "cannot be used" in got.body
    assert "pass" not in got.body


@pytest.mark.parametrize("size", [1_000, 1_001, 5_000_000])
async def test_an_answer_that_is_too_large_is_none(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("machines.agent.providers.http.MOST_BYTES", 1_000)
    got, asked = await moves("openai", [Garbage(b" " * size)] * 2)
    if size > 1_000:
        assert (got, asked) == (Refused(NEVER, "an answer of more than 1000 bytes"), 1)
    else:
        assert isinstance(got, Refused)
        assert (got.status, asked) == (502, 2)


async def test_a_request_ends_when_its_time_is_up() -> None:
    with ScriptedServer([Stall(60)]) as server:
        began = time.monotonic()
        got = await ask(server, "openai", seconds=0.05)
        assert got == Refused(0, "no answer within 0.05 seconds")
        assert time.monotonic() - began < 5


async def test_the_time_is_that_of_all_attempts() -> None:
    with ScriptedServer([Stall(0.02, Refuse(503))] * 100) as server:
        got = await ask(server, "openai", seconds=0.05, retries=Retries(attempts=100))
        assert got == Refused(0, "no answer within 0.05 seconds")
        assert len(server.requests()) <= 3


async def asked(server: ScriptedServer) -> None:
    """Wait until the server has been asked."""
    while not server.requests():
        await anyio.sleep(0.001)


async def test_cancellation_passes_through(wire: str) -> None:
    async def cancel_soon(scope: anyio.CancelScope) -> None:
        await asked(server)
        scope.cancel()

    with ScriptedServer([Stall(60), Turn("ok")]) as server:
        provider = provider_for(server.model("m", wire))
        scope = anyio.CancelScope()
        async with anyio.create_task_group() as group:
            with scope:
                group.start_soon(cancel_soon, scope)
                await provider.complete(GO)
        assert scope.cancelled_caught
        assert isinstance(await provider.complete(GO), Completion)
        await provider.aclose()


async def test_cancellation_at_any_moment_leaves_nothing_open() -> None:
    ended: list[bool] = []
    with ScriptedServer(lambda received: Turn("ok")) as server:
        provider = provider_for(server.model())
        await provider.complete(GO)
        for moment in range(30):
            with anyio.move_on_after(moment * 0.0001) as scope:
                await provider.complete(GO)
            ended.append(not scope.cancelled_caught)
        assert not ended[0]
        assert isinstance(await provider.complete(GO), Completion)
        await provider.aclose()
    gc.collect()  # a connection that was left open would warn here


async def test_cancellation_ends_a_wait_between_attempts() -> None:
    async def cancel_soon(scope: anyio.CancelScope) -> None:
        await asked(server)
        await anyio.sleep(0.02)
        scope.cancel()

    with stamina.set_testing(False), ScriptedServer([Refuse(503), Turn("ok")]) as server:
        provider = provider_for(server.model(), retries=Retries(first=60, most=60))
        scope = anyio.CancelScope()
        async with anyio.create_task_group() as group:
            with scope:
                group.start_soon(cancel_soon, scope)
                await provider.complete(GO)
        assert scope.cancelled_caught
        assert len(server.requests()) == 1
        await provider.aclose()


@pytest.mark.parametrize("header", ["retry-after-ms", "retry-after"])
async def test_a_wait_that_the_server_names_is_waited_out(header: str) -> None:
    value = "40" if header.endswith("ms") else "0.04"
    with stamina.set_testing(False), ScriptedServer([Refuse(429, headers={header: value}), Turn("ok")]) as server:
        began = time.monotonic()
        got = await ask(server, "openai", retries=Retries(first=60, most=60, jitter=0))
        assert isinstance(got, Completion)
        assert 0.04 <= time.monotonic() - began < 5


@pytest.mark.parametrize(("longest", "asked"), [(16.0, 2), (15.9, 1)])
async def test_a_wait_that_is_too_long_is_left_to_the_run(wire: str, longest: float, asked: int) -> None:
    with ScriptedServer([Refuse(429, headers={"retry-after": "16"}), Turn("ok")]) as server:
        got = await ask(server, wire, retries=Retries(longest=longest))
        assert len(server.requests()) == asked
    if asked == 1:
        assert isinstance(got, Refused)
        assert (got.status, got.after) == (429, 16.0)


async def test_a_wait_beyond_the_time_that_is_left_is_left_to_the_run() -> None:
    with ScriptedServer([Refuse(429, headers={"retry-after": "5"}), Turn("ok")]) as server:
        got = await ask(server, "openai", seconds=4)
        assert isinstance(got, Refused)
        assert (got.status, got.after, len(server.requests())) == (429, 5.0, 1)


async def test_ids_of_calls_are_told_apart_from_those_of_the_history(wire: str) -> None:
    history = (
        *GO.messages,
        Message("assistant", (CallPart("x", "read", "{}"),)),
        Message("user", (ResultPart("x", "y"),)),
    )
    with ScriptedServer([Turn("", (call("read", id="x"), call("read", id="x")))]) as server:
        got = await ask(server, wire, Request("", history, GO.tools))
    assert isinstance(got, Completion)
    assert [made.id for made in got.calls] == ["x-2", "x-3"]


async def test_two_hundred_runs_share_one_server_and_one_client() -> None:
    answers: dict[str, list[str]] = {}

    async def run(server: ScriptedServer, name: str) -> None:
        provider = provider_for(f"openai:{name}", environ=server.environ(KEY))
        answers[name] = []
        for _ in range(2):
            got = await provider.complete(GO)
            answers[name].append(got.text if isinstance(got, Completion) else got.body)
        await provider.aclose()

    def script(received: Received) -> Move:
        return Turn(f"{received.run} {received.number}")

    with ScriptedServer(script, keep=1) as server:
        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(run, server, f"run-{number}")
        assert [kept.number for kept in server.requests()] == [1] * 200
    assert answers == {f"run-{n}": [f"run-{n} {turn}" for turn in range(2)] for n in range(200)}


async def test_a_closed_provider_answers_nothing_and_others_go_on() -> None:
    with ScriptedServer([Turn("ok")] * 3) as server:
        first, second = provider_for(server.model("a")), provider_for(server.model("b"))
        assert isinstance(await first.complete(GO), Completion)
        assert isinstance(await second.complete(GO), Completion)
        await first.aclose()
        await first.aclose()
        assert await first.complete(GO) == Refused(NEVER, "the provider is closed")
        assert isinstance(await second.complete(GO), Completion)
        await second.aclose()
        assert await second.complete(GO) == Refused(NEVER, "the provider is closed")


async def test_a_request_that_is_out_when_its_provider_closes_gets_no_answer() -> None:
    async def close_soon(provider: Provider) -> None:
        await asked(server)
        await provider.aclose()

    answers: list[Completion | Refused] = []
    with ScriptedServer([Stall(60)] * 2) as server:
        provider = provider_for(server.model())
        async with anyio.create_task_group() as group:
            group.start_soon(close_soon, provider)
            answers.append(await provider.complete(GO))
        assert answers == [Refused(NEVER, "the provider is closed")]
        assert len(server.requests()) == 1


async def test_a_key_goes_out_in_the_header_of_its_wire(wire: str) -> None:
    with ScriptedServer([Turn("ok")]) as server:
        provider = provider_for(f"{wire}:m", environ=server.environ(KEY))
        await provider.complete(GO)
        await provider.aclose()
        [received] = server.requests()
    assert received.key == KEY
    assert received.headers["user-agent"] == "statecraft"
    assert ("x-api-key" in received.headers) == (wire == "anthropic")


@pytest.mark.parametrize("status", [200, 401, 500])
async def test_a_key_that_is_said_back_reaches_nobody(
    wire: str, status: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(0)
    with ScriptedServer([EchoKey(status)] * 2) as server:
        provider = provider_for(f"{wire}:m", environ=server.environ(KEY))
        got = await provider.complete(GO)
        await provider.aclose()
        shown = [repr(got), repr(provider), provider.name, repr(server.requests()), capfd.readouterr().err]
    assert "this came as the key: [key]" in repr(got)
    assert got.request_id == "[key]"
    assert not [text for text in shown if KEY in text]
    # The libraries tell the headers that a server sent; the key in them is taken out.
    assert not [record for record in caplog.records if KEY in record.getMessage() or KEY in str(vars(record))]
    heads = [r.getMessage() for r in caplog.records if "receive_response_headers.complete" in r.getMessage()]
    assert heads
    assert all("[key]" in head for head in heads)


async def test_a_reply_costs_what_its_prices_say(wire: str) -> None:
    usage = Usage(input=1_000_000, output=100_000, cached=400_000)
    with ScriptedServer([Turn("ok", usage=usage)] * 2) as server:
        got = await ask(server, wire, prices=Prices(input=3, output=15, cached=0.5))
        free = await ask(server, wire)
    assert isinstance(got, Completion)
    assert isinstance(free, Completion)
    assert got.usage.usd == pytest.approx(0.6 * 3 + 0.4 * 0.5 + 0.1 * 15)
    assert free.usage.usd == 0.0


async def test_without_a_handler_a_retry_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    await moves("openai", [Refuse(503), Turn("ok")])
    assert capfd.readouterr() == ("", "")
