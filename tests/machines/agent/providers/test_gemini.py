from __future__ import annotations

import json
from typing import Any

import pytest

from machines.agent.providers import gemini
from machines.agent.providers.anthropic import MALFORMED
from machines.agent.providers.exact import read
from machines.agent.wire import CallPart, Completion, Message, Request, ResultPart, TextPart, ThinkingPart, ToolSchema
from machines.events import StopReason, Usage

LOOK = ToolSchema("look", "Looks.", {"type": "object"})
CALLED = {"functionCall": {"name": "look", "args": {"n": 1}}}


def heard(*parts: dict[str, Any], finish: str | None = "STOP", **more: Any) -> Completion | None:
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish}
    return gemini.reply(*read(json.dumps({"candidates": [candidate], **more}).encode()))


def sent(*messages: Message, **more: Any) -> Any:
    return json.loads(gemini.body(Request("", messages, **more), "m"))


def test_a_request_names_no_model() -> None:
    said = sent(Message("user", (TextPart("Go"),)), tools=(LOOK,), no_tools=True, max_tokens=7)
    declared = {"name": "look", "description": "Looks.", "parametersJsonSchema": {"type": "object"}}
    assert said == {
        "generationConfig": {"maxOutputTokens": 7},
        "tools": [{"functionDeclarations": [declared]}],
        "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
        "contents": [{"role": "user", "parts": [{"text": "Go"}]}],
    }


def test_a_result_names_its_tool_and_says_whether_it_failed() -> None:
    calls = (CallPart("a", "look", "{}"), CallPart("b", "read", "{}"))
    answers = Message("user", (ResultPart("a", "seen"), ResultPart("b", "gone", error=True), TextPart("Go on")))
    assert sent(Message("assistant", calls), answers)["contents"][1]["parts"] == [
        {"functionResponse": {"id": "a", "name": "look", "response": {"output": "seen"}}},
        {"functionResponse": {"id": "b", "name": "read", "response": {"error": "gone"}}},
        {"text": "Go on"},
    ]


@pytest.mark.parametrize(
    ("args", "back"), [('{"n":1}', {"n": 1}), ('{"n":', {MALFORMED: '{"n":'}), ("", {}), ("[1]", {MALFORMED: "[1]"})]
)
def test_arguments_go_back_as_an_object(args: str, back: object) -> None:
    parts = sent(Message("assistant", (CallPart("a", "look", args),)))["contents"][0]["parts"]
    assert parts == [{"functionCall": {"id": "a", "name": "look", "args": back}}]


@pytest.mark.parametrize(
    "parts",
    [
        [{"text": "Hm.", "thought": True}, {**CALLED, "thoughtSignature": "s1"}, {**CALLED, "thoughtSignature": "s2"}],
        [{"text": "Hi", "thoughtSignature": "s"}, CALLED],
        [{"text": "Hi"}, {"text": "", "thoughtSignature": "s"}],
        [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"inlineData": {"data": "AA=="}, "thought": True}],
    ],
)
def test_what_a_model_said_goes_back_with_its_signatures_where_they_were(parts: list[dict[str, Any]]) -> None:
    got = heard(*parts)
    assert got is not None
    back = sent(Message("assistant", got.parts))["contents"][0]["parts"]
    for part in back:
        part.get("functionCall", {}).pop("id", None)
    assert back == parts


@pytest.mark.parametrize("raw", [{"type": "thinking", "thinking": "Hm."}, {"reasoning_content": "Hm."}, None])
def test_thinking_of_another_wire_stays_here(raw: dict[str, Any] | None) -> None:
    parts = sent(Message("assistant", (ThinkingPart("Hm.", raw), TextPart("Hi"))))["contents"][0]["parts"]
    assert parts == [{"text": "Hi"}]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("STOP", StopReason.END_TURN),
        ("MAX_TOKENS", StopReason.LENGTH),
        ("RECITATION", StopReason.CONTENT_FILTER),
        ("MALFORMED_FUNCTION_CALL", StopReason.MALFORMED_CALL),
        ("UNEXPECTED_TOOL_CALL", StopReason.MALFORMED_CALL),
        ("SOMETHING_NEW", StopReason.OTHER),
        (None, StopReason.OTHER),
    ],
)
def test_the_finish_reason_is_the_stop(finish: str | None, stop: StopReason) -> None:
    assert heard({"text": "Hi"}, finish=finish) == Completion(stop, (TextPart("Hi"),))


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("STOP", StopReason.TOOL_USE),
        ("UNEXPECTED_TOOL_CALL", StopReason.TOOL_USE),
        ("MAX_TOKENS", StopReason.LENGTH),
        ("MALFORMED_FUNCTION_CALL", StopReason.MALFORMED_CALL),
    ],
)
def test_a_reply_with_calls_stops_for_them_unless_it_is_cut(finish: str, stop: StopReason) -> None:
    assert heard(CALLED, finish=finish) == Completion(stop, (CallPart("", "look", '{"n": 1}'),))


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert heard({"functionCall": {"name": "now"}}) == Completion(StopReason.TOOL_USE, (CallPart("", "now", "{}"),))


@pytest.mark.parametrize("feedback", [{"blockReason": "SAFETY"}, {"blockReason": "NEW"}, {"blockReasonMessage": "no"}])
def test_a_prompt_that_is_blocked_is_a_reply_that_was_filtered(feedback: dict[str, str]) -> None:
    body = json.dumps({"promptFeedback": feedback, "responseId": "r"}).encode()
    assert gemini.reply(*read(body)) == Completion(StopReason.CONTENT_FILTER, (), request_id="r")


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"candidates":[]}', b'{"promptFeedback":{"safetyRatings":[]}}'])
def test_a_body_without_a_candidate_is_no_reply(body: bytes) -> None:
    assert gemini.reply(*read(body)) is None


def test_thoughts_and_what_the_providers_tools_read_are_counted() -> None:
    usage = {"promptTokenCount": 10, "cachedContentTokenCount": 6, "candidatesTokenCount": 3}
    got = heard({"text": "Hi"}, usageMetadata={**usage, "thoughtsTokenCount": 40, "toolUsePromptTokenCount": 5})
    assert got is not None
    assert got.usage == Usage(input=15, output=43, cached=6)
