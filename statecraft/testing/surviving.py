"""What came of the mutants, as text: the score by table and by kind, and each survivor with the test that met it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from ..diagrams.edges import picture
from ..diagrams.listing import row as row_text
from ..proofs.mutants import KINDS, Mutant
from .mutate_options import SECONDS
from .reporting import shown
from .rerun import How, Test


@attrs.frozen(eq=False)
class Tried:
    """A mutant and how its tests came out; the id of the one that noticed it.

    `met`: the most specific test that was run on it; `left`: those that were not, for want of time, the most telling
    first; `takes`: a test that takes the row, whether or not the mutant could show in it. It does not count where it
    could show only in tests that cannot be run again.
    """

    mutant: Mutant
    how: How
    test: str | None
    met: str | None
    left: tuple[Test, ...]
    takes: str | None
    counts: bool = True

    @property
    def noticed(self) -> bool:
        """Whether the test run noticed the mutant."""
        return self.how != "passed"


def score(tried: Sequence[Tried]) -> tuple[int, int]:
    """How many were noticed, and how many there were that count."""
    return sum(one.noticed for one in tried), sum(one.counts for one in tried)


def report(tried: Sequence[Tried], seconds: float) -> Iterator[str]:
    """The lines of the report, without a title. `seconds`: what the tests of one mutant may take."""
    for table in dict.fromkeys(one.mutant.table for one in tried):
        yield f"{table.name}: {_count([one for one in tried if one.mutant.table is table])}"
    for kind in KINDS:
        if of_kind := [one for one in tried if one.mutant.kind == kind]:
            yield f"{kind}: {_count(of_kind)}"
    yield f"all: {_count(tried)}"
    if lost := sum(not one.counts for one in tried):
        yield f"not in the score: {lost} that could show only in tests that were left out"
    for one in tried:
        if one.how in ("hung", "crashed"):
            what = "did not come back" if one.how == "hung" else "ended its process"
            yield f"noticed because a test {what}: {one.mutant}: {one.test}"
    for one in tried:
        if one.counts and not one.noticed:
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
    if one.met:
        yield f"  by {one.met}"
    elif one.takes:
        yield f"  in no test could it show; {one.takes} takes this row"
    else:
        yield "  no test takes this row"
    if one.left:
        yield f"  not tried: {_untried(one.left, seconds)}; raise {SECONDS}"


def _untried(left: Sequence[Test], seconds: float) -> str:
    """The first test that was not run, what it takes, and how many more there are of them."""
    first = left[0]
    late = "" if first.seconds > seconds else f" after those that took the {seconds:g} s"
    more = f", and {len(left) - 1} more tests come this way" if len(left) > 1 else ""
    return f"{first.item.nodeid} takes {first.seconds:.2g} s{late}{more}"


def _count(tried: Sequence[Tried]) -> str:
    found = score(tried)
    return f"{found[0]} of {found[1]} mutants noticed ({shown(found)})"
