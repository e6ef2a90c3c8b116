"""The message machine decides on every combination of facts, and never against them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import attrs
import pytest

from machines.events import Declared, Facts, Reply, StopReason, Text
from machines.manifest import Work
from machines.message import MESSAGE, Candidate, Message, declares_partial
from machines.searched.facts import LAWS, MESSAGES, replies
from statecraft import Step
from statecraft.guards import name_of
from statecraft.proofs import decide

from ..rebuilt import AnyTable, rebuilt


def test_every_row_decides_something_and_no_law_is_broken() -> None:
    found = decide(MESSAGES)
    assert found.ok, found.broken
    assert len(found.rows) == len(MESSAGE.rows)
    assert found.cases > 100_000


def test_values_that_stand_for_others_are_told_apart_by_no_guard() -> None:
    """What the list of facts leaves out decides the same: so it is whole."""
    same: list[tuple[str, list[Any]]] = [
        *((name, [None, False]) for name in ("attempted", "grounded", "honest_no_source", "blockers", "recovering")),
        ("answer_producing", [None, True]),
        ("eligible", [None, 0]),
        ("eligible", [1, 7]),
    ]
    base = Facts(checks_passed=True)  # something is known, whatever is left out
    for name, values in same:
        known = [attrs.evolve(base, **{name: value}) for value in values]
        assert _same([(Candidate(), _reply(facts)) for facts in known]), name
    for works in ((Work.BUILD, Work.EDIT), (Work.ANSWER, Work.OTHER)):
        assert _same([(Candidate(work=work), _reply(Facts(checks_passed=True))) for work in works])
    assert _same([(Candidate(changes=changes), _reply(None)) for changes in (1, 5)])
    assert _same([(Candidate(), _reply(None, kind=kind)) for kind in (None, Declared.CHECKPOINT)])


def _reply(facts: Facts | None, kind: Declared | None = Declared.FINAL) -> Reply:
    return Reply(0.0, StopReason.END_TURN, text=Text("words", 5), kind=kind, facts=facts)


def _same(cases: list[tuple[Candidate, Reply]]) -> bool:
    """Whether each question of each row of the cell has the same answer in every case."""
    answers = [
        [
            guard(attrs.evolve(run, forced=forced), event).holds
            for forced in (False, True)
            for row in MESSAGE.rows
            if row.event is Reply
            for guard in row.guards
        ]
        for run, event in cases
    ]
    return all(one == other for one, other in pairwise(answers))


def _with(number: int, **how: Any) -> AnyTable:
    changed = MESSAGE.rows[number]
    return rebuilt(MESSAGE, lambda row: attrs.evolve(row, **how) if row is changed else row)


def _guards(number: int, *without: str) -> tuple[Any, ...]:
    return tuple(guard for guard in MESSAGE.rows[number].guards if name_of(guard) not in without)


MISTAKES = (
    ("a candidate is decided", _with(23, guards=(declares_partial,))),
    ("a forced message is neither final nor a checkpoint", _with(11, guards=_guards(11, "~forced"))),
    ("no unknown fact completes", _with(19, guards=_guards(19, "no_facts"))),
    ("the agent's claim raises nothing", _with(11, guards=_guards(11, "declares_final"))),
    ("a grounded answer is no failure", _with(12, target=Message.FAILURE_REPORT)),
    ("no final answer leaves the plan open", _with(11, guards=_guards(11, "~plan_left"))),
)


@pytest.mark.parametrize(("name", "table"), MISTAKES, ids=[name for name, _ in MISTAKES])
def test_a_table_with_a_mistake_breaks_the_law_of_its_facts(name: str, table: AnyTable) -> None:
    law = next(law for law in LAWS if law.name == name)
    found = decide(attrs.evolve(MESSAGES, table=table, laws=(law,), events=lambda: list(replies())[::23]))
    ((broken, problem, step),) = found.broken
    assert broken is law
    assert problem
    assert isinstance(step.answer, Step) or name == "a candidate is decided"
