from __future__ import annotations

import re

import pytest

from machines.ledger.strip import strip
from machines.ledger.volatile import MARK, RULES, values_of

# By rule: texts of which what stands between the signs must go, and nothing else.
GOES = {
    "timestamp": [
        "at «2026-03-17T09:00:44Z» it",
        "«2026-03-17T09:00:44.181Z» INFO",
        "«2026-03-17T09:00:44.181732+00:00» INFO",
        "«2026-03-17T09:00:44-0500»",
        "«2026-03-17T09:00Z»",
        "«2026-03-17 09:00:44,181» INFO",
        "«2026-03-17 09:00:44.181+00» LOG",
        "«2026-03-17 09:00» x",
        "«2026/03/17 09:00:44» [error]",
        "«2026-03-17 09:00:44 +0000» x",
        "«2026-03-17 09:00:44 CEST» x",
        "«2026-03-17 09:00:44» root",
        "to backup-«20260317T090044Z».tar",
        "to backup-«2026-03-17_09-00-44».tar",
        "«03/17/2026, 09:00:44 AM» x",
        "Date: «Tue, 17 Mar 2026 09:00:44 GMT»",
        "Date: «Tue, 17 Mar 2026 09:00:44 +0100»",
        "Expires: «Tuesday, 17-Mar-26 09:00:44 GMT»",
        "«Tue, 17 Mar 26 09:00:44 GMT»",
        "«Tue Mar 17 09:00:44 2026»",
        "Date:   «Tue Mar  3 09:00:44 2026 +0100»",
        "«Tue Mar 17 09:00:44 UTC 2026»",
        '- - [«17/Mar/2026:09:00:44 +0000»] "GET /"',
        "«Mar  7 09:00:44» host sshd: x",
        "4096 «Mar 17 09:00» file",
        "on «March 17, 2026 at 9:00 AM», x",
        "W0000 «00:00:1773738044.181732» x",
        "«09:00:44» INFO",
        "[«09:00:44.181»] INFO",
        "«9:00:44 PM» x",
        "«23:59:60» leap",
        "date of the 17 «Mar 26 09:00» x",
    ],
    "time field": ["«ts=1773738044» x", '"«created": 1773738044181», "n"', "«updatedAt: 1773738044.5» x"],
    "age": ["updated «3 minutes ago»", "updated «an hour ago»", "seen «5m ago»"],
    "duration": [
        "«took 123 ms»",
        "«took 123ms», ok",
        "3 passed «in 0.53s» ===",
        "Finished «in 1,234.5 ms»",
        "«elapsed: 12ms»",
        "Waited, «time: 1.2 sec»",
        "«time=12.3 ms»",
        "failed «after 2m 3.5s»",
        "«took 3µs»",
        "Total Test «time (real) =   0.01 sec»",
    ],
    "duration in its own place": [
        "passing («12ms»)",
        "1 row in set («0.00 sec»)",
        "--- PASS: TestX («0.00s»)",
        "ok  \tpkg\t«0.005s»",
        "«real\t0m0.003s»",
        "«rtt min/avg/max/mdev = 12.1/12.2/12.3/0.1 ms»",
    ],
    "clock of a progress bar": ["37/100 [«00:05<00:10,  7.1it/s»]", "0/51 [«00:00<?, ?it/s»]"],
    "duration field": [
        "«latency_ms=72» x",
        '"«latency_ms": 72», "x"',
        "«duration: 0.53» x",
        "«elapsed=00:01:02.5» x",
        "«responseTimeMs=12» x",
        "«uptime: 5s»",
    ],
    "id of the exchange": [
        "«request_id=b0edffee8e7b0ba3» GET",
        '"«requestId": "b0ed-1»"',
        "X-«Request-Id: 4f2c».",
        "dd.«trace_id=123» x",
        '{\\"«span_id\\": \\"a1»\\"}',
        "(«Request ID: AB12C3»)",
        "«message-id: 1a2b»@host",
        "«session_id=abcdefghijklmnopqrst» x",
    ],
    "process id": ["«pid 1234» x", "(«PID=1234»)", "«worker_pid: 1» x", "«==4879»==    at", "x\n«==4879»==    at"],
    "ETag": ['«ETag: W/"6dcaaad9»"', "«etag=5f3a-1b» x"],
    "UUID in an id field": ["«user_id=550e8400-e29b-41d4-a716-446655440000» x"],
    "address of an object": ["<F object «at 0x7f3c2a1b00»> x", "libc.so («0x00007f9109cd3000»)"],
}

