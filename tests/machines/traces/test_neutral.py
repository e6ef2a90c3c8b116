from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.manifest import Wait
from machines.traces.bad_trace import BadTrace
from machines.traces.lines import (
    UNSEEN,
    Budget,
    CallSpec,
    ChunkLine,
    EndLine,
    Facts,
    Line,
    ReplyLine,
    ResultLine,
    RunLine,
    UserLine,
)
from machines.traces.neutral import read

Jsonl = Callable[[list[dict[str, Any]]], Path]
LinesOf = Callable[..., list[Line]]

RUN: dict[str, Any] = {"t": "run", "format": "statecraft.trace/1", "id": "r"}
REPLY: dict[str, Any] = {"t": "reply", "stop": "end_turn", "calls": []}


def error_of(path: Path) -> BadTrace:
    with pytest.raises(BadTrace) as caught:
        list(read(path))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    return caught.value


def test_each_run_line_starts_a_run(jsonl: Jsonl) -> None:
    path = jsonl([RUN, REPLY, {**RUN, "id": "s"}, {**RUN, "id": "u"}, REPLY, REPLY])
    found = [(run.run.id, run.line, [number for number, _ in run.lines]) for run in read(path)]
    assert found == [("r", 1, [2]), ("s", 3, []), ("u", 4, [5, 6])]


def test_going_on_to_the_next_run_reads_past_the_rest(jsonl: Jsonl) -> None:
    runs = read(jsonl([RUN, REPLY, REPLY, {**RUN, "id": "s"}, REPLY]))
    first = next(runs)
    assert next(first.lines)[0] == 2
    second = next(runs)
    assert second.run.id == "s"
    assert list(first.lines) == []
    assert [number for number, _ in second.lines] == [5]
    assert list(runs) == []


def test_a_line_that_is_wrong_is_found_when_a_run_is_passed_over(jsonl: Jsonl) -> None:
    runs = read(jsonl([RUN, REPLY, {"t": "reply"}]))
    next(runs)
    with pytest.raises(BadTrace, match="line 3"):
        next(runs)


def test_unknown_fields_are_passed_over_and_null_is_absent(jsonl: Jsonl, lines_of: LinesOf) -> None:
    path = jsonl([{**RUN, "colour": 1, "title": None}, {**REPLY, "usage": None, "kind": None, "mood": []}])
    assert lines_of(path) == [RunLine("r"), ReplyLine("end_turn")]


def test_a_time_that_is_missing_or_earlier_is_the_last_known(jsonl: Jsonl, lines_of: LinesOf) -> None:
    given = [None, 3, None, 2.5, 3, 7.25]
    users = [{"t": "user", "text": "x", **({} if at is None else {"at": at})} for at in given]
    found = [line.at for line in lines_of(jsonl([RUN, *users])) if isinstance(line, UserLine)]
    assert found == [None, 3.0, 3.0, 3.0, 3.0, 7.25]


def test_each_run_has_its_own_clock(jsonl: Jsonl, lines_of: LinesOf) -> None:
    user = {"t": "user", "text": "x"}
    found = lines_of(jsonl([RUN, {**user, "at": 9}, RUN, user, {**user, "at": 1}]))
    assert [line.at for line in found if isinstance(line, UserLine)] == [9.0, None, 1.0]


def test_no_value_is_not_the_value_null(jsonl: Jsonl, lines_of: LinesOf) -> None:
    found = lines_of(jsonl([RUN, {"t": "result", "call": "c"}, {"t": "result", "call": "c", "value": None}]))
    assert found[1:] == [ResultLine("c", UNSEEN), ResultLine("c", None)]


def test_an_error_of_an_unlisted_kind_is_other_and_keeps_its_name(jsonl: Jsonl, lines_of: LinesOf) -> None:
    path = jsonl([RUN, {"t": "result", "call": "c", "error": {"kind": "rate_limited", "message": "slow"}}])
    result = lines_of(path)[1]
    assert isinstance(result, ResultLine)
    assert result.error is not None
    assert (result.error.kind, result.error.name, result.error.message) == ("other", "rate_limited", "slow")


