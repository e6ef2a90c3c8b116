"""Every recorded answer that is complete and not streamed, against a second reading of its body."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from machines.agent.providers import anthropic, gemini, openai, responses
from machines.agent.providers.origin import THINKING, origin
from machines.agent.providers.provider import outcome_of
from machines.agent.providers.refusal import BAD_GATEWAY
from machines.agent.wire import Completion, Refused, ThinkingPart
from machines.events import StopReason, Usage

from .recorded import Recorded, answers, items

# A 200 with an object that no provider sends.
NO_REPLY = "prov-327"
WIRES = {
    "anthropic": anthropic.WIRE,
    "openai": openai.WIRE,
    "openai-responses": responses.WIRE,
    "gemini": gemini.WIRE,
}


def outcome(recorded: Recorded) -> Completion | Refused:
    return outcome_of(recorded.answer, WIRES[recorded.wire])


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[Recorded]:
    found = (one for item in items(shared) for one in answers(item, shared))
    return [one for one in found if isinstance(one, Recorded) and one.wire in WIRES and not one.streamed]


def test_there_are_recordings_of_every_wire(recorded: list[Recorded]) -> None:
    replies = [one.wire for one in recorded if isinstance(outcome(one), Completion)]
    assert replies.count("anthropic") >= 30
    assert replies.count("openai") >= 28
    assert replies.count("openai-responses") >= 12
    assert replies.count("gemini") >= 90
    assert sum(isinstance(outcome(one), Refused) for one in recorded) >= 60


def test_a_recorded_refusal_keeps_its_status_and_its_body(recorded: list[Recorded]) -> None:
    for one in recorded:
        got = outcome(one)
        failed = one.answer.status >= 400 or bool(one.body.get("error")) or one.item == NO_REPLY
        assert isinstance(got, Refused) == failed, one.item
        if isinstance(got, Refused):
            # The one error without a status of its own is a fixture of a body alone.
            given = BAD_GATEWAY if one.item == NO_REPLY else 400
            assert got.status == (given if one.answer.status == 200 else one.answer.status), one.item
            assert got.body == one.answer.body.decode(), one.item


def second_reading(one: Recorded) -> dict[str, Any]:
    """Text, calls, blocks that are wanted back and usage of a recorded reply."""
    nothing: Any = {}
    usage: Any = one.body.get("usage") or nothing
    if one.wire == "anthropic":
        blocks: Any = one.body["content"]
        cached = usage.get("cache_read_input_tokens") or 0
        fresh = usage["input_tokens"] + (usage.get("cache_creation_input_tokens") or 0)
        return {
            "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
            "calls": [(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"],
            "raw": [block for block in blocks if block["type"] not in ("text", "tool_use")],
            "usage": Usage(fresh + cached, usage["output_tokens"], cached),
        }
    if one.wire == "openai-responses":
        output: Any = one.body["output"]
        blocks = [block for item in output if item["type"] == "message" for block in item["content"]]
        calls: Any = [item for item in output if item["type"] == "function_call"]
        return {
            "text": "".join(block.get("text") or "" for block in blocks),
            "calls": [(made["call_id"], made["name"], json.loads(made["arguments"])) for made in calls],
            "raw": [item for item in output if item["type"] not in ("message", "function_call")],
            "usage": Usage(
                usage["input_tokens"], usage["output_tokens"], usage["input_tokens_details"]["cached_tokens"]
            ),
        }
    if one.wire == "gemini":
        return gemini_reading(one)
    message: Any = one.body["choices"][0].get("message") or nothing
    made: Any = message.get("tool_calls") or ()
    thinking = {name: message[name] for name in THINKING if message.get(name)}
    details: Any = usage.get("prompt_tokens_details") or nothing
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    return {
        "text": message.get("content") or message.get("refusal") or "",
        "calls": [(m["id"], m["function"]["name"], json.loads(m["function"]["arguments"])) for m in made],
        "raw": [thinking] if thinking else [],
        "usage": Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), cached),
    }


def gemini_reading(one: Recorded) -> dict[str, Any]:
    """As `second_reading`; calls have no ids in these recordings, and a signature stands before what it is on."""
    nothing: Any = {}
    usage: Any = one.body.get("usageMetadata") or nothing
    candidates: Any = one.body.get("candidates") or [nothing]
    parts: Any = (candidates[0].get("content") or nothing).get("parts") or []
    shown = [part for part in parts if "text" in part and not part.get("thought")]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    raw: list[Any] = []
    for part in parts:
        if part.get("thought") or (part and not ("text" in part or "functionCall" in part)):
            raw.append(part)
        elif "thoughtSignature" in part:
            raw.append({"thoughtSignature": part["thoughtSignature"]} if part.get("text") != "" else part)
    fresh = usage.get("promptTokenCount", 0) + usage.get("toolUsePromptTokenCount", 0)
    made = usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0)
    return {
        "text": "".join(part["text"] for part in shown),
        "calls": [(f"call-{n}", call["name"], call.get("args", {})) for n, call in enumerate(calls, 1)],
        "raw": raw,
        "usage": Usage(fresh, made, usage.get("cachedContentTokenCount", 0)),
    }


def test_a_recorded_reply_says_what_a_second_reading_finds(recorded: list[Recorded]) -> None:
    for one in recorded:
        got = outcome(one)
        if isinstance(got, Completion):
            found = {
                "text": got.text,
                "calls": [(made.id, made.name, json.loads(made.args)) for made in got.calls],
                "raw": [part.raw for part in got.parts if isinstance(part, ThinkingPart)],
                "usage": got.usage,
            }
            assert found == second_reading(one), one.item


def test_the_arguments_of_a_recorded_call_are_its_own_text(recorded: list[Recorded]) -> None:
    calls = [(one, made) for one in recorded if isinstance(got := outcome(one), Completion) for made in got.calls]
    assert len(calls) >= 15
    for one, made in calls:
        text = one.answer.body.decode()
        assert (made.args if one.wire in ("anthropic", "gemini") else json.dumps(made.args)) in text, one.item


def test_what_goes_back_as_it_stands_is_known_by_its_wire(recorded: list[Recorded]) -> None:
    found: dict[str, int] = {}
    for one in recorded:
        if isinstance(got := outcome(one), Completion):
            for part in got.parts:
                if isinstance(part, ThinkingPart) and part.raw is not None:
                    assert origin(part.raw) == one.wire, one.item
                    found[one.wire] = found.get(one.wire, 0) + 1
    assert set(found) == set(WIRES)


EXPECTED = {
    "anthropic.stop_reason=max_tokens": StopReason.LENGTH,
    "anthropic.stop_reason=pause_turn": StopReason.PAUSE,
    "anthropic.stop_reason=refusal": StopReason.REFUSAL,
    "openai.finish_reason=length": StopReason.LENGTH,
    "openai.finish_reason=content_filter": StopReason.CONTENT_FILTER,
}


def test_the_cases_that_the_manifest_names_are_found(recorded: list[Recorded]) -> None:
    """Not in a file whose one such answer is a stream or of another wire: these are told by their absence here."""
    seen: dict[str, set[str]] = {}
    for one in recorded:
        got = outcome(one)
        for case in one.cases:
            if case.startswith("http=") and isinstance(got, Refused) and got.status == int(case.removeprefix("http=")):
                seen.setdefault(case, set()).add(one.item)
            if case in EXPECTED and isinstance(got, Completion) and got.stop is EXPECTED[case]:
                seen.setdefault(case, set()).add(one.item)
    assert set(seen) >= {*EXPECTED, "http=400", "http=401", "http=404", "http=429"}
    assert sum(map(len, seen.values())) >= 30


def test_a_recorded_wait_is_read(recorded: list[Recorded]) -> None:
    waits = {got.after for one in recorded if isinstance(got := outcome(one), Refused)}
    assert 0.0 in waits  # Azure's 429, which names it in milliseconds
