from __future__ import annotations

import json
from typing import Any

import pytest

from machines.agent.providers.anthropic import WIRE, body, headers, reply
from machines.agent.providers.exact import NotJson, read
from machines.agent.providers.key import Key
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

READ = ToolSchema("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def sent(request: Request) -> dict[str, Any]:
    return json.loads(body(request, "claude"))  # type: ignore[no-any-return]


def blocks(*parts: Part, role: Any = "user") -> list[dict[str, Any]]:
    messages = sent(Request("", (Message(role, parts),)))["messages"]
    return messages[0]["content"] if messages else []


def answered(content: str, **others: Any) -> Completion:
    text = f'{{"content":{content},' + json.dumps({"type": "message", **others})[1:]
    got = reply(*read(text.encode()))
    assert got is not None
    return got


def test_a_request_has_the_fields_of_the_wire() -> None:
    request = Request("Be brief.", (Message("user", (TextPart("Go"),)),), (READ,), max_tokens=77)
    assert sent(request) == {
        "model": "claude",
        "max_tokens": 77,
        "system": "Be brief.",
        "tools": [{"name": "read", "description": "Reads a file.", "input_schema": READ.schema}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Go"}]}],
    }


def test_what_is_not_there_is_not_sent() -> None:
    assert json.loads(body(Request(" ", ()), "")) == {"max_tokens": 4096, "messages": []}


def test_the_key_and_the_version_stand_in_the_headers() -> None:
    assert headers(Key("k")) == {"anthropic-version": "2023-06-01", "x-api-key": "k"}
    assert headers(None) == {"anthropic-version": "2023-06-01"}
    assert WIRE.headers is headers


def test_results_come_first_in_their_message() -> None:
    got = blocks(TextPart("and"), ResultPart("c1", "one"), ResultPart("c2", "two", error=True))
    assert got == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "two", "is_error": True},
        {"type": "text", "text": "and"},
    ]


@pytest.mark.parametrize("error", [True, False])
def test_a_result_without_words_gets_some(error: bool) -> None:
    assert blocks(ResultPart("c", " \n", error))[0]["content"] == "(no output)"


@pytest.mark.parametrize(("text", "kept"), [("", 0), (" \n", 0), ("x", 1), (" x", 1)])
def test_a_blank_text_is_left_out(text: str, kept: int) -> None:
    assert len(blocks(TextPart(text), TextPart("y"))) == 1 + kept


def test_a_message_of_which_nothing_is_left_is_left_out() -> None:
    assert blocks(TextPart(" ")) == []


def test_thinking_goes_back_as_it_came_and_only_where_it_came_from() -> None:
    raw = {"type": "thinking", "thinking": "hm", "signature": "s", "big": 2**70}
    assert blocks(ThinkingPart("hm", raw=raw), role="assistant") == [raw]
    assert blocks(ThinkingPart("hm"), ThinkingPart("hm", raw={"reasoning": "hm"}), role="assistant") == []


@pytest.mark.parametrize(
    ("args", "given"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  ", {}),
        ('{"a": ', {"malformed_arguments": '{"a": '}),
        ("[1]", {"malformed_arguments": "[1]"}),
    ],
)
def test_the_input_of_a_call_is_an_object(args: str, given: object) -> None:
    assert blocks(CallPart("c", "read", args), role="assistant") == [
        {"type": "tool_use", "id": "c", "name": "read", "input": given}
    ]


def test_the_arguments_of_a_call_go_out_byte_for_byte() -> None:
    args = '{ "id" : 12345678901234567890123, "x":1.50, "\\u0061": "\\/" }'
    request = Request("", (Message("assistant", (CallPart("c", "read", args),)),), (READ,))
    assert args.encode() in body(request, "claude")


def test_an_id_that_the_provider_would_refuse_is_changed_alike_in_call_and_result() -> None:
    [call] = blocks(CallPart("functions.read:0", "read", "{}"), role="assistant")
    [result] = blocks(ResultPart("functions.read:0", "x"))
    [other] = blocks(ResultPart("functions_read:0", "x"))
    assert call["id"] == result["tool_use_id"] != other["tool_use_id"]
    assert call["id"].startswith("functions_read_0-")
    assert blocks(CallPart("toolu_0-A", "read", "{}"), role="assistant")[0]["id"] == "toolu_0-A"
    assert blocks(CallPart("", "read", "{}"), role="assistant")[0]["id"]


