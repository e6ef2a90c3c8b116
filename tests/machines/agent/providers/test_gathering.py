"""Streams as servers write them that are no model of their wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from machines.agent.providers import anthropic, gemini, responses
from machines.agent.providers.origin import origin
from machines.agent.providers.streamed.partial_args import put
from machines.agent.providers.streamed.reading import Reading
from machines.agent.wire import CallPart, Completion, Refused, TextPart, ThinkingPart
from machines.events import RefusalKind, StopReason, Usage
from machines.ledger.prefix import is_cut_off

from .events import heard, replied

START = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}
STOP = [
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"output_tokens": 7, "input_tokens": None},
    },
    {"type": "message_stop"},
]


def block(index: int, begun: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def test_blocks_of_anthropic_are_kept_to_be_sent_back() -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    tool: dict[str, Any] = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    events = [
        START,
        *block(
            0, thinking, {"type": "thinking_delta", "thinking": "Hm"}, {"type": "signature_delta", "signature": "sig"}
        ),
        *block(1, {"type": "redacted_thinking", "data": "sealed"}),
        *block(
            2,
            tool,
            {"type": "input_json_delta", "partial_json": '{"q":'},
            {"type": "input_json_delta", "partial_json": "1}"},
        ),
        *block(
            3,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "a"},
            {"type": "citations_delta", "citation": {"n": 1}},
        ),
        {"type": "something_new", "index": 9},
        *STOP,
    ]
    got = replied(anthropic.WIRE, events)
    assert got.parts == (
        ThinkingPart("Hm", {"type": "thinking", "thinking": "Hm", "signature": "sig"}),
        ThinkingPart("", {"type": "redacted_thinking", "data": "sealed"}),
        ThinkingPart("", {**tool, "input": {"q": 1}}),
        TextPart("a"),
    )
    assert got.usage == Usage(5, 7)


def test_a_call_of_anthropic_that_comes_whole_keeps_its_spelling() -> None:
    begun = (
        '{"type":"content_block_start","index":0,'
        '"content_block":{"type":"tool_use","id":"c","name":"f","input":{ "a" :1}}}'
    )
    assert replied(anthropic.WIRE, [START, begun, *STOP]).calls == (CallPart("c", "f", '{ "a" :1}'),)


def test_the_input_of_a_tool_of_the_provider_that_was_cut_stays_as_it_began() -> None:
    tool: dict[str, Any] = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    got = replied(
        anthropic.WIRE, [START, *block(0, tool, {"type": "input_json_delta", "partial_json": '{"q":'}), *STOP]
    )
    assert got.parts == (ThinkingPart("", tool),)


def test_an_error_of_anthropic_has_the_status_of_its_type() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    got, _ = heard(anthropic.WIRE, [START, {"type": "ping"}, error])
    assert isinstance(got, Refused)
    assert (got.status, got.kind) == (529, RefusalKind.OVERLOADED)


CREATED: dict[str, Any] = {"type": "response.created", "response": {"status": "in_progress", "output": []}}


def last(status: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, "output": [], **fields}}


def grown(what: str, delta: str, place: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{what}.delta", "output_index": place, "delta": delta, **fields}


def opened(what: str, item: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return {"type": f"response.output_item.{what}", "output_index": place, "item": item}


def test_output_that_the_last_event_leaves_out_is_what_came_before() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
    events = [
        CREATED,
        opened("added", {"type": "message"}),
        grown("output_text", "Hel"),
        grown("output_text", "lo"),
        grown("output_text", " there", content_index=1),
        opened("added", call, 1),
        grown("function_call_arguments", '{"a', 1),
        last("incomplete", incomplete_details={"reason": "max_output_tokens"}),
    ]
    got = replied(responses.WIRE, events)
    assert got.stop is StopReason.LENGTH
    assert got.parts == (TextPart("Hello"), TextPart(" there"), CallPart("c", "f", '{"a'))
    done = opened("done", {**call, "arguments": '{"b":1}'}, 1)
    assert replied(responses.WIRE, [*events[:-1], done, last("completed")]).calls == (CallPart("c", "f", '{"b":1}'),)


def test_parts_of_a_thought_are_parted_as_in_the_whole_reply() -> None:
    item = {"type": "reasoning", "summary": [{"text": "One."}, {"text": "Two."}], "encrypted_content": "s"}
    other = {"type": "reasoning", "summary": [], "content": [{"text": "Three."}], "encrypted_content": "s"}
    events = [
        grown("reasoning_summary_text", "On", summary_index=0),
        grown("reasoning_summary_text", "e.", summary_index=0),
        grown("reasoning_summary_text", "Two.", summary_index=1),
        grown("reasoning_text", "Three.", 1, content_index=0),
        last("completed", output=[item, other]),
    ]
    got, told = heard(responses.WIRE, events)
    assert isinstance(got, Completion)
    assert "".join(piece for _, piece in told) == got.thinking == "One.\n\nTwo.Three."
    assert [part.raw for part in got.parts if isinstance(part, ThinkingPart)] == [item, other]


@pytest.mark.parametrize(
    ("event", "status"),
    [
        ({"type": "error", "code": "server_error", "message": "x", "param": None, "sequence_number": 3}, 500),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}, 429),
        (last("failed", error={"code": "rate_limit_exceeded", "message": "x"}), 429),
        ({"type": "response.failed", "error": {"code": "server_error", "message": "x"}}, 500),
        (last("failed", error=None), 502),
    ],
)
def test_every_form_of_a_failed_response_is_a_refusal(event: Any, status: int) -> None:
    got, told = heard(responses.WIRE, [CREATED, grown("output_text", "prompt is too long: 9 > 1"), event])
    assert isinstance(got, Refused)
    assert (got.status, len(told)) == (status, 1)
    assert got.kind in (RefusalKind.OTHER, RefusalKind.RATE_LIMIT)


def test_what_a_failed_response_quotes_of_the_model_is_not_read() -> None:
    quoted = [{"type": "message", "content": [{"type": "output_text", "text": "prompt is too long: 9000 > 8000"}]}]
    got, _ = heard(responses.WIRE, [last("failed", output=quoted, error={"code": "server_error", "message": "x"})])
    assert isinstance(got, Refused)
    assert got.kind is RefusalKind.OTHER


def part(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **candidate}]}


def test_texts_of_gemini_grow_together_and_signed_ones_stay_apart() -> None:
    events = [
        part({"text": "Hm", "thought": True}),
        part({"text": ", well", "thought": True}),
        part({"text": "On"}, {"text": "e"}),
        part({"text": ".", "thoughtSignature": "s"}),
        part({"text": "Two"}),
        part({"text": "", "thoughtSignature": "t"}, finishReason="STOP"),
    ]
    assert replied(gemini.WIRE, events).parts == (
        ThinkingPart("Hm, well", {"text": "Hm, well", "thought": True}),
        TextPart("One"),
        ThinkingPart("", {"thoughtSignature": "s"}),
        TextPart("."),
        TextPart("Two"),
        ThinkingPart("", {"text": "", "thoughtSignature": "t"}),
    )


def test_a_prompt_that_a_filter_took_is_whole_and_feedback_alone_is_not() -> None:
    got = replied(gemini.WIRE, [{"promptFeedback": {"blockReason": "SAFETY"}}])
    assert got.stop is StopReason.CONTENT_FILTER
    refused, _ = heard(gemini.WIRE, [{"promptFeedback": {"safetyRatings": []}}, part({"text": "a"})])
    assert isinstance(refused, Refused)


def test_a_reason_to_finish_is_not_believed_where_the_connection_broke() -> None:
    reading = Reading(gemini.WIRE.streamed, lambda channel, piece: None)
    reading.take(json.dumps(part({"text": "a"}, finishReason="STOP")))
    assert isinstance(reading.outcome({}), Completion)
    assert reading.outcome({}, why="it broke") == Refused(0, "it broke")


def test_arguments_that_come_value_by_value_are_put_together() -> None:
    def args(*given: dict[str, Any], goes_on: bool = True, **more: Any) -> dict[str, Any]:
        return part(
            {"functionCall": {"partialArgs": list(given), **({"willContinue": True} if goes_on else {}), **more}}
        )

    events = [
        args(name="f", id="c"),
        args({"jsonPath": "$.to", "stringValue": "Bos", "willContinue": True}),
        args({"jsonPath": "$.to", "stringValue": "ton"}, {"jsonPath": "$.n", "numberValue": 2}),
        part({"functionCall": {}}),
        args({"jsonPath": "$.a", "boolValue": True}, goes_on=False, name="g", id="d"),
        part({"text": ""}, finishReason="STOP"),
    ]
    got = replied(gemini.WIRE, events)
    assert [(made.id, made.name) for made in got.calls] == [("c", "f"), ("d", "g")]
    assert json.loads(got.calls[0].args) == {"to": "Boston", "n": 2}


def test_arguments_that_were_to_go_on_end_in_the_middle_whatever_the_reply_says() -> None:
    grows = {"jsonPath": "$.text", "stringValue": "half of the fi", "willContinue": True}
    called = {"functionCall": {"name": "write", "id": "c", "partialArgs": [grows], "willContinue": True}}
    got = replied(gemini.WIRE, [part(called, finishReason="STOP")])
    assert is_cut_off(got.calls[0].args)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.a", {"a": 1}),
        ("$.a.b[1].c", {"a": {"b": [None, {"c": 1}]}}),
        ("$['a b'][0]", {"a b": [1]}),
        ('$["x"]', {"x": 1}),
        ("$", {}),
        ("a", {}),
        ("$.a[", {}),
        ("$[0]", {}),
        ("$.a[99999]", {}),
        (None, {}),
    ],
)
def test_a_value_is_put_where_its_path_leads(path: object, expected: dict[str, Any]) -> None:
    args: dict[str, Any] = {}
    put(args, {"jsonPath": path, "numberValue": 1})
    assert args == expected


def test_a_value_replaces_what_is_no_text() -> None:
    args: dict[str, Any] = {"a": 1}
    put(args, {"jsonPath": "$.a.b", "nullValue": "NULL_VALUE"})
    assert args == {"a": {"b": None}}


@pytest.mark.parametrize(
    ("raw", "wire"),
    [
        ({"type": "compaction", "content": "so far", "encrypted_content": "sealed"}, "anthropic"),
        ({"type": "compaction", "content": "so far"}, "anthropic"),
        ({"type": "compaction", "id": "c", "encrypted_content": "sealed"}, "openai-responses"),
    ],
)
def test_a_compaction_goes_back_to_where_it_came_from(raw: dict[str, Any], wire: str) -> None:
    assert origin(raw) == wire
