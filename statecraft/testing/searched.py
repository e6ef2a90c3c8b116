"""What searches see of a table: the rows that they take, the ways its guards answer, the rows that hold at once.

Every step counts, also one that leads to no new run: a guard may say no in nothing but refusals. What a search did not
see within so many runs may still be, so that a guard never held is a place to look at, and no mistake. Two rows that
held at once though the table takes them to be apart are one.

A search takes the same steps over and over. The answers of a step are looked at once; the rows of a cell are asked
while one of their pairs was not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeVar

import attrs

from ..proofs import Search, Taken
from ..step import Fault
from .at_once import Both
from .coverage import Coverage, Tally
from .marks import mark_of
from .pairs import PairCoverage, PairTally

R = TypeVar("R")
E = TypeVar("E")


@attrs.frozen
class SearchCoverage:
    """What was seen of one table, each inner machine within it: rows and guards, pairs, and those seen at once."""

    table: str
    coverage: Coverage
    pairs: PairCoverage
    both: tuple[Both, ...]

    @property
    def overlaps(self) -> tuple[Both, ...]:
        """Rows that held at once though the table takes them to be apart."""
        return tuple(one for one in self.both if one.why == "overlap")

    @property
    def ok(self) -> bool:
        """There are none of these."""
        return not self.overlaps


class SearchTally:
    """Collects what searches see. How often a row was taken is not counted."""

    def __init__(self) -> None:
        self._tally, self._pairs = Tally(), PairTally(apart=True)
        self._known: set[int] = set()

    def of(self, search: Search[R, E]) -> Search[R, E]:
        """The same search, which is heard as it goes."""

        def play(run: R, event: E) -> Sequence[Taken[R, E]]:
            steps = search.steps(run, event)
            for step in steps:
                self._hear(search, step)
            return steps

        return attrs.evolve(search, play=play)

    def coverage(self, search: Search[Any, Any]) -> SearchCoverage:
        """What was seen of the table that is searched."""
        tables = (search.table,)
        pairs = self._pairs
        return SearchCoverage(
            search.table.name, self._tally.coverage(tables), pairs.coverage(tables), pairs.both(tables)
        )

    def _hear(self, search: Search[Any, Any], step: Taken[Any, Any]) -> None:
        table, event, answer = search.table, step.event, step.answer
        # A fault breaks a law, which is told anyway; what is played may step other machines too.
        if isinstance(answer, Fault) or answer.machine != table.name:
            return
        mark = mark_of(answer)
        known = hash((id(table), event.__class__, mark))
        if known not in self._known:
            self._known.add(known)
            self._tally.hear(table, event, answer)
        with suppress(Exception):  # asked beside the step, so whatever goes wrong there is not the machine's affair
            self._pairs.hear(table, step.before, event, answer, mark)
