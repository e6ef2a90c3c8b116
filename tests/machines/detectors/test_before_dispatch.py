"""What no answer could change is judged before any call of the reply is run."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.commands import AnswerCalls, Ask, RunCalls
from machines.events import ErrorKind
from machines.manifest import Kind, Tool
from machines.policy import DEFAULT, Plain, only

from .incidents import THINKS, missing, refused, thought, work
from .told import Answered, Call, Told, told

REFUSED = refused(0)
BLANK = ["{}", '{"idea": ""}', '{"idea": "  \\n"}', '{"idea": null}', '{"idea": [], "next": {}}']


def found(history: list[Any], **more: Any) -> list[Told]:
    return told(history, tools=THINKS, **more)


def held(one: Told) -> tuple[int, str, str, bool]:
    return (*one.short, one.held)


STOPPED = (3, "stop", "validation_error", True)
EMPTY = (2, "stop", "empty_thought", True)


def test_the_third_refused_call_is_not_run() -> None:
    assert found([REFUSED] * 2) == []
    assert list(map(held, found([REFUSED] * 3))) == [STOPPED]


def test_other_arguments_are_another_call_and_the_same_in_another_spelling_are_not() -> None:
    tried = [[("book", f'{{"seat": {n}}}', Answered("no such seat", ErrorKind.VALIDATION))] for n in range(3)]
    assert found(tried) == []
    spelled = ['{"seat": 1, "row": 2}', '{ "row": 2.0, "seat": 1 }', '{"row":2,"seat":1e0}']
    same = [[("book", args, Answered("no such seat", ErrorKind.VALIDATION))] for args in spelled]
    assert list(map(held, found(same))) == [STOPPED]


def test_a_tool_that_is_not_there_counts_whatever_its_arguments() -> None:
    assert found([missing(n) for n in range(2)]) == []
    assert list(map(held, found([missing(n) for n in range(3)]))) == [STOPPED]
    other = [("elsewhere", "{}", ErrorKind.UNKNOWN_TOOL)]
    assert found([missing(0), other, missing(1), other], detectors=only(DEFAULT.detectors, "validation_error")) == []


@pytest.mark.parametrize(
    "kind", [kind for kind in ErrorKind if kind not in (ErrorKind.VALIDATION, ErrorKind.UNKNOWN_TOOL)]
)
def test_an_error_of_another_kind_is_worth_another_try(kind: ErrorKind) -> None:
    tried: list[list[Call]] = [[("book", "{}", Answered("it failed", kind))]] * 6
    assert found(tried, detectors=only(DEFAULT.detectors, "validation_error")) == []


def test_the_whole_batch_is_held_where_all_of_it_was_refused_before() -> None:
    (stop,) = found([REFUSED, REFUSED * 2])
    assert held(stop) == (2, "stop", "validation_error", True)
    (answers,) = [command for command in stop.commands if isinstance(command, AnswerCalls)]
    assert len(answers.calls) == 2
    assert Ask(final=True) in stop.commands
    assert not any(isinstance(command, RunCalls) for command in stop.commands)


def test_a_batch_with_one_other_call_is_not_held() -> None:
    assert found([REFUSED, REFUSED, REFUSED + work(0)]) == []
    # What else came of it has ended the streak.
    assert found([REFUSED, REFUSED, work(0) + REFUSED, REFUSED, REFUSED]) == []
    assert list(map(held, found([REFUSED, REFUSED, work(0) + REFUSED, *[REFUSED] * 3]))) == [(6, *STOPPED[1:])]


def test_three_at_once_are_judged_on_their_answers() -> None:
    """Nothing was refused before, so that nobody knows; the answers show it."""
    assert list(map(held, found([REFUSED * 3]))) == [(1, "stop", "validation_error", False)]


def test_another_call_between_ends_the_streak_and_words_do_not() -> None:
    good: list[Call] = [("book", '{"seat": "3a"}', "booked")]
    assert found([REFUSED, REFUSED, good, REFUSED, REFUSED]) == []
    assert list(map(held, found([REFUSED, [], REFUSED, REFUSED]))) == [(4, *STOPPED[1:])]


# Empty thoughts.


@pytest.mark.parametrize("args", BLANK)
def test_the_second_empty_thought_is_not_run(args: str) -> None:
    assert found([thought("{}")]) == []
    assert list(map(held, found([thought("{}"), thought(args)]))) == [EMPTY]
    assert list(map(held, found([thought(args), thought("{}")]))) == [EMPTY]


@pytest.mark.parametrize("args", ['{"idea": "so"}', '{"idea": "", "next": "so"}', '{"idea": 0}', '{"idea": false}'])
def test_a_thought_with_anything_in_it_is_none(args: str) -> None:
    alone = only(DEFAULT.detectors, "empty_thought")
    assert found([thought("{}"), thought(args), thought("{}")], detectors=alone) == []


def test_only_a_tool_that_says_that_it_thinks_is_judged() -> None:
    for kind in Kind:
        stopped = told([thought("{}")] * 2, tools={"ponder": Tool(kind=kind)})
        assert list(map(held, stopped)) == ([EMPTY] if kind is Kind.THINK else [])


def test_a_batch_of_empty_thoughts_is_held_and_one_with_another_call_is_not() -> None:
    two = thought("{}") + thought('{"idea": ""}')
    assert list(map(held, found([two]))) == [(1, *EMPTY[1:])]
    assert found([thought("{}"), thought("{}") + work(0), thought("{}")]) == []


def test_work_between_two_empty_thoughts_ends_the_streak() -> None:
    assert found([one for n in range(9) for one in (thought('{"idea": "' + " " * n + '"}'), work(n))]) == []


def test_other_limits_move_what_is_held() -> None:
    wide = attrs.evolve(only(DEFAULT.detectors, "validation_error"), validation_error=Plain(nudge=2, stop=5))
    nudged, stopped = (2, "nudge", "validation_error", False), (5, "stop", "validation_error", True)
    assert list(map(held, found([REFUSED] * 5, detectors=wide))) == [nudged, stopped]
