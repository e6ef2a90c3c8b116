"""What signatures and digests cost: CPU time on one core, the best of several rounds."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from machines.ledger.digest import result_digest
from machines.ledger.failure import normalise_failure
from machines.ledger.signature import signature
from machines.ledger.strip import strip
from machines.ledger.volatile import MARK

from .conftest import SLACK

pytestmark = pytest.mark.benchmark

ROUNDS = 7

ARGUMENTS = json.dumps(
    {
        "path": "/workspace/src/main.py",
        "old_text": "def f(x):\n    return x + 1\n",
        "new_text": "def f(x: int) -> int:\n    return x + 2\n",
        "limit": 10,
        "recursive": True,
        "filters": {"kind": "read", "tags": ["a", "b", "c"]},
        "query": "which ferry runs on a Sunday in winter",
        "cursor": None,
        "n": 1234,
    }
)

LOG = "".join(
    f"2026-03-17T09:{n:02}:44.{n * 7:03}Z INFO api.server request_id=b0edffee8e7b{n:04} GET /v1/items status=200 "
    f"took {n * 3 + 1} ms\n"
    for n in range(60)
)
DENSER = "".join(f"2026-03-17 09:{n:02}:44,{n * 7:03} INFO worker pid={n + 1000}: done\n" for n in range(60))

ANSWER = {
    "state": "ok",
    "served_at": "2026-03-17T09:00:44.181Z",
    "request_id": "b0edffee8e7b0ba3",
    "latency_ms": 72,
    "etag": 'W/"6dcaaad9"',
    "items": [{"id": n, "title": f"item number {n}", "done": True, "price": 1.5 * n} for n in range(5)],
}


def microseconds(call: Callable[[Any], object], inputs: Sequence[Any]) -> float:
    """The mean of one call over the inputs, in the best round."""

    def once() -> float:
        start = time.process_time()
        for given in inputs:
            call(given)
        return time.process_time() - start

    return min(once() for _ in range(ROUNDS)) / len(inputs) * 1e6


def digest(value: object) -> bytes:
    return result_digest(value, None)


def texts_of(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())


def results(folder: Path) -> Iterator[str]:
    """The tools' answers in the recordings of four formats."""
    for path in sorted((folder / "claude-code-stream-json").iterdir()):
        for line in path.read_text("utf-8").splitlines():
            try:
                content: Any = json.loads(line)["message"]["content"]
            except (ValueError, KeyError, TypeError):
                continue
            parts: list[Any] = [] if isinstance(content, str) else content
            yield from (texts_of(part.get("content")) for part in parts if part["type"] == "tool_result")
    for path in sorted((folder / "swe-agent-traj").iterdir()):
        yield from (turn.get("observation") or "" for turn in json.loads(path.read_text("utf-8"))["trajectory"])
    for name, role in (("mini-swe-agent-v1", "user"), ("mini-swe-agent-v2", "tool")):
        for path in sorted((folder / name).iterdir()):
            for message in json.loads(path.read_text("utf-8"))["messages"][2:]:
                if message["role"] == role:
                    yield texts_of(message["content"])


def test_a_signature_of_300_bytes_of_arguments_costs_at_most_3_us() -> None:
    assert len(ARGUMENTS) == 300
    cost = microseconds(lambda args: signature("edit", args), [ARGUMENTS] * 5000)
    print(f"\nsignature, 300 B of arguments: {cost:.2f} us")
    assert cost <= 3 * SLACK


def test_the_mean_result_of_the_recordings_is_digested_in_at_most_15_us(shared: Path) -> None:
    texts = list(results(shared / "corpus" / "trajectory"))
    assert len(texts) > 2000
    cost, failure = microseconds(digest, texts), microseconds(normalise_failure, texts)
    mean = sum(map(len, texts)) / len(texts)
    print(f"\n{len(texts)} recorded results of {mean:.0f} characters: digest {cost:.2f} us, failure {failure:.2f} us")
    assert cost <= 15 * SLACK


@pytest.mark.parametrize(("log", "parts", "limit"), [(LOG, 59, 60), (DENSER, 80, 75)])
def test_2_kb_of_dense_log_lines_are_digested_within_the_limit(log: str, parts: int, limit: float) -> None:
    text = log[:2048]
    stripped = strip(text)
    assert isinstance(stripped, str)
    assert stripped.count(MARK) == parts
    cost = microseconds(digest, [text] * 200)
    print(f"\n2 KB of log with {parts} volatile parts: {cost:.1f} us")
    assert cost <= limit * SLACK


def test_a_small_json_answer_is_digested_in_at_most_40_us() -> None:
    as_text, as_value = microseconds(digest, [json.dumps(ANSWER)] * 300), microseconds(digest, [ANSWER] * 300)
    print(f"\nJSON of 31 fields: {as_text:.1f} us as a text, {as_value:.1f} us as a value")
    assert as_text <= 40 * SLACK


@pytest.mark.parametrize(
    ("kind", "text", "limit"),
    [
        ("plain", "def f(x):\n    return x + 1\n" * 38_000, 8),
        ("log", LOG * 160, 60),
        ("JSON", json.dumps([ANSWER] * 2_300), 150),
    ],
)
def test_a_megabyte_costs_no_more_a_byte_than_a_small_answer(kind: str, text: str, limit: float) -> None:
    assert len(text) > 1_000_000
    cost = microseconds(digest, [text]) / len(text) * 1000
    print(f"\n1 MB, {kind}: {cost:.1f} ns a byte")
    assert cost <= limit * SLACK
