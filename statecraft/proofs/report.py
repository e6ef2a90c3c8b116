"""The proofs of several tables as one report: what is wrong, what is proved, and what that rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..table import with_inner
from ..world import World
from .edges import AnyTable, NeedsRun, is_quiet
from .outside import outside
from .structure import Flaw, flaws
from .termination import Bound, FreeCycle, ends
from .vacuity import NEVER, OFF, REACHED, SPARE, UNKNOWN, Limit, limits, never

ASSUMED = (
    "every command is answered",
    "events that no command asked for (what people send) are finite; quiet rows answer only those, and do not count",
    "one command brings a bounded number of events (the pieces of one answer)",
    "a budget is never above its full size, and that does not change during a run",
    "an inner machine that rows spend begins only in rows that refill it, as its `fresh` run or in its initial state",
    "no more of an inner machine live at once than its `most` says, which is one where nothing is said",
)
"""What every bound rests on, printed beside it. A machine that can say it in its own words passes its own."""

LEGEND = (
    "read: `N x M`: N steps that spend it, M steps each with all up to the next of them; `N before the first`: the "
    "steps before the first of them; quiet rows: rows that stay, and spend, refill and ask nothing"
)
_EXPLAINED = (" x ", " before the first", "quiet rows")


@attrs.frozen
class Proved:
    """What is known of one table. `steps` is None where a size is missing, and `unproved` says which.

    `requests` has a bound for each command that the table asks for, by name; `request` is the one that costs money
    (empty: none is known). `limits`: which limits of readings and budgets can be met. `inside` names the machine that
    this one is an inner machine of (empty: none). `carried`: it may go round, but steps only when that machine does,
    which ends.
    """

    table: str
    flaws: tuple[Flaw, ...]
    steps: Bound | FreeCycle | None
    requests: tuple[Bound, ...]
    quiet: tuple[int, ...]
    inside: str
    carried: bool
    unproved: str
    limits: tuple[Limit, ...] = ()
    request: str = ""

    @property
    def ok(self) -> bool:
        """No flaws, no limit that can never be met, and it ends."""
        return not self.flaws and not never(self.limits) and (self.carried or isinstance(self.steps, Bound))


@attrs.frozen
class Report:
    """All tables, in the order asked, each followed by its inner machines; and what the bounds rest on."""

    tables: tuple[Proved, ...]
    assumed: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every table is without flaws and ends."""
        return all(one.ok for one in self.tables)

    @property
    def lines(self) -> tuple[str, ...]:
        """The report for people, one line each."""
        tables = [line for one in self.tables for line in _lines(one)]
        legend = [LEGEND] if any(words in line for line in tables for words in _EXPLAINED) else []
        return (*tables, *legend, "assumed:", *(f"  {line}" for line in self.assumed))


def prove(
    tables: Iterable[AnyTable],
    runs: Mapping[str, Any] | None = None,
    assumed: Sequence[str] = (),
    worlds: Mapping[str, World] | None = None,
) -> Report:
    """Structure, termination and bounds of the tables and of their inner machines.

    `runs` gives, under a table's name, a run that its sizes are taken from; an inner machine's comes from its `fresh`.
    `assumed` says in the machines' own words what the bounds rest on; without any, `ASSUMED` does. `worlds` gives,
    under a table's name, what is around it.
    """
    given, around = runs or {}, worlds or {}
    found: list[tuple[AnyTable, Proved]] = []
    wanted = list(tables)
    held = with_inner(tuple(one.table for table in wanted for one in table.inners))
    for table in wanted:
        if not any(table is one for one in held):
            _prove(table, given.get(table.name), found, around)
    return Report(tuple(one for _, one in found), tuple(assumed) or ASSUMED)


def _prove(
    table: AnyTable,
    run: Any,
    found: list[tuple[AnyTable, Proved]],
    worlds: Mapping[str, World],
    outer: AnyTable | None = None,
    *,
    ended: bool = False,
) -> None:
    if any(table is one for one, _ in found):
        return
    unproved, world = "", worlds.get(table.name)
    met: tuple[Limit, ...] = ()
    steps: Bound | FreeCycle | None = None
    requests: tuple[Bound, ...] = ()
    within = outer is not None
    try:
        steps = ends(table, run, within=within)
        if isinstance(steps, Bound):
            each = (ends(table, run, kind, within=within) for kind in _asked_kinds(table))
            requests = tuple(one for one in each if isinstance(one, Bound))
        met = limits(table, run, world)
    except NeedsRun as problem:
        unproved = str(problem)
    carried = ended and not isinstance(steps, Bound)
    name = "" if outer is None else outer.name
    wrong = (*flaws(table), *(() if world is None else outside(table, world)))
    request = "" if world is None or world.request is None else world.request.__name__
    one = Proved(table.name, wrong, steps, requests, _quiet(table), name, carried, unproved, met, request)
    found.append((table, one))
    for held in table.inners:
        fresh = None if run is None or held.fresh is None else held.fresh(run)
        _prove(held.table, fresh, found, worlds, table, ended=carried or isinstance(steps, Bound))


def _asked_kinds(table: AnyTable) -> list[type[Any]]:
    tables = with_inner((table,))
    kinds = {kind for one in tables for row in one.rows for kind in row.asks}
    return sorted(kinds, key=lambda kind: (kind.__name__, kind.__module__))


def _quiet(table: AnyTable) -> tuple[int, ...]:
    rows = enumerate(table.rows)
    return tuple(number for number, row in rows if any(is_quiet(table, number, source) for source in row.sources))


def _lines(one: Proved) -> Iterator[str]:
    yield f"{one.table}{f', inside {one.inside}' if one.inside else ''}: {'ok' if one.ok else 'NOT PROVED'}"
    yield from (f"  {flaw}" for flaw in one.flaws)
    carried = f"steps only when {one.inside} does, which ends; by itself" if one.carried else ""
    if one.unproved:
        yield f"  {carried or 'ends'}: unknown; {one.unproved}"
    elif isinstance(one.steps, FreeCycle):
        heading, *cycle = one.steps.lines
        yield f"  {carried + ' nothing bounds it:' if carried else heading}"
        yield from (f"  {line}" for line in cycle)
    elif one.steps is not None:
        yield f"  ends: at most {_count(one.steps.number, 'step')}"
        yield from (f"    {line}" for line in one.steps.lines)
        for bound in one.requests:
            yield f"  asks {bound.asking}: in at most {_count(bound.number, 'row')}"
        if one.quiet and not one.inside:
            yield f"  quiet rows, not counted: {', '.join(map(str, one.quiet))}"
    yield from (f"  {line}" for line in limit_lines(one.limits))


def limit_lines(found: Sequence[Limit]) -> Iterator[str]:
    """Which limits can be met, a line for each way that they stand."""
    how = {name: [one for one in found if one.how == name] for name in (REACHED, NEVER, SPARE, OFF, UNKNOWN)}
    readings = [one for one in how[REACHED] if one.level]
    if readings:
        stops = sum(one.level == "stop" for one in readings)
        yield f"readings: {_count(stops, 'stop')} and {_count(len(readings) - stops, 'nudge')} can be reached"
    yield from (f"can never be reached: {one}" for one in how[NEVER])
    yield from (f"never used up: {one}" for one in how[SPARE])
    if how[OFF]:
        yield f"off: {', '.join(dict.fromkeys(f'{one.what} {one.level}'.strip() for one in how[OFF]))}"
    yield from (f"unknown whether it can be reached: {one}" for one in how[UNKNOWN])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
