"""Recorded answers of providers, in the formats in which others keep them, each as the answer that a provider gets.

An answer that no wire here could have asked for is `Unread` with its reason.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import attrs
import yaml  # type: ignore[import-untyped]

from machines.agent.providers.event_stream import events_in, last_block
from machines.agent.providers.http import Answer
from machines.agent.providers.provider import Wire, outcome_of
from machines.agent.providers.streamed.reading import Reading
from machines.agent.wire import Completion, Refused


@attrs.frozen
class Recorded:
    """One recorded answer and the wire that it belongs to. `cases` are what the manifest says of the whole item.

    The body of a stream is as its server sent it, or as it would be sent where a file keeps only what the events hold.
    """

    item: str
    wire: str
    cases: tuple[str, ...]
    answer: Answer
    streamed: bool = False

    @property
    def body(self) -> Any:
        return json.loads(self.answer.body)

    @property
    def events(self) -> list[Any]:
        """The values of a stream's events."""
        return [json.loads(data) for data in events_in(self.answer.body) if data.strip() not in ("", "[DONE]")]


@attrs.frozen
class Unread:
    """One recorded answer that is not read here, and why."""

    item: str
    reason: str


@attrs.frozen
class Exchange:
    """An exchange as a file has it; `uri` is empty where the file keeps the answer alone."""

    uri: str
    status: int
    body: bytes
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])


def items(shared: Path) -> list[Any]:
    """What the manifest says of each provider's recording."""
    found = json.loads((shared / "corpus" / "manifest.json").read_text())["items"]
    return [item for item in found if item["kind"] == "provider"]


def answers(item: Any, shared: Path) -> Iterator[Recorded | Unread]:
    """The answers in the file of an item."""
    for exchange in READERS[item["format"]](shared / "corpus" / item["path"]):
        wire, reason = wire_of(exchange)
        if reason:
            yield Unread(item["id"], reason)
        else:
            answer = Answer(exchange.status, exchange.headers, exchange.body)
            yield Recorded(item["id"], wire, tuple(item["cases"]), answer, is_streamed(exchange))


def heard_of(recorded: Recorded, wire: Wire) -> tuple[Completion | Refused, list[tuple[str, str]]]:
    """What a recorded answer comes to, and the pieces that are told of it where it is a stream."""
    if not recorded.streamed:
        return outcome_of(recorded.answer, wire), []
    told: list[tuple[str, str]] = []
    reading = Reading(wire.streamed, lambda channel, piece: told.append((channel, piece)))
    any(reading.take(data) for data in events_in(recorded.answer.body))
    return reading.outcome(recorded.answer.headers, last_block(recorded.answer.body)), told


def is_streamed(exchange: Exchange) -> bool:
    """Whether an answer is a stream of events."""
    kind = exchange.headers.get("content-type", "")
    return "event-stream" in kind or exchange.body.startswith((b"data:", b"event:"))


WIRE_OF_PATH = {
    "/v1/messages": "anthropic",
    "/chat/completions": "openai",
    "/responses": "openai-responses",
    ":generateContent": "gemini",
}


def wire_of(exchange: Exchange) -> tuple[str, str]:
    """The wire of an answer, or why it is not read."""
    if "amazon.eventstream" in exchange.headers.get("content-type", ""):
        return "", "it is a stream of Bedrock, in Amazon's own frames"
    where = urlsplit(exchange.uri)
    wire = next((wire for end, wire in WIRE_OF_PATH.items() if where.path.endswith(end)), "")
    if not wire and exchange.status >= 400:
        return "openai", ""  # a refusal is read in one way, whatever was asked
    if not exchange.body:
        return "", "it has no body"
    if not wire and exchange.uri:
        return "", f"it answers another question, {where.hostname}{where.path}"
    if wire:
        return wire, ""
    return _wire_of_body(next(events_in(exchange.body), "").encode() if is_streamed(exchange) else exchange.body)


def _wire_of_body(data: bytes) -> tuple[str, str]:
    try:
        body = json.loads(data)
    except ValueError:
        return "", "it is a sentence of a client, not an answer"
    if body.get("error"):
        return "openai", ""
    if "candidates" in body:
        return "gemini", ""
    kinds = {
        **dict.fromkeys(("message", "message_start"), "anthropic"),
        **dict.fromkeys(("chat.completion", "chat.completion.chunk"), "openai"),
        **dict.fromkeys(("response", "response.created"), "openai-responses"),
    }
    wire = kinds.get(body.get("type") or body.get("object") or "")
    return (wire, "") if wire else ("", f"it is of another wire, with the fields {sorted(body)}")


def _cassette(path: Path) -> Iterator[Exchange]:
    """A VCR cassette, of Python's form or of Ruby's."""
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
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        status: int = said["status"]["code"] if "status" in said else said["status_code"]
        yield Exchange(exchange["request"]["uri"], status, data, headers)


def _fixture(path: Path) -> Iterator[Exchange]:
    """A body alone, a stream, or what the events of one hold, a line each; of several, one after the other."""
    if not path.name.endswith(".chunks.txt"):
        yield Exchange("", 200, path.read_bytes())
        return
    streams: list[list[str]] = []
    for line in path.read_text().splitlines():
        if not streams or line.startswith(('{"type":"message_start"', '{"type":"response.created"')):
            streams.append([])
        streams[-1].append(line)
    for events in streams:
        yield Exchange("", 200, _sent(events))


def _gemini_mock(path: Path) -> Iterator[Exchange]:
    """A body alone, whose status is in the error that it may hold, or a stream."""
    data = path.read_bytes()
    try:
        status = json.loads(data).get("error", {}).get("code", 200)
    except ValueError:
        status = 200
    yield Exchange("/models/some:generateContent", status, data)


def _gemini_cli(path: Path) -> Iterator[Exchange]:
    """Answers, one a line. A stream of one piece is an answer like any other."""
    for line in path.read_text().splitlines():
        made: Any = json.loads(line)["response"]
        pieces = cast("list[object]", made) if isinstance(made, list) else [made]
        data = json.dumps(pieces[0]).encode() if len(pieces) == 1 else _sent(map(json.dumps, pieces))
        yield Exchange("/models/some:generateContent", 200, data)


def _sent(events: Iterable[str]) -> bytes:
    """The events as a server sends them."""
    return b"".join(f"data: {event}\n\n".encode() for event in events)


def _nock(path: Path) -> Iterator[Exchange]:
    """Answers that a test of Node.js plays again."""
    for made in json.loads(path.read_text()):
        said = made["response"]
        data = said if isinstance(said, str) else json.dumps(said)
        yield Exchange(made["scope"] + made["path"], made["status"], data.encode())


def _quoted(path: Path) -> Iterator[Exchange]:
    """Errors as users quoted them: a body, or what a client made of it; some without a status."""
    for line in path.read_text().splitlines():
        made = json.loads(line)
        yield Exchange("", made["http_status"] or 200, (made["body"] or "").encode(), made["headers"] or {})


QUOTED = "quoted-errors-jsonl"
"""The format of errors as users quoted them: a case a line, and no wire."""

READERS: Mapping[str, Callable[[Path], Iterator[Exchange]]] = {
    "vcr-cassette-python": _cassette,
    "vcr-cassette-ruby": _cassette,
    "vercel-fixture": _fixture,
    "prism-fixture": _fixture,
    "sse-text": _fixture,
    "gemini-mock": _gemini_mock,
    "gemini-cli-responses": _gemini_cli,
    "nock-recording": _nock,
    QUOTED: _quoted,
}
