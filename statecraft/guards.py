"""Guards: pure questions about (run, event), answered with evidence.

A guard is any function `(run, event) -> Evidence`. It answers with what it looked at, so that a decision can be shown
and not only repeated. A function that counts answers with a `Reading` instead, and `reaches` makes a guard of it.

`value_is` makes a guard of a value that is looked up: where two ask one value for different things, a table knows that
they never both hold.

`@guard` (or `guard(function)`) gives a function the operators `&`, `|` and `~`. A row that lists several guards ends at
its first no; `&` and `|` ask all their parts, so that both sides of the question are on record.

A guard that raises, or that answers with anything else, is a fault of the machine and never a "no".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, IntEnum
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, Protocol, TypeGuard, TypeVar

import attrs

Scalar = str | int | float | bool | None

R_con = TypeVar("R_con", contravariant=True)
E_con = TypeVar("E_con", contravariant=True)
R = TypeVar("R")
E = TypeVar("E")

UNLIMITED: Final = 2**31 - 1
"""As a limit of a reading, or the most that it can become: there is none. No count of a run comes near it."""

NOTHING: Mapping[str, Scalar] = MappingProxyType({})


class Level(IntEnum):
    """How far a reading has come: at rest, at its nudge limit, at its stop limit."""

    REST = 0
    NUDGE = 1
    STOP = 2


@attrs.frozen
class Evidence:
    """What a guard answered: its name, whether it holds, and the values it looked at, by their names.

    A value is text, a number, True, False or None; a float may be infinite (a limit that is off) or no number. A guard
    that answers with any other is a fault of the machine, since a journal could not keep it.
    """

    name: str
    holds: bool
    seen: Mapping[str, Scalar] = NOTHING


@attrs.frozen
class Reading:
    """A count against its limits; `most` is the largest that it can become under the policy in force.

    `seen` holds what else the count rests on. A reading at rest may leave it empty: nobody asks why nothing happened.
    """

    name: str
    now: int
    nudge: int
    stop: int
    most: int
    seen: Mapping[str, Scalar] = NOTHING

    @property
    def level(self) -> Level:
        """STOP from `stop` on, NUDGE from `nudge` on, REST below both."""
        if self.now >= self.stop:
            return Level.STOP
        return Level.NUDGE if self.now >= self.nudge else Level.REST


Finding = Evidence | Reading


def seen(name: str, holds: bool, /, **values: Scalar) -> Evidence:
    """The evidence of the guard called `name`; the keyword arguments are the values that it looked at."""
    return Evidence(name, holds, values)


class Question(Protocol[R_con, E_con]):
    """A function that can stand in a row as a guard."""

    def __call__(self, run: R_con, event: E_con, /) -> Evidence:
        """Answer with evidence."""
        ...


@attrs.frozen
class OneOf:
    """That what a function of (run, event) finds is one of these."""

    found: Callable[[Any, Any], Enum | None]
    wanted: frozenset[Enum | None]

    def excludes(self, other: OneOf) -> bool:
        """Whether never both hold: it is the same value, and they share nothing that it may be."""
        return self.found is other.found and self.wanted.isdisjoint(other.wanted)


How = Literal["asks", "all", "any", "not", "reaches"]


@attrs.frozen(eq=False, repr=False)
class Guard(Generic[R_con, E_con]):
    """A guard with a name and the operators `&`, `|`, `~`.

    `how` says what it is: a function (`asks`), a combination of `parts` (`all`, `any`, `not`), or a reading that has to
    reach `level` (`reaches`). `value` is set where the function asks what a value is. `budget` and `purse`: it asks
    whether nothing is left of this budget in that purse.
    """

    name: str
    how: How
    function: Callable[[R_con, E_con], Finding] | None = None
    parts: tuple[Question[R_con, E_con], ...] = ()
    level: Level = Level.STOP
    budget: Enum | None = None
    purse: Callable[[Any], Mapping[Any, int | None]] | None = None
    value: OneOf | None = None

    def __call__(self, run: R_con, event: E_con, /) -> Evidence:
        """Answer the question alone, with no table around it."""
        heard = [part(run, event).holds for part in self.parts]  # `&` and `|` ask all their parts
        match self.how:
            case "all":
                return Evidence(self.name, all(heard))
            case "any":
                return Evidence(self.name, any(heard))
            case "not":
                return Evidence(self.name, not heard[0])
            case "asks" | "reaches":
                assert self.function is not None
                found = self.function(run, event)
                if isinstance(found, Evidence):
                    return found
                return Evidence(self.name, found.level >= self.level, {**found.seen, **limits(found)})

    def __and__(self: Guard[R, E], other: Question[R, E]) -> Guard[R, E]:
        return _combined("all", " & ", self, other)

    def __or__(self: Guard[R, E], other: Question[R, E]) -> Guard[R, E]:
        return _combined("any", " | ", self, other)

    def __rand__(self: Guard[R, E], other: Question[R, E]) -> Guard[R, E]:
        return _combined("all", " & ", other, self)

    def __ror__(self: Guard[R, E], other: Question[R, E]) -> Guard[R, E]:
        return _combined("any", " | ", other, self)

    def __invert__(self) -> Guard[R_con, E_con]:
        return Guard(f"~{self.name}", "not", None, (self,))

    def called(self, name: str) -> Guard[R_con, E_con]:
        """The same guard under a name of its own, for a combination that has one in the field."""
        return attrs.evolve(self, name=name)

    def __repr__(self) -> str:
        return f"<guard {self.name}>"


def _combined(how: How, sign: str, one: Question[R, E], other: Question[R, E]) -> Guard[R, E]:
    parts = tuple(part for side in (one, other) for part in _parts(side, how))
    return Guard(f"({sign.join(name_of(part) for part in parts)})", how, None, parts)


def _parts(side: Question[R, E], how: How) -> tuple[Question[R, E], ...]:
    """What a side of `&` or `|` adds: the parts of a combination of the same kind that has no name of its own."""
    held = as_guard(side)
    return held.parts if held is not None and held.how == how and held.name.startswith("(") else (side,)


def guard(function: Callable[[R, E], Evidence]) -> Guard[R, E]:
    """The function as a guard that can be combined with `&`, `|` and `~`; usable as a decorator. A guard stays one."""
    held = as_guard(function)
    return Guard(name_of(function), "asks", function) if held is None else held


def value_is(name: str, what: str, found: Callable[[R, E], Enum | None], *wanted: Enum | None) -> Guard[R, E]:
    """Holds where what `found` gives is one of `wanted`; `what` names the value in the evidence.

    Guards of one and the same function `found` that share none of `wanted` are known never to hold both.
    """

    @wraps(found)
    def ask(run: R, event: E) -> Evidence:
        now = found(run, event)
        return Evidence(name, now in wanted, {what: None if now is None else now.value})

    ask.__name__ = name
    return Guard(name, "asks", ask, value=OneOf(found, frozenset(wanted)))


def reaches(read: Callable[[R, E], Reading], level: Level) -> Guard[R, E]:
    """Holds where the reading stands at `level` (nudge or stop) or above. Raises `ValueError` for rest."""
    if level is Level.REST:
        raise ValueError(f"{name_of(read)} is always at rest or above; expected nudge or stop")
    return Guard(f"{name_of(read)} at {level.name.lower()}", "reaches", read, (), level)


def used_up(budget: Enum, purse: Callable[[R], Mapping[Any, int | None]]) -> Guard[R, object]:
    """Holds where nothing is left of the budget; called as the budget is.

    `purse` has to be the table's own. Then the proofs know that a row below this guard, or one that asks for its
    negation, is never taken once the budget is used up, and bound runs by as much less.
    """
    name = str(budget.value)

    def ask(run: R, event: object) -> Evidence:
        left = purse(run).get(budget)
        return seen(name, left is not None and left <= 0, left=left)

    ask.__name__ = name
    return Guard(name, "asks", ask, budget=budget, purse=purse)


def as_guard(question: object) -> Guard[Any, Any] | None:
    """The question as a `Guard`, where it is one and not a bare function."""
    return question if _is_guard(question) else None


def _is_guard(question: object) -> TypeGuard[Guard[Any, Any]]:
    return isinstance(question, Guard)


def name_of(question: object) -> str:
    """What a guard, an effect or a reading is called: its `name`, else the name of the function."""
    named = None if isinstance(question, type) else getattr(question, "name", None)  # of a class it is a field
    name = named or getattr(question, "__name__", None)
    if name is None and (function := getattr(question, "func", None)) is not None:  # functools.partial
        name = name_of(function)
    return str(name or type(question).__name__)


def limits(reading: Reading) -> dict[str, Scalar]:
    """The numbers of a reading, as evidence shows them."""
    return {"now": reading.now, "nudge": reading.nudge, "stop": reading.stop, "most": reading.most}
