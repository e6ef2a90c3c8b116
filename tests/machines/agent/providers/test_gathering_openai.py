"""Streams of Chat Completions as servers write them that are no model of that wire."""

from __future__ import annotations

from typing import Any

import pytest

from machines.agent.providers import openai
from machines.agent.wire import CallPart, Completion, Refused, ThinkingPart
from machines.events import RefusalKind, StopReason, Usage

from .events import heard, replied


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}


def calls(*deltas: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """The calls of a Chat Completions stream whose events hold these deltas."""
    events = [chunk({"tool_calls": made}) for made in deltas]
    got = replied(openai.WIRE, [*events, chunk({}, "tool_calls"), "[DONE]"])
    return [(call.id, call.name, call.args) for call in got.calls]


def begin(id: str | None, name: str, args: Any = "", **more: Any) -> dict[str, Any]:
    return {"id": id, "function": {"name": name, "arguments": args}, **more}


def more(args: str, **other: Any) -> dict[str, Any]:
    return {"function": {"arguments": args}, **other}


TWO = [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


@pytest.mark.parametrize(
    "deltas",
    [
        # As OpenAI: an index, and the id once; in turns; both at once.
        [
            [begin("a", "f", index=0)],
            [more('{"x"', index=0)],
            [more(":1}", index=0)],
            [begin("b", "g", '{"y":2}', index=1)],
        ],
        [[begin("a", "f", index=0)], [begin("b", "g", index=1)], [more('{"y":2}', index=1), more('{"x":1}', index=0)]],
        [[begin("a", "f", '{"x":1}', index=0), begin("b", "g", '{"y":2}', index=1)]],
        # All with the index 0, told apart by their ids.
        [
            [begin("a", "f", '{"x":', index=0)],
            [more("1}", index=0)],
            [begin("b", "g", '{"y":', index=0)],
            [more("2}", index=0)],
        ],
        # No index at all: whole calls, or pieces that belong to the last one.
        [[begin("a", "f", '{"x":1}'), begin("b", "g", '{"y":2}')]],
        [[begin("a", "f", '{"x"')], [more(":1}")], [begin("b", "g", '{"y":')], [more("2}")]],
        # The id and the name again with each piece.
        [[begin("a", "f", '{"x":', index=0)], [begin("a", "f", "1}", index=0)], [begin("b", "g", '{"y":2}', index=1)]],
        # Another id with each piece, and no name.
        [[begin("a", "f", '{"x":', index=0)], [more("1}", id="z", index=0)], [begin("b", "g", '{"y":2}', index=1)]],
        # An index that counts on with each piece.
        [
            [begin("a", "f", '{"x":', index=0)],
            [more("1}", index=7)],
            [begin("b", "g", '{"y":', index=8)],
            [more("2}", index=9)],
        ],
        # An object in place of its text.
        [[begin("a", "f", {"x": 1}, index=0), begin("b", "g", '{"y":2}', index=1)]],
    ],
)
def test_a_delta_finds_its_call(deltas: list[list[dict[str, Any]]]) -> None:
    assert [(id, name, args.replace(" ", "")) for id, name, args in calls(*deltas)] == TWO


def test_calls_without_ids_get_some_and_stay_apart() -> None:
    assert calls([begin(None, "f", "1")], [begin("", "f", "2")]) == [("call-1", "f", "1"), ("call-2", "f", "2")]
    assert calls([begin("a", "f", "1", index=0)], [begin("a", "f", "2", index=1)]) == [
        ("a", "f", "1"),
        ("a-2", "f", "2"),
    ]


def test_the_call_of_the_older_form_is_read() -> None:
    events = [chunk({"function_call": {"name": "f"}}), chunk({"function_call": {"arguments": "{}"}}, "function_call")]
    assert replied(openai.WIRE, events).calls == (CallPart("call-1", "f", "{}"),)


def test_a_stream_of_chat_completions_ends_with_its_mark_or_with_a_reason() -> None:
    assert replied(openai.WIRE, [chunk({"content": "a"}), "[DONE]"]).stop is StopReason.OTHER
    assert replied(openai.WIRE, [chunk({"content": "a"}, "stop")]).stop is StopReason.END_TURN
    got, _ = heard(openai.WIRE, [chunk({"content": "a"})])
    assert isinstance(got, Refused)
    assert got.status == 0
    got, _ = heard(openai.WIRE, ["[DONE]"])
    assert isinstance(got, Refused)
    assert got.status == 502


def test_another_choice_than_the_first_is_not_heard() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "length"}]}
    got, told = heard(openai.WIRE, [chunk({"content": "a"}, "stop"), other])
    assert isinstance(got, Completion)
    assert (got.text, got.stop, told) == ("a", StopReason.END_TURN, [("text", "a")])


