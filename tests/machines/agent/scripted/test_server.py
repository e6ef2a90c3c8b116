"""The scripted server, spoken to without any provider: plain sockets and the standard library's client."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from machines.agent.scripted import (
    Drop,
    EchoKey,
    Garbage,
    Received,
    Refuse,
    ScriptedServer,
    Stall,
    Turn,
    by_run,
    call,
)
from machines.agent.wire import CallPart, Message, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from machines.events import StopReason, Usage

GO = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go"}]}
PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:generateContent",
}


def post(
    server: ScriptedServer, path: str, body: object, headers: Mapping[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    try:
        connection.request("POST", path, data, dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def said(server: ScriptedServer, wire: str = "openai", body: object = GO) -> dict[str, Any]:
    status, _, data = post(server, PATHS[wire], body)
    assert status == 200
    return json.loads(data)  # type: ignore[no-any-return]


TURN = Turn("I read.", (call("read", {"n": 1}),), usage=Usage(input=10, output=4, cached=6), thinking="Hm.")


def test_a_turn_is_a_message_of_anthropic() -> None:
    with ScriptedServer([TURN]) as server:
        assert said(server, "anthropic") == {
            "id": "msg_0",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2NyaXB0ZWQ="},
                {"type": "text", "text": "I read."},
                {"type": "tool_use", "id": "call_1", "name": "read", "input": {"n": 1}},
            ],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {
                "input_tokens": 4,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 6,
                "output_tokens": 4,
            },
        }


def test_a_turn_is_a_completion_of_openai() -> None:
    with ScriptedServer([TURN]) as server:
        function = {"name": "read", "arguments": '{"n":1}'}
        assert said(server, "openai") == {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "I read.",
                        "refusal": None,
                        "reasoning_content": "Hm.",
                        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
                    },
                    "logprobs": None,
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 4,
                "total_tokens": 14,
                "prompt_tokens_details": {"cached_tokens": 6},
            },
        }


def test_a_turn_is_a_response_of_openai() -> None:
    with ScriptedServer([TURN]) as server:
        got = said(server, "openai-responses", {"model": "m", "input": [{"role": "user", "content": "Go"}]})
        called = {"id": "fc_call_1", "type": "function_call", "status": "completed", "call_id": "call_1"}
        assert got["output"][1]["content"] == [{"type": "output_text", "text": "I read.", "annotations": []}]
        assert got["output"][2] == {**called, "name": "read", "arguments": '{"n":1}'}
        assert (got["object"], got["status"], got["incomplete_details"]) == ("response", "completed", None)
        assert got["usage"] == {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 6},
            "output_tokens": 4,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 14,
        }


def test_a_turn_is_an_answer_of_gemini() -> None:
    with ScriptedServer([TURN]) as server:
        got = said(server, "gemini", {"contents": [{"role": "user", "parts": [{"text": "Go"}]}]})
        called = {"id": "call_1", "name": "read", "args": {"n": 1}}
        assert got["candidates"] == [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm.", "thought": True},
                        {"text": "I read."},
                        {"functionCall": called, "thoughtSignature": "c2NyaXB0ZWQ="},
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ]
        assert got["usageMetadata"]["cachedContentTokenCount"] == 6
        assert server.requests()[0].model == "m"


def test_what_a_turn_does_not_say_is_filled_in() -> None:
    with ScriptedServer([Turn("Done.")] * 2) as server:
        got = said(server)
        assert got["choices"][0]["finish_reason"] == "stop"
        assert (got["usage"]["prompt_tokens"], got["usage"]["completion_tokens"]) == (len(json.dumps(GO)) // 4, 2)
        assert said(server, "anthropic")["stop_reason"] == "end_turn"


@pytest.mark.parametrize(
    ("stop", "on_anthropic", "on_openai"),
    [
        (StopReason.LENGTH, "max_tokens", "length"),
        (StopReason.PAUSE, "pause_turn", "pause"),
        (StopReason.CONTENT_FILTER, "content_filter", "content_filter"),
        (StopReason.OTHER, "other", "other"),
    ],
)
def test_a_stop_reason_is_said_in_the_words_of_the_wire(stop: StopReason, on_anthropic: str, on_openai: str) -> None:
    with ScriptedServer([Turn("t", stop=stop)] * 2) as server:
        assert said(server, "anthropic")["stop_reason"] == on_anthropic
        assert said(server)["choices"][0]["finish_reason"] == on_openai


def test_arguments_are_sent_as_the_script_has_them() -> None:
    with ScriptedServer([Turn("", (call("read", '{ "n" : 1.0 }'), call("read", '{"cut'))) for _ in range(2)]) as server:
        _, _, data = post(server, PATHS["anthropic"], GO)
        assert b'"input":{ "n" : 1.0 }' in data
        assert json.loads(data)["content"][1]["input"] == '{"cut'
        made = said(server)["choices"][0]["message"]["tool_calls"]
        assert [one["function"]["arguments"] for one in made] == ['{ "n" : 1.0 }', '{"cut']
        assert [one["id"] for one in made] == ["call_3", "call_4"]


def test_a_request_is_received_in_neutral_words() -> None:
    content = [
        {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "no"}], "is_error": True},
        {"type": "text", "text": "Go on."},
    ]
    body = {
        "model": "m",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}],
        "tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "none"},
        "messages": [
            {"role": "user", "content": "Go"},
            {
                "role": "assistant",
                "content": [{"type": "x", "y": 1}, {"type": "tool_use", "id": "c", "name": "read", "input": {"a": 1}}],
            },
            {"role": "user", "content": content},
        ],
    }
    with ScriptedServer([Turn()]) as server:
        post(server, PATHS["anthropic"], body, {"X-Api-Key": "k"})
        [received] = server.requests()
    assert received.key == "k"
    assert received.request == Request(
        "Be brief.",
        (
            Message("user", (TextPart("Go"),)),
            Message("assistant", (ThinkingPart("", {"type": "x", "y": 1}), CallPart("c", "read", '{"a": 1}'))),
            Message("user", (ResultPart("c", "no", error=True), TextPart("Go on."))),
        ),
        (ToolSchema("read", "Reads.", {"type": "object"}),),
        max_tokens=9,
        no_tools=True,
    )


def test_runs_are_told_apart_by_the_model() -> None:
    with ScriptedServer([Turn("one"), Turn("two")]) as server:
        texts = [
            said(server, body={**GO, "model": model})["choices"][0]["message"]["content"]
            for model in ("a", "b", "a", "b")
        ]
        assert texts == ["one", "one", "two", "two"]
        assert [(one.run, one.number) for one in server.requests()] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
        assert [one.number for one in server.requests("b")] == [0, 1]


def test_runs_are_told_apart_by_what_the_user_names() -> None:
    def run_of(received: Received) -> str:
        return received.headers.get("x-run", "?")

    with ScriptedServer([Turn("one")], run_of=run_of) as server:
        for run in ("a", "b"):
            assert post(server, PATHS["openai"], GO, {"X-Run": run})[0] == 200
        assert [one.run for one in server.requests()] == ["a", "b"]


def test_each_run_can_have_a_script_of_its_own() -> None:
    with ScriptedServer(by_run({"a": [Turn("of a")], "b": lambda received: Turn(f"{received.number} of b")})) as server:
        for model, text in (("a", "of a"), ("b", "0 of b"), ("b", "1 of b")):
            assert said(server, body={**GO, "model": model})["choices"][0]["message"]["content"] == text
        status, _, data = post(server, PATHS["openai"], {**GO, "model": "c"})
        assert (status, data) == (404, b"the script has no run 'c'")


def test_a_script_that_is_spent_refuses_for_good() -> None:
    with ScriptedServer([Turn("one")]) as server:
        said(server)
        status, _, data = post(server, PATHS["openai"], GO)
        assert (status, data) == (410, b"the script of run 'm' is spent after 1 moves")


@pytest.mark.parametrize(("keep", "numbers"), [(None, [0, 1, 2]), (2, [1, 2]), (0, [])])
def test_as_many_requests_are_kept_as_are_wanted(keep: int | None, numbers: list[int]) -> None:
    with ScriptedServer([Turn()] * 3, keep=keep) as server:
        for _ in range(3):
            said(server)
        assert [one.number for one in server.requests()] == numbers


def raising(received: Received) -> Turn:
    raise AssertionError(f"not expected: {received.number}")


def test_an_exception_in_a_script_is_a_500_and_is_raised_when_the_server_is_left() -> None:
    server = ScriptedServer(raising).__enter__()
    status, _, data = post(server, PATHS["openai"], GO)
    assert (status, data) == (500, b"the script raised AssertionError: not expected: 0")
    with pytest.raises(AssertionError, match="not expected: 0"):
        server.__exit__(None, None, None)


def test_another_exception_is_not_covered_up() -> None:
    server = ScriptedServer(raising).__enter__()
    post(server, PATHS["openai"], GO)
    server.__exit__(KeyError, KeyError("of the test"), None)  # Python raises this one on


def test_a_refusal_has_its_status_body_and_headers() -> None:
    with ScriptedServer([Refuse(429, "slow down", {"retry-after": "7"}), Refuse(529), Refuse(400)]) as server:
        status, headers, data = post(server, PATHS["openai"], GO)
        assert (status, headers["retry-after"], headers["x-request-id"], data) == (429, "7", "req_0", b"slow down")
        status, headers, data = post(server, PATHS["anthropic"], GO)
        error = {"type": "overloaded_error", "message": "scripted refusal 529"}
        assert (status, headers["request-id"], json.loads(data)) == (529, "req_1", {"type": "error", "error": error})
        _, _, data = post(server, PATHS["openai"], GO)
        assert json.loads(data)["error"]["type"] == "invalid_request_error"


def test_a_connection_is_dropped_before_an_answer_or_in_the_middle_of_it() -> None:
    with ScriptedServer([Drop(), Drop(mid_body=True)]) as server:
        with pytest.raises(http.client.RemoteDisconnected):
            post(server, PATHS["openai"], GO)
        with pytest.raises(http.client.IncompleteRead) as caught:
            post(server, PATHS["openai"], GO)
        assert caught.value.partial.startswith(b'{"id"')


def test_garbage_and_the_key_are_said_as_they_are() -> None:
    with ScriptedServer([Garbage(b"\xff"), EchoKey(), EchoKey(200)]) as server:
        assert post(server, PATHS["openai"], GO)[2] == b"\xff"
        for status in (401, 200):
            got, headers, data = post(server, PATHS["openai"], GO, {"authorization": "Bearer k-1"})
            assert (got, headers["x-request-id"]) == (status, "k-1")
            assert b"this came as the key: k-1" in data


def test_a_stall_ends_with_its_other_move() -> None:
    with ScriptedServer([Stall(0.01, Turn("late"))]) as server:
        assert said(server)["choices"][0]["message"]["content"] == "late"


def test_a_server_that_is_left_ends_a_stall_and_every_thread() -> None:
    before = set(threading.enumerate())
    failed: list[type[BaseException]] = []

    def wait() -> None:
        try:
            post(server, PATHS["openai"], GO)
        except (OSError, http.client.HTTPException) as error:
            failed.append(type(error))

    began = time.monotonic()
    with ScriptedServer([Stall(60)]) as server:
        waiting = threading.Thread(target=wait)
        waiting.start()
        while not server.requests():
            time.sleep(0.001)
    waiting.join()
    assert time.monotonic() - began < 5
    assert failed
    assert {thread for thread in threading.enumerate() if thread.is_alive()} <= before
    with pytest.raises(RuntimeError, match="enter it first"):
        _ = server.url


def test_a_connection_that_says_nothing_does_not_hold_the_server() -> None:
    before = set(threading.enumerate())
    with ScriptedServer([]) as server:
        parts = urlsplit(server.url)
        assert parts.hostname == "127.0.0.1"
        silent = socket.create_connection((parts.hostname, parts.port or 0))
    silent.close()
    assert {thread for thread in threading.enumerate() if thread.is_alive()} <= before


def test_it_listens_on_the_loopback_alone() -> None:
    with ScriptedServer([]) as server:
        port = urlsplit(server.url).port
        assert port
        for host in {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), port)} - {
            "127.0.0.1",
            "::1",
        }:
            with pytest.raises(OSError, match=r"refused|unreachable"):
                socket.create_connection((str(host), port), timeout=1).close()


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/v1/other", GO, 404, "no such path: /v1/other"),
        ("/v1/messages", b"{", 400, "the body is not JSON"),
        ("/messages", GO, 200, ""),
        ("/api/v1/chat/completions", GO, 200, ""),
        ("/v1/chat/completions?x=1", GO, 200, ""),
    ],
)
def test_what_is_asked_for_is_checked(path: str, body: object, status: int, says: str) -> None:
    with ScriptedServer([Turn()]) as server:
        got, _, data = post(server, path, body)
        assert got == status
        assert says.encode() in data


def test_a_transcript_that_providers_refuse_is_refused_unless_it_shall_pass() -> None:
    body = {**GO, "messages": [{"role": "assistant", "content": "I begin"}]}
    with ScriptedServer([Turn()]) as server:
        status, _, data = post(server, PATHS["openai"], body)
        assert (status, json.loads(data)["error"]["message"]) == (400, "the first message must be the user's")
    with ScriptedServer([Turn()], rules=False) as server:
        assert post(server, PATHS["openai"], body)[0] == 200


def test_a_connection_is_kept_open_between_requests() -> None:
    with ScriptedServer([Turn("one"), Turn("two")]) as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
        for text in (b"one", b"two"):
            connection.request("POST", PATHS["openai"], json.dumps(GO))
            held = connection.sock
            assert text in connection.getresponse().read()
            assert connection.sock is held
        connection.close()


def test_the_names_under_which_it_is_found() -> None:
    with ScriptedServer([]) as server:
        assert server.model("run 1/a") == f"{server.url}/v1/chat/completions#run%201%2Fa"
        assert server.model("m", "anthropic") == f"{server.url}/v1/messages#m"
        assert server.model("m", "openai-responses") == f"{server.url}/v1/responses#m"
        assert server.model("a/b", "gemini") == f"{server.url}/v1beta/models/a%2Fb:generateContent#a%2Fb"
        assert server.environ("k") == {
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "GEMINI_API_KEY": "k",
            "GOOGLE_GEMINI_BASE_URL": server.url,
        }
