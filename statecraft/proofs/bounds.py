"""Only the bounds of a report: of requests and steps with the way to them, of other commands, and what can be met."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from .report import Proved, Report, limit_lines
from .termination import Bound, FreeCycle
from .vacuity import Limit


@attrs.frozen
class Bounds:
    """How far one table can go at most. `steps` is None where it is not known, and then `unproved` says why.

    `requests` counts the rows that ask for the command that costs money, `others` those of the other commands.
    """

    table: str
    steps: Bound | FreeCycle | None
    requests: Bound | None
    others: tuple[Bound, ...]
    limits: tuple[Limit, ...]
    unproved: str
    ok: bool

    @property
    def lines(self) -> tuple[str, ...]:
        """For people."""
        return tuple(_lines(self))


@attrs.frozen
class BoundsReport:
    """The bounds of the tables that are inside no other, and what they rest on."""

    tables: tuple[Bounds, ...]
    assumed: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether each of them ends, and every limit can be met."""
        return all(one.ok for one in self.tables)

    @property
    def lines(self) -> tuple[str, ...]:
        """For people, one line each."""
        return (*(line for one in self.tables for line in one.lines), "assumed:", *(f"  {one}" for one in self.assumed))


def bounds_of(report: Report) -> BoundsReport:
    """The bounds in a report; what is wrong with a table's shape is left to the whole report."""
    return BoundsReport(tuple(_of(one, report) for one in report.tables if not one.inside), report.assumed)


def _of(one: Proved, report: Report) -> Bounds:
    requests = next((bound for bound in one.requests if bound.asking == one.request), None)
    others = tuple(bound for bound in one.requests if bound is not requests)
    inside = tuple(limit for other in report.tables if other.inside == one.table for limit in other.limits)
    limits = (*one.limits, *inside)
    ends = isinstance(one.steps, Bound) and not any(limit.how == "never" for limit in limits)
    return Bounds(one.table, one.steps, requests, others, limits, one.unproved, ends)


def _lines(one: Bounds) -> Iterator[str]:
    if one.unproved:
        yield f"{one.table}: unproved; {one.unproved}"
    elif isinstance(one.steps, FreeCycle):
        yield f"{one.table}: unproved"
        yield from (f"  {line}" for line in one.steps.lines)
    for bound in (one.requests, one.steps):
        if isinstance(bound, Bound):
            what = f"rows that ask {bound.asking}" if bound.asking else "steps"
            yield f"{one.table}: at most {bound.number} {what}"
            yield from (f"  {line}" for line in bound.lines)
    if one.others:
        yield f"{one.table} asks at most: {', '.join(f'{bound.asking} {bound.number}' for bound in one.others)}"
    yield from (f"{one.table}: {line}" for line in limit_lines(one.limits))
