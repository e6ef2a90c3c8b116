"""What a table must be, checked when it is built. Every finding names the row (or cell) and the reason.

Guards are opaque functions, so whether two rows overlap is decided by which guards they list, never by what those
answer:

* a row is *shadowed* when an earlier row of its cell asks nothing that it does not ask itself;
* a later row is the *rest* of an earlier one when its guards are some of the earlier's, and needs no mark;
* two rows are *apart* when one lists a guard and the other its negation, or both ask what one value is (`value_is`) for
  values that they do not share;
* any other two rows of one cell overlap, and the cell has to be marked `ordered`.

A reading at its stop limit is also at its nudge limit; the guard that spending adds is a guard like any other.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import attrs

from ._given import misshapen, said
from .guards import Level, OneOf, as_guard, name_of

Literal = tuple[bool, Any]  # (polarity, what is asked)


@attrs.frozen
class Questions:
    """What a row asks, and that with what follows from it."""

    asked: frozenset[Literal]
    implied: frozenset[Literal]


class BadTable(TypeError):
    """A table that breaks a rule. `problems` has one line for each, naming the row and the reason."""

    def __init__(self, name: str, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(f"table {name or repr(name)}: {problem}" for problem in problems))


def check(table: Any, wrong: Sequence[str] = ()) -> None:
    """Raise `BadTable` if the table breaks any rule; `wrong` is what was wrong already with what it was given."""
    problems = [*wrong, *misshapen(table)] or list(_names(table))
    if not problems:
        problems = [*_rows(table), *_signatures(table)]
        if all(_hashable(function) for row in table.rows for guard in row.guards for function in _functions(guard)):
            asked = [questions(row) for row in table.rows]
            problems += [*_marks(table, asked), *_cells(table, asked)]
    if problems:
        raise BadTable(table.name, problems)


def questions(row: Any) -> Questions:
    """What the row asks, as the rules above compare it."""
    return Questions(_asked(row), _implied(row))


def _names(table: Any) -> Iterator[str]:
    """What everything else rests on: states, events, budgets and inner machines that exist."""
    states = set(table.states)
    if not table.rows:
        yield "has no rows"
    if len(set(table.events)) != len(table.events):
        yield "lists an event twice"
    if len({e.__name__ for e in table.events}) != len(set(table.events)):
        yield "has two events of one name"
    for state in sorted(map(str, set(table.final) - states)):
        yield f"final state {state} is not a state of this machine, which has {_listed(table.states)}"
    for number, row in enumerate(table.rows):
        for state in (*row.sources, row.target):
            if state not in states:
                yield f"row {number} ({row}): {state} is not a state of this machine, which has {_listed(table.states)}"
        if not row.sources:
            yield f"row {number} ({row}): has no source state"
        if len(set(row.sources)) != len(row.sources):
            yield f"row {number} ({row}): names a source state twice"
        if row.event not in table.events:
            known = ", ".join(e.__name__ for e in table.events)
            yield f"row {number} ({row}): {row.event.__name__} is not in the machine's alphabet, which is {known}"
    for held in table.inners:
        for state in sorted(map(str, held.during - states)):
            listed = _listed(table.states)
            yield f"inner machine {held.name}: {state} is not a state of this machine, which has {listed}"
    for state in table.states:
        if state.name in ("*", "="):
            yield f"state {state.name!r}: has a name by which the engine means another state"
    for budget, size in table.budgets.items():
        if isinstance(size, int) and size < 0:
            yield f"budget {budget.value}: found {size}, expected 0 or more"
    for mark in table.marks:
        if not mark.states or not mark.events:
            yield f"{mark.how} {_mark(mark)}: names no cell"
        for state in mark.states:
            if state not in states:
                yield f"{mark.how} {_mark(mark)}: {state} is not a state of this machine"
        for event in mark.events:
            if event not in table.events:
                yield f"{mark.how} {_mark(mark)}: {event.__name__} is not in the machine's alphabet"


def _rows(table: Any) -> Iterator[str]:
    used = {table.initial, *table.final}
    for number, row in enumerate(table.rows):
        used.update((*row.sources, row.target))
        for source in row.sources:
            if source in table.final:
                yield f"row {number} ({row}): leaves {source.name}, which is final"
        for what, kind in [(row.spends, "spends"), *((refilled, "refills") for refilled in row.refills)]:
            if what is None:
                continue
            owned = what in table.budgets if isinstance(what, Enum) else what in table.inners
            if not owned:
                yield f"row {number} ({row}): {kind} {_payable(what)}, which the machine does not have"
    for state in table.states:
        if state not in used:
            yield f"state {state.name} is unused: no row leaves or reaches it, and it is not final"
    if table.budgets and not table.pays:
        yield "has budgets, but no purse to pay from: give both `purse` and `pay`"


def _signatures(table: Any) -> Iterator[str]:
    for number, row in enumerate(table.rows):
        for part in (row.effect, *row.guards):
            for function in _functions(part):
                if not callable(function):
                    yield f"row {number} ({row}): found {said(function)}, expected a function of (run, event)"
                elif problem := _takes(function, row.event):
                    yield f"row {number} ({row}): {name_of(function)} {problem}"


def _functions(part: Any) -> Iterator[Any]:
    guard = as_guard(part)
    if guard is None:
        yield part
        return
    if guard.function is not None:
        yield guard.function
    for inner_part in guard.parts:
        yield from _functions(inner_part)


def _takes(function: Any, event: type[Any]) -> str:
    """Why the function cannot be called with (run, event); empty if it can. Unreadable annotations are let through."""
    if not _hashable(function):
        return "cannot be hashed, so it cannot be told that it was asked already"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    try:
        bound = signature.bind(None, None)
    except TypeError:
        return f"takes {signature}, expected (run, event)"
    second = list(bound.signature.parameters.values())
    taken = second[1] if len(second) > 1 else second[0]
    if taken.kind is inspect.Parameter.VAR_POSITIONAL:
        return ""
    name = taken.name
    try:
        target = function if inspect.isroutine(function) else type(function).__call__
        hint = get_type_hints(target).get(name, Any)
    except Exception:  # noqa: BLE001  # an annotation that cannot be evaluated at run time says nothing against the row
        return ""
    if not _accepts(hint, event):
        return f"takes {_type_name(hint)}, expected {event.__name__}"
    return ""


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _accepts(hint: Any, event: type[Any]) -> bool:
    if hint is Any:
        return True
    if get_origin(hint) in (Union, types.UnionType):
        return any(_accepts(part, event) for part in get_args(hint))
    hint = get_origin(hint) or hint
    return issubclass(event, hint) if isinstance(hint, type) else True


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def _marks(table: Any, asked: Sequence[Questions]) -> Iterator[str]:
    marked: dict[tuple[Any, Any], str] = {}
    for mark in table.marks:
        if not mark.why.strip():
            yield f"{mark.how} {_mark(mark)}: says no reason"
        for cell in ((s, e) for s in mark.states for e in mark.events):
            state, event = cell
            rows = table.cell(state, event)
            where = f"{mark.how} {state.name} on {event.__name__}"
            if mark.how == "ordered":
                if not any(_overlap(asked, one, other) for one, other in _pairs(rows)):
                    yield f"{where}: no two rows of this cell overlap, so there is nothing to order"
                continue
            if state in table.final:
                yield f"{where}: the state is final, and final states refuse everything"
            if rows:
                yield f"{where}: row {rows[0]} ({table.rows[rows[0]]}) handles it"
            if cell in marked:
                yield f"{where}: already said by {marked[cell]}"
            marked[cell] = mark.how


def _cells(table: Any, asked: Sequence[Questions]) -> Iterator[str]:
    quiet = {(s, e) for m in table.marks if m.how != "ordered" for s in m.states for e in m.events}
    in_order = {(s, e) for m in table.marks if m.how == "ordered" for s in m.states for e in m.events}
    for state in table.states:
        if state in table.final:
            continue
        for event in table.events:
            rows = table.cell(state, event)
            if not rows and (state, event) not in quiet:
                yield (
                    f"cell {state.name} on {event.__name__} is blank: add a row, or say "
                    f"ignore([{state.name}], [{event.__name__}], why) or refuse(...)"
                )
            for one, other in _pairs(rows):
                if problem := _shadow(table, asked, one, other):
                    yield problem
                elif (state, event) not in in_order and _overlap(asked, one, other):
                    yield (
                        f"row {other} ({table.rows[other]}) overlaps row {one} in cell "
                        f"{state.name} on {event.__name__}: let one ask the negation of the other, "
                        f"or mark the cell with ordered(...){_paying_alike(table.rows[one], table.rows[other])}"
                    )


def _paying_alike(one: Any, other: Any) -> str:
    if one.spends is None or one.spends is not other.spends:
        return ""
    return f"; both spend {_payable(one.spends)}: the guard that this brings stands in both, so it does not part them"


def _pairs(rows: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return ((one, other) for i, one in enumerate(rows) for other in rows[i + 1 :])


def _shadow(table: Any, asked: Sequence[Questions], one: int, other: int) -> str:
    second = table.rows[other]
    if not asked[one].asked:
        if not asked[other].asked:
            return (
                f"row {other} ({second}) and row {one} are both without guards in one cell: only the first is reached"
            )
        return f"row {other} ({second}) is shadowed: row {one} before it has no guard"
    if asked[one].asked <= asked[other].implied:
        return f"row {other} ({second}) is shadowed: row {one} before it asks nothing that it does not ask itself"
    return ""


def at_once(table: Any) -> Iterator[tuple[Any, Any, int, int]]:
    """State, event and two rows of the cell, for all that may hold at once by the guards that they list.

    The later one of them has a guard: a row without one holds always, so that says nothing.
    """
    asked = [Questions(_asked(row), _implied(row)) for row in table.rows]
    for state in table.states:
        for event in table.events:
            for one, other in _pairs(table.cell(state, event)):
                if asked[other].asked and not apart(asked[one].implied, asked[other].implied):
                    yield state, event, one, other


def apart_by_value(table: Any) -> Iterator[tuple[Any, Any, int, int]]:
    """The same for all that are apart only because of the values that they ask for (`value_is`).

    That two such guards never both hold is what they say of themselves; no other part of the table shows it.
    """
    asked = [_implied(row) for row in table.rows]
    plain = [frozenset(one for one in asks if not isinstance(one[1], OneOf)) for asks in asked]
    for (state, event), rows in table.cells.items():
        for one, other in _pairs(rows):
            if apart(asked[one], asked[other]) and not apart(plain[one], plain[other]):
                yield state, event, one, other


def is_rest(row: Any, later: Any) -> bool:
    """Whether the later row asks nothing that does not follow from what the earlier one asks."""
    return _asked(later) <= _implied(row)


def _overlap(asked: Sequence[Questions], one: int, other: int) -> bool:
    first, second = asked[one].implied, asked[other].implied
    return not apart(first, second) and not asked[other].asked <= first


def apart(first: Iterable[Literal], second: frozenset[Literal]) -> bool:
    """Whether what two rows ask can never all hold."""
    values = [what for polarity, what in second if polarity and isinstance(what, OneOf)]
    return any(
        (not polarity, what) in second
        or (polarity and isinstance(what, OneOf) and any(what.excludes(other) for other in values))
        for polarity, what in first
    )


def _asked(row: Any) -> frozenset[Literal]:
    spends = () if row.spends is None else ((True, ("spends", row.spends)),)
    return frozenset((*spends, *(one for guard in row.guards for one in _literals(guard, positive=True))))


def _implied(row: Any) -> frozenset[Literal]:
    """What the row asks, with what follows: at the stop limit is at the nudge limit, not at that is not at the stop."""
    found = set(_asked(row))
    for polarity, what in tuple(found):
        if isinstance(what, tuple) and what[0] == "reaches":
            read, level = cast("tuple[Any, Level]", what[1:])
            levels: Iterable[Level] = (k for k in Level if (k <= level if polarity else k >= level))
            found.update((polarity, ("reaches", read, k)) for k in levels if k is not Level.REST)
    return frozenset(found)


def _literals(question: Any, *, positive: bool) -> Iterator[Literal]:
    guard = as_guard(question)
    if guard is None:
        yield positive, question
    elif guard.how == "asks":
        yield positive, guard.value or guard.function
    elif guard.how == "reaches":
        yield positive, ("reaches", guard.function, guard.level)
    elif guard.how == "not":
        yield from _literals(guard.parts[0], positive=not positive)
    elif (guard.how == "all") is positive:  # a & b asks both; ~(a | b) denies both
        for part in guard.parts:
            yield from _literals(part, positive=positive)
    else:
        yield positive, guard


def _payable(what: Any) -> str:
    return str(what.value) if isinstance(what, Enum) else f"the inner machine {what.name}"


def _listed(states: Iterable[Enum]) -> str:
    return ", ".join(s.name for s in states)


def _mark(mark: Any) -> str:
    states = ", ".join(getattr(s, "name", str(s)) for s in mark.states)
    return f"({states} on {', '.join(e.__name__ for e in mark.events)})"
