from __future__ import annotations

import json
from typing import Any

import pytest

from machines.agent.providers.exact import read
from machines.agent.providers.key import Key
from machines.agent.providers.openai import OWN_WIRE, WIRE, body, headers, reply
from machines.agent.wire import (
    CallPart,
    Completion,
    Message,
    Part,
    Request,
    ResultPart,
    TextPart,
    ThinkingPart,
    ToolSchema,
)
from machines.events import StopReason, Usage

READ = ToolSchema("read", "Reads a file.", {"type": "object"})


def sent(request: Request, wire: Any = WIRE) -> dict[str, Any]:
    return json.loads(wire.body(request, "gpt"))  # type: ignore[no-any-return]


def messages(*parts: Part, role: Any = "user") -> list[dict[str, Any]]:
    return sent(Request("", (Message(role, parts),)))["messages"]  # type: ignore[no-any-return]


def answered(message: str, finish: object = "stop", **others: Any) -> Completion:
    choice = f'{{"index":0,"message":{message},"finish_reason":{json.dumps(finish)}}}'
    text = f'{{"choices":[{choice}],' + json.dumps({"object": "chat.completion", **others})[1:]
    got = reply(*read(text.encode()))
    assert got is not None
    return got


def test_a_request_has_the_fields_of_the_wire() -> None:
    request = Request("Be brief.", (Message("user", (TextPart("Go"),)),), (READ,), max_tokens=77)
    function = {"name": "read", "description": "Reads a file.", "parameters": {"type": "object"}}
    assert sent(request) == {
        "model": "gpt",
        "max_tokens": 77,
        "tools": [{"type": "function", "function": function}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go"}],
    }


def test_what_is_not_there_is_not_sent() -> None:
    assert json.loads(body(Request(" ", (), no_tools=True), "")) == {"max_tokens": 4096, "messages": []}


def test_the_budget_of_a_reply_has_the_name_that_the_server_knows() -> None:
    assert sent(Request("", ()), OWN_WIRE) == {"model": "gpt", "max_completion_tokens": 4096, "messages": []}


def test_the_key_stands_in_the_headers() -> None:
    assert headers(Key("k")) == {"authorization": "Bearer k"}
    assert headers(None) == {}


def test_tools_stay_listed_where_none_may_be_called() -> None:
    got = sent(Request("", (), (READ,), no_tools=True))
    assert (len(got["tools"]), got["tool_choice"]) == (1, "none")
    assert "tool_choice" not in sent(Request("", (), (READ,)))


def test_answers_come_before_what_else_was_said() -> None:
    got = messages(TextPart("and"), ResultPart("c1", "one"), ResultPart("c2", "two", error=True), TextPart("so"))
    assert got == [
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "[error] two"},
        {"role": "user", "content": "and\n\nso"},
    ]


def test_an_assistant_speaks_and_calls_in_one_message() -> None:
    got = messages(TextPart("I "), TextPart("read"), CallPart("c", "read", '{ "a": 1 }'), role="assistant")
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{ "a": 1 }'}}
    assert got == [{"role": "assistant", "content": "I read", "tool_calls": [call]}]
    assert messages(CallPart("c", "read", '{ "a": 1 }'), role="assistant")[0]["content"] is None


def test_an_assistant_that_said_nothing_is_left_out() -> None:
    assert messages(TextPart(""), role="assistant") == []
    assert messages(ThinkingPart("hm", raw={"reasoning_content": "hm"}), role="assistant") == []


@pytest.mark.parametrize(
    ("args", "given"),
    [
        ('{ "a" : 12345678901234567890123 }', '{ "a" : 12345678901234567890123 }'),
        ('{"a": "x\ny"}', '{"a": "x\ny"}'),
        ("", "{}"),
        (" ", "{}"),
        ('{"a', '{"malformed_arguments":"{\\"a"}'),
        ("[1]", '{"malformed_arguments":"[1]"}'),
    ],
)
def test_arguments_go_back_as_text_of_an_object(args: str, given: str) -> None:
    [got] = messages(CallPart("c", "read", args), role="assistant")
    assert got["tool_calls"][0]["function"]["arguments"] == given


def test_thinking_goes_back_with_the_calls_that_it_led_to_and_only_where_it_came_from() -> None:
    raw = {"reasoning": "hm", "reasoning_details": [{"type": "x"}]}
    call = CallPart("c", "read", "{}")
    [got] = messages(ThinkingPart("hm", raw=raw), call, role="assistant")
    assert {name: got[name] for name in raw} == raw
    for foreign in (ThinkingPart("hm"), ThinkingPart("hm", raw={"type": "thinking", "thinking": "hm"})):
        assert set(messages(foreign, call, role="assistant")[0]) == {"role", "content", "tool_calls"}
    assert set(messages(ThinkingPart("hm", raw=raw), TextPart("t"), role="assistant")[0]) == {"role", "content"}


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("stop", StopReason.END_TURN),
        ("tool_calls", StopReason.TOOL_USE),
        ("function_call", StopReason.TOOL_USE),
        ("length", StopReason.LENGTH),
        ("content_filter", StopReason.CONTENT_FILTER),
        ("model_length", StopReason.CONTEXT_WINDOW),
        ("model_context_window_exceeded", StopReason.CONTEXT_WINDOW),
        ("sensitive", StopReason.CONTENT_FILTER),
        ("something", StopReason.OTHER),
        (None, StopReason.OTHER),
    ],
)
def test_each_finish_reason_has_its_meaning(word: str | None, stop: StopReason) -> None:
    assert answered('{"content":"t"}', word).stop is stop


