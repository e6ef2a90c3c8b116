"""The order of the calls inside a turn is nothing: a success counts among failures, wherever it stands."""

from __future__ import annotations

from itertools import permutations

import pytest

from machines.events import ErrorKind
from machines.manifest import Kind, Tool
from machines.policy import DEFAULT, only

from .incidents import FAMILIES, about, failing, nothing_found
from .told import Answered, Call, Happening, Verdict, told

FIND = {"find": Tool(kind=Kind.SEARCH)}
BUILT: list[Call] = [("build", '{"flags": "none"}', "built")]
FOUND: list[Call] = [("find", '{"q": "harbour"}', {"entries": ["one"]})]
SOURCE: list[Call] = [("papers", '{"q": "Ada Byron"}', {"articles": ["letters"]})]
OTHER_FAILURE: list[Call] = [("build", "{}", Answered("out of space", ErrorKind.OTHER))]


def alone(name: str, *history: Happening) -> list[Verdict]:
    detectors = only(DEFAULT.detectors, name)
    return [one.short for one in told(history, detectors=detectors, tools={**FIND, **FAMILIES})]


def calls(turns: list[list[Call]]) -> list[Call]:
    return [call for turn in turns for call in turn]


@pytest.mark.parametrize("at", range(8))
@pytest.mark.parametrize(
    ("detector", "barren", "good"),
    [
        ("same_error", calls([failing(n) for n in range(7)]), BUILT),
        ("search_escalation", calls([nothing_found(n) for n in range(7)]), FOUND),
        ("family", calls([about(n) for n in range(7)]), SOURCE),
    ],
)
def test_a_success_anywhere_in_the_turn_clears_it(detector: str, barren: list[Call], good: list[Call], at: int) -> None:
    assert alone(detector, barren)[-1][1:] == ("nudge", detector)
    assert alone(detector, barren[:at] + good + barren[at:]) == []


@pytest.mark.parametrize("turn", list(permutations([0, 1, 2])))
def test_another_failure_in_the_turn_breaks_the_row_wherever_it_stands(turn: tuple[int, ...]) -> None:
    three = [failing(8), failing(9), OTHER_FAILURE]
    mixed = calls([three[n] for n in turn])
    four = [failing(n) for n in range(4)]
    assert alone("same_error", *four, mixed, *four, failing(4)) == []
    assert alone("same_error", *four, mixed, *four, failing(4), failing(5)) == [(11, "nudge", "same_error")]