def test_arguments_are_kept_as_text_with_every_digit(tmp_path: Path, lines_of: LinesOf) -> None:
    path = tmp_path / "big.jsonl"
    call = b'{"id":"c","tool":"f","args":{"n":12345678901234567890123,"s":"\\ud800"}}'
    path.write_bytes(json.dumps(RUN).encode() + b'\n{"t":"reply","stop":"tool_use","calls":[' + call + b"]}\n")
    reply = lines_of(path)[1]
    assert isinstance(reply, ReplyLine)
    assert reply.calls == (CallSpec("c", "f", '{"n":12345678901234567890123,"s":"\\ud800"}'),)


def test_arguments_that_did_not_parse_are_marked(jsonl: Jsonl, lines_of: LinesOf) -> None:
    calls: list[dict[str, Any]] = [{"id": "a", "tool": "f", "args_raw": '{"x": '}, {"id": "b", "tool": "f", "args": {}}]
    reply = lines_of(jsonl([RUN, {**REPLY, "calls": calls}]))[1]
    assert isinstance(reply, ReplyLine)
    assert reply.calls == (CallSpec("a", "f", '{"x": ', raw=True), CallSpec("b", "f", "{}"))


def test_the_manifest_and_the_budget_are_read(jsonl: Jsonl) -> None:
    wait = {"progress_field": "*", "waiting_values": ["on"], "terminal_values": [None], "max_wait_seconds": 60}
    tools: dict[str, Any] = {
        "look": {"kind": "wait", "wait": wait, "identity": "id", "may_be_empty": ["note"], "fruitless": [[], 0]}
    }
    run = next(read(jsonl([{**RUN, "tools": tools, "budget": {"turns": 5, "usd": None}, "requires": ["a"]}]))).run
    assert run.tools["look"].wait == Wait("*", ("on",), (None,), 60.0)
    assert run.tools["look"].identity == ("id",)
    assert run.tools["look"].may_be_empty == ("note",)
    assert run.tools["look"].fruitless == ([], 0)
    assert (run.budget, run.requires) == (Budget(turns=5), ("a",))


@pytest.mark.parametrize(("given", "held"), [(True, True), (2, 2), (["a"], ("a",)), (None, None)])
def test_blockers_are_a_flag_a_count_or_names(jsonl: Jsonl, lines_of: LinesOf, given: Any, held: Any) -> None:
    reply = lines_of(jsonl([RUN, {**REPLY, "facts": {"blockers": given}}]))[1]
    assert isinstance(reply, ReplyLine)
    assert reply.facts == Facts(blockers=held)


def test_a_number_in_a_header_is_its_text(jsonl: Jsonl, lines_of: LinesOf) -> None:
    path = jsonl([RUN, {"t": "refusal", "status": 429, "body": "", "headers": {"retry-after": 30}}])
    assert getattr(lines_of(path)[1], "headers", None) == {"retry-after": "30"}


