"""A table of facts is decided on every run with every event, and says so only where there were any."""

from __future__ import annotations

from enum import Enum
from typing import Any

import attrs
import pytest

from statecraft import Evidence, Rows, Table, keep, seen
from statecraft.proofs import CannotAsk, Facts, Law, Taken, decide, each


class Grade(Enum):
    """What a paper may become."""

    PAPER = "paper"
    PASS = "pass"  # no word to let anybody in
    FAIL = "fail"


@attrs.frozen
class Paper:
    """A paper, with its points."""

    at: Grade = Grade.PAPER
    points: int = 0
    late: bool = False


@attrs.frozen
class Mark:
    """It is graded."""

    needed: int = 5


@attrs.frozen
class Lost:
    """An event that no table knows."""


def enough(run: Paper, event: Mark) -> Evidence:
    return seen("enough", run.points >= event.needed and not run.late, points=run.points, late=run.late)


row = Rows[Paper, Grade, object]()
GRADES = Table[Paper, Grade, Mark, object](
    "grades",
    [row(Grade.PAPER, Mark, Grade.PASS, keep, enough), row(Grade.PAPER, Mark, Grade.FAIL, keep)],
    events=[Mark],
    initial=Grade.PAPER,
    final=[Grade.PASS, Grade.FAIL],
    at=lambda run: run.at,
    move=lambda run, state: attrs.evolve(run, at=state),
)


def late_passes(step: Taken[Paper, Mark], _: object) -> str:
    return "late, and passed" if step.before.late and step.after.at is Grade.PASS else ""


def few_pass(step: Taken[Paper, Mark], _: object) -> str:
    return f"passed with {step.before.points}" if step.before.points < 6 and step.after.at is Grade.PASS else ""


LATE = Law[Taken[Paper, Mark]]("late papers fail", "for this test", late_passes)
FEW = Law[Taken[Paper, Mark]]("six are needed", "for this test", few_pass)


def papers() -> list[Paper]:
    return list(each(Paper, {"points": (4, 5, 6), "late": (False, True)}))


def test_every_run_meets_every_event() -> None:
    found = decide(Facts(GRADES, papers, lambda: [Mark(), Mark(9)], [LATE]))
    assert (found.cases, sorted(found.rows), found.ok) == (12, [0, 1], True)


def test_a_law_that_is_broken_comes_with_the_first_decision_that_breaks_it() -> None:
    ((law, problem, step),) = decide(Facts(GRADES, papers, lambda: [Mark()], [LATE, FEW])).broken
    assert law is FEW
    assert problem == "passed with 5"
    assert (step.before, step.event) == (Paper(points=5), Mark())


@pytest.mark.parametrize("facts", [Facts(GRADES, list[Paper], lambda: [Mark()]), Facts(GRADES, papers, list[Mark])])
def test_of_no_decisions_nothing_is_shown(facts: Facts[Any, Any]) -> None:
    with pytest.raises(CannotAsk, match="the facts of grades: found no run or no event, expected one of each at least"):
        decide(facts)


def test_an_event_that_the_table_does_not_know_decides_nothing() -> None:
    strange: Facts[Paper, Any] = Facts(GRADES, papers, lambda: [Lost()])
    with pytest.raises(CannotAsk, match="expected one of Mark"):
        decide(strange)
