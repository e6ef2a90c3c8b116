"""The table in full, as lines of plain text: every row, and what is said of the cells without one.

It stands as comments in each diagram's source, because a reviewer has to see also what no arrow can show.
"""

from __future__ import annotations

from collections.abc import Iterator

from .drawn import Taken
from .edges import Line, Picture, Quiet

SAYS = {"ignore": "ignored", "refuse": "refused", "ordered": "in order"}
TESTED = " (green: taken; red: never taken; amber: in part, or a guard not seen both ways)"


def listing(drawn: Picture, indent: str = "") -> Iterator[str]:
    """The lines, inner machines after the machine that holds them."""
    yield f"{indent}{drawn.name}: {', '.join(drawn.states)}"
    yield f"{indent}  from {drawn.initial} to {', '.join(drawn.final) or 'no end'}"
    for budget in drawn.budgets:
        yield f"{indent}  budget {budget}"
    for line in drawn.lines:
        yield f"{indent}  {row(line)}"
    for quiet in drawn.quiet:
        yield f"{indent}  {cells(quiet)}"
    for held in drawn.inside:
        yield f"{indent}  inside, in {', '.join(held.during) or 'no state'}:"
        yield from listing(held.picture, f"{indent}    ")


def row(line: Line) -> str:
    """One row in full: `0 SHUT Push [strong] -> OPEN swing / Ring -drops`."""
    guards = f" [{', '.join(line.guards)}]" if line.guards else ""
    commands = f" / {', '.join(line.commands)}" if line.commands else ""
    paid = "".join(f" {paid}" for paid in line.paid)
    return f"{line.row} {' | '.join(line.sources)} {line.event}{guards} -> {line.target} {line.effect}{commands}{paid}"


def cells(quiet: Quiet) -> str:
    """`ignored: OPEN | SHUT on Bell, Knock, because nobody is in`."""
    return f"{SAYS[quiet.how]}: {' | '.join(quiet.states)} on {', '.join(quiet.events)}, because {quiet.why}"


def headline(drawn: Picture, run: Taken | None) -> str:
    """The title: the machine's name, and for a run how many rows it took and where it stands."""
    if run is None:
        return drawn.name
    if run.tested:
        return f"{drawn.name}: {len(run.rows)} of {len(drawn.lines)} rows taken{TESTED}"
    count = sum(run.times.values())
    rows = f"{count} row{'' if count == 1 else 's'} taken"
    if not run.ended:
        return f"{drawn.name}: {rows}"
    return f"{drawn.name}: {rows}, {'ended in' if run.ended in drawn.final else 'stands in'} {run.ended}"
