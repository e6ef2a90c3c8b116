"""Recordings of real agents: nothing is skipped, and what is counted is counted again by other means."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from machines.traces.formats import FORMATS, open_trace, recognise
from machines.traces.lines import EndLine, Line, ReplyLine, ResultLine, RunLine
from machines.traces.neutral import dumps, read

FOREIGN = [name for name in FORMATS if name != "statecraft.trace/1"]


def manifest_of(shared: Path) -> dict[str, list[dict[str, Any]]]:
    """The items of the corpus by their format."""
    items: dict[str, list[dict[str, Any]]] = {}
    for item in json.loads((shared / "corpus" / "manifest.json").read_text(encoding="utf-8"))["items"]:
        items.setdefault(item["format"], []).append(item)
    return items


def files_of(shared: Path, name: str) -> list[Path]:
    paths = [shared / "corpus" / item["path"] for item in manifest_of(shared)[name]]
    assert paths
    return paths


def cases_of(shared: Path) -> list[Path]:
    paths = sorted((shared / "cases").rglob("*.jsonl"))
    assert paths
    return paths


def runs_of(path: Path) -> list[list[Line]]:
    return [[run.run, *(line for _, line in run.lines)] for run in open_trace(path)]


def objects_in(text: str) -> list[dict[str, Any]]:
    """Every object anywhere in a JSON text."""
    found: list[dict[str, Any]] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(dict(pairs))
        return found[-1]

    json.loads(text, object_pairs_hook=keep)
    return found


def shown_in(cast: str) -> str:
    """What a recorded terminal showed, in one text; of a line that holds a record only that."""
    events = [json.loads(line) for line in cast.splitlines()[1:]]
    text = "".join(event[2] for event in events if event[1] == "o").replace("\r", "")
    return "\n".join(line[line.find('{"type":"') :] for line in text.split("\n") if '{"type":"' in line)


def counted_histories(text: str) -> tuple[int, int, int]:
    tasks = [item for item in objects_in(text) if "query" in item]
    actions: list[str] = []
    asked = ended = 0
    for task in tasks:
        history = task.get("turn_history") or {"actions": [step["action"] for step in task["trajectory"]]}
        forced = sum(thought.startswith("EXCEEDED MAX TURNS") for thought in history.get("thoughts", ()))
        made = history["actions"][: len(history["actions"]) - forced]
        actions += made
        blocked = made.count("blocked")
        submitted = sum(action.split(" ")[0] == "submit" for action in made)
        asked += len(made) - blocked - submitted
        ended += "summary" in task or "reward" in task
    return len(actions), asked, ended


def counted(name: str, text: str) -> tuple[int, int, int]:
    """Replies, calls and ends of a file, counted without the importers."""
    if name == "claude-code-asciicast":
        return counted("claude-code-stream-json", shown_in(text))
    if name == "intercode-turn-history":
        return counted_histories(text)
    if name == "react-text-dump":
        asked = len(re.findall(r"^Action \d: (?:Search|Lookup)\[", text, re.MULTILINE))
        closed = len(re.findall(r"^Correct answer: ", text, re.MULTILINE))
        return len(re.findall(r"^Action \d: ", text, re.MULTILINE)), asked, closed
    if name == "claude-code-stream-json":
        replies = set(re.findall(r'"type":"assistant","message":\{"id":"([^"]+)"', text))
        blocks = [item for line in text.splitlines() if line.strip() for item in objects_in(line)]
        calls = [item for item in blocks if item.get("type") == "tool_use" and "input" in item]
        return len(replies), len(calls), text.count('{"type":"result",')
    objects = objects_in(text)
    if name == "tau-bench-openai-messages":
        said = [item for item in objects if item.get("role") == "assistant"]
        called = [item for item in objects if set(item) == {"function", "id", "type"}]
        return len(said), len(called), sum("traj" in item for item in objects)
    if name == "swe-agent-traj":
        steps = [item for item in objects if {"action", "observation", "response"} <= set(item)]
        ends = [item for item in objects if item.get("exit_status")]
        return len(steps), sum(1 for item in steps if item["action"].strip()), len(ends)
    replies_made = [item for item in objects if {"finish_reason", "message"} <= set(item)]
    ends_made = [item for item in objects if item.get("exit_status") and "model_stats" in item]
    if name == "mini-swe-agent-v1":
        refused = len(re.findall(r'"content": "Please always provide EXACTLY ONE action', text))
        return len(replies_made), len(replies_made) - refused, len(ends_made)
    actions = [item for item in objects if set(item) == {"command", "tool_call_id"}]
    return len(replies_made), len(actions), len(ends_made)


@pytest.mark.parametrize("name", FOREIGN)
def test_every_recording_is_recognised(shared: Path, name: str) -> None:
    assert {recognise(path) for path in files_of(shared, name)} == {name}


def test_recordings_of_other_formats_are_not_taken_for_one_of_ours(shared: Path) -> None:
    for name, items in manifest_of(shared).items():
        if name not in FORMATS:
            assert {recognise(shared / "corpus" / item["path"]) for item in items} == {None}


@pytest.mark.parametrize("name", FOREIGN)
def test_no_run_is_skipped(shared: Path, name: str) -> None:
    for item in manifest_of(shared)[name]:
        path = shared / "corpus" / item["path"]
        # A person's sessions count as no runs of a model there; they are read all the same.
        human = item.get("model") == "human"
        expected = len(json.loads(path.read_text(encoding="utf-8"))) if human else item["runs"]
        assert len(runs_of(path)) == expected, path


def ended(label: dict[str, Any]) -> str:
    """How a run with this label says that it ended."""
    if "outcome" in label:
        return str(label["outcome"])
    return f"reward {json.dumps(label['reward'] if 'reward' in label else label['max_reward'])}"


@pytest.mark.parametrize("name", ["intercode-turn-history", "react-text-dump", "tau-bench-openai-messages"])
def test_each_run_has_the_name_and_the_end_that_its_label_has(shared: Path, name: str) -> None:
    labels: dict[str, dict[str, str]] = {}
    with (shared / "corpus" / "runs.jsonl").open(encoding="utf-8") as lines:
        for record in (record for record in map(json.loads, lines) if record["format"] == name):
            labels.setdefault(record["file"], {})[record["run"]] = ended(record["label"])
    for item in manifest_of(shared)[name]:
        if item["runs"]:
            found: dict[str, str] = {}
            for run, *lines_after in runs_of(shared / "corpus" / item["path"]):
                assert isinstance(run, RunLine)
                found.update((run.id, line.status) for line in lines_after if isinstance(line, EndLine))
            assert found == labels[item["id"]], item["path"]


@pytest.mark.parametrize("name", FOREIGN)
def test_replies_calls_and_ends_are_as_many_as_another_count_finds(shared: Path, name: str) -> None:
    for path in files_of(shared, name):
        lines = [line for run in runs_of(path) for line in run]
        replies = [line for line in lines if isinstance(line, ReplyLine)]
        ends = sum(isinstance(line, EndLine) for line in lines)
        found = (len(replies), sum(len(reply.calls) for reply in replies), ends)
        assert found == counted(name, path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("name", FOREIGN)
def test_every_result_answers_a_call_that_was_made_before(shared: Path, name: str) -> None:
    for path in files_of(shared, name):
        for run in runs_of(path):
            open_calls: Counter[str] = Counter()
            for line in run:
                if isinstance(line, ReplyLine):
                    open_calls.update(call.id for call in line.calls)
                elif isinstance(line, ResultLine):
                    assert open_calls[line.call] > 0, (path, line.call)
                    open_calls[line.call] -= 1


@pytest.mark.parametrize("name", FOREIGN)
def test_arguments_that_are_not_raw_are_objects(shared: Path, name: str) -> None:
    for path in files_of(shared, name):
        for line in (line for run in runs_of(path) for line in run):
            for call in line.calls if isinstance(line, ReplyLine) else ():
                assert call.raw or isinstance(json.loads(call.args), dict)


def rising(times: Iterator[float | None]) -> bool:
    known = [at for at in times if at is not None]
    return known == sorted(known) and all(at >= 0 for at in known)


@pytest.mark.parametrize("name", FOREIGN)
def test_times_never_fall(shared: Path, name: str) -> None:
    for path in files_of(shared, name):
        for run in runs_of(path):
            assert rising(getattr(line, "at", None) for line in run)


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_imported_can_be_written_as_a_neutral_trace_and_read_again(
    shared: Path, tmp_path: Path, name: str
) -> None:
    written = tmp_path / "neutral.jsonl"
    for path in files_of(shared, name):
        runs = runs_of(path)
        written.write_bytes(b"".join(dumps(line) + b"\n" for run in runs for line in run))
        again = [[run.run, *(line for _, line in run.lines)] for run in read(written)]
        assert [list(map(compared, run)) for run in again] == [list(map(compared, run)) for run in runs]


def compared(line: Line) -> Any:
    """A line, with arguments by what they say: the white space of received text is not read again."""
    if not isinstance(line, ReplyLine):
        return line
    calls = [(call.id, call.tool, call.args if call.raw else json.loads(call.args)) for call in line.calls]
    return line.stop, calls, line.text, line.thinking, line.usage, line.kind, line.agent, line.at


def test_every_case_is_read_with_all_its_lines(shared: Path) -> None:
    for path in cases_of(shared):
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        lines = [line for run in runs_of(path) for line in run]
        replies = [line for line in lines if isinstance(line, ReplyLine)]
        assert len(replies) == sum(record["t"] == "reply" for record in records), path
        assert sum(len(reply.calls) for reply in replies) == sum(len(record.get("calls", [])) for record in records)
        kept = [line for line in lines if type(line).__name__ != "ChunkLine"]
        assert len(kept) == sum(record["t"] != "chunk" for record in records), path
        assert sum(isinstance(line, RunLine) for line in lines) == sum(record["t"] == "run" for record in records)
