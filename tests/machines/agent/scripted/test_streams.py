"""Streams of the scripted server, spoken to without any provider, in each wire's own words."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from machines.agent.scripted import (
    CutStream,
    Drop,
    ErrorInStream,
    Garbage,
    Move,
    Refuse,
    ScriptedServer,
    Stall,
    StallStream,
    Turn,
    Unstreamed,
    by_run,
    call,
)
from machines.agent.scripted.streams import Event, before
from machines.events import StopReason, Usage

PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:streamGenerateContent?alt=sse",
}
SAID = {"role": "user", "content": "Go"}
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "stream": True, "messages": [SAID]},
    "openai": {"model": "m", "stream": True, "messages": [SAID]},
    "openai-responses": {"model": "m", "stream": True, "input": [SAID]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Go"}]}]},
}
TURN = Turn("I read it.", (call("read", {"n": 1}),), usage=Usage(input=10, output=4, cached=6), thinking="Hm.")


@pytest.fixture(params=list(PATHS))
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def post(
    server: ScriptedServer, wire: str, body: dict[str, Any] | None = None, path: str = ""
) -> tuple[int, str, bytes, bool]:
    """Status, type and body of an answer, and whether it came to its end."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    try:
        connection.request("POST", path or PATHS[wire], json.dumps(BODIES[wire] if body is None else body).encode())
        answer = connection.getresponse()
        try:
            return answer.status, answer.getheader("content-type", ""), answer.read(), True
        except http.client.IncompleteRead as error:
            return answer.status, answer.getheader("content-type", ""), error.partial, False
    finally:
        connection.close()


def events(data: bytes) -> list[tuple[str, Any]]:
    """The names and the values of all events."""
    found: list[tuple[str, Any]] = []
    for block in data.decode().split("\n\n")[:-1]:
        fields = [line.partition(": ") for line in block.split("\n")]
        text = "".join(value for name, _, value in fields if name == "data")
        named = next((value for name, _, value in fields if name == "event"), "")
        found.append((named, text if text == "[DONE]" else json.loads(text)))
    return found


def streamed(move: Move, wire: str) -> list[tuple[str, Any]]:
    with ScriptedServer([move]) as server:
        status, kind, data, ended = post(server, wire)
        assert (status, kind, ended) == (200, "text/event-stream", True)
        assert server.requests()[0].streamed
    return events(data)


def test_a_turn_is_a_stream_of_anthropic() -> None:
    said = streamed(TURN, "anthropic")
    assert all(name == event["type"] for name, event in said)
    assert said[0][1]["message"]["usage"]["input_tokens"] == 4
    begun = [(event["index"], event["content_block"]) for _, event in said if event["type"] == "content_block_start"]
    assert begun == [
        (0, {"type": "thinking", "thinking": "", "signature": ""}),
        (1, {"type": "text", "text": ""}),
        (2, {"type": "tool_use", "id": "call_1", "name": "read", "input": {}}),
    ]
    assert [event["delta"] for _, event in said if event["type"] == "content_block_delta"] == [
        {"type": "thinking_delta", "thinking": "Hm."},
        {"type": "signature_delta", "signature": "c2NyaXB0ZWQ="},
        {"type": "text_delta", "text": "I read "},
        {"type": "text_delta", "text": "it."},
        {"type": "input_json_delta", "partial_json": '{"n":1}'},
    ]
    assert [event for _, event in said[-2:]] == [
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 4},
        },
        {"type": "message_stop"},
    ]


def test_a_turn_is_a_stream_of_chat_completions() -> None:
    said = [event for _, event in streamed(TURN, "openai")]
    assert said[-1] == "[DONE]"
    assert said[-2]["choices"] == []
    assert said[-2]["usage"]["prompt_tokens_details"] == {"cached_tokens": 6}
    chosen = [event["choices"][0] for event in said[:-2]]
    made = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": ""}, "index": 0}
    assert [choice["delta"] for choice in chosen] == [
        {"role": "assistant", "content": "", "refusal": None},
        {"reasoning_content": "Hm."},
        {"content": "I read "},
        {"content": "it."},
        {"tool_calls": [made]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"n":1}'}}]},
        {},
    ]
    assert [choice["finish_reason"] for choice in chosen] == [None] * 6 + ["tool_calls"]
    assert {event["object"] for event in said[:-1]} == {"chat.completion.chunk"}


def test_a_turn_is_a_stream_of_responses() -> None:
    said = streamed(TURN, "openai-responses")
    assert all(name == event["type"] for name, event in said)
    assert [event["sequence_number"] for _, event in said] == list(range(len(said)))
    assert [name.removeprefix("response.") for name, _ in said] == [
        *("created", "in_progress"),
        *("output_item.added", "reasoning_summary_text.delta", "output_item.done"),
        *("output_item.added", "output_text.delta", "output_text.delta", "output_item.done"),
        *("output_item.added", "function_call_arguments.delta", "output_item.done"),
        "completed",
    ]
    done = [event["item"] for name, event in said if name == "response.output_item.done"]
    assert said[-1][1]["response"]["output"] == done


def test_a_turn_is_a_stream_of_gemini() -> None:
    said = [event for _, event in streamed(TURN, "gemini")]
    parts = [event["candidates"][0]["content"]["parts"] for event in said]
    called = {"id": "call_1", "name": "read", "args": {"n": 1}}
    assert parts == [
        [{"text": "Hm.", "thought": True}],
        [{"text": "I read "}],
        [{"text": "it."}],
        [{"functionCall": called, "thoughtSignature": "c2NyaXB0ZWQ="}],
        [{"text": ""}],
    ]
    assert [event["candidates"][0].get("finishReason") for event in said] == [None] * 4 + ["STOP"]
    assert said[-1]["usageMetadata"]["cachedContentTokenCount"] == 6


