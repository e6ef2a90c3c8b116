"""What the skeleton of a run shows, and that each of its laws is broken in a table in which somebody made a mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from machines._run_guards import limits
from machines.commands import Ask, End, RunCalls
from machines.events import Cancel
from machines.run import RUN
from machines.searched.shape import SHAPE
from machines.state import Phase
from statecraft.proofs import skeleton

from ..rebuilt import AnyRow, rebuilt


def test_the_skeleton_of_a_run_closes_and_every_law_of_it_holds() -> None:
    found = skeleton(RUN, SHAPE)
    assert found.ok, (found.broken, found.stuck)
    assert found.places > 100


def completes(row: AnyRow) -> AnyRow:
    return attrs.evolve(row, target=Phase.COMPLETED) if row.effect.__name__ == "close_partial" else row


def asks_again(row: AnyRow) -> AnyRow:
    late = row.effect.__name__ == "fold_late" and Phase.CONCLUDING in row.sources
    return attrs.evolve(row, asks=frozenset({Ask})) if late else row


def runs(row: AnyRow) -> AnyRow:
    late = row.effect.__name__ == "fold_late" and Phase.CONCLUDING in row.sources
    return attrs.evolve(row, asks=frozenset({RunCalls})) if late else row


def ends_in_silence(row: AnyRow) -> AnyRow:
    return attrs.evolve(row, asks=row.asks - {End}) if row.target is Phase.BLOCKED else row


def may_refuse(row: AnyRow) -> AnyRow:
    return attrs.evolve(row, guards=(limits,)) if row.event is Cancel else row


MISTAKES = (completes, asks_again, runs, ends_in_silence, may_refuse)


@pytest.mark.parametrize(("law", "mistake"), list(zip(SHAPE, MISTAKES, strict=True)), ids=[law.name for law in SHAPE])
def test_a_table_with_a_mistake_breaks_the_law_of_its_rows(law: Any, mistake: Callable[[AnyRow], AnyRow]) -> None:
    found = skeleton(rebuilt(RUN, mistake), [law])
    assert [broken.law for broken in found.broken] == [law]
    assert found.broken[0].lines
