"""What came of the mutants, as text: the score by table and by kind, and each survivor with the test that met it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from ..diagrams.edges import picture
from ..diagrams.listing import row as row_text
from ..proofs.mutants import KINDS, Mutant
from .reporting import shown
from .rerun import How


@attrs.frozen(eq=False)
class Tried:
    """A mutant and how its tests came out; the id of the one that noticed it, and how many could not be run in time.

    `should`: the most specific test in which the mutant could show, else one that takes the row, if there is any.
    """

    mutant: Mutant
    how: How
    test: str | None
    left: int
    should: str | None

    @property
    def noticed(self) -> bool:
        """Whether the test run noticed the mutant."""
        return self.how != "passed"


def score(tried: Sequence[Tried]) -> tuple[int, int]:
    """How many were noticed, and how many there were."""
    return sum(one.noticed for one in tried), len(tried)


def report(tried: Sequence[Tried], seconds: float) -> Iterator[str]:
    """The lines of the report, without a title. `seconds`: what the tests of one mutant may take."""
    for table in dict.fromkeys(one.mutant.table for one in tried):
        yield f"{table.name}: {_count([one for one in tried if one.mutant.table is table])}"
    for kind in KINDS:
        if of_kind := [one for one in tried if one.mutant.kind == kind]:
            yield f"{kind}: {_count(of_kind)}"
    yield f"all: {_count(tried)}"
    for one in tried:
        if one.how in ("hung", "crashed"):
            what = "did not come back" if one.how == "hung" else "ended its process"
            yield f"noticed because a test {what}: {one.mutant}: {one.test}"
    for one in tried:
        if not one.noticed:
            yield from _survivor(one, seconds)


def _survivor(one: Tried, seconds: float) -> Iterator[str]:
    mutant = one.mutant
    lines = picture(mutant.table).lines
    yield f"not noticed: {mutant.table.name}: {mutant.what}"
    shown_rows = mutant.rows if mutant.kind == "swapped" else mutant.rows[:1]
    for number in shown_rows:
        yield f"  row {row_text(lines[number])}"
    if len(mutant.rows) > len(shown_rows):
        yield f"  and row{'s' if len(mutant.rows) > 2 else ''} {', '.join(map(str, mutant.rows[1:]))}"
    yield f"  {f'by {one.should}' if one.should else 'no test takes this row'}"
    if one.left:
        yield f"  within {seconds:g} s; {one.left} more tests come this way"


def _count(tried: Sequence[Tried]) -> str:
    found = score(tried)
    return f"{found[0]} of {found[1]} mutants noticed ({shown(found)})"
