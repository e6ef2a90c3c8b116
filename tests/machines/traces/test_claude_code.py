"""claude-code's stream of records, with records of our own making."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.traces.bad_trace import BadTrace
from machines.traces.claude_code import read
from machines.traces.lines import (
    CallSpec,
    CondensedLine,
    EndLine,
    Line,
    PlanItem,
    PlanLine,
    RefusalLine,
    ReplyLine,
    ResultLine,
    RunLine,
    Usage,
    UserLine,
    result_error,
)
from machines.traces.loose import digest

Record = dict[str, Any]
Jsonl = Callable[[list[Record]], Path]
Imported = Callable[..., list[Line]]

INIT: Record = {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash", "Write", "Edit", "TodoWrite"]}
NAME = "claude-code-stream-json"


@pytest.fixture
def imported(jsonl: Jsonl, lines_of: Callable[..., list[Line]]) -> Imported:
    """The lines after the run line of records that follow an `init`."""

    def run(*records: Record) -> list[Line]:
        found = lines_of(jsonl([INIT, *records]), NAME)
        assert isinstance(found[0], RunLine)
        return found[1:]

    return run


def said(name: str, *blocks: Record, stop: str | None = "tool_use", parent: str | None = None, **usage: int) -> Record:
    message = {"id": name, "content": list(blocks), "stop_reason": stop, "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent, "session_id": "s"}


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def call(name: str, tool: str = "Bash", **args: Any) -> Record:
    return {"type": "tool_use", "id": name, "name": tool, "input": args}


def answer(name: str, content: Any = "ok", detail: Any = None, at: str | None = None, **flags: Any) -> Record:
    block = {"type": "tool_result", "tool_use_id": name, "content": content, **flags}
    record = {"type": "user", "message": {"role": "user", "content": [block]}, "tool_use_result": detail}
    return {**record, "session_id": "s", **({"timestamp": at} if at else {})}


def ended(**fields: Any) -> Record:
    return {"type": "result", "subtype": "success", "is_error": False, "result": "", "session_id": "s", **fields}


def kinds(lines: list[Line]) -> list[str]:
    return [type(line).__name__.removesuffix("Line").lower() for line in lines]


def test_lines_of_one_message_are_one_reply_with_all_its_calls(imported: Imported) -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, text("look"), call("a", command="ls"), call("b", command="pwd")]
    found = imported(*(said("m", block, input_tokens=7, output_tokens=3) for block in blocks))
    calls = (CallSpec("a", "Bash", '{"command":"ls"}'), CallSpec("b", "Bash", '{"command":"pwd"}'))
    assert found == [ReplyLine("tool_use", calls, "look", "hm", Usage(7, 3, 0))]


def test_an_answer_between_the_lines_of_a_message_does_not_part_it(imported: Imported) -> None:
    found = imported(said("m", call("a")), answer("a"), said("m", call("b")), answer("b"), said("n", text("done")))
    assert kinds(found) == ["reply", "result", "result", "reply"]
    assert [len(line.calls) for line in found if isinstance(line, ReplyLine)] == [2, 0]


def test_messages_without_an_id_are_a_reply_each(imported: Imported) -> None:
    nameless = said("", text("x"))
    assert kinds(imported(nameless, nameless)) == ["reply", "reply"]


def test_tokens_are_counted_once_and_all_that_were_sent(imported: Imported) -> None:
    first = said("m", text("a"), input_tokens=10, cache_read_input_tokens=100, cache_creation_input_tokens=5)
    last = said(
        "m", call("c"), input_tokens=10, cache_read_input_tokens=100, cache_creation_input_tokens=5, output_tokens=9
    )
    reply = imported(first, last)[0]
    assert isinstance(reply, ReplyLine)
    assert reply.usage == Usage(input=115, output=9, cached=100)


def test_a_usage_of_zeros_says_nothing(imported: Imported) -> None:
    reply = imported(said("m", text("a"), input_tokens=0, output_tokens=0))[0]
    assert isinstance(reply, ReplyLine)
    assert reply.usage is None


@pytest.mark.parametrize(
    ("given", "stop"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "length"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("stop_sequence", "stop_sequence"),
        ("model_context_window_exceeded", "context_window"),
        ("something_new", "other"),
    ],
)
def test_stop_reasons_are_translated(imported: Imported, given: str, stop: str) -> None:
    reply = imported(said("m", text("a"), stop=None), said("m", text("b"), stop=given))[0]
    assert isinstance(reply, ReplyLine)
    assert reply.stop == stop


def test_a_reply_without_a_stop_reason_was_whole_where_its_calls_were_run(imported: Imported) -> None:
    run = imported(said("m", call("a"), stop=None), answer("a"), said("n", text("x")))
    cut = imported(said("m", call("a"), stop=None), said("n", call("a")), answer("a"))
    assert [line.stop for line in run if isinstance(line, ReplyLine)] == ["tool_use", "tool_use"]
    assert [line.stop for line in cut if isinstance(line, ReplyLine)] == ["other", "tool_use"]
    assert kinds(cut) == ["reply", "reply", "result"]


def test_the_end_gives_the_last_reply_its_reason(imported: Imported) -> None:
    last = said("m", text("bye"), stop=None)
    for end, stop in (
        (ended(), "end_turn"),
        (ended(stop_reason="max_tokens"), "length"),
        (ended(is_error=True), "other"),
    ):
        reply = imported(last, end)[0]
        assert isinstance(reply, ReplyLine)
        assert reply.stop == stop
    killed = imported(last)
    assert kinds(killed) == ["reply"]


@pytest.mark.parametrize(
    ("last", "end", "kind"),
    [
        (said("m", text("done"), stop="end_turn"), ended(), "final"),
        (said("m", text("done"), stop="end_turn"), ended(subtype="error_max_turns"), None),
        (said("m", text("done"), stop="end_turn"), ended(is_error=True), None),
        (said("m", text(" \n"), stop="end_turn"), ended(), None),
        (said("m", text("now"), call("a")), ended(), None),
    ],
)
def test_a_success_closes_with_the_last_text_that_calls_nothing(
    imported: Imported, last: Record, end: Record, kind: str | None
) -> None:
    earlier = said("k", text("early"), stop="end_turn")
    replies = [line for line in imported(earlier, last, end) if isinstance(line, ReplyLine)]
    assert [reply.kind for reply in replies] == [None, kind]


def test_the_end_has_its_status_its_text_and_the_time_it_took(imported: Imported) -> None:
    assert imported(ended(result="bye", duration_ms=2500)) == [EndLine("success", "bye", 2.5)]
    assert imported(ended(is_error=True, result="API Error")) == [EndLine("error", "API Error")]
    assert imported(ended(subtype="error_max_turns")) == [EndLine("error_max_turns")]


def test_times_count_from_the_first_date(imported: Imported) -> None:
    found = imported(
        said("m", call("a")),
        answer("a", at="2030-01-01T00:00:10Z"),
        said("n", call("b")),
        answer("b", at="2030-01-01T00:00:12.5Z"),
        ended(duration_ms=1000),
    )
    assert [getattr(line, "at", None) for line in found] == [None, 0.0, 0.0, 2.5, 2.5]


def test_only_the_flag_makes_an_error(imported: Imported) -> None:
    good, bad = imported(said("m", call("a"), call("b")), answer("a", "Error: no"), answer("b", "fine", is_error=True))[
        1:
    ]
    assert good == ResultLine("a", "Error: no")
    assert bad == ResultLine("b", "fine", result_error("other"))


def test_a_tool_that_the_run_does_not_have_is_an_unknown_tool(imported: Imported) -> None:
    found = imported(said("m", call("a", "Fly"), call("b")), answer("a", is_error=True), answer("b", is_error=True))
    assert [line.error for line in found if isinstance(line, ResultLine)] == [
        result_error("unknown_tool"),
        result_error("other"),
    ]


def test_the_harness_names_a_validation_error(imported: Imported) -> None:
    found = imported(said("m", call("a")), answer("a", "bad", "InputValidationError: [", is_error=True))
    assert found[1] == ResultLine("a", "bad", result_error("validation"))


def test_content_is_its_text_and_else_what_it_is(imported: Imported) -> None:
    image: list[Record] = [{"type": "image", "source": {}}]
    found = imported(
        said("m", call("a"), call("b"), call("c")),
        answer("a", [text("one"), text("two")]),
        answer("b", image),
        answer("c", []),
    )
    assert [line.value for line in found if isinstance(line, ResultLine)] == ["one\ntwo", image, ""]


def test_a_write_that_succeeded_has_its_target_and_the_state_of_the_file(imported: Imported) -> None:
    write = call("a", "Write", file_path="/f", content="new")
    edit = call("b", "Edit", file_path="/f", old_string="e", new_string="i")
    found = imported(
        said("m", write, edit),
        answer("a", detail={"type": "create", "filePath": "/f", "content": "new"}),
        answer("b", detail={"originalFile": "see", "oldString": "e", "newString": "i", "replaceAll": False}),
    )
    assert found[1:] == [
        ResultLine("a", "ok", state=digest("new"), target="/f", wrote=True),
        ResultLine("b", "ok", state=digest("sie"), target="/f", wrote=True),
    ]


def test_every_place_is_replaced_where_the_edit_says_so(imported: Imported) -> None:
    detail = {"originalFile": "see", "oldString": "e", "newString": "i", "replaceAll": True}
    found = imported(said("m", call("b", "Edit", file_path="/f")), answer("b", detail=detail))
    assert found[1] == ResultLine("b", "ok", state=digest("sii"), target="/f", wrote=True)


def test_a_write_without_a_record_of_the_file_has_no_state(imported: Imported) -> None:
    found = imported(said("m", call("b", "Edit", file_path="/f")), answer("b", detail={"originalFile": None}))
    assert found[1] == ResultLine("b", "ok", target="/f", wrote=True)


def test_a_write_that_failed_wrote_nothing(imported: Imported) -> None:
    found = imported(said("m", call("a", "Write", file_path="/f")), answer("a", "no", is_error=True))
    assert found[1] == ResultLine("a", "no", result_error("other"))


def test_todos_are_the_plan(imported: Imported) -> None:
    todos = [{"content": "a", "status": "completed", "activeForm": "x"}, {"content": "b", "status": "pending"}]
    plan = PlanLine((PlanItem("a", "completed"), PlanItem("b", "pending")))
    details: list[Record | None] = [{"newTodos": todos}, {"newTodos": []}, None]
    for detail in details:
        assert imported(said("m", call("t", "TodoWrite", todos=todos)), answer("t", detail=detail))[2] == plan
    assert imported(said("m", call("t", "TodoWrite", todos=[])), answer("t"))[2] == PlanLine(())


@pytest.mark.parametrize("todos", ["[]", [{"content": "a", "status": "done"}], [{"status": "pending"}], None])
def test_todos_that_are_no_plan_are_none(imported: Imported, todos: Any) -> None:
    assert kinds(imported(said("m", call("t", "TodoWrite", todos=todos)), answer("t"))) == ["reply", "result"]


def test_todos_that_were_refused_are_no_plan(imported: Imported) -> None:
    call_it = said("m", call("t", "TodoWrite", todos=[{"content": "a", "status": "pending"}]))
    assert kinds(imported(call_it, answer("t", is_error=True))) == ["reply", "result"]


def test_a_retry_is_a_refusal_after_the_reply_it_follows(imported: Imported) -> None:
    retry = {"type": "system", "subtype": "api_retry", "attempt": 2, "error_status": 529, "error": "overloaded"}
    cut = {**retry, "error_status": None, "error": "unknown", "retry_delay_ms": 5.5}
    found = imported(said("m", call("a"), stop=None), retry, cut, said("n", text("x")))
    assert found[1:3] == [
        RefusalLine(529, {"error": {"type": "overloaded"}, "attempt": 2}),
        RefusalLine(0, {"error": {"type": "unknown"}, "attempt": 2, "retry_delay_ms": 5.5}),
    ]
    assert kinds(found) == ["reply", "refusal", "refusal", "reply"]
    assert kinds(imported(retry, said("n", text("x")))) == ["refusal", "reply"]


def test_compacting_is_condensing(imported: Imported) -> None:
    sizes = {"trigger": "auto", "pre_tokens": 900, "post_tokens": 200}
    found = imported({"type": "system", "subtype": "compact_boundary", "compact_metadata": sizes})
    assert found == [CondensedLine(700, True)]


def test_the_first_prompt_and_replays_are_a_persons_and_the_rest_is_not(imported: Imported) -> None:
    def wrote(content: Any, **flags: Any) -> Record:
        return {"type": "user", "message": {"content": content}, "session_id": "s", **flags}

    found = imported(
        wrote("do it"),
        said("m", text("ok"), stop="end_turn"),
        wrote([text("hook says"), text("no")]),
        wrote("and more", isReplay=True),
        wrote("for the helper", parent_tool_use_id="a", isReplay=True),
    )
    assert [line for line in found if isinstance(line, UserLine)] == [
        UserLine("do it"),
        UserLine("hook says\nno", synthetic=True),
        UserLine("and more"),
        UserLine("for the helper", synthetic=True),
    ]
    assert imported(wrote("note", isSynthetic=True)) == [UserLine("note", synthetic=True)]


def test_a_sub_agents_replies_name_the_call_that_started_it(imported: Imported) -> None:
    found = imported(
        said("m", call("t", "Task"), stop=None),
        said("x", call("p"), stop=None, parent="t"),
        answer("p"),
        said("y", text("found"), stop=None, parent="t"),
        answer("t"),
        said("n", text("done"), stop=None),
        ended(),
    )
    assert kinds(found) == ["reply", "reply", "result", "reply", "result", "reply", "end"]
    replies = [line for line in found if isinstance(line, ReplyLine)]
    assert [(reply.agent, reply.stop, reply.kind) for reply in replies] == [
        (None, "tool_use", None),
        ("t", "tool_use", None),
        ("t", "other", None),
        (None, "end_turn", "final"),
    ]


def test_blocks_of_two_sub_agents_that_mix_stay_with_their_replies(imported: Imported) -> None:
    found = imported(
        said("m", call("t", "Task"), call("u", "Task")),
        said("x", text("x1"), parent="t"),
        said("y", text("y1"), parent="u"),
        said("x", call("p"), parent="t"),
        answer("p"),
        said("y", call("q"), parent="u"),
        answer("q"),
        answer("t"),
        answer("u"),
    )
    replies = {reply.text: reply for reply in found if isinstance(reply, ReplyLine)}
    assert [len(reply.calls) for reply in replies.values()] == [2, 1, 1]
    assert (replies["x1"].agent, replies["y1"].agent) == ("t", "u")


def test_a_call_whose_id_was_used_before_is_answered_as_the_later_one(imported: Imported) -> None:
    found = imported(
        said("m", call("a", "Write", file_path="/old"), stop=None),
        said("n", call("a", "Write", file_path="/new")),
        answer("a"),
    )
    assert found[2] == ResultLine("a", "ok", target="/new", wrote=True)


def test_arguments_that_are_no_object_are_raw(imported: Imported) -> None:
    block = {"type": "tool_use", "id": "a", "name": "Bash", "input": '{"comm'}
    reply = imported(said("m", block))[0]
    assert isinstance(reply, ReplyLine)
    assert reply.calls == (CallSpec("a", "Bash", '{"comm', raw=True),)


def test_the_manifest_has_the_tools_of_the_run(jsonl: Jsonl) -> None:
    run = next(read(jsonl([{**INIT, "tools": ["Read", "mcp__x__y"]}]))).run
    assert (run.id, run.agent) == ("s", "claude-code")
    assert {name: spec.kind for name, spec in run.tools.items()} == {"Read": "read", "mcp__x__y": "other"}


def test_another_session_and_an_init_after_an_end_are_runs_of_their_own(jsonl: Jsonl) -> None:
    again, other = INIT, {**INIT, "session_id": "z"}
    path = jsonl([INIT, again, said("m", text("a")), ended(), again, said("n", text("b")), other])
    found = [(run.run.id, run.line, kinds([line for _, line in run.lines])) for run in read(path)]
    assert found == [("s", 1, ["reply", "end"]), ("s", 5, ["reply"]), ("z", 7, [])]


def test_a_stream_that_begins_in_the_middle_is_read(tmp_path: Path) -> None:
    path = tmp_path / "middle.txt"
    path.write_text(json.dumps({"type": "assistant", "message": said("m", call("a"))["message"]}), encoding="utf-8")
    run = next(read(path))
    assert run.run.id == "middle"
    assert run.run.tools["Write"].kind == "write"
    assert kinds([line for _, line in run.lines]) == ["reply"]


def test_what_a_terminal_adds_and_kinds_of_record_that_are_not_known_are_passed_over(
    tmp_path: Path, lines_of: Callable[..., list[Line]]
) -> None:
    path = tmp_path / "noise.txt"
    records = [INIT, {"type": "rate_limit_event"}, {"type": "system", "subtype": "status"}, said("m", text("a"))]
    path.write_text("npm notice\n" + "\n".join(map(json.dumps, records)) + "\n[exit]\n", encoding="utf-8")
    assert kinds(lines_of(path)) == ["run", "reply"]


def test_a_record_that_breaks_off_ends_the_recording_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "torn.txt"
    start = json.dumps(INIT) + "\n" + json.dumps(said("m", text("a"))) + "\n"
    path.write_text(start + '{"type": "assis', encoding="utf-8")
    assert [kinds([line for _, line in run.lines]) for run in read(path)] == [["reply"]]
    path.write_text(start + '{"type": "assis\n', encoding="utf-8")
    with pytest.raises(BadTrace, match="line 3: found text that is no JSON"):
        list(read(path))


def test_a_file_without_a_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.txt"
    path.write_text("nothing here\n", encoding="utf-8")
    with pytest.raises(BadTrace, match="found no record"):
        list(read(path))


@pytest.mark.parametrize("levels", [260, 1000, 100_000])
def test_arguments_nested_however_deep_are_read_or_refused(tmp_path: Path, levels: int) -> None:
    path = tmp_path / "deep.txt"
    deep = "[" * levels + "]" * levels
    record = json.dumps(said("m", call("a", x="DEEP"))).replace('"DEEP"', deep)
    path.write_text(json.dumps(INIT) + "\n" + record + "\n", encoding="utf-8")
    try:
        lines = [line for _, line in next(read(path)).lines]
    except BadTrace:
        # How deep Python's own parser goes is up to its version.
        assert levels > 500
    else:
        assert lines == [ReplyLine("tool_use", (CallSpec("a", "Bash", f'{{"x":{deep}}}'),))]


def test_records_of_odd_shapes_do_not_break_the_reading(imported: Imported) -> None:
    odd: list[Record] = [
        {"type": "assistant"},
        {"type": "assistant", "message": []},
        {"type": "assistant", "message": {"id": 5, "content": "hm", "usage": [1]}},
        {"type": "assistant", "message": {"id": "m", "content": [None, 3, {"type": "tool_use"}]}},
        {"type": "user", "message": None},
        {"type": "user", "message": {"content": [{"type": "tool_result"}, None]}},
        {"type": "user", "message": {"content": [{"type": "image"}]}, "timestamp": "soon"},
        {"type": "result"},
        {"type": 4},
    ]
    assert "end" in kinds(imported(*odd))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    with path.open("w", encoding="utf-8") as out:
        out.write(json.dumps(INIT) + "\n")
        for number in range(2000):
            turn = said(f"m{number}", call(f"c{number}", "Write", content="x" * 1000)), answer(f"c{number}")
            # Every second reply is one that broke off, so that its call is never answered.
            out.writelines(json.dumps(record) + "\n" for record in turn[: 1 + number % 2])
    tracemalloc.start()
    try:
        count = sum(isinstance(line, ReplyLine) for run in read(path) for _, line in run.lines)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 2000
    assert peak < 500_000
