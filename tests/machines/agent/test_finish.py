"""What a reply declares itself to be."""

from __future__ import annotations

import pytest

from machines.agent.finish import declared, not_finished
from machines.agent.wire import CallPart, Completion, Part, TextPart
from machines.events import StopReason

LOOK = CallPart("1", "look", "{}")
GOOD = CallPart("2", "finish", '{"kind": "final", "text": "It is 3."}')
BAD = CallPart("3", "finish", '{"kind": "final"}')


def said(*parts: Part) -> Completion:
    return Completion(StopReason.TOOL_USE, parts)


def test_a_declaration_is_the_message_and_no_call() -> None:
    told = declared(said(TextPart("so: "), GOOD))
    assert (told.text, told.kind, told.calls, told.answered) == ("It is 3.", "final", (), ())
    assert told.parts == (TextPart("so: "), TextPart("It is 3."))


@pytest.mark.parametrize("kind", ["partial", "failure"])
def test_the_text_beside_a_declaration_without_one_is_its_message(kind: str) -> None:
    told = declared(said(TextPart("so far"), CallPart("2", "finish", f'{{"kind": "{kind}", "text": " "}}')))
    assert (told.text, told.kind, told.parts) == ("so far", kind, (TextPart("so far"),))


@pytest.mark.parametrize("finish", [GOOD, BAD])
def test_a_declaration_beside_other_calls_counts_for_nothing_and_is_answered(finish: CallPart) -> None:
    told = declared(said(TextPart("words"), LOOK, finish))
    assert (told.text, told.kind, told.calls) == ("words", None, (LOOK,))
    assert [(call, why.split(":")[0]) for call, why in told.answered] == [(finish.id, "not finished")]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ('{"kind": "final"}', "text"),
        ('{"kind": "done", "text": "x"}', "done"),
        ('{"kind": "final", "text": 1}', "str"),
        ("{", "not finished: "),
        ("[]", "object"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_a_call_of_the_turn(args: str, problem: str) -> None:
    call = CallPart("3", "finish", args)
    told = declared(said(TextPart("words"), call))
    assert (told.text, told.kind, told.calls, told.answered) == ("words", None, (call,), ())
    assert problem in not_finished(call)


def test_of_two_declarations_the_last_has_to_be_readable() -> None:
    assert declared(said(BAD, GOOD)).kind == "final"
    told = declared(said(GOOD, BAD))
    assert (told.kind, told.calls) == (None, (GOOD, BAD))
    assert "call it once" in not_finished(GOOD)