def test_a_declined_request_and_an_unfinished_one_are_said_in_a_stream() -> None:
    refusal = streamed(Turn("I won't.", stop=StopReason.REFUSAL), "openai-responses")
    assert "response.refusal.delta" in [name for name, _ in refusal]
    cut = streamed(Turn("Half", stop=StopReason.LENGTH), "openai-responses")
    assert cut[-1][0] == "response.incomplete"


def test_a_request_that_asks_for_no_stream_gets_none(wire: str) -> None:
    body = {**BODIES[wire], "stream": False} if wire != "gemini" else BODIES[wire]
    with ScriptedServer([TURN]) as server:
        path = PATHS[wire].replace(":streamGenerateContent?alt=sse", ":generateContent")
        assert post(server, wire, body, path)[1] == "application/json"
        assert not server.requests()[0].streamed


def test_a_stream_can_be_cut(wire: str) -> None:
    with ScriptedServer([CutStream(1), CutStream(1, clean=True)]) as server:
        _, _, data, ended = post(server, wire)
        assert not ended
        _, _, clean, ended = post(server, wire)
        assert ended
    for one in (data, clean):
        assert b"It is c" in one
        assert b"ut here" not in one


def test_a_stream_that_is_cut_behind_its_last_piece_has_no_end(wire: str) -> None:
    whole = streamed(Turn("word"), wire)
    with ScriptedServer([CutStream(99, Turn("word"), clean=True)]) as server:
        cut = events(post(server, wire)[2])
    assert b"word" in json.dumps(cut).encode()
    assert 0 < len(cut) < len(whole)


def test_a_stream_can_stall(wire: str) -> None:
    began = time.monotonic()
    said = streamed(StallStream(0.1, 1), wire)
    assert time.monotonic() - began >= 0.1
    assert " on lat" in json.dumps(said)


def test_a_stall_ends_with_the_server(wire: str) -> None:
    began = time.monotonic()
    with ScriptedServer([StallStream(60, 1)]) as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
        connection.request("POST", PATHS[wire], json.dumps(BODIES[wire]).encode())
        answer = connection.getresponse()
    connection.close()
    answer.close()
    assert time.monotonic() - began < 5


ERRORS = {
    "anthropic": ("error", {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}),
    "openai": (
        "",
        {"error": {"message": "slow", "type": "server_error", "param": None, "code": "rate_limit_exceeded"}},
    ),
    "openai-responses": (
        "error",
        {"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None},
    ),
    "gemini": ("", {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}),
}


def test_a_stream_can_tell_of_an_error(wire: str) -> None:
    said = streamed(ErrorInStream(429, 1, message="slow"), wire)
    assert said[-1] == ERRORS[wire]
    assert "It goes" in json.dumps(said[:-1])


@pytest.mark.parametrize(
    ("move", "status"), [(ErrorInStream(503), 503), (StallStream(0.01), 200), (Unstreamed(), 200), (Stall(0.01), 200)]
)
def test_what_goes_wrong_in_a_stream_has_its_place_in_a_whole_reply(wire: str, move: Move, status: int) -> None:
    body = {**BODIES[wire], "stream": False}
    with ScriptedServer([move]) as server:
        path = PATHS[wire].replace(":streamGenerateContent?alt=sse", ":generateContent")
        got, kind, _, ended = post(server, wire, body, path)
    assert (got, kind, ended) == (status, "application/json", True)


def test_the_other_moves_stay_what_they_are_when_a_stream_is_asked_for(wire: str) -> None:
    with ScriptedServer([Refuse(418), Garbage(b"no"), Unstreamed(Turn("whole")), Drop(mid_body=True)]) as server:
        assert post(server, wire)[0] == 418
        assert post(server, wire)[2] == b"no"
        assert post(server, wire)[1] == "application/json"
        status, _, data, ended = post(server, wire)
        assert (status, ended) == (200, False)
        assert data


def test_runs_have_their_own_scripts_in_streams_too() -> None:
    with ScriptedServer(by_run({"m": [Turn("for m"), Turn("again")]})) as server:
        for wire in ("anthropic", "gemini"):
            assert post(server, wire)[0] == 200
        assert post(server, "openai", {**BODIES["openai"], "model": "n"})[0] == 404
        assert [received.wire for received in server.requests("m")] == ["anthropic", "gemini"]


def test_connections_are_counted() -> None:
    with ScriptedServer([TURN] * 3) as server:
        assert server.connections == 0
        post(server, "openai")
        post(server, "openai")
        assert server.connections == 2


@pytest.mark.parametrize(("pieces", "came"), [(0, "a"), (1, "ab"), (2, "abcd"), (3, "abcde"), (9, "abcde")])
def test_what_comes_before_a_piece_is_all_behind_the_last_one(pieces: int, came: str) -> None:
    made = [Event("", name.encode(), piece=name in "bde") for name in "abcdefg"]
    found = b"".join(event.data for event in before(made, pieces)).decode()
    assert found == {"ab": "abc"}.get(came, came)


def test_data_of_several_lines_is_sent_line_by_line() -> None:
    assert Event("e", b"1\n2").encoded() == b"event: e\ndata: 1\ndata: 2\n\n"
