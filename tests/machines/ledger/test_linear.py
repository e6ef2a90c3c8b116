"""Whatever the text, twice as long costs about twice as much."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from machines.ledger.candidates import volatile_candidates
from machines.ledger.digest import result_digest
from machines.ledger.failure import normalise_failure
from machines.ledger.signature import signature

SIZE = 40_000
GROWTH = 4
# A quadratic cost would grow 16 times; what is fixed and what the machine does besides is in the margin.
AT_MOST = 2.2 * GROWTH

UNITS = [
    "a", "9", " ", "\t", "\n", "\0", "é", ":", "=", "/", "-", "_", ".", '"', "{", "[", "(", "\\", "<", "1:",
    "1,", "1.", "1h 1m ", "2026-", "2026-03-17 ", "2026-03-17T09:00:4", "Mar ", "Mon, ", "17 Mar ",
    "09:00:44 ", "took ", "took 1 ", "in 1,", "in\t", "elapsed: ", "time (", "real\t1m", "(1 h ", "[00:05<",
    "[0:0<0, 1a/", "rtt min/avg/max/mdev = 1/", "request_id=", "request_id=aaaaaaaaaaaaaaaaaaaa/",
    "request_id=a1...", "trace_id: ", "pid ", "pid=1", "ETag: W/", "etag=a.", "user_id=550e8400-", "_id",
    "aaaaaaaaaaaaaaaaaaaaaaa_id=", "latency_latency_", "at 0x", "0x7f3c", "(0x000", "\n==1", "1 minute ",
    "ts=1", "timestamp: 17737", "\x1b[31m", "/tmp/", "/tmp/a", "c:\\tmp\\", "error ", "=== ", "exit code ",
    "make: *** ",
]  # fmt: skip


def cost(call: Callable[[], object]) -> float:
    def once() -> float:
        start = time.process_time()
        call()
        return time.process_time() - start

    return min(once() for _ in range(5))


def grows(make: Callable[[int], Callable[[], object]]) -> float:
    make(SIZE // 10)()  # RE2 builds its states when they are first needed
    return cost(make(SIZE * GROWTH)) / cost(make(SIZE))


@pytest.mark.parametrize("unit", UNITS)
def test_a_text_costs_by_its_length(unit: str) -> None:
    def make(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))
        return lambda: (result_digest(text, None), normalise_failure(text), signature("t", text))

    assert grows(make) < AT_MOST


JSON: dict[str, Callable[[int], str]] = {
    "deep lists": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "deep objects": lambda size: '{"a":' * (size // 6) + "1" + "}" * (size // 6),
    "more names than are remembered": lambda size: json.dumps({f"{number}_id": 1 for number in range(size // 8)}),
    "one name again and again": lambda size: "{" + ",".join(['"pid":1'] * (size // 8)) + "}",
    "many strings": lambda size: json.dumps([f"took {number} ms" for number in range(size // 16)]),
    "many whole doubles": lambda size: "[" + ",".join(["1.0"] * (size // 4)) + "]",
    "long whole numbers": lambda size: "[" + ",".join(["7" * 3999] * (size // 4000)) + "]",
    "huge exponents": lambda size: "[" + ",".join(["1e308"] * (size // 6)) + "]",
    "surrogates": lambda size: '["' + "\\ud800" * (size // 6) + '"]',
    "one long name": lambda size: '{"' + "a_id" * (size // 4) + '":1}',
    "JSON in JSON": lambda size: json.dumps([json.dumps([json.dumps(["pid 1"] * (size // 22))])]),
}


@pytest.mark.parametrize("kind", JSON)
def test_json_costs_by_its_length(kind: str) -> None:
    def make(size: int) -> Callable[[], object]:
        text = JSON[kind](size)
        return lambda: (result_digest(text, None, ["a.b", "x"], ["a.c"]), signature("t", text))

    assert grows(make) < AT_MOST


def test_a_comparison_costs_by_length() -> None:
    def make(size: int) -> Callable[[], object]:
        one = [{"n": number, "m": 1} for number in range(size // 16)]
        other = [{"n": -number, "m": 1} for number in range(size // 16)]
        return lambda: volatile_candidates(one, other)

    assert grows(make) < AT_MOST
