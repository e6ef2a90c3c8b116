from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.traces.bad_trace import BadTrace
from machines.traces.formats import FORMATS, open_trace, recognise
from machines.traces.head import head_of
from machines.traces.lines import FORMAT, RunLine, UserLine
from machines.traces.neutral import dumps

BIG = "x" * 200_000
SYSTEM: dict[str, Any] = {"type": "system", "subtype": "init", "session_id": "s"}
INFO: dict[str, Any] = {"exit_status": "Submitted", "submission": BIG}

TRIAL: dict[str, Any] = {"task_id": 0, "reward": 1.0, "info": {}, "traj": []}
TASK: dict[str, Any] = {"environment": "ic_bash", "query": "q", "turn_history": {"actions": []}}
HEADING = "------------- BEGIN HALTED AGENTS -----------\n"
CAST = '{"version": 2, "width": 80, "height": 24}\n'

KNOWN: list[tuple[str | None, str]] = [
    (FORMAT, dumps(RunLine("r")).decode()),
    (FORMAT, '\ufeff\r\n{"t": "user", "text": "x"}'),
    (FORMAT, json.dumps({"text": BIG[:100], "t": "run"})),
    ("claude-code-stream-json", json.dumps(SYSTEM)),
    ("claude-code-stream-json", "npm notice\n\n" + json.dumps(SYSTEM) + "\n"),
    ("claude-code-stream-json", json.dumps({"type": "assistant", "message": {"content": [{"text": BIG}]}})),
    ("claude-code-stream-json", json.dumps({"type": "user", "message": {}})),
    ("swe-agent-traj", json.dumps({"environment": "e", "trajectory": [{"action": BIG}]}, indent=2)),
    ("swe-agent-traj", json.dumps({"trajectory": [], "history": []})),
    ("mini-swe-agent-v1", json.dumps({"info": {"mini_version": "1.15.0"}, "messages": []}, indent=2)),
    ("mini-swe-agent-v2", json.dumps({"info": {"mini_version": "2.2.7"}, "messages": []}, indent=2)),
    ("mini-swe-agent-v1", json.dumps({"info": INFO, "messages": [], "trajectory_format": "mini-swe-agent-1"})),
    ("mini-swe-agent-v2", json.dumps({"info": INFO, "messages": [], "trajectory_format": "mini-swe-agent-1.1"})),
    ("mini-swe-agent-v1", json.dumps({"info": INFO, "messages": []})),
    ("claude-code-asciicast", CAST + '[0.1, "o", "x"]'),
    ("claude-code-asciicast", CAST + '[1e-05, "i", "x"]\n' + BIG),
    ("tau-bench-openai-messages", json.dumps([TRIAL])),
    ("tau-bench-openai-messages", json.dumps([TRIAL], indent=2)),
    ("tau-bench-openai-messages", json.dumps([{**TRIAL, "info": BIG}])),
    ("intercode-turn-history", json.dumps({"0": TASK}, indent=2)),
    ("intercode-turn-history", json.dumps({"a.b": {**TASK, "turn_history": BIG}})),
    ("react-text-dump", "\n###\nBEGIN TRIAL 1\n" + HEADING + "\nQuestion: q\n" + BIG),
    ("react-text-dump", HEADING),
    (None, CAST),
    (None, CAST.replace("2", "3") + '[0.1, "o", "x"]'),
    (None, CAST + '{"a": 1}'),
    (None, json.dumps(TRIAL)),
    (None, json.dumps([{"task_id": 0}])),
    (None, json.dumps([{"reward": 0, "traj": []}])),
    (None, json.dumps({"0": {**TASK, "environment": 1}})),
    (None, json.dumps({"0": {"environment": "e"}})),
    (None, json.dumps({"text": HEADING})),
    (None, "BEGIN HALTED AGENTS"),
    (None, "x " + HEADING),
    (None, ""),
    (None, "\n\n"),
    (None, "hello"),
    (None, "[]"),
    (None, '[{"t": "run"}]'),
    (None, '{"a": 1}'),
    (None, '{"t": 1}'),
    (None, '{"a": {"t": "run"}}'),
    (None, '{"type": "message", "message": {}}'),
    (None, '{"type": "user"}'),
    (None, '{"trajectory": {}}'),
    (None, '{"info": {}, "messages": []}'),
    (None, '{"version": 2, "width": 80}\n[0.1, "o", "{\\"type\\":\\"system\\"}"]'),
    (None, '{"a": "}{\\"t\\": \\"run\\"'),
]


@pytest.mark.parametrize(("name", "text"), KNOWN)
def test_a_file_is_recognised_by_what_is_in_it(tmp_path: Path, name: str | None, text: str) -> None:
    path = tmp_path / "anything.dat"
    path.write_text(text, encoding="utf-8")
    assert recognise(path) == name


@pytest.mark.parametrize("name", ["x.jsonl", "x.traj", "x.traj.json", "x.txt", "x"])
def test_the_name_of_a_file_says_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(dumps(RunLine("r")))
    assert recognise(path) == FORMAT


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "ignore")))
def test_recognising_takes_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.dat"
    path.write_bytes(data)
    assert recognise(path) in (None, *FORMATS)


@given(st.text('{}[]:," \\ab1\n', max_size=60))
def test_recognising_takes_any_text_that_looks_like_json(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.dat"
    path.write_text("{" + text, encoding="utf-8")
    head_of(path)


def test_only_the_head_and_the_tail_are_read(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text("{" + '"a": [' * 100_000, encoding="utf-8")
    assert recognise(path) is None


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "an empty file"),
        (b'{"colour": 1, "size": 2}', "JSON with the keys colour, size"),
        (b'[{"colour": 1}, 2]', "a JSON list of objects with the keys colour"),
        (b"[1, 2]", "text that begins with '[1, 2]'"),
        (b"once upon\na time", "text that begins with 'once upon"),
        (b"\x1f\x8b\0\0", "binary data"),
    ],
)
def test_what_is_not_recognised_is_refused_with_the_formats_that_are(tmp_path: Path, data: bytes, found: str) -> None:
    path = tmp_path / "odd"
    path.write_bytes(data)
    with pytest.raises(BadTrace) as caught:
        open_trace(path)
    assert caught.value.found.startswith(found)
    assert caught.value.expected == f"one of the formats {', '.join(FORMATS)}"
    assert "\n" not in str(caught.value)


def test_a_format_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="found the format name neutral, expected one of statecraft"):
        open_trace(tmp_path / "x", "neutral")


def test_a_format_that_is_named_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(dumps(RunLine("r")))
    with pytest.raises(BadTrace, match="found no list of steps"):
        list(open_trace(path, "swe-agent-traj"))


def test_a_folder_and_a_missing_file_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="found a folder, expected a file"):
        open_trace(tmp_path)
    with pytest.raises(BadTrace, match="found no such file"):
        open_trace(tmp_path / "absent")


def test_a_run_has_its_file_its_format_and_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(dumps(RunLine("r")) + b"\n" + dumps(UserLine("hi")))
    run = next(open_trace(path))
    assert (run.file, run.format, run.run, run.line) == (str(path), FORMAT, RunLine("r"), 1)
    assert list(run.lines) == [(2, UserLine("hi"))]
