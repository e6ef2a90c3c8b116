"""From what was received to the event: what is seen of calls and results before the event is made."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.events import ErrorKind, PollState, Result, Text
from machines.ledger.observe import UNSEEN, call_of, result_of, text_of
from machines.ledger.signature import signature
from machines.manifest import UNDECLARED, Tool, Wait

CALL = call_of("1", "build", '{"id": 7}', UNDECLARED)


def result(value: object = UNSEEN, tool: Tool = UNDECLARED, error: ErrorKind | None = None, **more: Any) -> Result:
    return result_of(CALL, tool, at=1.0, value=value, error=error, **more)


# Texts.


@given(st.text() | st.just("a lone \ud800 surrogate"))
def test_a_text_is_named_by_its_digest_and_length_and_handed_on(content: str) -> None:
    kept: list[tuple[Text, str]] = []
    text = text_of(content, lambda name, given: kept.append((name, given)))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    assert kept == [(text, content)]
    assert text == Text(digest, len(content))


def test_every_text_of_a_call_and_of_a_result_is_kept() -> None:
    kept: list[str] = []

    def keep(text: Text, content: str) -> None:
        kept.append(content)

    call = call_of("1", "read", '{ "path": "a" }', UNDECLARED, keep=keep)
    result_of(call, UNDECLARED, at=1.0, value={"b": 1, "a": [None]}, keep=keep)
    result_of(call, UNDECLARED, at=1.0, value="as it is", keep=keep)
    result_of(call, UNDECLARED, at=1.0, error=ErrorKind.TIMEOUT, message="too late", keep=keep)
    assert kept == ['{ "path": "a" }', '{"a":[null],"b":1}', "as it is", "too late"]


# Calls.


def test_a_call_keeps_its_arguments_as_they_were_received() -> None:
    args = '{ "n": 9223372036854775809, "a":"\\ud800" }'
    call = call_of("1", "read", args, UNDECLARED)
    assert call.args == text_of(args)
    assert call.signature == signature("read", args)
    assert (call.id, call.tool, call.parsed, call.target) == ("1", "read", True, None)


def test_a_call_that_does_not_parse_has_a_signature_and_no_target() -> None:
    call = call_of("1", "write", '{"path": "a.txt', Tool(target=("path",)), problem="no JSON")
    assert (call.parsed, call.target) == (False, None)
    assert call.signature == signature("write", '{"path": "a.txt')


@pytest.mark.parametrize(
    ("args", "target"),
    [
        ('{"path": "a.txt", "mode": "w"}', "a.txt\x1fw"),
        ('{"mode": "w"}', "w"),
        ('{"path": "a.txt", "mode": 7}', "a.txt"),
        ('{"other": "a.txt"}', None),
        ('["a.txt"]', None),
        ("not JSON", None),
    ],
)
def test_what_a_call_touches_is_named_by_its_tools_arguments(args: str, target: str | None) -> None:
    assert call_of("1", "write", args, Tool(target=("path", "mode"))).target == target
    assert call_of("1", "write", args, UNDECLARED).target is None


# Results.


def test_a_result_that_was_not_seen_has_no_digest_and_one_that_is_null_has() -> None:
    unseen, null = result(), result(None)
    assert (unseen.digest, unseen.value) == (None, None)
    assert null.digest is not None
    assert null.value == text_of("null")


def test_the_message_of_an_error_stands_for_a_value_that_was_not_seen() -> None:
    failed = result(error=ErrorKind.TIMEOUT, message="too late")
    assert failed.value == text_of("too late")
    assert failed.digest == result("too late", error=ErrorKind.TIMEOUT).digest
    assert result("seen", error=ErrorKind.TIMEOUT, message="too late").value == text_of("seen")


def test_a_failure_and_a_success_that_say_the_same_differ() -> None:
    digests = {
        result("x").digest,
        result("x", error=ErrorKind.TIMEOUT).digest,
        result("x", error=ErrorKind.OTHER).digest,
        result("x", error=ErrorKind.OTHER, error_class="rate_limited").digest,
    }
    assert len(digests) == 4


def test_volatile_fields_make_no_difference() -> None:
    tool = Tool(volatile=("took", "meta.page"))
    one = {"rows": [1], "took": 5, "meta": {"page": 1, "of": 3}, "at": "2026-03-17T09:00:44Z"}
    other = {"rows": [1], "took": 9, "meta": {"page": 2, "of": 3}, "at": "2026-03-18T10:00:00Z"}
    assert result(one, tool).digest == result(other, tool).digest
    assert result(one).digest != result(other).digest
    assert result(one, tool).digest != result({**one, "rows": [2]}, tool).digest


def test_the_field_that_a_wait_looks_at_is_kept_though_it_looks_volatile() -> None:
    wait = Tool(wait=Wait("progress.at", ("never",), ("done",), 60.0))
    early, late = ({"progress": {"at": f"2026-03-17T09:00:{n}Z"}} for n in (44, 45))
    assert result(early).digest == result(late).digest
    assert result(early, wait).digest != result(late, wait).digest


def test_a_state_is_kept_as_eight_bytes() -> None:
    one, same, other = (result("x", state=state).state for state in ("sha256:1", "sha256:1", "sha256:2"))
    assert one == same != other
    assert one is not None
    assert len(one) == 8
    assert result("x").state is None


# Declared waits.

STATUS = Tool(wait=Wait("job.status", ("queued", 1, None), ("done", False), 60.0))


@pytest.mark.parametrize(
    ("value", "state", "shown"),
    [
        ({"job": {"status": "queued"}}, PollState.WAITING, "queued"),
        ({"job": {"status": 1}}, PollState.WAITING, "1"),
        ({"job": {"status": None}}, PollState.WAITING, "null"),
        ({"job": {"status": "done"}}, PollState.TERMINAL, "done"),
        ({"job": {"status": False}}, PollState.TERMINAL, "false"),
        ({"job": {"status": True}}, PollState.UNRECOGNISED, "true"),
        ({"job": {"status": 0}}, PollState.UNRECOGNISED, "0"),
        ({"job": {"status": "Queued"}}, PollState.UNRECOGNISED, "Queued"),
        ({"job": {"status": ["queued"]}}, PollState.UNRECOGNISED, '["queued"]'),
        ({"job": {"status": "x" * 100}}, PollState.UNRECOGNISED, "x" * 80),
        ({"job": "queued"}, PollState.UNRECOGNISED, None),
        ({"status": "queued"}, PollState.UNRECOGNISED, None),
        ("queued", PollState.UNRECOGNISED, None),
        ('{"job": {"status": "queued"}}', PollState.WAITING, "queued"),
    ],
)
def test_a_wait_reads_its_field_and_nothing_else(value: object, state: PollState, shown: str | None) -> None:
    found = result(value, STATUS)
    assert (found.poll, found.poll_value) == (state, shown)


@pytest.mark.parametrize(("path", "value"), [("*", "queued"), ("jobs.0.status", {"jobs": [{"status": "queued"}]})])
def test_the_field_may_be_the_whole_value_or_an_item_of_a_list(path: str, value: object) -> None:
    tool = Tool(wait=Wait(path, ("queued",), ("done",), 60.0))
    assert result(value, tool).poll is PollState.WAITING
    assert result({"jobs": []}, tool).poll is PollState.UNRECOGNISED


def test_an_error_is_a_value_that_nobody_foresaw_and_silence_is_no_look() -> None:
    assert result({"job": {"status": "queued"}}, STATUS, ErrorKind.OTHER).poll is PollState.UNRECOGNISED
    assert result(tool=STATUS, error=ErrorKind.TIMEOUT).poll is PollState.UNRECOGNISED
    assert result(tool=STATUS).poll is None
    assert result({"job": {"status": "queued"}}).poll is None


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("<status>queued</status>\n\n<out>nothing yet</out>", PollState.WAITING),
        ("done soon: <status> done </status>", PollState.TERMINAL),
        ("<status>lost</status>", PollState.UNRECOGNISED),
        ("<status>queued", PollState.UNRECOGNISED),
        ("status: queued", PollState.UNRECOGNISED),
        ("<state>queued</state>", PollState.UNRECOGNISED),
    ],
)
def test_in_a_text_that_is_no_json_the_field_is_an_element(text: str, state: PollState) -> None:
    assert result(text, Tool(wait=Wait("status", ("queued",), ("done",), 60.0))).poll is state
