"""Limits that nothing can reach: a reading's, and a budget's. Exact as far as `Reading.most` and the bound are.

A reading says itself how far its count can come under the policy in force, so a limit beyond that can never be met,
and the row that asks for it is never taken. What a reading has for limits is learned by asking it, of the sample run
and of the runs that the world makes of it (`World.cases`), with an event that the world gives (`World.examples`).
Where there is none, or the reading raises, it is said to be unknown: never that it is well.

A limit without end is off: somebody switched it so. A budget of size 0 is off as well. One
that holds more than the rows that spend it can use, were it without limit, is never used up; that is no flaw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from ..guards import UNLIMITED, Guard, Level, Reading, as_guard, name_of
from ..world import World
from .edges import AnyTable, case_of
from .termination import most_spent

REACHED, NEVER, SPARE, OFF, UNKNOWN = "reached", "never", "spare", "off", "unknown"


@attrs.frozen
class Limit:
    """One limit of one reading, or the size of a budget, and whether it is ever met.

    `what` is the reading's or the budget's name, `level` nudge, stop, or empty for a budget; `at` the limit, `most` how
    far the count can come. `how`: reached (it can be), never, spare (a budget that is never used up, which is no flaw),
    off, or unknown, and then `why` says what is missing.
    """

    what: str
    level: str
    at: int | None
    most: int | None
    how: str
    rows: tuple[int, ...]
    why: str = ""

    def __str__(self) -> str:
        rows = f"row{'' if len(self.rows) == 1 else 's'} {', '.join(map(str, self.rows))}"
        name = f"{self.what} {self.level}".strip()
        if self.how in (NEVER, SPARE):
            return f"{name} {self.at}: at most {self.most} can come ({rows})"
        return f"{name}: {self.why} ({rows})" if self.why else f"{name} ({rows})"


def limits(table: AnyTable, run: Any, world: World | None) -> tuple[Limit, ...]:
    """The limits of all readings that rows ask, in the order of the rows, and then those of budgets."""
    return (*_readings(table, run, world), *(_budgets(table, run) if run is not None or _sized(table) else ()))


def _sized(table: AnyTable) -> bool:
    return not any(callable(size) for size in table.budgets.values()) and not table.inners


def _readings(table: AnyTable, run: Any, world: World | None) -> Iterator[Limit]:
    asked: dict[tuple[Any, Level, type[Any]], dict[int, None]] = {}
    for number, row in enumerate(table.rows):
        for one in (leaf for guard in row.guards for leaf in _leaves(guard)):
            if one.how == "reaches":
                asked.setdefault((one.function, one.level, row.event), {})[number] = None
    for (read, level, event), rows in asked.items():
        name, found = name_of(read), set[tuple[str, int, int]]()
        why = _missing(run, world, event)
        if not why and world is not None:
            try:
                found = {(r.name, _of(r, level), r.most) for r in _asked(read, world.cases(run), world.examples[event])}
            except Exception as error:  # noqa: BLE001  # a user's function; what it cannot answer is unknown
                why = f"raised {type(error).__name__}: {error}"
        if why or not found:
            why = why or "the world makes no case to ask it of"
            yield Limit(name, level.name.lower(), None, None, UNKNOWN, tuple(rows), why)
        for called, at, most in sorted(found):
            how = OFF if at >= UNLIMITED else NEVER if at > most else REACHED
            yield Limit(called, level.name.lower(), at, most, how, tuple(rows))


def _missing(run: Any, world: World | None, event: type[Any]) -> str:
    if run is None:
        return "there is no sample run to ask it of"
    if world is None or event not in world.examples:
        return f"there is no example of {event.__name__} to ask it with"
    return ""


def _asked(read: Any, runs: Iterable[Any], event: Any) -> Iterator[Reading]:
    for run in runs:
        yield read(run, event)


def _of(reading: Reading, level: Level) -> int:
    """The limit at which the level begins: a stop is a nudge too."""
    return reading.stop if level is Level.STOP else min(reading.nudge, reading.stop)


def _leaves(question: Any) -> Iterator[Guard[Any, Any]]:
    guard = as_guard(question)
    if guard is not None:
        if not guard.parts:
            yield guard
        for part in guard.parts:
            yield from _leaves(part)


def _budgets(table: AnyTable, run: Any) -> Iterator[Limit]:
    case = case_of(table, run)
    for budget, size in case.sizes.items():
        rows = tuple(number for number, row in enumerate(table.rows) if row.spends is budget)
        if size == 0:
            yield Limit(str(budget.value), "", 0, None, OFF, rows)
        elif size is not None:
            most = most_spent(table, run, budget)
            if most is not None and most < size:
                yield Limit(str(budget.value), "", size, most, SPARE, rows)


def never(found: Iterable[Limit]) -> tuple[Limit, ...]:
    """Those that nothing can reach."""
    return tuple(one for one in found if one.how == NEVER)
