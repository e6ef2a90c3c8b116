"""Recorded terminals, with claude-code's records of our own making."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.traces.asciicast import NAME, read
from machines.traces.bad_trace import BadTrace
from machines.traces.lines import CallSpec, EndLine, Line, ReplyLine, ResultLine, RunLine, UserLine

Event = list[Any]

HEADER = {"version": 2, "width": 160, "height": 40}
INIT: dict[str, Any] = {"type": "system", "subtype": "init", "session_id": "s1", "tools": ["Bash"]}
SAID: dict[str, Any] = {
    "type": "assistant",
    "message": {
        "id": "m1",
        "content": [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}],
        "stop_reason": "tool_use",
    },
    "session_id": "s1",
}
ANSWERED: dict[str, Any] = {
    "type": "user",
    "message": {"content": [{"type": "tool_result", "tool_use_id": "c1", "content": "out"}]},
    "timestamp": "2025-11-09T04:25:51Z",
    "session_id": "s1",
}
DONE: dict[str, Any] = {
    "type": "result",
    "subtype": "success",
    "result": "ok",
    "duration_ms": 9_000,
    "session_id": "s1",
}


def text_of(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"))


def printed(*records: dict[str, Any]) -> str:
    return "".join(text_of(record) + "\r\n" for record in records)


def written(path: Path, *events: Event, header: Any = HEADER, end: str = "") -> Path:
    text = "".join(json.dumps(line) + "\n" for line in (header, *events))
    path.write_bytes((text + end).encode("utf-8", "surrogatepass"))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    return lambda *events, **more: written(tmp_path / "some.cast", *events, **more)


def lines(path: Path) -> list[tuple[int | None, Line]]:
    return [line for run in read(path) for line in ((run.line, run.run), *run.lines)]


def summary(path: Path) -> list[tuple[str, int | None, float | None]]:
    return [(type(line).__name__, number, getattr(line, "at", None)) for number, line in lines(path)]


WHOLE = [("RunLine", 2, None), ("ReplyLine", 3, 1.0), ("ResultLine", 4, 2.5), ("EndLine", 5, 3.0)]


def test_records_are_taken_out_of_what_the_terminal_showed(file: Callable[..., Path]) -> None:
    shown = (printed(record) for record in (INIT, SAID, ANSWERED, DONE))
    path = file(*([at, "o", text] for at, text in zip((10, 11, 12.5, 13), shown, strict=True)))
    call = CallSpec("c1", "Bash", '{"command":"ls"}')
    assert [line for _, line in lines(path)][1:] == [
        ReplyLine("tool_use", (call,), at=1.0),
        ResultLine("c1", "out", at=2.5),
        EndLine("success", "ok", at=3.0),
    ]
    run = next(read(path))
    assert (run.format, run.run.id, run.run.agent, list(run.run.tools)) == (NAME, "s1", "claude-code", ["Bash"])


def test_lines_have_the_number_of_their_event_and_seconds_since_the_first_record(file: Callable[..., Path]) -> None:
    events = [
        [at, "o", printed(record)] for at, record in zip((10, 11, 12.5, 13), (INIT, SAID, ANSWERED, DONE), strict=True)
    ]
    assert summary(file(*events)) == WHOLE


def test_a_record_in_pieces_has_the_line_where_it_begins_and_the_time_when_it_is_whole(
    file: Callable[..., Path],
) -> None:
    text = printed(SAID)
    pieces = [[11, "o", text[:30]], [12, "o", text[30:60]], [13, "o", text[60:]]]
    assert summary(file([10, "o", printed(INIT)], *pieces))[1:] == [("ReplyLine", 3, 3.0)]


def test_what_the_shell_shows_and_what_is_typed_is_passed_over(file: Callable[..., Path]) -> None:
    noise: list[Event] = [
        [0.1, "o", '\r0% [Working]\r{"type":"other"}\r\n{"type": "user"}\r\n$ '],
        [0.2, "i", printed(DONE)],
        [0.3, "r", "80x24"],
        [0.4, "o", '\x1b[?2004l\r{"type":"sys'],
        [0.5, "m", "mark", "more"],
    ]
    rest = printed(INIT).removeprefix('{"type":"sys')
    found = [
        line for _, line in lines(file(*noise, [10, "o", rest + printed(SAID, ANSWERED)], [14, "o", "$ exit\r\n"]))
    ]
    assert [type(line) for line in found] == [RunLine, ReplyLine, ResultLine]


def test_other_text_may_stand_before_a_record_and_after_it(file: Callable[..., Path]) -> None:
    line = f"\x1b[0m{text_of(INIT)}\x1b[K{text_of(SAID)} $ \r\n"
    assert [kind for kind, _, _ in summary(file([1, "o", line]))] == ["RunLine", "ReplyLine"]


def test_a_string_may_hold_control_characters(file: Callable[..., Path]) -> None:
    text = printed({**DONE, "result": "a@b"}).replace("@", "\t\x1b[0m")
    assert lines(file([1, "o", text]))[-1][1] == EndLine("success", "a\t\x1b[0mb", at=0.0)


def test_a_carriage_return_is_the_terminals(file: Callable[..., Path]) -> None:
    text = printed(DONE)
    assert lines(file([1, "o", text[:40] + "\r" + text[40:]]))[-1][1] == EndLine("success", "ok", at=0.0)


@pytest.mark.parametrize("rest", [[], [[14, "o", "\r\n^C\r\n$ exit\r\n"]]])
def test_a_record_that_breaks_off_ends_the_recording(file: Callable[..., Path], rest: list[Event]) -> None:
    path = file([10, "o", printed(INIT, SAID)], [13, "o", text_of(ANSWERED)[:-5]], *rest)
    assert [kind for kind, _, _ in summary(path)] == ["RunLine", "ReplyLine"]


def test_a_last_record_needs_no_line_break(file: Callable[..., Path]) -> None:
    path = file([10, "o", printed(INIT)], [12, "o", text_of(SAID)])
    assert summary(path) == [("RunLine", 2, None), ("ReplyLine", 3, 2.0)]


def test_a_record_after_one_that_breaks_off_is_an_error(file: Callable[..., Path]) -> None:
    path = file([1, "o", printed(INIT)], [2, "o", text_of(SAID)[:-5] + "\r\n"], [3, "o", "\r\n" + printed(DONE)])
    with pytest.raises(BadTrace) as caught:
        lines(path)
    assert (caught.value.line, caught.value.expected) == (3, "a whole record, as another follows")
    assert caught.value.found.startswith("text that is no JSON at column ")


def test_an_event_that_breaks_off_ends_the_recording(file: Callable[..., Path]) -> None:
    path = file([1, "o", printed(INIT, SAID)], end='[2, "o", "x')
    assert [kind for kind, _, _ in summary(path)] == ["RunLine", "ReplyLine"]
    with pytest.raises(BadTrace, match="line 3: found text that is no JSON"):
        lines(file([1, "o", printed(INIT)], end='[2, "o", "x\n'))


def test_two_sessions_are_two_runs_with_a_time_of_their_own(file: Callable[..., Path]) -> None:
    other = [{**record, "session_id": "s2"} for record in (INIT, SAID, DONE)]
    path = file(
        [1, "o", printed(INIT)], [5, "o", printed(DONE)], [20, "o", printed(*other[:2])], [22, "o", printed(other[2])]
    )
    runs = [(run.run.id, [getattr(line, "at", None) for _, line in run.lines]) for run in read(path)]
    assert runs == [("s1", [4.0]), ("s2", [0.0, 2.0])]


def test_the_time_when_a_record_was_shown_stands_before_its_own(file: Callable[..., Path]) -> None:
    later = {**ANSWERED, "timestamp": "2025-11-09T05:25:51Z"}
    path = file(*([at, "o", printed(record)] for at, record in ((1, INIT), (2, SAID), (3, ANSWERED), (4, later))))
    assert [at for _, _, at in summary(path)] == [None, 1.0, 2.0, 3.0]


def test_what_a_person_writes_is_as_in_the_records_alone(file: Callable[..., Path]) -> None:
    wrote = {"type": "user", "message": {"content": "hi"}, "session_id": "s1"}
    assert lines(file([1, "o", printed(INIT, wrote)]))[-1][1] == UserLine("hi", at=0.0)


@given(st.lists(st.integers(0, len(printed(INIT, SAID, ANSWERED, DONE))), max_size=12))
def test_how_the_output_was_cut_changes_no_line(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    text = printed(INIT, SAID, ANSWERED, DONE)
    places = [0, *sorted(cuts), len(text)]
    events = [[1, "o", text[start:end]] for start, end in pairwise(places)]
    path = written(tmp_path_factory.getbasetemp() / "cut.cast", *events)
    whole = written(tmp_path_factory.getbasetemp() / "whole.cast", [1, "o", text])
    assert [line for _, line in lines(path)] == [line for _, line in lines(whole)]


BAD: list[tuple[list[Any], str]] = [
    ([], ": found an empty file, expected the header of an asciicast"),
    ([[1, "o", "x"]], ", line 1: found a list, expected the header of an asciicast, an object"),
    ([{"width": 1}], ", line 1, field version: found nothing, expected 2"),
    ([{"version": 3}], ", line 1, field version: found 3, expected 2"),
    ([HEADER, {"a": 1}], ", line 2: found an object, expected an event [seconds, code, text]"),
    ([HEADER, [1, "o"]], ", line 2: found a list, expected an event [seconds, code, text]"),
    ([HEADER, ["1", "o", "x"]], ", line 2: found a list, expected an event [seconds, code, text]"),
    ([HEADER, [-1, "o", "x"]], ", line 2: found a list, expected an event [seconds, code, text]"),
    ([HEADER, [1, "o", None]], ", line 2: found a list, expected an event [seconds, code, text]"),
    ([HEADER, [1, "o", "$ "]], ": found no record, expected records of claude-code-asciicast"),
    ([HEADER, [1, "o", '{"type":"system"']], ": found no record, expected records of claude-code-asciicast"),
]


@pytest.mark.parametrize(("given_lines", "message"), BAD)
def test_what_is_no_recording_is_refused(tmp_path: Path, given_lines: list[Any], message: str) -> None:
    path = tmp_path / "some.cast"
    path.write_text("".join(json.dumps(line) + "\n" for line in given_lines), encoding="utf-8")
    with pytest.raises(BadTrace) as caught:
        lines(path)
    assert str(caught.value) == f"{path}{message}"


def test_a_line_that_never_closes_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "some.cast"
    with path.open("w", encoding="utf-8") as out:
        out.write(json.dumps(HEADER) + "\n")
        bar = json.dumps([1, "o", "\r" + "#" * 10_000]) + "\n"
        out.writelines(bar for _ in range(500))
        out.write(json.dumps([2, "o", "\r\n" + printed(INIT)]) + "\n")
    tracemalloc.start()
    found = lines(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 1
    assert peak < 500_000
