"""What one test session saw of tables: rows, guards and, where that is asked for, rows that held at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import attrs

from ..heard import AnyTable
from ..step import Answer
from .coverage import Coverage, Tally
from .pairs import PairCoverage, PairTally, pair_report
from .reporting import percent, report, shown

WHAT = ("rows taken", "guards seen every way", "pairs of rows seen to hold at once")


@attrs.frozen
class Found:
    """What was seen; `pairs` is None where nobody asked for them."""

    coverage: Coverage
    pairs: PairCoverage | None

    def sections(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The parts of the report, each with its title."""
        yield "statecraft coverage", report(self.coverage)
        if self.pairs is not None:
            yield "statecraft pairs", pair_report(self.pairs)

    def too_little(self, limits: Sequence[float | None]) -> list[str]:
        """What is below the limits, in percent, of rows, guards and pairs."""
        counts = (self.coverage.rows, self.coverage.guards, self.pairs.count if self.pairs else (0, 0))
        under = [
            (limit, what, count) for limit, what, count in zip(limits, WHAT, counts, strict=True) if limit is not None
        ]
        if under and not self.coverage.machines:
            return ["a limit is asked for, but nothing was measured"]
        return [
            f"{shown(count)} of the {what}, expected at least {limit:g} %"
            for limit, what, count in under
            if percent(count) < limit
        ]


class Measured:
    """Collects what is seen while tables are stepped."""

    def __init__(self, *, pairs: bool) -> None:
        self._tally = Tally()
        self._pairs = PairTally() if pairs else None

    def hear(self, table: AnyTable, run: Any, event: object, answer: Answer[Any, Any]) -> None:
        """Count what the table answered to the event in the run."""
        self._tally.hear(table, event, answer)
        if self._pairs is not None:
            with suppress(Exception):  # asked beside the step, so whatever goes wrong there is not the test's affair
                self._pairs.hear(table, run, event, answer)

    def found(self, tables: tuple[AnyTable, ...] | None) -> Found:
        """What was seen of the tables; None: of all that were stepped."""
        chosen = self._tally.stepped if tables is None else tables
        return Found(self._tally.coverage(chosen), None if self._pairs is None else self._pairs.coverage(chosen))