def test_a_call_is_honoured_whatever_the_finish_reason_says() -> None:
    got = answered(
        '{"content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{ }"}}]}'
    )
    assert (got.stop, got.parts) == (StopReason.END_TURN, (CallPart("c", "n", "{ }"),))


@pytest.mark.parametrize("args", ['{"id":  12345678901234567890123}', '{"a', "", '{"s":"\\ud800"}', "\ud800"])
def test_the_arguments_of_a_call_are_the_text_that_was_received(args: str) -> None:
    call = {"id": "c", "function": {"name": "n", "arguments": args}}
    assert answered(json.dumps({"tool_calls": [call]})).calls == (CallPart("c", "n", args),)


def test_arguments_that_are_an_object_are_its_text() -> None:
    calls = '[{"function":{"name":"n","arguments":"{}"}},{"id":"c","function":{"name":"m","arguments":{ "a": 1.50}}}]'
    got = answered(f'{{"content":null,"tool_calls":{calls}}}')
    assert got.parts == (CallPart("", "n", "{}"), CallPart("c", "m", '{ "a": 1.50}'))


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ('{"tool_calls":[{}, null]}', (CallPart("", "", ""), CallPart("", "", ""))),
        ('{"tool_calls":[{"id":1,"function":{"name":"n","arguments":null}}]}', (CallPart("", "n", ""),)),
        ('{"content":"","function_call":{"name":"n","arguments":"{}"}}', (CallPart("", "n", "{}"),)),
        ('{"content":"","tool_calls":null,"function_call":null}', ()),
        ('{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"},7]}', (TextPart("a"), TextPart("b"))),
        ('{"role":"assistant","content":7}', ()),
    ],
)
def test_what_servers_make_of_a_message_is_read(message: str, parts: tuple[Part, ...]) -> None:
    assert answered(message).parts == parts


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"reasoning_content": "hm"}, "hm"),
        ({"reasoning": "hm", "reasoning_details": [{"text": "hm"}]}, "hm"),
        ({"reasoning_details": [{"data": "x"}]}, ""),
    ],
)
def test_thinking_is_kept_with_where_it_stood(fields: dict[str, Any], text: str) -> None:
    got = answered(json.dumps({"content": "t", **fields}))
    assert got.parts == (ThinkingPart(text, raw=fields), TextPart("t"))


def test_thinking_that_is_empty_is_none() -> None:
    assert answered('{"content":"t","reasoning_content":"","reasoning":null}').parts == (TextPart("t"),)


@pytest.mark.parametrize(
    ("finish", "stop"), [("stop", StopReason.REFUSAL), ("content_filter", StopReason.CONTENT_FILTER)]
)
def test_a_refusal_of_the_model_is_its_text(finish: str, stop: StopReason) -> None:
    got = answered('{"content":null,"refusal":"I will not."}', finish)
    assert (got.stop, got.text) == (stop, "I will not.")


def test_a_choice_whose_message_was_filtered_away_is_an_empty_reply() -> None:
    got = reply(*read(b'{"choices":[{"finish_reason":"content_filter","index":0}]}'))
    assert got == Completion(StopReason.CONTENT_FILTER, ())


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        (
            {"prompt_tokens": 300, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 256}},
            Usage(input=300, output=7, cached=256),
        ),
        (
            {"prompt_tokens": 220, "completion_tokens": 39, "prompt_cache_hit_tokens": 192},
            Usage(input=220, output=39, cached=192),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 4}, Usage(input=9, output=1, cached=4)),
        ({"prompt_tokens": None, "completion_tokens": 1.5, "prompt_tokens_details": None}, Usage()),
        (None, Usage()),
    ],
)
def test_input_counts_all_that_was_sent_and_cached_is_a_part_of_it(said: object, usage: Usage) -> None:
    assert answered('{"content":"t"}', usage=said).usage == usage


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"choices":[]}',
        '{"choices":null}',
        '{"choices":[{"text":"t"}]}',
        '{"choices":[{"message":null,"finish_reason":"stop"}]}',
        '{"choices":[{"message":{"content":"partial"},"finish_reason":"error"}]}',
        '{"choices":[{"message":{"content":"partial"},"finish_reason":"network_error"}]}',
        '{"choices":[{"message":{"content":"partial"},"finish_reason":"stop","error":{"code":502}}]}',
    ],
)
def test_what_is_no_reply_is_none(text: str) -> None:
    assert reply(*read(text.encode())) is None