def test_tools_stay_listed_where_none_may_be_called() -> None:
    got = sent(Request("", (), (READ,), no_tools=True))
    assert (len(got["tools"]), got["tool_choice"]) == (1, {"type": "none"})
    assert "tool_choice" not in sent(Request("", (), (READ,)))
    assert "tool_choice" not in sent(Request("", (), no_tools=True))


def test_a_history_with_calls_lists_the_tools_that_were_called() -> None:
    messages = (
        Message("user", (TextPart("Go"),)),
        Message("assistant", (CallPart("1", "write", "{}"), CallPart("2", "read", "{}"), CallPart("3", "read", "{}"))),
        Message("user", tuple(ResultPart(str(number), "x") for number in (1, 2, 3))),
    )
    got = sent(Request("", messages))
    assert [tool["name"] for tool in got["tools"]] == ["read", "write"]
    assert got["tool_choice"] == {"type": "none"}
    assert all(tool["input_schema"] == {"type": "object"} for tool in got["tools"])


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", StopReason.END_TURN),
        ("tool_use", StopReason.TOOL_USE),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.CONTEXT_WINDOW),
        ("pause_turn", StopReason.PAUSE),
        ("refusal", StopReason.REFUSAL),
        ("stop_sequence", StopReason.STOP_SEQUENCE),
        ("compaction", StopReason.OTHER),
        (None, StopReason.OTHER),
    ],
)
def test_each_stop_reason_has_its_meaning(word: str | None, stop: StopReason) -> None:
    assert answered("[]", stop_reason=word).stop is stop


def test_a_call_is_honoured_whatever_the_stop_reason_says() -> None:
    got = answered('[{"type":"tool_use","id":"c","name":"read","input":{}}]', stop_reason="end_turn")
    assert got.calls == (CallPart("c", "read", "{}"),)


def test_the_arguments_of_a_call_are_the_text_that_was_received() -> None:
    args = '{ "id": 12345678901234567890123,\n "s": "\\ud800", "a": 1, "a": 2 }'
    got = answered(
        f'[{{"type":"text","text":"t"}}, {{"type":"tool_use","id":"c","name":"read","input": {args} ,"x":[]}}]'
    )
    assert got.parts == (TextPart("t"), CallPart("c", "read", args))


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ('{"type":"tool_use"}', CallPart("", "", "")),
        ('{"type":"tool_use","id":null,"name":7,"input":"cut"}', CallPart("", "", '"cut"')),
        ('{"type":"tool_use","id":"c","name":"n","input":null}', CallPart("c", "n", "null")),
    ],
)
def test_a_call_that_lacks_something_is_still_a_call(block: str, part: CallPart) -> None:
    assert answered(f"[{block}]").parts == (part,)


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {"type": "compaction", "content": None},
    ],
)
def test_blocks_that_are_wanted_back_are_kept_as_they_stand(raw: dict[str, Any]) -> None:
    got = answered(json.dumps([raw]))
    assert got.parts == (ThinkingPart(raw.get("thinking", ""), raw=raw),)
    assert blocks(*got.parts, role="assistant") == [raw]


def test_what_is_empty_is_no_part() -> None:
    assert answered('[{"type":"text","text":""}, {"type":"text"}, 7, null, {}]').parts == ()


def test_a_block_that_could_not_be_sent_back_is_no_reply() -> None:
    deep = "[" * 600 + "]" * 600
    with pytest.raises(NotJson, match="nested too deeply"):
        answered(f'[{{"type":"server_tool_use","input":{deep}}}]')


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        (
            {
                "input_tokens": 5,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": 300,
                "output_tokens": 7,
            },
            Usage(input=325, output=7, cached=300),
        ),
        ({"input_tokens": 5, "cache_read_input_tokens": None, "output_tokens": 7}, Usage(input=5, output=7)),
        ({"input_tokens": "5", "output_tokens": -7}, Usage()),
        (None, Usage()),
    ],
)
def test_input_counts_all_that_was_sent_and_cached_is_a_part_of_it(said: object, usage: Usage) -> None:
    assert answered("[]", usage=said).usage == usage


@pytest.mark.parametrize("text", ["[]", "{}", '{"content":null}', '{"content":"text"}', '{"id":"x","choices":[]}', "7"])
def test_what_is_no_reply_is_none(text: str) -> None:
    assert reply(*read(text.encode())) is None
