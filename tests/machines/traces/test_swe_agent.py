"""SWE-agent's trajectories, with steps of our own making."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.traces.bad_trace import BadTrace
from machines.traces.lines import (
    UNSEEN,
    CallSpec,
    EndLine,
    Line,
    ReplyLine,
    ResultLine,
    RunLine,
    UserLine,
    result_error,
)
from machines.traces.swe_agent import read

Step = dict[str, Any]
Imported = Callable[..., list[Line]]


@pytest.fixture
def imported(tmp_path: Path, lines_of: Callable[..., list[Line]]) -> Imported:
    def run(*steps: Step, **top: Any) -> list[Line]:
        path = tmp_path / "some.traj"
        path.write_text(json.dumps({"trajectory": list(steps), "info": {}, **top}), encoding="utf-8")
        return lines_of(path, "swe-agent-traj")

    return run


def step(action: str, observation: Any = "out", state: Any = None, **more: Any) -> Step:
    return {"action": action, "observation": observation, "response": "", "thought": "", "state": state, **more}


def before(opened: str) -> str:
    return json.dumps({"open_file": opened, "working_dir": "/"}) + "\n"


def after(opened: str) -> dict[str, str]:
    return {"working_dir": "/", "open_file": opened}


def results(lines: list[Line]) -> list[ResultLine]:
    return [line for line in lines if isinstance(line, ResultLine)]


def test_a_step_is_a_reply_with_one_call_and_its_result(imported: Imported) -> None:
    found = imported(step("ls -F a\n", thought="look\n", response="look ls"), step("edit\nx\nend", response="say"))
    assert found[1:] == [
        ReplyLine("tool_use", (CallSpec("step-1", "ls", '{"text":"-F a"}'),), "look"),
        ResultLine("step-1", "out"),
        ReplyLine("tool_use", (CallSpec("step-2", "edit", '{"text":"x\\nend"}'),), "say"),
        ResultLine("step-2", "out"),
    ]


def test_a_call_without_arguments_has_none(imported: Imported) -> None:
    reply = imported(step("submit"))[1]
    assert isinstance(reply, ReplyLine)
    assert reply.calls == (CallSpec("step-1", "submit", "{}"),)


def test_a_step_without_an_action_calls_nothing(imported: Imported) -> None:
    found = imported(step(" \n", "say it again", thought="hm"), step("", None))
    assert found[1:] == [ReplyLine("other", text="hm"), UserLine("say it again", synthetic=True), ReplyLine("other")]


def test_an_observation_that_is_not_there_was_not_seen(imported: Imported) -> None:
    assert [result.value for result in results(imported(step("ls", None), step("ls", "")))] == [UNSEEN, ""]


def test_the_task_is_the_first_message_that_is_no_demonstration(imported: Imported) -> None:
    history = [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "like so", "is_demo": True},
        {"role": "user", "content": [{"type": "text", "text": "fix it"}]},
        {"role": "user", "content": "out"},
    ]
    assert imported(history=history)[1:] == [UserLine("fix it")]


@pytest.mark.parametrize(
    ("last", "status", "kind"),
    [
        ("submit", "submitted", "final"),
        ("submit now", "submitted", "final"),
        ("ls", "submitted (exit_cost)", None),
        ("submit", "exit_cost", None),
        ("submit", None, None),
    ],
)
def test_the_last_reply_is_final_where_it_submits_and_the_harness_took_it(
    imported: Imported, last: str, status: str | None, kind: str | None
) -> None:
    found = imported(step("submit"), step(last), info={"exit_status": status, "submission": "diff"})
    assert [line.kind for line in found if isinstance(line, ReplyLine)] == [None, kind]
    assert [line for line in found if isinstance(line, EndLine)] == ([EndLine(status, "diff")] if status else [])


def test_a_state_before_the_action_is_the_state_after_the_step_before(imported: Imported) -> None:
    old = results(
        imported(step("open a", state=before("n/a")), step("ls", state=before("a")), step("ls", state=before("a")))
    )
    new = results(
        imported(step("open a", state=after("a")), step("ls", state=after("a")), step("ls", state=after("b")))
    )
    assert [result.state for result in old] == [new[0].state, new[1].state, None]
    assert new[0].state == new[1].state
    assert new[2].state not in (None, new[0].state)


def test_a_state_that_is_no_json_is_told_by_its_text(imported: Imported) -> None:
    found = results(imported(step("ls"), step("ls", state="odd"), step("ls", state="odd "), step("ls", state="even")))
    assert found[0].state == found[1].state != found[2].state


@pytest.mark.parametrize(
    ("action", "observation", "target"),
    [
        ("create new.py", "[File: /new.py (1 lines total)]\n1:", "new.py"),
        ("edit 1:1\nx\nend_of_edit", "[File: /f (2 lines total)]", None),
        ("edit 'a' 'b'", "Text replaced. Please review", None),
        ("insert 'a' 1", "[File: /f", None),
        ("str_replace_editor create /g --file_text 'x'", "File created successfully at: /g", "/g"),
        ("str_replace_editor str_replace /g --old_str 'x'", "The file /g has been edited.", "/g"),
    ],
)
def test_a_write_that_succeeded_has_its_target(
    imported: Imported, action: str, observation: str, target: str | None
) -> None:
    result = results(imported(step(action, observation)))[0]
    assert (result.wrote, result.target, result.error) == (True, target, None)


def test_the_file_that_is_open_is_what_an_edit_touches(imported: Imported) -> None:
    shown = "[File: /f"
    old = results(
        imported(
            step("create f", shown, before("n/a")), step("edit 1:1", shown, before("/f")), step("ls", "", before("/f"))
        )
    )
    new = results(imported(step("create f", shown, after("/f"))))
    assert [result.target for result in old] == ["/f", "/f", None]
    assert new[0].target == "/f"


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        ("edit 1:1", "No file open."),
        ("create f", "Error: File 'f' already exists."),
        ("open f", "[File: /f"),
        ("str_replace_editor view /f", "The file /f"),
        ("cat f", "File updated. "),
    ],
)
def test_what_wrote_nothing_is_no_write(imported: Imported, action: str, observation: str) -> None:
    result = results(imported(step(action, observation)))[0]
    assert (result.wrote, result.target, result.error) == (False, None, None)


def test_a_write_that_shows_another_file_has_another_state(imported: Imported) -> None:
    one, two, again = (
        results(imported(step("edit", f"[File: /f\n1:{held}", after("/f"))))[0].state for held in ("a", "b", "a")
    )
    assert one == again != two


def test_a_refused_edit_and_a_command_that_was_cut_off_are_errors(imported: Imported) -> None:
    refused = "Your proposed edit has introduced new syntax error(s). Please understand the fixes"
    found = results(imported(step("edit 1:1", refused), step("./run", "\nEXECUTION TIMED OUT")))
    assert [result.error for result in found] == [result_error("validation"), result_error("timeout")]
    assert not found[0].wrote


def test_the_manifest_has_every_word_that_was_called(imported: Imported) -> None:
    run = imported(step("open f"), step("edit 1:1"), step("find_file f"), step("python x.py"), step(""))[0]
    assert isinstance(run, RunLine)
    assert {name: spec.kind for name, spec in run.tools.items()} == {
        "edit": "write",
        "find_file": "search",
        "open": "read",
        "python": "command",
    }
    assert run.id == "some"


NO_STEPS: list[tuple[dict[str, Any], str]] = [
    ({"trajectory": {}}, "field trajectory: found no list of steps, expected a list"),
    ({"trajectory": [{}, 1]}, "field trajectory[1]: found no object, expected a step"),
]


@pytest.mark.parametrize(("top", "message"), NO_STEPS)
def test_a_document_without_steps_is_refused(tmp_path: Path, top: dict[str, Any], message: str) -> None:
    path = tmp_path / "bad.traj"
    path.write_text(json.dumps(top), encoding="utf-8")
    with pytest.raises(BadTrace) as caught:
        list(read(path))
    assert str(caught.value) == f"{path}, {message}"


@pytest.mark.parametrize(
    ("data", "found"),
    [(b"", "an empty file"), (b"[1]", "JSON that is no object"), (b'{"trajectory": [', "text that is no JSON")],
)
def test_a_file_that_is_no_document_is_refused(tmp_path: Path, data: bytes, found: str) -> None:
    path = tmp_path / "bad.traj"
    path.write_bytes(data)
    with pytest.raises(BadTrace, match=found):
        list(read(path))


def test_a_call_nested_too_deeply_is_an_error_and_no_crash(imported: Imported) -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    assert results(imported(step("ls", deep)))[0].value == deep