WRONG: list[tuple[dict[str, Any], str, str, str]] = [
    ({"t": "dance"}, "t", '"dance"', "one of run, user"),
    ({"text": "x"}, "t", "nothing", "a string"),
    ({"t": "user"}, "text", "nothing", "a string"),
    ({"t": "user", "text": 5}, "text", "5", "a string"),
    ({"t": "user", "text": None}, "text", "null", "a string"),
    ({"t": "user", "text": "x", "synthetic": "yes"}, "synthetic", '"yes"', "true or false"),
    ({"t": "user", "text": "x", "at": "noon"}, "at", '"noon"', "a number"),
    ({"t": "user", "text": "x", "at": -1}, "at", "-1", "a number, 0 or more"),
    ({"t": "user", "text": "x", "at": True}, "at", "true", "a number"),
    ({"t": "user", "text": "x", "at": 10**400}, "at", "1000", "below 1e308"),
    ({"t": "reply", "calls": []}, "stop", "nothing", "one of end_turn"),
    ({"t": "reply", "stop": "max", "calls": []}, "stop", '"max"', "one of end_turn"),
    ({"t": "reply", "stop": "end_turn"}, "calls", "nothing", "a list"),
    ({"t": "reply", "stop": "end_turn", "calls": {}}, "calls", "an object", "a list"),
    ({"t": "reply", "stop": "end_turn", "calls": [1]}, "calls[0]", "1", "an object"),
    ({**REPLY, "calls": [{"tool": "f", "args": {}}]}, "calls[0].id", "nothing", "a string"),
    ({**REPLY, "calls": [{"id": "c", "tool": "f"}]}, "calls[0].args", "nothing", "an object, or args_raw"),
    ({**REPLY, "calls": [{"id": "c", "tool": "f", "args": "{}"}]}, "calls[0].args", '"{}"', "an object"),
    ({**REPLY, "calls": [{"id": "c", "tool": "f", "args_raw": {}}]}, "calls[0].args_raw", "an object", "a string"),
    ({**REPLY, "usage": {"input": 1.5}}, "usage.input", "1.5", "a whole number"),
    ({**REPLY, "usage": {"usd": "1"}}, "usage.usd", '"1"', "a number"),
    ({**REPLY, "kind": "done"}, "kind", '"done"', "one of checkpoint"),
    ({**REPLY, "facts": {"grounded": 1}}, "facts.grounded", "1", "true or false"),
    ({**REPLY, "facts": []}, "facts", "a list", "an object"),
    ({"t": "result", "call": "c", "error": "bad"}, "error", '"bad"', "an object"),
    ({"t": "result", "call": "c", "error": {}}, "error.kind", "nothing", "a string"),
    ({"t": "chunk", "text": "x", "channel": "aside"}, "channel", '"aside"', "one of text, thinking"),
    ({"t": "plan", "items": [{"content": "a", "status": "done"}]}, "items[0].status", '"done"', "one of pending"),
    ({"t": "goal", "done": 1}, "total", "nothing", "a number"),
    ({"t": "refusal", "status": 400}, "body", "nothing", "what the provider said"),
    ({"t": "refusal", "status": "400", "body": 1}, "status", '"400"', "a whole number"),
    ({"t": "refusal", "status": 1, "body": 1, "headers": {"a": []}}, "headers.a", "a list", "a string"),
    ({"t": "condensed", "freed": -1}, "freed", "-1", "a whole number from 0 to 1e15"),
    ({"t": "condensed", "freed": 10**15 + 1}, "freed", str(10**15 + 1), "a whole number from 0 to 1e15"),
    ({"t": "condensed", "freed": 1, "summarised": []}, "summarised", "a list", "true, false"),
    ({"t": "signal"}, "name", "nothing", "a string"),
    ({"t": "end"}, "status", "nothing", "a string"),
    ({**RUN, "format": "statecraft.trace/2"}, "format", '"statecraft.trace/2"', '"statecraft.trace/1"'),
    ({**RUN, "title": 7}, "title", "7", "a string"),
    ({**RUN, "requires": 7}, "requires", "7", "a list of strings"),
    ({**RUN, "tools": {"f": {"fruitless": "none"}}}, "tools.f.fruitless", '"none"', "a list"),
    ({"t": "goal", "done": None, "total": 1}, "done", "null", "a number"),
    ({"t": "condensed"}, "freed", "nothing", "a whole number"),
    ({**RUN, "id": 7}, "id", "7", "a string"),
    ({**RUN, "tools": {"f": "read"}}, "tools.f", '"read"', "an object"),
    ({**RUN, "tools": {"f": {"kind": "reads"}}}, "tools.f.kind", '"reads"', "one of read"),
    ({**RUN, "tools": {"f": {"wait": {}}}}, "tools.f.wait.progress_field", "nothing", "a string"),
    ({**RUN, "tools": {"f": {"required": ["a", 1]}}}, "tools.f.required[1]", "1", "a string"),
    ({**RUN, "budget": {"turns": "many"}}, "budget.turns", '"many"', "a whole number"),
    ({**RUN, "policy": 1}, "policy", "1", "a string or an object"),
    ({**RUN, "work": "play"}, "work", '"play"', "one of answer"),
]


@pytest.mark.parametrize(("record", "field", "found", "expected"), WRONG)
def test_what_is_wrong_is_named_with_line_field_and_what_was_expected(
    jsonl: Jsonl, record: dict[str, Any], field: str, found: str, expected: str
) -> None:
    error = error_of(jsonl([RUN, REPLY, record]))
    assert (error.line, error.field) == (3, field)
    assert error.found.startswith(found)
    assert error.expected.startswith(expected) or expected in error.expected
    assert str(error) == f"{error.file}, line 3, field {field}: found {error.found}, expected {error.expected}"


def test_a_long_value_is_cut_short_in_an_error(jsonl: Jsonl) -> None:
    assert len(error_of(jsonl([RUN, {"t": "x" * 10_000}])).found) < 70


