"""Streams over real sockets, over the wires and both event loops."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from machines.agent.providers import HttpProvider, Prices, Retries, provider_for
from machines.agent.providers.provider import NEVER
from machines.agent.scripted import (
    CutStream,
    Drop,
    EchoKey,
    ErrorInStream,
    Garbage,
    Move,
    Refuse,
    ScriptedServer,
    Stall,
    StallStream,
    Turn,
    Unstreamed,
    call,
)
from machines.agent.wire import Completion, Message, Refused, Request, Streaming, TextPart, ToolSchema
from machines.events import RefusalKind, StopReason, Usage

pytestmark = pytest.mark.anyio

GO = Request("Be brief.", (Message("user", (TextPart("Go"),)),), (ToolSchema("read", "Reads.", {"type": "object"}),))
KEY = "sk-scripted-0123456789-abcdef"
WORDS = Turn("One word after the other.", thinking="Hm, which?")

Told = list[tuple[str, str]]


@pytest.fixture(params=["anthropic", "openai", "openai-responses", "gemini"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def streaming(server: ScriptedServer, wire: str, **options: Any) -> HttpProvider:
    provider = provider_for(server.model("m", wire), **options)
    assert isinstance(provider, HttpProvider)
    return provider


async def ask(server: ScriptedServer, wire: str, **options: Any) -> tuple[Completion | Refused, Told]:
    provider = streaming(server, wire, **options)
    told: Told = []
    try:
        return await provider.stream(GO, lambda channel, piece: told.append((channel, piece))), told
    finally:
        await provider.aclose()


async def moves(
    wire: str, script: Sequence[Move], attempts: int = 2, **options: Any
) -> tuple[Completion | Refused, Told, int]:
    """What a script comes to, what is told, and how often it was asked."""
    with ScriptedServer(script) as server:
        got, told = await ask(server, wire, retries=Retries(attempts=attempts), **options)
        return got, told, len(server.requests())


def said(told: Told, channel: str = "text") -> str:
    return "".join(piece for name, piece in told if name == channel)


async def test_a_turn_comes_back_whole_and_is_told_piece_by_piece(wire: str) -> None:
    usage = Usage(input=100, output=20, cached=60)
    made = (call("read", '{ "path" : "a" , "id": 12345678901234567890123 }', id="c1"), call("read"))
    with ScriptedServer([Turn("I read it all.", made, usage=usage, thinking="Let me think.")]) as server:
        got, told = await ask(server, wire)
        [received] = server.requests()
    assert isinstance(got, Completion)
    assert (got.text, got.thinking, got.stop, got.usage) == (
        "I read it all.",
        "Let me think.",
        StopReason.TOOL_USE,
        usage,
    )
    assert [made.args for made in got.calls] == ['{ "path" : "a" , "id": 12345678901234567890123 }', "{}"]
    assert got.request_id == "req_0"
    assert (received.streamed, received.model, received.request) == (True, "m", GO)
    assert told == [
        *(("thinking", piece) for piece in ("Let me ", "think.")),
        *(("text", piece) for piece in ("I read ", "it all.")),
    ]


async def test_the_pieces_come_before_the_reply_is_whole(wire: str) -> None:
    told: Told = []

    def heard(channel: str, piece: str) -> None:
        told.append((channel, piece))
        scope.cancel()

    with ScriptedServer([StallStream(60, pieces=1)]) as server:
        provider = streaming(server, wire)
        with anyio.move_on_after(5) as scope:
            await provider.stream(GO, heard)
        await provider.aclose()
    assert scope.cancelled_caught
    assert told == [("text", "It goes")]


async def test_a_provider_is_known_to_stream(wire: str) -> None:
    with ScriptedServer([]) as server:
        provider = provider_for(server.model("m", wire))
        assert isinstance(provider, Streaming)
        await provider.aclose()


async def test_a_whole_reply_is_asked_for_as_before(wire: str) -> None:
    with ScriptedServer([Turn("ok")]) as server:
        provider = streaming(server, wire)
        assert isinstance(await provider.complete(GO), Completion)
        await provider.aclose()
        assert not server.requests()[0].streamed


async def test_streams_one_after_another_share_a_connection(wire: str) -> None:
    with ScriptedServer([WORDS] * 3) as server:
        provider = streaming(server, wire)
        for _ in range(3):
            assert isinstance(await provider.stream(GO, lambda channel, piece: None), Completion)
        assert server.connections == 1
        await provider.aclose()


async def test_what_a_streamed_reply_costs_is_counted(wire: str) -> None:
    turn = Turn("ok", usage=Usage(input=1_000_000, output=1_000_000))
    with ScriptedServer([turn]) as server:
        got, _ = await ask(server, wire, prices=Prices(2.0, 3.0))
    assert isinstance(got, Completion)
    assert got.usage.usd == 5.0


async def test_a_server_that_knows_no_streams_is_read_whole(wire: str) -> None:
    got, told, asked = await moves(wire, [Unstreamed(WORDS)])
    assert isinstance(got, Completion)
    assert (said(told), said(told, "thinking"), asked) == (WORDS.text, WORDS.thinking, 1)


async def test_a_stream_that_is_not_called_one_is_read_all_the_same() -> None:
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    got, told, _ = await moves("openai", [Garbage(chunk)])
    assert isinstance(got, Completion)
    assert (got.text, told) == ("Hello", [("text", "Hello")])


async def test_a_list_of_what_would_be_events_is_read_as_a_stream() -> None:
    chunk = '{"candidates":[{"content":{"parts":[{"text":"%s"}]}%s}]}'
    body = ("[" + chunk % ("Hel", "") + ",\n" + chunk % ("lo", ',"finishReason":"STOP"') + "]").encode()
    got, told, _ = await moves("gemini", [Garbage(body)])
    assert isinstance(got, Completion)
    assert (got.text, told) == ("Hello", [("text", "Hel"), ("text", "lo")])


CUT = [CutStream(2), CutStream(2, clean=True), Drop(mid_body=True)]


@pytest.mark.parametrize("move", CUT)
async def test_a_stream_that_breaks_off_is_no_reply_and_is_not_asked_for_again(wire: str, move: Move) -> None:
    got, told, asked = await moves(wire, [move, Turn("ok")])
    assert isinstance(got, Refused)
    assert (got.status, got.kind, asked, got.request_id) == (0, RefusalKind.OTHER, 1, "req_0")
    assert "It is c".startswith(said(told)[:7])


@pytest.mark.parametrize("move", [CutStream(0), CutStream(0, clean=True), Drop(), ErrorInStream(529, pieces=0)])
async def test_what_breaks_off_before_anything_is_told_is_asked_for_again(wire: str, move: Move) -> None:
    got, told, asked = await moves(wire, [move, Turn("ok")])
    assert isinstance(got, Completion)
    assert (told, asked) == ([("text", "ok")], 2)


async def test_a_call_alone_is_not_told_so_that_it_may_be_asked_for_again(wire: str) -> None:
    got, told, asked = await moves(wire, [CutStream(1, Turn("", (call("read", {"path": "abc"}),))), Turn("ok")])
    assert isinstance(got, Completion)
    assert (said(told), asked) == ("ok", 2)


@pytest.mark.parametrize(("status", "kind"), [(429, RefusalKind.RATE_LIMIT), (500, RefusalKind.OTHER)])
async def test_an_error_in_a_stream_is_a_refusal_with_its_status(wire: str, status: int, kind: RefusalKind) -> None:
    got, told, asked = await moves(wire, [ErrorInStream(status, 2, message="it broke"), Turn("ok")])
    assert isinstance(got, Refused)
    assert (got.status, got.kind, asked, got.request_id) == (status, kind, 1, "req_0")
    assert "it broke" in got.body
    assert said(told) == "It goes wrong "


async def test_an_error_that_asking_again_does_not_heal_is_not_asked_for_again(wire: str) -> None:
    got, _, asked = await moves(wire, [ErrorInStream(400, pieces=0), Turn("ok")])
    assert isinstance(got, Refused)
    assert (got.status, asked) == (400, 1)


@pytest.mark.parametrize("status", [400, 401, 413, 503])
async def test_a_refusal_of_a_stream_is_one_of_the_request(wire: str, status: int) -> None:
    got, told, asked = await moves(wire, [Refuse(status), Refuse(status), Turn("ok")])
    assert isinstance(got, Refused)
    assert (got.status, told, asked) == (status, [], 2 if status == 503 else 1)


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff\xfe", b"null", b"{}", b"[]", b"[1]", b"data: {", b"data: 1"])
async def test_a_body_that_is_no_stream_and_no_reply_is_asked_for_again(wire: str, body: bytes) -> None:
    got, told, asked = await moves(wire, [Garbage(body), Turn("ok")])
    assert isinstance(got, Completion)
    assert (told, asked) == ([("text", "ok")], 2)
    got, told, asked = await moves(wire, [Garbage(body)] * 2)
    assert isinstance(got, Refused)
    assert (got.status in (0, 502), told, asked) == (True, [], 2)


async def test_a_stream_that_falls_silent_is_given_up(wire: str) -> None:
    got, told, asked = await moves(wire, [StallStream(60, 2)], idle_seconds=0.1)
    assert isinstance(got, Refused)
    assert (got.status, got.body, asked) == (0, "nothing came for 0.1 seconds", 1)
    assert said(told) == "It goes on lat"


async def test_a_stream_that_only_pauses_goes_on(wire: str) -> None:
    got, told, asked = await moves(wire, [StallStream(0.05, 2)], idle_seconds=0.5)
    assert isinstance(got, Completion)
    assert (said(told), asked) == ("It goes on later.", 1)


async def test_a_server_that_says_nothing_at_all_is_given_up_and_asked_again(wire: str) -> None:
    got, _, asked = await moves(wire, [Stall(60), Turn("ok")], idle_seconds=0.1)
    assert isinstance(got, Completion)
    assert asked == 2


async def test_the_time_of_a_stream_is_bounded_in_all(wire: str) -> None:
    began = time.monotonic()
    got, told, asked = await moves(wire, [StallStream(60, 1)], seconds=0.1)
    assert got == Refused(0, "no answer within 0.1 seconds")
    assert (said(told), asked) == ("It goes", 1)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("most", [100, 10_000])
async def test_the_bytes_of_a_stream_are_bounded(monkeypatch: pytest.MonkeyPatch, wire: str, most: int) -> None:
    monkeypatch.setattr("machines.agent.providers.http.MOST_STREAMED", most)
    got, told, asked = await moves(wire, [WORDS] * 2)
    if most == 100:
        assert isinstance(got, Refused)
        assert (got.status, got.body, asked) == (NEVER, "a stream of more than 100 bytes", 1)
        assert told == []
    else:
        assert isinstance(got, Completion)


@pytest.mark.parametrize("after", [0, 1, 2])
async def test_cancellation_in_a_stream_leaves_nothing_open(wire: str, after: int) -> None:
    with ScriptedServer([StallStream(60, after), Turn("ok")]) as server:
        provider = streaming(server, wire)
        with anyio.move_on_after(0.1) as scope:
            await provider.stream(GO, lambda channel, piece: None)
        assert scope.cancelled_caught
        got = await provider.stream(GO, lambda channel, piece: None)
        assert isinstance(got, Completion)
        await provider.aclose()
    gc.collect()  # a connection or a generator that was left open would warn here


async def test_cancellation_of_a_stream_at_any_moment_leaves_nothing_open(wire: str) -> None:
    with ScriptedServer(lambda received: WORDS) as server:
        provider = streaming(server, wire)
        await provider.stream(GO, lambda channel, piece: None)
        for moment in range(30):
            with anyio.move_on_after(moment * 0.0001):
                await provider.stream(GO, lambda channel, piece: None)
        assert isinstance(await provider.stream(GO, lambda channel, piece: None), Completion)
        await provider.aclose()
    gc.collect()


class BadEar(Exception):
    """What whoever hears a reply may raise."""


@pytest.mark.parametrize("kind", [BadEar, OSError, ValueError])
async def test_what_whoever_hears_it_raises_comes_through(wire: str, kind: type[Exception]) -> None:
    def heard(channel: str, piece: str) -> None:
        raise kind(piece)

    with ScriptedServer([WORDS, Turn("ok")]) as server:
        provider = streaming(server, wire)
        with pytest.raises(kind, match="Hm, whi"):
            await provider.stream(GO, heard)
        assert len(server.requests()) == 1
        assert isinstance(await provider.stream(GO, lambda channel, piece: None), Completion)
        await provider.aclose()
    gc.collect()


@pytest.mark.parametrize("house", ["anthropic", "openai", "openai-responses", "gemini"])
@pytest.mark.parametrize("status", [200, 401])
async def test_a_key_that_a_stream_says_back_is_shown_nowhere(house: str, status: int) -> None:
    told: Told = []
    with ScriptedServer([EchoKey(status)]) as server:
        provider = provider_for(f"{house}:m", environ=server.environ(KEY))
        assert isinstance(provider, Streaming)
        got = await provider.stream(GO, lambda channel, piece: told.append((channel, piece)))
        await provider.aclose()
        assert server.requests()[0].key == KEY
    assert "[key]" in str(got)
    assert KEY not in str(got)
    assert KEY not in said(told)
    if status == 200:
        assert said(told) == "this came as the key: [key]"


@pytest.mark.parametrize("after", [0, 2])
async def test_a_provider_that_is_closed_in_a_stream_ends_it(wire: str, after: int) -> None:
    got: list[Completion | Refused] = []

    async def listen(provider: HttpProvider) -> None:
        got.append(await provider.stream(GO, lambda channel, piece: None))

    with ScriptedServer([StallStream(60, after)]) as server:
        provider = streaming(server, wire)
        async with anyio.create_task_group() as group:
            group.start_soon(listen, provider)
            while not server.requests():
                await anyio.sleep(0.001)
            await anyio.sleep(0.05)
            await provider.aclose()
    assert got == [Refused(NEVER, "the provider is closed")]
    gc.collect()


async def test_a_closed_provider_streams_nothing() -> None:
    with ScriptedServer([Turn("ok")]) as server:
        provider = streaming(server, "openai")
        await provider.aclose()
        got = await provider.stream(GO, lambda channel, piece: None)
        assert got == Refused(NEVER, "the provider is closed")
        assert server.requests() == ()


async def test_nobody_at_the_address_is_said_as_of_a_whole_reply() -> None:
    provider = provider_for("http://nobody.invalid/v1")
    assert isinstance(provider, Streaming)
    got = await provider.stream(GO, lambda channel, piece: None)
    await provider.aclose()
    assert isinstance(got, Refused)
    assert got.status == NEVER


async def test_a_hundred_streams_side_by_side_do_not_mix(wire: str) -> None:
    heard: dict[str, Told] = {f"run-{number}": [] for number in range(100)}

    async def run(server: ScriptedServer, name: str) -> None:
        provider = provider_for(server.model(name, wire))
        assert isinstance(provider, Streaming)
        await provider.stream(GO, lambda channel, piece: heard[name].append((channel, piece)))
        await provider.aclose()

    with ScriptedServer(lambda received: Turn(f"this is the reply of {received.run}")) as server:
        async with anyio.create_task_group() as group:
            for name in heard:
                group.start_soon(run, server, name)
    assert {name: said(told) for name, told in heard.items()} == {
        name: f"this is the reply of {name}" for name in heard
    }