def test_thinking_under_two_names_is_told_once() -> None:
    delta = {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "index": 0}]}
    signed = {"reasoning_details": [{"type": "reasoning.text", "signature": "s", "text": "", "index": 0}]}
    sealed = {"reasoning_details": [{"type": "reasoning.encrypted", "data": "d", "index": 1}]}
    got, told = heard(
        openai.WIRE, [chunk(delta), chunk(delta), chunk(signed), chunk(sealed), chunk({"content": "x"}, "stop")]
    )
    assert isinstance(got, Completion)
    assert told == [("thinking", "Hm."), ("thinking", "Hm."), ("text", "x")]
    [thought, _] = got.parts
    assert isinstance(thought, ThinkingPart)
    assert thought.raw == {
        "reasoning": "Hm.Hm.",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "Hm.Hm.", "index": 0, "signature": "s"},
            {"type": "reasoning.encrypted", "data": "d", "index": 1},
        ],
    }


def test_what_was_used_is_found_in_the_last_event_and_in_the_choice() -> None:
    used = {"prompt_tokens": 3, "completion_tokens": 2}
    assert replied(openai.WIRE, [chunk({"content": "a"}, "stop"), {"choices": [], "usage": used}]).usage == Usage(3, 2)
    assert replied(openai.WIRE, [chunk({"content": "a"}, "stop", usage=used)]).usage == Usage(3, 2)


def test_a_declined_request_is_told_as_text() -> None:
    got, told = heard(openai.WIRE, [chunk({"refusal": "I wo"}), chunk({"refusal": "n't."}, "stop")])
    assert isinstance(got, Completion)
    assert (got.text, got.stop, len(told)) == ("I won't.", StopReason.REFUSAL, 2)


@pytest.mark.parametrize(
    ("event", "status", "kind"),
    [
        ({"error": {"code": 502, "message": "x"}, "choices": [{"finish_reason": "error"}]}, 502, RefusalKind.OTHER),
        ({"error": {"code": "rate_limit_exceeded", "message": "x"}}, 429, RefusalKind.RATE_LIMIT),
        ({"choices": [{"index": 0, "error": {"code": 503, "message": "x"}}]}, 503, RefusalKind.OVERLOADED),
        ({"error": "broken"}, 502, RefusalKind.OTHER),
        (chunk({}, "error"), 502, RefusalKind.OTHER),
        ("no JSON", 502, RefusalKind.OTHER),
    ],
)
def test_every_form_of_an_error_is_a_refusal(event: Any, status: int, kind: RefusalKind) -> None:
    got, told = heard(openai.WIRE, [chunk({"content": "a"}), event])
    assert isinstance(got, Refused)
    assert (got.status, got.kind, told) == (status, kind, [("text", "a")])


def test_what_an_error_quotes_of_the_reply_is_not_read() -> None:
    quoted = chunk({"content": "prompt is too long: 9000 > 8000"}, error={"code": 502, "message": "x"})
    got, _ = heard(openai.WIRE, [quoted])
    assert isinstance(got, Refused)
    assert (got.status, got.kind, got.body) == (502, RefusalKind.OTHER, '{"error":{"code":502,"message":"x"}}')


def test_an_error_that_is_nested_too_deeply_is_one_all_the_same() -> None:
    deep = "[" * 300 + "]" * 300
    got, _ = heard(openai.WIRE, ['{"choices":[{"index":0,"error":{"code":502,"message":' + deep + "}}]}"])
    assert isinstance(got, Refused)
    assert got.status == 502


def test_what_is_deeply_nested_is_a_refusal() -> None:
    got, _ = heard(openai.WIRE, ["[" * 100_000])
    assert isinstance(got, Refused)
    assert got.status == 502