def test_an_error_is_one_line_whatever_the_field_is_called(jsonl: Jsonl) -> None:
    error_of(jsonl([{**RUN, "tools": {"a\nb": 1}}]))


def test_the_first_line_must_be_a_run_line(jsonl: Jsonl) -> None:
    error = error_of(jsonl([REPLY, RUN]))
    assert (error.line, error.field, error.found) == (1, "t", '"reply"')


def test_line_breaks_marks_and_blank_lines_of_any_make_are_read(tmp_path: Path, lines_of: LinesOf) -> None:
    path = tmp_path / "windows.jsonl"
    run, reply = json.dumps(RUN).encode(), json.dumps(REPLY).encode()
    path.write_bytes(b"\xef\xbb\xbf" + run + b"\r\n\r\n  \n" + reply + b"\r\n" + reply)
    assert lines_of(path) == [RunLine("r"), ReplyLine("end_turn"), ReplyLine("end_turn")]
    assert [number for number, _ in next(read(path)).lines] == [4, 5]


def test_a_last_line_that_breaks_off_is_said_to(tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_bytes(json.dumps(RUN).encode() + b'\n{"t": "rep')
    error = error_of(path)
    assert error.line == 2
    assert "breaks off" in error.found
    path.write_bytes(json.dumps(RUN).encode() + b'\n{"t": "rep\n')
    assert "breaks off" not in error_of(path).found


@pytest.mark.parametrize(
    ("data", "line", "found"),
    [
        (b"", None, "no line at all"),
        (b"\n \r\n", None, "no line at all"),
        (b"[]\n", 1, "a list"),
        (b"hello\n", 1, "no JSON at column 1"),
        (b'{"t": "\xff"}\n', 1, "not UTF-8, at byte 8"),
        (gzip.compress(b"{}"), 1, "UTF-8"),
        ('{"t": "run"}'.encode("utf-16"), 1, "UTF-8"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, data: bytes, line: int | None, found: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(data)
    error = error_of(path)
    assert error.line == line
    assert found in error.found


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    assert error_of(tmp_path).found == "a folder"
    assert error_of(tmp_path / "absent.jsonl").found == "no such file"


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(jsonl: Jsonl, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jsonl([RUN])

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert error_of(path).found == "a file that cannot be read (Permission denied)"


@pytest.mark.parametrize("levels", [200, 260, 600, 1000, 1100, 100_000])
def test_arguments_nested_however_deep_are_read_or_refused(tmp_path: Path, levels: int) -> None:
    path = tmp_path / "deep.jsonl"
    deep = "[" * levels + "]" * levels
    call = f'{{"id": "c", "tool": "f", "args": {{"x": {deep}}}}}'
    path.write_text(json.dumps(RUN) + f'\n{{"t": "reply", "stop": "tool_use", "calls": [{call}]}}\n', encoding="utf-8")
    try:
        lines = [line for _, line in next(read(path)).lines]
    except BadTrace:
        # How deep Python's own parser goes is up to its version.
        assert levels > 500
    else:
        assert lines == [ReplyLine("tool_use", (CallSpec("c", "f", f'{{"x":{deep}}}'),))]


def test_what_comes_before_an_error_is_given_out(jsonl: Jsonl) -> None:
    run = next(read(jsonl([RUN, REPLY, {"t": "dance"}])))
    assert next(run.lines) == (2, ReplyLine("end_turn"))
    with pytest.raises(BadTrace):
        next(run.lines)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    body = json.dumps({"t": "result", "call": "c", "value": "x" * 1000}).encode() + b"\n"
    with path.open("wb") as out:
        out.write(json.dumps(RUN).encode() + b"\n")
        for _ in range(40):
            out.write(body * 100)
    tracemalloc.start()
    try:
        count = sum(1 for run in read(path) for _ in run.lines)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 4000
    assert peak < 500_000


def test_an_end_and_chunks_are_read(jsonl: Jsonl, lines_of: LinesOf) -> None:
    path = jsonl([RUN, {"t": "chunk", "text": "a"}, {"t": "end", "status": "ok", "text": "done", "at": 4}])
    assert lines_of(path)[1:] == [ChunkLine("a"), EndLine("ok", "done", 4.0)]
