"""Transcripts of ReAct, with questions of our own making."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from machines.traces.bad_trace import BadTrace
from machines.traces.lines import UNSEEN, CallSpec, EndLine, Line, ReplyLine, ResultLine, RunLine, UserLine
from machines.traces.react import NAME, read
from machines.traces.tools import REACT

HALTED = "------------- BEGIN HALTED AGENTS --------------\n\n"
CORRECT = "------------- BEGIN CORRECT AGENTS -------------\n\n"
INCORRECT = "------------- BEGIN INCORRECT AGENTS -----------\n\n"
RIGHT = "Correct answer: 42\n\n"
SEARCH = "Thought 1: look\nAction 1: Search[a b]\nObservation 1: seen\n"


def headed(trial: int) -> str:
    bar = "#" * 40
    return f"\n{bar}\nBEGIN TRIAL {trial}\nTrial summary: Correct: 1, Incorrect: 1, Halted: 1\n{bar}\n"


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "some.txt"
        path.write_bytes(text.encode())
        return path

    return write


@pytest.fixture
def imported(file: Callable[[str], Path], lines_of: Callable[..., list[Line]]) -> Callable[[str], list[Line]]:
    """The lines of one halted run, its question and its turns given as text, without the first."""
    return lambda text: lines_of(file(headed(1) + HALTED + text), NAME)[1:]


def searched(count: int = 1, seen: str = "seen", thought: str = "look") -> list[Line]:
    call = CallSpec(f"action-{count}", "Search", '{"entity":"a b"}')
    return [ReplyLine("tool_use", (call,), thought), ResultLine(call.id, seen)]


def test_runs_are_named_after_their_trial_their_section_and_their_place(file: Callable[[str], Path]) -> None:
    one = "Question: q\n" + SEARCH + RIGHT
    path = file(headed(1) + CORRECT + one + one + INCORRECT + one + headed(2) + CORRECT + HALTED + one)
    names = ["t1.CORRECT.0", "t1.CORRECT.1", "t1.INCORRECT.0", "t2.HALTED.0"]
    assert [run.run for run in read(path)] == [RunLine(name, tools=dict(REACT)) for name in names]
    ends = [line for run in read(path) for _, line in run.lines if isinstance(line, EndLine)]
    assert [end.status for end in ends] == ["CORRECT", "CORRECT", "INCORRECT", "HALTED"]


def test_a_turn_is_a_reply_with_one_call_and_its_result(imported: Callable[[str], list[Line]]) -> None:
    lookup = "Thought 2: \nAction 2: Lookup[x[1]]\nObservation 2: No Results\n"
    assert imported("Question: q \n" + SEARCH + lookup + RIGHT) == [
        UserLine("q"),
        *searched(),
        ReplyLine("tool_use", (CallSpec("action-2", "Lookup", '{"keyword":"x[1]"}'),)),
        ResultLine("action-2", "No Results"),
        EndLine("HALTED"),
    ]


def test_what_was_not_found_is_no_error(imported: Callable[[str], list[Line]]) -> None:
    found = imported("Question: q\n" + SEARCH.replace("seen", "Could not find [a b]. Similar: []") + RIGHT)
    assert found[2] == ResultLine("action-1", "Could not find [a b]. Similar: []")
    assert REACT["Search"].fruitless == ()


def test_finish_declares_the_answer_and_what_follows_is_its_judgement(imported: Callable[[str], list[Line]]) -> None:
    end = "Thought 2: so\nAction 2: Finish[no]\nObservation 2: Answer is INCORRECT\n"
    assert imported("Question: q\n" + SEARCH + end + RIGHT) == [
        UserLine("q"),
        *searched(),
        ReplyLine("end_turn", text="so\nno", kind="final"),
        EndLine("HALTED", "Answer is INCORRECT"),
    ]


def test_finish_before_the_last_turn_ended_nothing(imported: Callable[[str], list[Line]]) -> None:
    end = "Action 1: Finish[no]\nObservation 1: go on\nThought 2: look\nAction 2: Search[a b]\nObservation 2: seen\n"
    assert imported("Question: q\n" + end + RIGHT) == [
        UserLine("q"),
        ReplyLine("other", text="Finish[no]"),
        UserLine("go on", synthetic=True),
        *searched(2),
        EndLine("HALTED"),
    ]


@pytest.mark.parametrize("action", ["Search it", "Search[it", "Read[it]", ""])
def test_an_action_of_no_tool_calls_nothing(imported: Callable[[str], list[Line]], action: str) -> None:
    found = imported(f"Question: q\nThought 1: hm\nAction 1: {action}\nObservation 1: Invalid Action\n" + RIGHT)
    said = ReplyLine("other", text=f"hm\n{action}".strip())
    assert found == [UserLine("q"), said, UserLine("Invalid Action", synthetic=True), EndLine("HALTED")]


def test_a_text_goes_on_until_the_next_part_of_the_run(imported: Callable[[str], list[Line]]) -> None:
    huge = f"Thought {'9' * 5_000}: z"
    seen = f"one\n\nThought 1: not ours\nThought 3: nor this\nAction 1: x\n{huge}\nObservation 2: y\nQuestion: z\ntwo"
    text = f"Question: q\nmore\nThought 1: look\nhard\nAction 1: Search[a b]\nObservation 1: {seen}\n"
    found = imported(text + "Thought 2: look\nAction 2: Search[a b]\nObservation 2: seen\n" + RIGHT)
    assert found == [
        UserLine("q\nmore"),
        *searched(1, seen, "look\nhard"),
        *searched(2),
        EndLine("HALTED"),
    ]


def test_an_observation_that_is_not_there_was_not_seen(imported: Callable[[str], list[Line]]) -> None:
    found = imported("Question: q\nAction 1: Search[a b]\nAction 2: Search[a b]\nObservation 2:\n" + RIGHT)
    assert [line.value for line in found if isinstance(line, ResultLine)] == [UNSEEN, ""]


@pytest.mark.parametrize("rest", ["", "\n", "\nQuestion: r\n" + SEARCH + RIGHT, CORRECT, headed(2)])
def test_a_run_that_breaks_off_has_no_end(file: Callable[[str], Path], rest: str) -> None:
    run = next(read(file(headed(1) + HALTED + "Question: q\n" + SEARCH.replace("seen", "se") + rest)))
    lines = [line for _, line in run.lines]
    assert [type(line) for line in lines] == [UserLine, ReplyLine, ResultLine]


def test_a_thought_at_which_a_file_breaks_off_is_a_reply(imported: Callable[[str], list[Line]]) -> None:
    assert imported("Question: q\nThought 1: lo") == [UserLine("q"), ReplyLine("other", text="lo")]


def test_lines_have_the_number_of_their_turn(file: Callable[[str], Path]) -> None:
    run = next(read(file("\ufeff" + HALTED + "Question: q\r\n" + SEARCH.replace("\n", "\r\n") + RIGHT)))
    assert run.line == 3
    assert list(run.lines) == [(3, UserLine("q")), *((4, line) for line in searched()), (3, EndLine("HALTED"))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Question: q\n" + SEARCH, ", line 1: found a question outside every section, expected a heading before it"),
        (headed(1) + HALTED + headed(2) + "\nQuestion: q\n", "found a question outside every section"),
        (HALTED + "Question: q\nObservation 1: x\n", "line 4: found Observation 1, expected Action 1 before it"),
        (HALTED + "Question: q\nThought 1: x\nObservation 1: x\n", "line 5: found Observation 1, expected Action 1"),
        (HALTED, ": found no question, expected the transcripts of a ReAct agent"),
        ("", ": found no question, expected the transcripts of a ReAct agent"),
    ],
)
def test_what_is_no_transcript_is_refused(file: Callable[[str], Path], text: str, message: str) -> None:
    with pytest.raises(BadTrace) as caught:
        list(read(file(text)))
    assert message in str(caught.value)


def test_text_that_is_not_utf_8_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(HALTED.encode() + b"Question: \xff\n")
    with pytest.raises(BadTrace, match="line 3: found bytes that are not UTF-8, at byte 11, expected text"):
        list(read(path))
