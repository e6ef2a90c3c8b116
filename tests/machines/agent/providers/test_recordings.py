"""Every recorded answer of these two wires that is complete and not streamed, against a second reading of its body."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest
import yaml  # type: ignore[import-untyped]

from machines.agent.providers import anthropic, openai
from machines.agent.providers.http import Answer
from machines.agent.providers.provider import outcome_of
from machines.agent.wire import Completion, Refused, ThinkingPart
from machines.events import StopReason, Usage


@attrs.frozen
class Recorded:
    """One recorded answer."""

    item: str
    wire: str
    cases: tuple[str, ...]
    answer: Answer

    @property
    def body(self) -> Any:
        return json.loads(self.answer.body)


def cassette(path: Path) -> Iterator[tuple[str, int, dict[str, str], bytes]]:
    """The exchanges of a VCR cassette, of Python's form or of Ruby's."""
    whole: Any = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
    for exchange in whole.get("interactions") or whole["http_interactions"]:
        said: Any = exchange["response"]
        listed: dict[str, Any] = said.get("headers") or {}
        headers = {name.lower(): value if isinstance(value, str) else value[0] for name, value in listed.items()}
        if "parsed_body" in said:
            body: Any = json.dumps(said["parsed_body"])
        else:
            body = said["body"]["string"] if "body" in said else said["content"]
        data: bytes = body.encode() if isinstance(body, str) else body
        status: int = said["status"]["code"] if "status" in said else said["status_code"]
        yield exchange["request"]["uri"], status, headers, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def wire_of(uri: str, data: bytes) -> str | None:
    path = urlsplit(uri).path
    if uri:
        return (
            "anthropic" if path.endswith("/v1/messages") else "openai" if path.endswith("/chat/completions") else None
        )
    body = json.loads(data)
    kinds = {"message": "anthropic", "chat.completion": "openai"}
    return kinds.get(body.get("type") or body.get("object")) or ("openai" if body.get("error") else None)


def recordings(shared: Path) -> Iterator[Recorded]:
    corpus = shared / "corpus"
    for item in json.loads((corpus / "manifest.json").read_text())["items"]:
        path = corpus / item["path"]
        if item["format"].startswith("vcr-cassette"):
            exchanges = cassette(path)
        elif item["format"] in ("vercel-fixture", "prism-fixture") and path.suffix == ".json":
            exchanges = iter([("", 200, dict[str, str](), path.read_bytes())])
        else:
            continue
        for uri, status, headers, data in exchanges:
            streamed = "event-stream" in headers.get("content-type", "") or data.startswith((b"data:", b"event:"))
            wire = None if streamed or not data else wire_of(uri, data)
            if wire is not None:
                yield Recorded(item["id"], wire, tuple(item["cases"]), Answer(status, headers, data))


WIRES = {"anthropic": anthropic.WIRE, "openai": openai.WIRE}


def outcome(recorded: Recorded) -> Completion | Refused:
    return outcome_of(recorded.answer, WIRES[recorded.wire])


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[Recorded]:
    return list(recordings(shared))


def test_there_are_recordings_of_both_wires(recorded: list[Recorded]) -> None:
    replies = [one.wire for one in recorded if isinstance(outcome(one), Completion)]
    assert replies.count("anthropic") >= 30
    assert replies.count("openai") >= 28
    assert sum(isinstance(outcome(one), Refused) for one in recorded) >= 15


def test_a_recorded_refusal_keeps_its_status_and_its_body(recorded: list[Recorded]) -> None:
    for one in recorded:
        got = outcome(one)
        assert isinstance(got, Refused) == (one.answer.status >= 400 or "error" in one.body), one.item
        if isinstance(got, Refused):
            # The one error without a status of its own is a fixture of a body alone.
            assert got.status == (400 if one.answer.status == 200 else one.answer.status), one.item
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
    message: Any = one.body["choices"][0].get("message") or nothing
    made: Any = message.get("tool_calls") or ()
    thinking = {name: message[name] for name in openai.THINKING if message.get(name)}
    details: Any = usage.get("prompt_tokens_details") or nothing
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    return {
        "text": message.get("content") or message.get("refusal") or "",
        "calls": [(m["id"], m["function"]["name"], json.loads(m["function"]["arguments"])) for m in made],
        "raw": [thinking] if thinking else [],
        "usage": Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), cached),
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
        assert (made.args if one.wire == "anthropic" else json.dumps(made.args)) in text, one.item


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
