"""mini-swe-agent's trajectories of both versions, with messages of our own making."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.traces.bad_trace import BadTrace
from machines.traces.lines import CallSpec, EndLine, Line, ReplyLine, ResultLine, RunLine, Usage, UserLine, result_error
from machines.traces.mini_swe_agent import V1, V2, read_v2

Message = dict[str, Any]
Imported = Callable[..., list[Line]]

TEMPLATES = {
    "timeout_template": "Command <c>{{action}}</c> took too long",
    "format_error_template": "One block please, not {{actions|length}}",
}
TASK: Message = {"role": "user", "content": "fix it"}


@pytest.fixture
def imported(tmp_path: Path, lines_of: Callable[..., list[Line]]) -> Imported:
    def run(version: str, *messages: Message, **info: Any) -> list[Line]:
        path = tmp_path / "some.traj.json"
        record = {"info": {"config": {"agent": TEMPLATES}, **info}, "messages": [{"role": "system"}, TASK, *messages]}
        path.write_text(json.dumps(record), encoding="utf-8")
        found = lines_of(path, version)
        assert isinstance(found[0], RunLine)
        assert found[1] == UserLine("fix it")
        return found[2:]

    return run


def said(content: str | None, calls: list[Message] | None = None, stop: str = "stop", **extra: Any) -> Message:
    response = {"choices": [{"finish_reason": stop}]}
    return {"role": "assistant", "content": content, "tool_calls": calls, "extra": {"response": response, **extra}}


def block(command: str) -> Message:
    return said(f"so\n```bash\n{command}\n```")


def user(content: str, **extra: Any) -> Message:
    return {"role": "user", "content": content, **({"extra": extra} if extra else {})}


def call(name: str, arguments: Any = '{"command": "ls"}') -> Message:
    return {"id": name, "type": "function", "function": {"name": "bash", "arguments": arguments}}


def tool(name: str, content: str = "out", **extra: Any) -> Message:
    return {"role": "tool", "tool_call_id": name, "content": content, "extra": extra}


def exit_(status: str, content: str = "", **extra: Any) -> Message:
    return {"role": "exit", "content": content, "extra": {"exit_status": status, **extra}}


def test_version_1_reads_the_one_block_and_the_next_message_answers_it(imported: Imported) -> None:
    answer = "<returncode>0</returncode>\n<output>\na\n</output>"
    assert imported(V1, block(" ls "), user(answer)) == [
        ReplyLine("tool_use", (CallSpec("call-1", "bash", '{"command":"ls"}'),), "so\n```bash\n ls \n```"),
        ResultLine("call-1", answer),
    ]


@pytest.mark.parametrize("text", ["no block", "```bash\nls\n```\nand\n```bash\npwd\n```"])
def test_no_block_and_two_are_no_call_and_the_harness_says_so(imported: Imported, text: str) -> None:
    found = imported(V1, said(text), user("One block please, not 2"), block("ls"))
    assert found[0] == ReplyLine("end_turn", text=text)
    assert found[1] == UserLine("One block please, not 2", synthetic=True)
    assert isinstance(found[2], ReplyLine)
    assert found[2].calls[0].id == "call-2"


def test_a_block_that_the_harness_did_not_take_stays_unanswered(imported: Imported) -> None:
    found = imported(V1, block("ls"), user("One block please, not 3"))
    assert found[1] == UserLine("One block please, not 3", synthetic=True)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("<returncode>0</returncode>", None),
        ("<returncode>1</returncode>", "other"),
        ("<returncode>-9</returncode>", "other"),
        ("Command <c>ls</c> took too long", "timeout"),
        ("something else, <returncode>1</returncode>", None),
    ],
)
def test_a_return_code_that_is_not_0_is_an_error(imported: Imported, answer: str, kind: str | None) -> None:
    assert imported(V1, block("ls"), user(answer))[1] == ResultLine(
        "call-1", answer, result_error(kind) if kind else None
    )


def test_version_1_that_submitted_closes_with_the_last_reply(imported: Imported) -> None:
    found = imported(
        V1, block("ls"), user("x"), block("submit"), user("diff"), exit_status="Submitted", submission="diff"
    )
    assert [line.kind for line in found if isinstance(line, ReplyLine)] == [None, "final"]
    assert found[-2:] == [ResultLine("call-2", "diff"), EndLine("Submitted", "diff")]


def test_version_1_that_gave_up_says_why_only_at_the_end(imported: Imported) -> None:
    found = imported(V1, block("ls"), user("x"), user("too dear"), exit_status="LimitsExceeded", submission="too dear")
    assert found[1:] == [ResultLine("call-1", "x"), EndLine("LimitsExceeded", "too dear")]
    assert [line.kind for line in found if isinstance(line, ReplyLine)] == [None]


def test_version_1_that_was_killed_has_no_end(imported: Imported) -> None:
    assert [type(line) for line in imported(V1, block("ls"))] == [ReplyLine]


def test_version_2_has_calls_and_answers_by_their_ids(imported: Imported) -> None:
    answers = [tool("b", returncode=0, exception_info=""), tool("a", returncode=2)]
    found = imported(V2, said(None, [call("a"), call("b")], "tool_calls"), *answers)
    calls = (CallSpec("a", "bash", '{"command": "ls"}'), CallSpec("b", "bash", '{"command": "ls"}'))
    assert found == [
        ReplyLine("tool_use", calls),
        ResultLine("b", "out"),
        ResultLine("a", "out", result_error("other")),
    ]


@pytest.mark.parametrize(
    ("arguments", "held"),
    [
        ('{"n": 12345678901234567890123}', CallSpec("a", "bash", '{"n": 12345678901234567890123}')),
        ('{"command": "l', CallSpec("a", "bash", '{"command": "l', raw=True)),
        ("[1]", CallSpec("a", "bash", "[1]", raw=True)),
        ({"command": "ls"}, CallSpec("a", "bash", '{"command":"ls"}')),
    ],
)
def test_arguments_are_the_text_that_was_received(imported: Imported, arguments: Any, held: CallSpec) -> None:
    reply = imported(V2, said("", [call("a", arguments)]))[0]
    assert isinstance(reply, ReplyLine)
    assert reply.calls == (held,)


def test_an_exception_of_the_environment_is_an_error_with_its_message(imported: Imported) -> None:
    cut = tool("a", returncode=-1, exception_info="gone", exception_type="TimeoutExpired")
    other = tool("b", returncode=0, exception_info="broke", exception_type="OSError")
    found = imported(V2, said("", [call("a"), call("b")]), cut, other)
    errors = [line.error for line in found if isinstance(line, ResultLine)]
    assert errors == [result_error("timeout", "gone"), result_error("other", "broke")]


def test_version_2_that_submitted_answers_its_last_call(imported: Imported) -> None:
    messages = [said("", [call("a")]), exit_("Submitted", "diff", submission="diff")]
    found = imported(V2, *messages, exit_status="Submitted")
    assert [line.kind for line in found if isinstance(line, ReplyLine)] == ["final"]
    assert found[1:] == [ResultLine("a", "diff"), EndLine("Submitted", "diff")]


def test_version_2_that_failed_leaves_its_last_call_unanswered(imported: Imported) -> None:
    found = imported(V2, said("", [call("a")]), exit_("Timeout", "gone", submission=""), exit_status="Timeout")
    assert [line.kind for line in found if isinstance(line, ReplyLine)] == [None]
    assert found[1:] == [EndLine("Timeout", "gone")]


def test_a_run_without_a_reply_still_has_its_end(imported: Imported) -> None:
    assert imported(V2, exit_("Timeout", "gone")) == [EndLine("Timeout", "gone")]


def test_text_mode_of_version_2_has_its_actions_as_calls(imported: Imported) -> None:
    reply = said("so", actions=[{"command": "ls"}, {"command": "pwd"}])
    found = imported(V2, reply, user("a", returncode=0), user("b", returncode=1), user("say it again"))
    calls = (CallSpec("call-1-1", "bash", '{"command":"ls"}'), CallSpec("call-1-2", "bash", '{"command":"pwd"}'))
    assert found == [
        ReplyLine("tool_use", calls, "so"),
        ResultLine("call-1-1", "a"),
        ResultLine("call-1-2", "b", result_error("other")),
        UserLine("say it again", synthetic=True),
    ]


def test_times_count_from_the_first_one_recorded(imported: Imported) -> None:
    first, second = said("", [call("a")], timestamp=1000.0), said("", [call("b")], timestamp=1010.0)
    found = imported(V2, first, tool("a", timestamp=1002.5), second, tool("b"), exit_("Submitted"))
    assert [getattr(line, "at", None) for line in found] == [0.0, 2.5, 10.0, 10.0, 10.0]


def test_without_a_time_of_its_own_a_reply_has_that_of_its_response(imported: Imported) -> None:
    replies = [block("ls"), block("pwd")]
    for seconds, reply in zip((500, 507), replies, strict=True):
        reply["extra"]["response"]["created"] = seconds
    found = imported(V1, replies[0], user("x"), replies[1])
    assert [getattr(line, "at", None) for line in found] == [0.0, 0.0, 7.0]


@pytest.mark.parametrize(
    ("finish", "native", "calls", "stop"),
    [
        ("stop", None, False, "end_turn"),
        ("stop", None, True, "tool_use"),
        ("tool_calls", None, True, "tool_use"),
        ("length", None, True, "length"),
        ("content_filter", None, False, "content_filter"),
        ("stop", "MALFORMED_FUNCTION_CALL", False, "malformed_call"),
        ("odd", None, False, "other"),
        (None, None, True, "tool_use"),
    ],
)
def test_finish_reasons_are_translated(
    imported: Imported, finish: str | None, native: str | None, calls: bool, stop: str
) -> None:
    reply = block("ls") if calls else said("so")
    reply["extra"]["response"]["choices"] = [{"finish_reason": finish, "native_finish_reason": native}]
    found = imported(V1, reply)[0]
    assert isinstance(found, ReplyLine)
    assert found.stop == stop


@pytest.mark.parametrize(
    ("usage", "extra", "held"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": 0.5}, {}, Usage(9, 2, None, 0.5)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, {}, Usage(9, None, 4)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 3}, {"cost": 0.0}, Usage(9, None, 3, 0.0)),
        (None, {}, None),
    ],
)
def test_what_a_reply_cost_is_kept(imported: Imported, usage: Any, extra: dict[str, Any], held: Usage | None) -> None:
    reply = said("so", **extra)
    reply["extra"]["response"]["usage"] = usage
    found = imported(V2, reply)[0]
    assert isinstance(found, ReplyLine)
    assert found.usage == held


def test_thoughts_are_kept_apart(imported: Imported) -> None:
    reply = said("so")
    reply["extra"]["response"]["choices"][0]["message"] = {"reasoning": "hm"}
    assert imported(V1, reply)[0] == ReplyLine("end_turn", text="so", thinking="hm")
    assert imported(V2, {**said("so"), "reasoning_content": "hm"})[0] == ReplyLine("end_turn", text="so", thinking="hm")


def test_the_run_is_named_by_its_instance_else_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "some.traj.json"
    path.write_text('{"messages": []}', encoding="utf-8")
    assert next(read_v2(path)).run.id == "some"
    path.write_text('{"messages": [], "instance_id": "i-1"}', encoding="utf-8")
    run = next(read_v2(path)).run
    assert (run.id, run.agent, run.tools["bash"].kind) == ("i-1", "mini-swe-agent", "command")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"info": {}}', "field messages: found no list of messages"),
        ('{"messages": [{}, "x"]}', "field messages[1]: found no object"),
    ],
)
def test_a_document_without_messages_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadTrace) as caught:
        list(read_v2(path))
    assert message in str(caught.value)
