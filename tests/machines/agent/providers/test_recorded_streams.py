"""Every recorded stream of a wire that is spoken, against a second reading of its events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from machines.agent.providers import anthropic, gemini, openai, responses
from machines.agent.providers.origin import origin
from machines.agent.wire import Completion, Refused, ThinkingPart
from machines.events import StopReason, Usage

from .recorded import Recorded, answers, heard_of, items

WIRES = {
    "anthropic": anthropic.WIRE,
    "openai": openai.WIRE,
    "openai-responses": responses.WIRE,
    "gemini": gemini.WIRE,
}
REFUSED = {
    "prov-294": 499,  # an error behind the last event
    "prov-298": 0,  # an object that no provider sends
    "prov-299": 0,  # a candidate without parts, which never finishes
}

UNKNOWN = frozenset({"prov-303"})
"""Those that finish for a reason that nobody has described."""


@pytest.fixture(scope="module")
def streams(shared: Path) -> list[Recorded]:
    found = (one for item in items(shared) for one in answers(item, shared))
    return [one for one in found if isinstance(one, Recorded) and one.streamed]


def test_there_are_streams_of_every_wire(streams: list[Recorded]) -> None:
    wires = [one.wire for one in streams]
    assert {wire: wires.count(wire) for wire in WIRES} == {
        "anthropic": 40,
        "openai": 22,
        "openai-responses": 10,
        "gemini": 56,
    }


def test_every_stream_is_a_reply_but_those_that_are_known_to_be_none(streams: list[Recorded]) -> None:
    for one in streams:
        got, _ = heard_of(one, WIRES[one.wire])
        if one.item in REFUSED:
            assert isinstance(got, Refused), one.item
            assert got.status == REFUSED[one.item], one.item
        else:
            assert isinstance(got, Completion), (one.item, got)
            assert (got.stop is StopReason.OTHER) == (one.item in UNKNOWN), one.item


def replies(streams: list[Recorded]) -> list[tuple[Recorded, Completion, list[tuple[str, str]]]]:
    found = [(one, *heard_of(one, WIRES[one.wire])) for one in streams]
    return [(one, got, told) for one, got, told in found if isinstance(got, Completion)]


def test_what_was_told_is_what_the_reply_says(streams: list[Recorded]) -> None:
    for one, got, told in replies(streams):
        assert "".join(piece for channel, piece in told if channel == "text") == got.text, one.item
        assert "".join(piece for channel, piece in told if channel == "thinking") == got.thinking, one.item
        assert all(piece for _, piece in told), one.item


def second_reading(one: Recorded) -> dict[str, Any]:
    """Text, thinking, arguments of calls and usage, found by looking at each event by itself."""
    return READINGS[one.wire](one.events)


def of_anthropic(events: list[Any]) -> dict[str, Any]:
    deltas = [(event["index"], event["delta"]) for event in events if event["type"] == "content_block_delta"]
    starts = {event["index"]: event["content_block"] for event in events if event["type"] == "content_block_start"}
    used = [e["message"]["usage"] for e in events if e["type"] == "message_start"]
    used += [e["usage"] for e in events if e["type"] == "message_delta"]

    def last(name: str) -> int:
        return next((usage[name] for usage in reversed(used) if usage.get(name) is not None), 0)

    cached = last("cache_read_input_tokens")
    fresh = last("input_tokens") + last("cache_creation_input_tokens")
    return {
        "text": "".join(delta["text"] for _, delta in deltas if delta["type"] == "text_delta"),
        "thinking": "".join(delta["thinking"] for _, delta in deltas if delta["type"] == "thinking_delta"),
        "calls": [
            (
                start["id"],
                start["name"],
                "".join(d.get("partial_json", "") for n, d in deltas if n == index)
                or json.dumps(start["input"], separators=(",", ":")),  # where a program makes the call, it comes whole
            )
            for index, start in sorted(starts.items())
            if start["type"] == "tool_use"
        ],
        "usage": Usage(fresh + cached, last("output_tokens"), cached),
    }


def of_openai(events: list[Any]) -> dict[str, Any]:
    chosen = [choice for event in events for choice in event["choices"][:1]]
    deltas = [choice["delta"] for choice in chosen]
    made = [call for delta in deltas for call in delta.get("tool_calls") or ()]
    nothing: Any = {}
    usage: Any = next((event["usage"] for event in reversed(events) if event.get("usage")), nothing)
    details: Any = usage.get("prompt_tokens_details") or {}
    begun = [call for call in made if call.get("id")]
    return {
        "text": "".join(delta.get("content") or "" for delta in deltas),
        "thinking": "".join(delta.get("reasoning_content") or delta.get("reasoning") or "" for delta in deltas),
        "calls": [
            (
                call["id"],
                call["function"]["name"],
                "".join(other["function"].get("arguments") or "" for other in made if other["index"] == call["index"]),
            )
            for call in begun
        ],
        "usage": Usage(
            usage.get("prompt_tokens", 0),
            usage.get("completion_tokens", 0),
            details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0,
        ),
    }


def of_responses(events: list[Any]) -> dict[str, Any]:
    usage = events[-1]["response"]["usage"]
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    return {
        "text": "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta"),
        "thinking": "",
        "calls": [(i["call_id"], i["name"], i["arguments"]) for i in done if i["type"] == "function_call"],
        "usage": Usage(usage["input_tokens"], usage["output_tokens"], usage["input_tokens_details"]["cached_tokens"]),
    }


def of_gemini(events: list[Any]) -> dict[str, Any]:
    nothing: Any = {}
    parts = [
        part
        for event in events
        for candidate in event.get("candidates") or ()
        for part in (candidate.get("content") or nothing).get("parts") or ()
    ]
    usage: Any = {name: n for event in events for name, n in (event.get("usageMetadata") or nothing).items()}
    calls = [part["functionCall"] for part in parts if (part.get("functionCall") or nothing).get("name")]
    bits = [bit for part in parts for bit in (part.get("functionCall") or nothing).get("partialArgs") or ()]
    grown = iter(bits[0::2])  # a value, and then an empty one that closes it
    return {
        "text": "".join(part["text"] for part in parts if "text" in part and not part.get("thought")),
        "thinking": "".join(part["text"] for part in parts if part.get("thought")),
        "calls": [
            (
                call.get("id") or f"call-{number}",
                call["name"],
                json.dumps({"location": next(grown)["stringValue"]} if call.get("willContinue") else call["args"]),
            )
            for number, call in enumerate(calls, 1)
        ],
        "usage": Usage(
            usage.get("promptTokenCount", 0) + usage.get("toolUsePromptTokenCount", 0),
            usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0),
            usage.get("cachedContentTokenCount", 0),
        ),
    }


READINGS = {
    "anthropic": of_anthropic,
    "openai": of_openai,
    "openai-responses": of_responses,
    "gemini": of_gemini,
}


def test_a_recorded_stream_says_what_a_second_reading_finds(streams: list[Recorded]) -> None:
    for one, got, _ in replies(streams):
        expected = second_reading(one)
        spelt = [(made.id, made.name, made.args) for made in got.calls]
        if one.wire == "gemini":  # its arguments are an object, whose spelling another test looks at
            spelt = [(name, tool, json.loads(args)) for name, tool, args in spelt]
            expected["calls"] = [(name, tool, json.loads(args)) for name, tool, args in expected["calls"]]
        found = {"text": got.text, "thinking": got.thinking, "calls": spelt, "usage": got.usage}
        assert found == expected, one.item


def test_whole_arguments_in_a_stream_are_kept_as_they_are_spelt(streams: list[Recorded]) -> None:
    spelt = [(one, made) for one, got, _ in replies(streams) if one.wire == "gemini" for made in got.calls]
    assert len(spelt) >= 20
    for one, made in spelt:
        assert made.args in one.answer.body.decode() or one.item == "prov-250", one.item


def test_what_goes_back_as_it_stands_is_kept_and_known_by_its_wire(streams: list[Recorded]) -> None:
    kinds: dict[str, set[str]] = {}
    for one, got, _ in replies(streams):
        for part in got.parts:
            if isinstance(part, ThinkingPart) and part.raw is not None:
                assert origin(part.raw) == one.wire, one.item
                kinds.setdefault(one.wire, set()).add(str(part.raw.get("type") or "*".join(sorted(part.raw))))
    assert kinds["anthropic"] >= {"thinking", "compaction", "server_tool_use", "fallback"}
    assert kinds["openai-responses"] >= {"reasoning", "mcp_list_tools", "custom_tool_call", "compaction"}
    assert kinds["gemini"] >= {"thoughtSignature", "inlineData", "text*thoughtSignature", "text*thought"}
    assert kinds["openai"] == {"reasoning_content"}


def test_a_thought_comes_with_its_whole_signature(streams: list[Recorded]) -> None:
    signed = [
        part.raw
        for _, got, _ in replies(streams)
        for part in got.parts
        if isinstance(part, ThinkingPart) and part.raw is not None and part.raw.get("type") == "thinking"
    ]
    assert signed
    assert all(raw["thinking"] and raw["signature"] for raw in signed)
