"""The test written of a way to a broken law: it fails for the law, however the law's functions are held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from statecraft import Step, keep
from statecraft.proofs import Law, Search, Taken, explore
from statecraft.testing.broken_law import law_script

from .halls import Door, Hall, Push, Wind, hall, row, strong

HALL = hall(
    row(Door.SHUT, Push, Door.OPEN, keep, strong),
    row(Door.SHUT, Push, Door.SHUT, keep),
    row(Door.OPEN, Push, Door.SHUT, keep),
    row(Door.OPEN, Wind, Door.GONE, keep),
    row(Door.SHUT, Wind, Door.SHUT, keep),
)
OPENED = (Door.OPEN, Door.GONE)
AnyLaw = Law[Taken[Any, Any]]


def is_in(states: Sequence[Door], step: Taken[Any, Any], _: object) -> str:
    return f"it is {step.after.at.name}" if step.after.at in states else ""


def moves(run: Hall) -> list[Push | Wind]:
    return [Push(0), Push(9), Wind()]


def key(run: Hall) -> object:
    return run.at


def play(run: Hall, event: Push | Wind) -> list[Taken[Any, Any]]:
    answer = HALL.step(run, event)
    return [Taken(run, event, answer, answer.run)]


def gone(step: Taken[Any, Any], pushes: int) -> str:
    return f"gone after {pushes}" if step.after.at is Door.GONE else ""


GONE = AnyLaw("it stays", "for this test", lambda step, _: is_in([Door.GONE], step, _))
COUNTED = AnyLaw("counted", "for this test", gone, 0, lambda pushes, step: pushes + isinstance(step.answer, Step))
LAWS = [GONE, AnyLaw("it stays shut", "for this test", lambda step, _: is_in(OPENED, step, _))]
PARTIAL = AnyLaw("it stays closed", "for this test", partial(is_in, OPENED))
SEARCH = Search(
    HALL, {"new": Hall()}, moves, key, [AnyLaw("within", "for this test", lambda s, _: is_in(OPENED, s, _))]
)


def text_of(search: Search[Any, Any]) -> str:
    """The test of the first law that the search breaks."""
    return law_script(search, explore(search, "new").broken[0], "test_it")


def played(text: str) -> Callable[[], None]:
    known: dict[str, Any] = {}
    exec(text, known)
    found: Callable[[], None] = known["test_it"]
    return found


@pytest.mark.parametrize("plays", [None, play])
@pytest.mark.parametrize(
    ("law", "called"),
    [
        (GONE, "GONE.broken("),
        (LAWS[1], "LAWS[1].broken("),
        (COUNTED, "memory = COUNTED.remember(memory, "),
        (PARTIAL, "partial(is_in, (Door.OPEN, Door.GONE))("),
    ],
)
def test_a_law_is_asked_by_what_leads_to_it(law: AnyLaw, called: str, plays: Any) -> None:
    text = text_of(Search(HALL, {"new": Hall()}, moves, key, [law], play=plays))
    assert called in text
    assert "..." not in text
    with pytest.raises(AssertionError):
        played(text)()


def test_a_law_that_a_search_of_a_module_holds_is_asked_there() -> None:
    text = text_of(SEARCH)
    assert "assert not SEARCH.laws[0].broken(" in text
    with pytest.raises(AssertionError):
        played(text)()


@pytest.mark.parametrize("plays", [None, play])
@pytest.mark.parametrize("remembers", [False, True])
def test_a_law_that_nothing_leads_to_ends_the_test_by_saying_so(remembers: bool, plays: Any) -> None:
    law = AnyLaw("it stays shut", "for this test", lambda step, _: is_in([Door.GONE], step, _))
    if remembers:
        law = AnyLaw("it stays shut", "for this test", gone, 0, lambda pushes, step: pushes + 1)
    text = text_of(Search(HALL, {"new": Hall()}, moves, key, [law], play=plays))
    assert "..." not in text
    with pytest.raises(pytest.fail.Exception, match="put in the law: it stays shut"):
        played(text)()