# Content that comes near to a rule.
STAYS = [
    "released on 2026-03-17, next 2026-04-01",
    "Jan 11 2023 notes",
    "17 Mar 2026",
    "open 09:00 to 17:30",
    "ratio 16:9, verse 3:16",
    "24:00:00 and 12:60:00",
    "app.py:12:30:45: error",
    "fe80::12:30:45",
    "in 2012 and in 5 steps",
    "ts=12 at 3",
    "created: 12 files, 1773738044 bytes",
    "results: 1773738044",
    "within 5 s, for 5 seconds, 12ms",
    "ago 3 minutes",
    "took 12 msgs, in 3 sets",
    "sleep(5 * s), Interval(0, S.Infinity)",
    "37%|###   | 37/100",
    "timeout_ms: 30",
    "interval=5",
    "session_id = None",
    "request_id: str",
    "self.trace_id = trace_id",
    "grid=12 valid: 3 paid 12",
    "rapid 12 stupid=3",
    'metag: "a1"',
    "order_id=1234 user_id: 7",
    "job 550e8400-e29b-41d4-a716-446655440000",
    "Breakpoint 1 at 0x401136, at 0x12345678",
    "0x7f3c2a1b00",
    "x == 12, y ==13, z ==14==",
    "exit code 1",
    "line 42, in f",
    "v1.2.3 port 8080 $3.50 4096 B",
    "3/10 done, 12 passed, 1 failed",
    "20 °C",
]


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in GOES.items() for text in texts])
def test_what_is_volatile_in_a_text_goes_and_nothing_else(rule: str, text: str) -> None:
    assert strip(re.sub("[«»]", "", text)) == re.sub("«.*?»", MARK.replace("\\", "\\\\"), text), rule


@pytest.mark.parametrize("text", STAYS)
def test_content_that_comes_near_to_a_rule_stays(text: str) -> None:
    assert strip(text) == text


def test_every_rule_is_tried_and_has_its_reason() -> None:
    assert sorted(GOES) == sorted(rule.name for rule in RULES)
    for rule in RULES:
        assert rule.why
        assert rule.text or rule.field
        assert bool(rule.field) == bool(rule.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("served_at", "2026-03-17T09:00:44.181Z"),
        ("servedAt", 1773738044),
        ("time", "09:00:44"),
        ("Date", "Tue, 17 Mar 2026 09:00:44 GMT"),
        ("last_updated", 1773738044181),
        ("created", 1773738044.25),
        ("iat", "1773738044"),
        ("latency_ms", 72),
        ("durationMs", "100"),
        ("duration", "1m 3s"),
        ("duration", "PT1.5S"),
        ("elapsed_seconds", 0.00001),
        ("response-time", 12),
        ("uptime", "3d 4h"),
        ("took", 3),
        ("request_id", "abc"),
        ("x-amzn-RequestId", "abc"),
        ("traceId", 1 << 100),
        ("http.span_id", "abc"),
        ("message_id", 3),
        ("session-id", "abc"),
        ("traceparent", "00-a-b-01"),
        ("pid", 12),
        ("parent_pid", "12"),
        ("etag", 'W/"6dcaaad9"'),
        ("ETag", "abc"),
        ("id", "550e8400-e29b-41d4-a716-446655440000"),
        ("taskGuid", "550E8400-E29B-41D4-A716-446655440000"),
    ],
)
def test_a_field_of_a_volatile_name_and_value_goes(field: str, value: object) -> None:
    assert strip({field: value, "n": 1}) == {"n": 1}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("due_date", "2026-03-17"),
        ("finished_at", None),
        ("served_at", True),
        ("served_at", "noon"),
        ("departure", "09:00:44"),
        ("time", 72),
        ("count", 1773738044),
        ("results", 1773738044),
        ("format", 1773738044),
        ("duration", "long"),
        ("duration", {"value": 3}),
        ("timeout_ms", 30),
        ("times", 3),
        ("runtime", 120),
        ("request_id", None),
        ("request_id", ""),
        ("request", "abc"),
        ("pid", "abc"),
        ("rapid", 12),
        ("tag", "abc"),
        ("metag", "abc"),
        ("id", "abc"),
        ("id", 12),
        ("job", "550e8400-e29b-41d4-a716-446655440000"),
        ("exit_code", 1),
        ("line", 42),
        ("version", "1.2.3"),
        ("progress", "3/10"),
        ("percent", 37.5),
        ("price", 3.5),
        ("port", 8080),
    ],
)
def test_a_field_that_is_content_stays(field: str, value: object) -> None:
    assert strip({field: value, "n": 1}) == {field: value, "n": 1}


def test_most_names_ask_nothing_of_their_value() -> None:
    assert values_of("title") == ()
    assert len(values_of("latency_ms")) == 1
