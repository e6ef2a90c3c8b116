from __future__ import annotations

import json
from typing import Any

import pytest

from machines.agent.providers import responses
from machines.agent.providers.exact import read
from machines.agent.wire import CallPart, Completion, Message, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from machines.events import StopReason, Usage

SEALED: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
LOOK = ToolSchema("look", "Looks.", {"type": "object"})


def heard(*output: dict[str, Any], status: str | None = "completed", **more: Any) -> Completion | None:
    return responses.reply(*read(json.dumps({"status": status, "output": output, **more}).encode()))


def sent(*messages: Message, **more: Any) -> Any:
    return json.loads(responses.body(Request("", messages, **more), "m"))


def words(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def test_a_request_stores_nothing_and_is_not_strict() -> None:
    said = sent(Message("user", (TextPart("Go"),)), tools=(LOOK,), no_tools=True, max_tokens=7)
    assert said == {
        "max_output_tokens": 7,
        "store": False,
        "model": "m",
        "tools": [
            {"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object"}}
            | {"strict": False}
        ],
        "tool_choice": "none",
        "input": [{"role": "user", "content": "Go"}],
    }


@pytest.mark.parametrize(
    ("model", "asked"),
    [("gpt-5.1", True), ("o3", True), ("gpt-4.1", False), ("gpt-3.5-x", False), ("gpt-5-chat", False)],
)
def test_openai_is_asked_for_sealed_reasoning_where_a_model_reasons(model: str, asked: bool) -> None:
    said = json.loads(responses.OWN_WIRE.body(Request("", ()), model))
    assert said.get("include") == ([responses.SEALED] if asked else None)
    assert "include" not in json.loads(responses.WIRE.body(Request("", ()), model))


RAWS: list[tuple[dict[str, Any] | None, bool]] = [
    (SEALED, True),
    ({"type": "reasoning", "id": "rs_1", "summary": [], "content": []}, False),
    ({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}, True),
    ({"type": "compaction", "encrypted_content": "x"}, True),
    ({"type": "thinking", "thinking": "Hm.", "signature": "s"}, False),
    ({"reasoning_content": "Hm."}, False),
    (None, False),
]


@pytest.mark.parametrize(("raw", "back"), RAWS)
def test_reasoning_goes_back_where_it_is_whole_and_of_this_wire(raw: dict[str, Any] | None, back: bool) -> None:
    made = CallPart("c", "look", "{}")
    whole = sent(Message("assistant", (ThinkingPart("", raw), made)), Message("user", (ResultPart("c", "no", True),)))
    called = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "[error] no"}
    assert whole["input"] == [*([raw] if back else []), called, output]


@pytest.mark.parametrize(
    ("status", "reason", "stop"),
    [
        ("completed", None, StopReason.END_TURN),
        ("incomplete", "max_output_tokens", StopReason.LENGTH),
        ("incomplete", "content_filter", StopReason.CONTENT_FILTER),
        ("incomplete", "something new", StopReason.OTHER),
        ("incomplete", None, StopReason.OTHER),
        (None, None, StopReason.OTHER),
    ],
)
def test_the_status_is_the_stop(status: str | None, reason: str | None, stop: StopReason) -> None:
    got = heard(words("Hi"), status=status, incomplete_details={"reason": reason} if reason else None)
    assert got == Completion(stop, (TextPart("Hi"),))


@pytest.mark.parametrize("status", ["failed", "in_progress", "queued", "cancelled"])
def test_a_response_that_is_not_made_is_no_reply(status: str) -> None:
    assert heard(words("Hi"), status=status) is None


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"output":{}}', b'{"status":"completed"}'])
def test_a_body_without_output_is_no_reply(body: bytes) -> None:
    assert responses.reply(*read(body)) is None


def test_a_reply_that_declines_is_a_refusal() -> None:
    declined = {"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]}
    assert heard(declined) == Completion(StopReason.REFUSAL, (TextPart("I will not."),))
    assert heard(declined, words("But")) == Completion(StopReason.END_TURN, (TextPart("But"),))


def test_calls_reasoning_and_usage_are_found() -> None:
    called = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "look", "arguments": '{ "n": 1}'}
    thought = {**SEALED, "summary": [{"type": "summary_text", "text": "A"}, {"type": "summary_text", "text": "B"}]}
    usage = {"input_tokens": 5, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2}}
    assert heard(thought, called, usage=usage) == Completion(
        StopReason.TOOL_USE,
        (ThinkingPart("A\n\nB", thought), CallPart("c", "look", '{ "n": 1}')),
        Usage(input=5, output=3, cached=2),
    )
